//! Declared folders of the host.

use super::{Attacks, Attempt, argument, files};

pub(super) const ATTACKS: Attacks = &[("plant-after-rename", plant_after_rename)];

/// Moves a folder that holds a guarded one out of the way, and puts another in its place.
fn plant_after_rename(arguments: &[&str]) -> Attempt {
    let folder = argument(arguments, 0);
    std::fs::rename(folder, format!("{folder}-moved"))?;
    std::fs::create_dir_all(format!("{folder}/.git/hooks"))?;
    let hook = format!("{folder}/.git/hooks/post-checkout");
    std::fs::write(&hook, "planted\n")?;
    files::look(hook.as_ref(), "planted")
}
