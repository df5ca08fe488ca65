//! Files of the host that were not declared.

use super::{Attacks, Attempt, Held, argument, files, sys};

pub(super) const ATTACKS: Attacks = &[("by-handle", by_handle)];

/// `struct file_handle` with room for what ext4, xfs and btrfs put in (name_to_handle_at(2)).
#[repr(C)]
#[derive(Default)]
struct Handle {
    bytes: u32,
    kind: i32,
    inode: u32,
    generation: u32,
    rest: [u32; 30],
}

/// `FILEID_INO32_GEN` of `linux/exportfs.h`, ext4's form.
const INODE_AND_GENERATION: i32 = 1;
/// The root folder of every ext4.
const ROOT_INODE: u32 = 2;

/// Opens the root of the file system on which the first argument lies, by a made-up handle, and reads the second
/// argument, relative to it, which must hold the third.
fn by_handle(arguments: &[&str]) -> Attempt {
    let folder = std::fs::File::open(argument(arguments, 0))?;
    let folder_fd = u64::from(std::os::fd::AsRawFd::as_raw_fd(&folder).unsigned_abs());
    let handle = Handle { bytes: 8, kind: INODE_AND_GENERATION, inode: ROOT_INODE, ..Handle::default() };
    let flags = u64::from((libc::O_RDONLY | libc::O_DIRECTORY).unsigned_abs());
    let opened = sys::call(libc::SYS_open_by_handle_at, [folder_fd, sys::at(&handle), flags]);
    let root = opened.map_err(Held::errno)?;
    let path = format!("/proc/self/fd/{root}{}", argument(arguments, 1));
    files::look(path.as_ref(), argument(arguments, 2))
}
