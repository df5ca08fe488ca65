//! Runs a program on a kernel that seems to lack something: below a filter that answers chosen system calls with an
//! error. Needed by tests of what the product does on such kernels.
//!
//! usage: fumehood-without CALL[:ARGUMENT=VALUE]=ERRNO… -- PROGRAM [ARGUMENT…]
//!
//! `landlock_create_ruleset=EOPNOTSUPP` refuses a call, `prctl:0=38=EINVAL` refuses it where argument 0 is 38. Values
//! are compared as 32 bits.

use std::{io, os::unix::process::CommandExt as _, process::Command};

use libc::sock_filter;

/// The calls that can be refused.
const CALLS: [(&str, libc::c_long); 15] = [
    ("capset", libc::SYS_capset),
    ("clone3", libc::SYS_clone3),
    ("fsopen", libc::SYS_fsopen),
    ("landlock_create_ruleset", libc::SYS_landlock_create_ruleset),
    ("landlock_restrict_self", libc::SYS_landlock_restrict_self),
    ("mount_setattr", libc::SYS_mount_setattr),
    ("move_mount", libc::SYS_move_mount),
    ("open_tree", libc::SYS_open_tree),
    ("pivot_root", libc::SYS_pivot_root),
    ("prctl", libc::SYS_prctl),
    ("prlimit64", libc::SYS_prlimit64),
    ("seccomp", libc::SYS_seccomp),
    ("sethostname", libc::SYS_sethostname),
    ("setresuid", libc::SYS_setresuid),
    ("socket", libc::SYS_socket),
];

const ERRORS: [(&str, libc::c_int); 6] = [
    ("EAFNOSUPPORT", libc::EAFNOSUPPORT),
    ("EINVAL", libc::EINVAL),
    ("ENOSPC", libc::ENOSPC),
    ("ENOSYS", libc::ENOSYS),
    ("EOPNOTSUPP", libc::EOPNOTSUPP),
    ("EPERM", libc::EPERM),
];

/// Offset of `nr` and of the first argument in `struct seccomp_data` (`linux/seccomp.h`).
const NUMBER: u32 = 0;
const ARGUMENTS: u32 = 16;

fn main() {
    let error = run();
    eprintln!("fumehood-without: {error}");
    std::process::exit(2);
}

/// Returns only when it failed.
fn run() -> io::Error {
    let mut words = std::env::args_os().skip(1);
    let mut program = Vec::new();
    for word in words.by_ref().take_while(|word| word != "--") {
        match word.to_str().and_then(refuse) {
            Some(lines) => program.extend(lines),
            None => return io::Error::other(format!("`{}` is not understood", word.display())),
        }
    }
    program.push(line(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW));
    let Some(name) = words.next() else { return io::Error::other("no program is named") };
    // Root may put a filter on without it, and then setuid programs go on to work.
    if !rustix::process::geteuid().is_root()
        && let Err(error) = rustix::thread::set_no_new_privs(true)
    {
        return error.into();
    }
    if let Err(error) = jail::seccomp::install(&program) {
        return error;
    }
    Command::new(name).args(words).exec()
}

/// The instructions of one word.
fn refuse(word: &str) -> Option<Vec<sock_filter>> {
    let (rest, error) = word.rsplit_once('=')?;
    let error = ERRORS.iter().find(|(name, _)| *name == error)?.1.cast_unsigned();
    let (call, condition) = match rest.split_once(':') {
        Some((call, condition)) => (call, Some(condition.split_once('=')?)),
        None => (rest, None),
    };
    let number = u32::try_from(CALLS.iter().find(|(name, _)| *name == call)?.1).ok()?;
    let answer = line(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | error);
    let (load, equal) =
        (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K);
    let Some((argument, value)) = condition else {
        return Some(vec![line(load, 0, 0, NUMBER), line(equal, 0, 1, number), answer]);
    };
    let offset = ARGUMENTS + 8 * argument.parse::<u32>().ok().filter(|argument| *argument < 6)?;
    Some(vec![
        line(load, 0, 0, NUMBER),
        line(equal, 0, 3, number),
        line(load, 0, 0, offset),
        line(equal, 0, 1, value.parse().ok()?),
        answer,
    ])
}

fn line(code: u32, jt: u8, jf: u8, k: u32) -> sock_filter {
    // Every code of classic BPF fits.
    sock_filter { code: u16::try_from(code).unwrap_or(u16::MAX), jt, jf, k }
}
