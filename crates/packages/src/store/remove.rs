//! Removing a tree whose folders are read-only.

use std::{
    fs::{self, Permissions},
    io,
    os::unix::fs::PermissionsExt,
    path::Path,
};

use super::tree;

/// Removes it, wherever it came from: no link is followed, and missing rights of folders are given first.
pub(super) fn remove(root: &Path) -> io::Result<()> {
    let facts = match fs::symlink_metadata(root) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        facts => facts?,
    };
    if !facts.is_dir() {
        return fs::remove_file(root);
    }
    let open = |folder: &Path| fs::set_permissions(folder, Permissions::from_mode(0o700));
    open(root)?;
    tree::walk(root, &mut |_, path, facts| if facts.is_dir() { open(path) } else { io::Result::Ok(()) })?;
    fs::remove_dir_all(root)
}
