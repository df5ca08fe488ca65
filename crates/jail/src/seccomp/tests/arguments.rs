//! Each rule by hand: what a program may ask, what it may not, and the tricks with the half of a register that the
//! kernel drops or keeps.

use super::super::rule::Answer::{self, Allow};
use super::{EPERM, ask, number};

const EINVAL: Answer = Answer::Errno(libc::EINVAL);
const HIGH: u64 = 1 << 32;
const ALL_HIGH: u64 = 0xffff_ffff_0000_0000;

#[track_caller]
fn check(call: &str, cases: &[(&[u64], Answer)]) {
    for (arguments, answer) in cases {
        assert_eq!(ask(number(call), arguments), *answer, "{call} {arguments:#x?}");
    }
}

#[test]
fn sockets() {
    let family = Answer::Errno(libc::EAFNOSUPPORT);
    let protocol = Answer::Errno(libc::EPROTONOSUPPORT);
    let kind = Answer::Errno(libc::ESOCKTNOSUPPORT);
    let flags = (libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK) as u64;
    check(
        "socket",
        &[
            (&[1, 1, 0], Allow),
            (&[1, 5, 0], Allow),
            (&[1 | HIGH, 2, 0], Allow),
            (&[2, 1, 0], Allow),
            (&[2, 1 | flags, 6], Allow),
            (&[10, 2 | flags, 0], Allow),
            (&[10, 2, 17], Allow),
            (&[2, 1, 262], protocol), // MPTCP
            (&[2, 1, 256], protocol), // SMC
            (&[2, 1, 132], protocol), // SCTP
            (&[2, 2, 1], protocol),   // ICMP, ping
            (&[10, 2, 58], protocol), // ICMPv6
            (&[2, 2, 136], protocol), // UDP-Lite
            (&[2, 2, 6], protocol),
            (&[2, 1, 6 | HIGH], Allow),
            (&[2, 5, 132], kind),
            (&[2, 6, 33], kind), // DCCP
            (&[2, 3, 255], EPERM),
            (&[2, 3 | flags, 1], EPERM),
            (&[10, 3 | ALL_HIGH, 58], EPERM),
            (&[2, 10, 0x300], EPERM), // SOCK_PACKET
            (&[16, 3, 0], Allow),
            (&[16, 2 | flags, 0], Allow),
            (&[16, 3, 12], protocol), // NETFILTER
            (&[16, 3, 15], protocol), // KOBJECT_UEVENT
            (&[16, 3, 6], protocol),  // XFRM
            (&[16 | ALL_HIGH, 3, 16], protocol),
            (&[0, 1, 0], family),
            (&[17, 3, 3], family), // PACKET
            (&[38, 5, 0], family), // ALG
            (&[40, 1, 0], family), // VSOCK
            (&[0x28 | HIGH, 1, 0], family),
            (&[44, 3, 0], family), // XDP
            (&[0xffff_ffff, 1, 0], family),
        ],
    );
    check(
        "socketpair",
        &[
            (&[1, 1, 0], Allow),
            (&[1 | ALL_HIGH, 5, 0], Allow),
            (&[2, 1, 0], Answer::Errno(libc::EOPNOTSUPP)),
            (&[30, 1, 0], family), // TIPC
        ],
    );
}

#[test]
fn namespaces() {
    // fork, a thread of glibc, vfork.
    check(
        "clone",
        &[(&[0x0120_0011], Allow), (&[0x003d_0f00], Allow), (&[0x4111], Allow), (&[HIGH | 0x11], Allow)],
    );
    for bit in [0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000] {
        check("clone", &[(&[bit], EPERM), (&[bit | 0x11], EPERM), (&[bit | ALL_HIGH], EPERM)]);
        check("unshare", &[(&[bit], EPERM), (&[bit | 0x200], EPERM), (&[bit | ALL_HIGH], EPERM)]);
    }
    check("unshare", &[(&[0], Allow), (&[0x200], Allow), (&[0x0004_0600], Allow)]);
    // The time namespace, a bit that no kernel has, and one in the half that this call reads.
    check("unshare", &[(&[0x80], EPERM), (&[0x8000_0000], EPERM), (&[0x200 | HIGH], EPERM)]);
}

#[test]
fn terminals() {
    for request in [0x5412, 0x541c, 0x541d, 0x5423, 0xc050_6617] {
        check(
            "ioctl",
            &[(&[0, request], EPERM), (&[7, request | HIGH], EPERM), (&[0, request | ALL_HIGH], EPERM)],
        );
    }
    // TCGETS, TIOCGWINSZ, TIOCSCTTY, TIOCGPTN, FIONBIO, FICLONE, and a request in the half the kernel drops.
    for request in [0x5401, 0x5413, 0x540e, 0x8004_5430, 0x5421, 0x4004_9409, 0x5412 << 32] {
        check("ioctl", &[(&[0, request], Allow)]);
    }
}

