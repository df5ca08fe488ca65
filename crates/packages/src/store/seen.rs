//! What the file system says of every file of a tree, so that a start need not read them all again.
//!
//! Size, times and inode of a file that was written to differ afterwards: the change time cannot be set by any call. Only
//! who holds the disk itself could pass by; so the first look after a boot reads every byte.

use std::{fmt::Write as _, fs, io, os::unix::ffi::OsStrExt, os::unix::fs::MetadataExt, path::Path};

use super::tree;

/// What is said now, in one piece: it is only ever compared.
pub(super) fn look(root: &Path) -> io::Result<Vec<u8>> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    let mut seen = format!("fumehood-seen/1 {}\n", boot.trim()).into_bytes();
    let mut numbers = String::new();
    let mut add = |path: &Path, facts: &fs::Metadata| {
        numbers.clear();
        // Writing to a string does not fail.
        write!(
            numbers,
            "{:o} {} {} {} {} {}.{} {}.{} ",
            facts.mode(),
            facts.uid(),
            facts.dev(),
            facts.ino(),
            facts.size(),
            facts.mtime(),
            facts.mtime_nsec(),
            facts.ctime(),
            facts.ctime_nsec(),
        )
        .ok();
        seen.extend_from_slice(numbers.as_bytes());
        seen.extend_from_slice(path.as_os_str().as_bytes());
        seen.push(0);
    };
    add(Path::new(""), &fs::symlink_metadata(root)?);
    tree::walk(root, &mut |path, _, facts| -> io::Result<()> {
        add(path, facts);
        Ok(())
    })?;
    Ok(seen)
}
