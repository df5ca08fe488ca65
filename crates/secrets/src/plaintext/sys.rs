//! Locking pages in memory.
#![expect(unsafe_code, reason = "mlock(2) and munlock(2) take addresses")]

use std::ffi::c_void;

/// Keeps the pages of `bytes` out of swap; whether that worked.
pub(super) fn lock(bytes: &[u8]) -> bool {
    if bytes.is_empty() {
        return false;
    }
    // SAFETY: the range is a live allocation of this length; locking changes nothing of its contents.
    unsafe { rustix::mm::mlock(bytes.as_ptr().cast_mut().cast::<c_void>(), bytes.len()) }.is_ok()
}

/// Gives the pages back. Another secret on the same page becomes swappable with it, which is why values are overwritten
/// before this and each is locked on its own again by nobody: a page shared by two secrets is rare and short-lived.
pub(super) fn unlock(bytes: &[u8]) {
    // SAFETY: as in `lock`.
    let _nothing_to_do_about_it =
        unsafe { rustix::mm::munlock(bytes.as_ptr().cast_mut().cast::<c_void>(), bytes.len()) }.is_err();
}
