//! What a caller left open.

use std::fs;

use super::{Attacks, Attempt, Held, argument, sys};

pub(super) const ATTACKS: Attacks =
    &[("any-leaked", any_leaked), ("leaked-content", leaked_content), ("leaked-names", leaked_names)];

/// Every fd but 0, 1 and 2 and the one that lists them.
fn leaked() -> Result<Vec<(i32, String)>, Held> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc/self/fd")? {
        let entry = entry?;
        let number = entry.file_name().to_str().and_then(|name| name.parse().ok()).unwrap_or(-1);
        let target = fs::read_link(entry.path()).map(|path| path.display().to_string()).unwrap_or_default();
        if number > 2 && !target.ends_with("/fd") {
            found.push((number, target));
        }
    }
    Ok(found)
}

/// Whether anything but 0, 1 and 2 is open.
fn any_leaked(_: &[&str]) -> Attempt {
    let found = leaked()?;
    if found.is_empty() { Err(Held::because("only 0, 1 and 2 are open")) } else { Ok(format!("{found:?}")) }
}

/// Reads what any open fd holds, as it is open, which must hold the argument.
fn leaked_content(arguments: &[&str]) -> Attempt {
    for (number, target) in leaked()? {
        let mut content = [0_u8; 256];
        let fd = u64::from(number.unsigned_abs());
        if sys::call(libc::SYS_pread64, [fd, sys::into(&mut content), 256, 0]).is_ok()
            && String::from_utf8_lossy(&content).contains(argument(arguments, 0))
        {
            return Ok(format!("fd {number}: {target}"));
        }
    }
    Err(Held::because("no open fd holds it"))
}

/// Lists any folder that is open, one of whose names must be the argument.
fn leaked_names(arguments: &[&str]) -> Attempt {
    for (number, target) in leaked()? {
        let mut entries = [0_u8; 4096];
        let fd = u64::from(number.unsigned_abs());
        if sys::call(libc::SYS_getdents64, [fd, sys::into(&mut entries), 4096]).is_ok()
            && String::from_utf8_lossy(&entries).contains(&format!("{}\0", argument(arguments, 0)))
        {
            return Ok(format!("fd {number}: {target}"));
        }
    }
    Err(Held::because("no open fd lists it"))
}
