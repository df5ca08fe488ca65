//! More rights than a cell has.

use std::{fs, os::unix::fs::PermissionsExt as _, process::Command};

use super::{Attacks, Attempt, Finding, Held, argument, sys};

pub(super) const ATTACKS: Attacks = &[
    ("capabilities", capabilities),
    ("new-privileges", new_privileges),
    ("groups", groups),
    ("mapped-to-root", mapped_to_root),
    ("become", become_other),
    ("who", who),
    ("chmod", chmod),
    ("open-mode", open_mode),
    ("mkdir-mode", mkdir_mode),
    ("mknod-mode", mknod_mode),
];

/// Whether any of the five sets holds anything.
fn capabilities(_: &[&str]) -> Attempt {
    let sets = status("Cap")?;
    let held = |line: &&String| line.split_whitespace().nth(1).is_some_and(|set| set.contains(|c| c != '0'));
    match sets.iter().find(held) {
        Some(line) => Ok(line.clone()),
        None => Err(Held::because("all sets are empty")),
    }
}

fn new_privileges(_: &[&str]) -> Attempt {
    let line = status("NoNewPrivs")?.concat();
    if line.ends_with('0') { Ok(line) } else { Err(Held::because(line)) }
}

fn status(prefix: &str) -> Result<Vec<String>, Held> {
    let text = fs::read_to_string("/proc/self/status")?;
    Ok(text.lines().filter(|line| line.starts_with(prefix)).map(str::to_owned).collect())
}

/// Whether a supplementary group of the caller is left.
fn groups(_: &[&str]) -> Attempt {
    let groups = rustix::process::getgroups()?;
    // One is its own; those that are not mapped all look the same.
    if groups.len() < 2 { Err(Held::because("no group is left")) } else { Ok(format!("{groups:?}")) }
}

/// Whether this user is the host's root.
fn mapped_to_root(_: &[&str]) -> Attempt {
    let map = fs::read_to_string("/proc/self/uid_map")?;
    let host: Vec<&str> = map.split_whitespace().skip(1).step_by(3).collect();
    if host.contains(&"0") { Ok(map) } else { Err(Held::because(format!("host id {host:?}"))) }
}

/// Starts a program of another owner that asks for more, and compares what it is with what this one is. What this one
/// may do is given up first, so that all there is to be seen comes from the program.
fn become_other(arguments: &[&str]) -> Attempt {
    let none = rustix::thread::CapabilitySet::empty();
    rustix::thread::clear_ambient_capability_set()?;
    let sets = rustix::thread::CapabilitySets { effective: none, permitted: none, inheritable: none };
    rustix::thread::set_capabilities(None, sets)?;
    let output = Command::new(argument(arguments, 0)).args(["--alone", "privileges", "x=who"]).output()?;
    let line: Finding = serde_json::from_slice(&output.stdout).map_err(|_| {
        Held::because(format!("it did not start: {}", String::from_utf8_lossy(&output.stderr)))
    })?;
    let own = who(&[])?;
    if line.detail == own { Err(Held::because(own)) } else { Ok(format!("{own} became {}", line.detail)) }
}

/// Effective user and group, and the permitted capabilities.
fn who(_: &[&str]) -> Attempt {
    let words = |prefix: &str, at| -> Result<String, Held> {
        Ok(status(prefix)?.concat().split_whitespace().nth(at).unwrap_or_default().to_owned())
    };
    Ok(format!("uid {} gid {} capabilities {}", words("Uid:", 2)?, words("Gid:", 2)?, words("CapPrm:", 1)?))
}

/// Marks an own file: the first argument is its path, the second the mode.
fn chmod(arguments: &[&str]) -> Attempt {
    let path = argument(arguments, 0);
    fs::write(path, "")?;
    let done = sys::call(libc::SYS_fchmodat, [FROM_HERE, text(path).as_ptr().addr() as u64, mode(arguments)]);
    done.map_err(Held::errno)?;
    marked(path)
}

fn open_mode(arguments: &[&str]) -> Attempt {
    let path = argument(arguments, 0);
    let flags = u64::from((libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY).unsigned_abs());
    let path_text = text(path);
    let opened =
        sys::call(libc::SYS_openat, [FROM_HERE, sys::at(path_text.as_slice()), flags, mode(arguments)]);
    opened.map_err(Held::errno)?;
    marked(path)
}

fn mkdir_mode(arguments: &[&str]) -> Attempt {
    let path = argument(arguments, 0);
    let path_text = text(path);
    let made = sys::call(libc::SYS_mkdirat, [FROM_HERE, sys::at(path_text.as_slice()), mode(arguments)]);
    made.map_err(Held::errno)?;
    // mkdir(2) itself ignores the set-id bits, so the kernel alone is no danger here; chmod(2) on folders is.
    Ok("made".into())
}

/// The mode names the type too. Devices have the number 0:0, which an ordinary user may make (a whiteout).
fn mknod_mode(arguments: &[&str]) -> Attempt {
    let path_text = text(argument(arguments, 0));
    let made = sys::call(libc::SYS_mknodat, [FROM_HERE, sys::at(path_text.as_slice()), mode(arguments), 0]);
    made.map_err(Held::errno)?;
    Ok("made".into())
}

/// `AT_FDCWD` as the kernel takes it.
const FROM_HERE: u64 = i64::from_ne_bytes((libc::AT_FDCWD as i64).to_ne_bytes()).cast_unsigned();

fn text(path: &str) -> Vec<u8> {
    let mut text = path.as_bytes().to_vec();
    text.push(0);
    text
}

fn mode(arguments: &[&str]) -> u64 {
    u64::from_str_radix(argument(arguments, 1), 8).unwrap_or(0)
}

fn marked(path: &str) -> Attempt {
    let mode = fs::metadata(path)?.permissions().mode();
    if mode & 0o6000 == 0 {
        Err(Held::because("the mark is not there"))
    } else {
        Ok(format!("mode {mode:o}"))
    }
}
