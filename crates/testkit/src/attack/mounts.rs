//! Declared folders of the host.

use super::{Attacks, Attempt, Held, argument, files, sys};

pub(super) const ATTACKS: Attacks = &[("plant-after-rename", plant_after_rename), ("remount", remount)];

/// Makes a mount writable, and a new file in it.
fn remount(arguments: &[&str]) -> Attempt {
    let point = format!("{}\0", argument(arguments, 0));
    let flags = libc::MS_REMOUNT | libc::MS_BIND;
    sys::call(libc::SYS_mount, [0, sys::at(point.as_bytes()), 0, flags, 0]).map_err(Held::errno)?;
    std::fs::write(argument(arguments, 1), "planted\n")?;
    Ok("made writable".into())
}

/// Moves a folder that holds a guarded one out of the way, and puts another in its place.
fn plant_after_rename(arguments: &[&str]) -> Attempt {
    let folder = argument(arguments, 0);
    std::fs::rename(folder, format!("{folder}-moved"))?;
    std::fs::create_dir_all(format!("{folder}/.git/hooks"))?;
    let hook = format!("{folder}/.git/hooks/post-checkout");
    std::fs::write(&hook, "planted\n")?;
    files::look(hook.as_ref(), "planted")
}
