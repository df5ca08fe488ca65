//! Where the built programs are, for everybody to run.

use std::{
    env, fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

const NAMES: [&str; 5] =
    ["fumehood", "fumehood-jail", "fumehood-guard-off", "fumehood-guard-off-jail", "fumehood-attacker"];

/// A folder with all of them that the ordinary test user can enter: where they were built, or else `copies`.
pub(super) fn reachable(copies: &Path) -> io::Result<PathBuf> {
    let built = built()?;
    if let Some(missing) = NAMES.iter().find(|name| !built.join(name).is_file()) {
        return Err(io::Error::other(format!("`{missing}` is not in {}: build it first", built.display())));
    }
    if built.ancestors().all(open_to_all) {
        return Ok(built);
    }
    fs::create_dir(copies)?;
    fs::set_permissions(copies, fs::Permissions::from_mode(0o755))?;
    for name in NAMES {
        let (from, to) = (built.join(name), copies.join(name));
        // A second name is at once; a copy is for another file system.
        if fs::hard_link(&from, &to).is_err() {
            fs::copy(from, to)?;
        }
    }
    Ok(copies.to_owned())
}

fn built() -> io::Result<PathBuf> {
    if let Some(folder) = env::var_os("FUMEHOOD_BIN_DIR") {
        return Ok(folder.into());
    }
    // A test's program lies in `…/debug/deps`.
    let test = env::current_exe()?;
    let folder = test.ancestors().find(|folder| folder.join("fumehood-attacker").is_file());
    folder
        .map(Path::to_owned)
        .ok_or_else(|| io::Error::other("the programs are not built, or not beside the test"))
}

fn open_to_all(folder: &Path) -> bool {
    fs::metadata(folder).is_ok_and(|facts| facts.permissions().mode() & 0o005 == 0o005)
}
