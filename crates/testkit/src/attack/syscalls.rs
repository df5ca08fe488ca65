//! System calls that a cell does without.

use jail::seccomp::table::{Verdict, calls};

use super::{Attacks, Attempt, Held, argument, sys};

mod kernel;
mod processes;
mod socket;

pub(super) const ATTACKS: Attacks = &[
    ("table", table),
    ("unknown", unknown),
    ("x32", x32),
    ("i386", i386),
    ("unshare", processes::unshare),
    ("clone", processes::clone),
    ("clone3", processes::clone3),
    ("setns", processes::setns),
    ("trace-me", processes::trace_me),
    ("copy-own-memory", processes::copy_own_memory),
    ("take-fd", processes::take_fd),
    ("compare", processes::compare),
    ("personality", processes::personality),
    ("own-map", processes::own_map),
    ("listener", processes::listener),
    ("init-priority", processes::init_priority),
    ("init-limits", processes::init_limits),
    ("init-affinity", processes::init_affinity),
    ("init-io-priority", processes::init_io_priority),
    ("segments", processes::segments),
    ("io-privilege", processes::io_privilege),
    ("userfaultfd", kernel::userfaultfd),
    ("io-uring", kernel::io_uring),
    ("io-setup", kernel::io_setup),
    ("perf", kernel::perf),
    ("add-key", kernel::add_key),
    ("keyring", kernel::keyring),
    ("request-key", kernel::request_key),
    ("fanotify", kernel::fanotify),
    ("secret-memory", kernel::secret_memory),
    ("cachestat", kernel::cachestat),
    ("openat2", kernel::openat2),
    ("listmount", kernel::listmount),
    ("lsm-modules", kernel::lsm_modules),
    ("kernel-log", kernel::kernel_log),
    ("memory-policy", kernel::memory_policy),
    ("file-systems", kernel::file_systems),
    ("mount", kernel::mount),
    ("open-tree", kernel::open_tree),
    ("fsopen", kernel::fsopen),
    ("chroot", kernel::chroot),
    ("hostname", kernel::hostname),
    ("socket", socket::open),
    ("pair", socket::pair),
];

/// Arguments that no call accepts.
const NOWHERE: u64 = u64::MAX;
/// `__X32_SYSCALL_BIT` of `asm/unistd.h`.
const X32: libc::c_long = 0x4000_0000;
/// `getpid` of x86_64, the same for x32.
const GETPID: libc::c_long = 39;

/// Every call that the table refuses or leaves out, each of which must answer as the table says.
fn table(_: &[&str]) -> Attempt {
    let mut asked = 0;
    let mut others = Vec::new();
    for call in calls() {
        let expected = match call.verdict {
            Verdict::Refuse => libc::EPERM,
            Verdict::Absent => libc::ENOSYS,
            Verdict::Allow | Verdict::Filtered(_) => continue,
        };
        asked += 1;
        let answer = sys::call(libc::c_long::from(call.number), [NOWHERE; 6]);
        if answer != Err(expected) {
            others.push(call.name());
        }
    }
    if others.is_empty() {
        Err(Held::because(format!("all {asked} are refused")))
    } else {
        Ok(format!("{} answer otherwise: {}", others.len(), others.join(" ")))
    }
}

/// Numbers that no kernel of today has.
fn unknown(_: &[&str]) -> Attempt {
    let answered = (600..1100).find(|number| sys::call(*number, [0; 6]) != Err(libc::ENOSYS));
    answered.map(|number| format!("number {number}")).ok_or_else(|| Held::errno(libc::ENOSYS))
}

fn x32(_: &[&str]) -> Attempt {
    sys::call(X32 | GETPID, []).map(|pid| format!("getpid said {pid}")).map_err(Held::errno)
}

fn i386(_: &[&str]) -> Attempt {
    #[cfg(target_arch = "x86_64")]
    return sys::getpid_as_i386().map(|pid| format!("getpid said {pid}")).map_err(Held::errno);
    #[cfg(not(target_arch = "x86_64"))]
    Err(Held::because("this architecture has no such door"))
}

/// What a call returned, in words.
fn done(answer: Result<i64, i32>) -> Attempt {
    answer.map(|value| format!("returned {value}")).map_err(Held::errno)
}

fn hexadecimal(arguments: &[&str], index: usize) -> u64 {
    u64::from_str_radix(argument(arguments, index), 16).unwrap_or(0)
}
