//! Pages of memory for one secret.
#![expect(unsafe_code, reason = "mmap(2), mlock(2) and madvise(2) take addresses")]

use std::{alloc::Layout, ffi::c_void, ptr, ptr::NonNull, slice};

use rustix::mm::{Advice, MapFlags, ProtFlags};
use zeroize::Zeroize;

/// Whole pages that belong to nobody else: a page shared by two secrets would become swappable when the first of them
/// is given back.
pub(super) struct Pages {
    address: NonNull<u8>,
    /// In bytes, a multiple of the page size, never zero.
    len: usize,
    /// Whether they are locked in memory (mlock(2)); a ceiling (`RLIMIT_MEMLOCK`) may forbid it.
    locked: bool,
}

// SAFETY: the mapping is private to its owner and not bound to a thread.
unsafe impl Send for Pages {}
// SAFETY: a shared reference only reads.
unsafe impl Sync for Pages {}

impl Pages {
    /// Zeros, at least `len` of them. Ends the process where there is no memory, as every allocation does.
    pub(super) fn new(len: usize) -> Self {
        let page = rustix::param::page_size();
        let size = len.max(1).checked_next_multiple_of(page).unwrap_or(usize::MAX - page + 1);
        // SAFETY: a new private mapping at an address of the kernel's choice touches nothing that exists.
        let mapped = unsafe {
            rustix::mm::mmap_anonymous(
                ptr::null_mut(),
                size,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )
        };
        let Some(address) = mapped.ok().and_then(|address| NonNull::new(address.cast::<u8>())) else {
            std::alloc::handle_alloc_error(Layout::from_size_align(size, 1).unwrap_or(Layout::new::<u8>()));
        };
        let start = address.as_ptr().cast::<c_void>();
        // SAFETY: the range is the mapping just made; neither call changes its contents.
        let locked = unsafe { rustix::mm::mlock(start, size) }.is_ok();
        for advice in [Advice::LinuxDontDump, Advice::LinuxWipeOnFork] {
            // SAFETY: as above; in this process the contents stay. A kernel that does not know one leaves the mapping
            // as it is.
            unsafe { rustix::mm::madvise(start, size, advice) }.ok();
        }
        Self { address, len: size, locked }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping lives as long as `self`, is initialised by the kernel, and nobody else writes to it.
        unsafe { slice::from_raw_parts(self.address.as_ptr(), self.len) }
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and `&mut self` is the only reference.
        unsafe { slice::from_raw_parts_mut(self.address.as_ptr(), self.len) }
    }

    pub(super) fn is_locked(&self) -> bool {
        self.locked
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.bytes_mut().zeroize();
        // SAFETY: the range is exactly the mapping, and no reference into it outlives `self`. This unlocks it too.
        unsafe { rustix::mm::munmap(self.address.as_ptr().cast::<c_void>(), self.len) }.ok();
    }
}