#[test]
fn set_id_bits() {
    for call in ["fchmod", "chmod", "creat", "mkdir"] {
        if cfg!(target_arch = "aarch64") && call != "fchmod" {
            continue;
        }
        check(
            call,
            &[
                (&[0o4755, 0o755], Allow),
                (&[0, 0o1777], Allow),
                (&[0, 0o4755], EPERM),
                (&[0, 0o2755], EPERM),
                (&[0, 0o6000], EPERM),
                (&[0, 0o4755 | ALL_HIGH], EPERM),
                (&[0, 0o10_4755], EPERM),
                (&[0, 0o4000 << 32], Allow),
            ],
        );
    }
    for call in ["fchmodat", "fchmodat2", "mkdirat"] {
        check(
            call,
            &[
                (&[0, 0o6000, 0o777, 0o6000], Allow),
                (&[0, 0, 0o4700], EPERM),
                (&[0, 0, 0o2000 | HIGH], EPERM),
            ],
        );
    }
    let create = libc::O_CREAT as u64;
    let anonymous = libc::O_TMPFILE as u64;
    check(
        "openat",
        &[
            (&[0, 0, 0, 0o6777], Allow),
            (&[0, 0, libc::O_DIRECTORY as u64, 0o6777], Allow),
            (&[0, 0, create, 0o666], Allow),
            (&[0, 0, anonymous, 0o600], Allow),
            (&[0, 0, create, 0o4755], EPERM),
            (&[0, 0, create | 1, 0o2755], EPERM),
            (&[0, 0, anonymous | 2, 0o4755], EPERM),
            (&[0, 0, create | ALL_HIGH, 0o4755 | ALL_HIGH], EPERM),
        ],
    );
    check(
        "mknodat",
        &[
            (&[0, 0, 0o644], Allow),
            (&[0, 0, 0o10_0644], Allow),
            (&[0, 0, 0o01_0644], Allow),
            (&[0, 0, 0o14_0644], Allow),
            (&[0, 0, 0o02_0644], EPERM),
            (&[0, 0, 0o06_0644], EPERM),
            (&[0, 0, 0o06_0644 | ALL_HIGH], EPERM),
            (&[0, 0, 0o10_4755], EPERM),
        ],
    );
}

#[cfg(target_arch = "x86_64")]
#[test]
fn set_id_bits_in_the_older_forms() {
    let create = libc::O_CREAT as u64;
    check(
        "open",
        &[
            (&[0, create, 0o644], Allow),
            (&[0, 0, 0o6777], Allow),
            (&[0, create, 0o4755], EPERM),
            (&[0, create | HIGH, 0o2755 | HIGH], EPERM),
        ],
    );
    check(
        "mknod",
        &[
            (&[0, 0o01_0600], Allow),
            (&[0, 0o02_0600], EPERM),
            (&[0, 0o06_0600], EPERM),
            (&[0, 0o4600], EPERM),
        ],
    );
}

#[test]
fn what_a_process_says_about_itself() {
    for option in [1, 15, 38, 22, 36, 0x5356_4d41, 0x5961_6d61] {
        check("prctl", &[(&[option], Allow), (&[option | ALL_HIGH], Allow)]);
    }
    for option in [35, 57, 62, 67] {
        check("prctl", &[(&[option], EPERM), (&[option | HIGH], EPERM)]);
    }
    check("prctl", &[(&[0], EINVAL), (&[999], EINVAL), (&[0xffff_ffff], EINVAL)]);
}

#[test]
fn personalities() {
    for persona in [0, 8, 0x2_0000, 0x2_0008, 0xffff_ffff, u64::MAX] {
        check("personality", &[(&[persona], Allow)]);
    }
    for persona in [0x4_0000, 0x40_0000, 0x4_0008, 0x4_0000 | ALL_HIGH, 0x0800_0000] {
        check("personality", &[(&[persona], EPERM)]);
    }
}

#[test]
fn further_filters() {
    check(
        "seccomp",
        &[(&[0, 0], Allow), (&[1, 0], Allow), (&[1, 1], Allow), (&[2, 0], Allow), (&[3, 8], Allow)],
    );
    check(
        "seccomp",
        &[(&[1, 8], EPERM), (&[1, 9], EPERM), (&[1 | HIGH, 8 | HIGH], EPERM), (&[1, 0x28], EPERM)],
    );
}

#[test]
fn process_1() {
    for call in ["sched_setaffinity", "sched_setparam", "sched_setscheduler", "sched_setattr"] {
        check(call, &[(&[0], Allow), (&[2], Allow), (&[1], EPERM), (&[1 | ALL_HIGH], EPERM)]);
    }
    check(
        "prlimit64",
        &[
            (&[0, 7, 0x7fff_0000], Allow),
            (&[1, 7, 0, 0x7fff_0000], Allow),
            (&[1, 7, 0x7fff_0000], EPERM),
            (&[1 | HIGH, 7, 0x7fff_0000], EPERM),
            // A pointer whose low half is 0.
            (&[1, 7, HIGH], EPERM),
        ],
    );
    check(
        "setpriority",
        &[
            (&[0, 0, 19], Allow),
            (&[1, 0, 19], Allow),
            (&[0, 1, 19], EPERM),
            (&[HIGH, 1 | HIGH, 19], EPERM),
            (&[1, 1, 19], EPERM),
            (&[2, 0, 19], EPERM),
        ],
    );
    check(
        "ioprio_set",
        &[(&[1, 0], Allow), (&[2, 0], Allow), (&[1, 1], EPERM), (&[2, 1], EPERM), (&[3, 0], EPERM)],
    );
}
