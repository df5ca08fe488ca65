//! The rules about arguments.

use super::rule::{Answer, Clause, Rule, Test, any, field, is};

const EPERM: Answer = Answer::Errno(libc::EPERM);

/// `S_ISUID | S_ISGID` of inode(7).
const SET_ID: u32 = 0o6000;
/// `S_IFMT` of inode(7).
const FILE_TYPE: u32 = 0o170_000;
/// `S_IFCHR` and `S_IFBLK` of inode(7).
const DEVICES: &[u32] = &[0o020_000, 0o060_000];
/// `O_CREAT` and `__O_TMPFILE` of `asm-generic/fcntl.h`: only with one of them open(2) reads its mode.
const CREATES: u32 = 0o100 | 0o20_000_000;
/// `SOCK_TYPE_MASK` of `linux/net.h`; above it are flags.
const SOCKET_TYPE: u32 = 0xf;
/// `AF_INET` and `AF_INET6`.
const INTERNET: &[u32] = &[2, 10];
/// `AF_NETLINK`.
const NETLINK: &[u32] = &[16];
/// `AF_UNIX`.
const UNIX: &[u32] = &[1];
/// Process 1: ours.
const INIT: &[u32] = &[1];

/// `CLONE_NEWNS`, `NEWCGROUP`, `NEWUTS`, `NEWIPC`, `NEWUSER`, `NEWPID`, `NEWNET` of clone(2). `CLONE_NEWTIME` shares
/// its bit with the end signal and does not exist for clone(2).
const NEW_NAMESPACES: u32 =
    0x0002_0000 | 0x0200_0000 | 0x0400_0000 | 0x0800_0000 | 0x1000_0000 | 0x2000_0000 | 0x4000_0000;

/// `socket`: domain, type, protocol. Each pair of family and protocol is a module that the kernel may load on demand.
pub static SOCKET: Rule = Rule {
    name: "socket",
    clauses: &[
        Clause { says: "`AF_UNIX`: local sockets", tests: &[is(0, UNIX)], answer: Answer::Allow },
        Clause {
            says: "`AF_INET`, `AF_INET6` with TCP: the captured network",
            tests: &[is(0, INTERNET), field(1, SOCKET_TYPE, &[1]), is(2, &[0, 6])],
            answer: Answer::Allow,
        },
        Clause {
            says: "`AF_INET`, `AF_INET6` with UDP: the captured network",
            tests: &[is(0, INTERNET), field(1, SOCKET_TYPE, &[2]), is(2, &[0, 17])],
            answer: Answer::Allow,
        },
        Clause {
            says: "`SOCK_RAW` and `SOCK_PACKET`: made-up packets; they need a capability nobody here has",
            tests: &[is(0, INTERNET), field(1, SOCKET_TYPE, &[3, 10])],
            answer: EPERM,
        },
        Clause {
            says: "other protocols (MPTCP, SMC, ICMP, UDP-Lite, …): not captured, and kernel code nobody needs; \
                   Go falls back to TCP",
            tests: &[is(0, INTERNET), field(1, SOCKET_TYPE, &[1, 2])],
            answer: Answer::Errno(libc::EPROTONOSUPPORT),
        },
        Clause {
            says: "other types (`SOCK_SEQPACKET` for SCTP, `SOCK_DCCP`): the same",
            tests: &[is(0, INTERNET)],
            answer: Answer::Errno(libc::ESOCKTNOSUPPORT),
        },
        Clause {
            says: "`NETLINK_ROUTE`: getifaddrs(3) and so `os.networkInterfaces()`; changes need a capability",
            tests: &[is(0, NETLINK), is(2, &[0])],
            answer: Answer::Allow,
        },
        Clause {
            says: "other netlink protocols: packet filters, IPsec, audit, kernel events",
            tests: &[is(0, NETLINK)],
            answer: Answer::Errno(libc::EPROTONOSUPPORT),
        },
    ],
    // Other families (VSOCK, ALG, PACKET, TIPC, CAN, XDP, …), as from a kernel without them.
    otherwise: Answer::Errno(libc::EAFNOSUPPORT),
};

/// `socket` of a supervisor: TCP, UDP and the list of interfaces.
pub static OUTWARDS: Rule = Rule {
    name: "supervisor-socket",
    clauses: &[
        Clause {
            says: "`AF_INET`, `AF_INET6` with TCP: what leaves the cell",
            tests: &[is(0, INTERNET), field(1, SOCKET_TYPE, &[1]), is(2, &[0, 6])],
            answer: Answer::Allow,
        },
        Clause {
            says: "`AF_INET`, `AF_INET6` with UDP: looking names up",
            tests: &[is(0, INTERNET), field(1, SOCKET_TYPE, &[2]), is(2, &[0, 17])],
            answer: Answer::Allow,
        },
        Clause {
            says: "`NETLINK_ROUTE`: which addresses this machine has, for the order of answers",
            tests: &[is(0, NETLINK), is(2, &[0])],
            answer: Answer::Allow,
        },
        Clause {
            says: "`AF_UNIX`: other supervisors, agents of keys, buses; Landlock before ABI 9 does not see a connection to one",
            tests: &[is(0, UNIX)],
            answer: EPERM,
        },
    ],
    otherwise: Answer::Errno(libc::EAFNOSUPPORT),
};

/// `prctl` of a supervisor: it has no reason to change what it said of itself.
pub static PRCTL_SUPERVISOR: Rule = Rule {
    name: "supervisor-prctl",
    clauses: &[
        Clause {
            says: "names of threads and of memory (`PR_SET_NAME`, `PR_GET_NAME`, `PR_SET_VMA`)",
            tests: &[is(0, &[15, 16, 0x5356_4d41])],
            answer: Answer::Allow,
        },
        Clause {
            says: "`PR_SET_DUMPABLE`: others could read the memory",
            tests: &[is(0, &[4])],
            answer: EPERM,
        },
    ],
    otherwise: Answer::Errno(libc::EINVAL),
};

/// `socketpair`: domain.
pub static SOCKETPAIR: Rule = Rule {
    name: "socket",
    clauses: &[
        Clause { says: "`AF_UNIX`: local pairs", tests: &[is(0, UNIX)], answer: Answer::Allow },
        Clause {
            says: "`AF_INET`, `AF_INET6`, `AF_NETLINK`: have no pairs; the kernel's own answer, without making two sockets first",
            tests: &[is(0, &[2, 10, 16])],
            answer: Answer::Errno(libc::EOPNOTSUPP),
        },
    ],
    otherwise: Answer::Errno(libc::EAFNOSUPPORT),
};

/// `clone`: flags, first on both architectures; the kernel keeps their low 32 bits.
pub static CLONE: Rule = Rule {
    name: "clone",
    clauses: &[Clause {
        says: "any `CLONE_NEW…`: capabilities inside a new namespace open most of the kernel",
        tests: &[any(0, NEW_NAMESPACES)],
        answer: EPERM,
    }],
    otherwise: Answer::Allow,
};

/// `unshare`: flags, a whole word.
pub static UNSHARE: Rule = Rule {
    name: "unshare",
    clauses: &[Clause {
        says: "`CLONE_FILES`, `CLONE_FS`, `CLONE_SYSVSEM` only: a thread's own folder, umask and fds",
        tests: &[Test::OnlyBits { argument: 0, mask: 0x400 | 0x200 | 0x0004_0000 }],
        answer: Answer::Allow,
    }],
    // Namespaces, and flags that later kernels add.
    otherwise: EPERM,
};

/// `ioctl`: request, an `unsigned int`.
pub static IOCTL: Rule = Rule {
    name: "ioctl",
    clauses: &[
        Clause {
            says: "`TIOCSTI`, `TIOCLINUX`, `TIOCCONS`: type into, paste into or take over a terminal that came in from the host",
            tests: &[is(1, &[0x5412, 0x541c, 0x541d])],
            answer: EPERM,
        },
        Clause {
            says: "`TIOCSETD`: loads line disciplines, old kernel code",
            tests: &[is(1, &[0x5423])],
            answer: EPERM,
        },
        Clause {
            says: "`FS_IOC_ADD_ENCRYPTION_KEY`: a keyring by another door",
            tests: &[is(1, &[0xc050_6617])],
            answer: EPERM,
        },
    ],
    otherwise: Answer::Allow,
};

/// `prctl`: option, an `int`. A list of what may be set, since options are added with every kernel.
pub static PRCTL: Rule = Rule {
    name: "prctl",
    clauses: &[
        Clause {
            says: "what a process may tell about itself: name, parent-death signal, dumpable, `no_new_privs`, filters, \
                   capabilities (only fewer), timer slack, huge pages, subreaper, speculation, memory names, \
                   `PR_SET_PTRACER` (nobody can trace), the pointer and vector controls of aarch64",
            tests: &[is(0, PRCTL_OPTIONS)],
            answer: Answer::Allow,
        },
        Clause {
            says: "`PR_SET_MM` (a false picture of itself in `/proc`), `PR_SET_IO_FLUSHER`, `PR_SCHED_CORE` (idles host cores), \
                   `PR_SET_MEMORY_MERGE` (merged pages tell what others hold)",
            tests: &[is(0, &[35, 57, 62, 67])],
            answer: EPERM,
        },
    ],
    // As from a kernel that does not have the option.
    otherwise: Answer::Errno(libc::EINVAL),
};

/// Numbers of `linux/prctl.h`, in its order.
const PRCTL_OPTIONS: &[u32] = &[
    1,
    2,
    3,
    4,
    7,
    8,
    13,
    14,
    15,
    16,
    21,
    22,
    23,
    24,
    25,
    26,
    27,
    28,
    29,
    30,
    31,
    32,
    33,
    34,
    36,
    37,
    38,
    39,
    40,
    41,
    42,
    47,
    50,
    51,
    52,
    53,
    54,
    55,
    56,
    58,
    59,
    60,
    61,
    63,
    64,
    65,
    66,
    68,
    74,
    75,
    76,
    78,
    // PR_SET_VMA, PR_SET_PTRACER, PR_GET_AUXV
    0x5356_4d41,
    0x5961_6d61,
    0x4155_5856,
];

/// `personality`: an `unsigned int`.
pub static PERSONALITY: Rule = Rule {
    name: "personality",
    clauses: &[Clause {
        says: "`PER_LINUX`, `PER_LINUX32`, each with `UNAME26`, and the question (`0xffffffff`)",
        tests: &[is(0, &[0, 0x8, 0x2_0000, 0x2_0008, 0xffff_ffff])],
        answer: Answer::Allow,
    }],
    // ADDR_NO_RANDOMIZE and READ_IMPLIES_EXEC would undo the defences of what is started next.
    otherwise: EPERM,
};

/// `seccomp`: operation and flags, both `unsigned int`.
pub static LISTENER: Rule = Rule {
    name: "listener",
    clauses: &[Clause {
        says: "`SECCOMP_SET_MODE_FILTER` with `NEW_LISTENER`: a process that waits for a listener's answer cannot be stopped, \
               so the cell could not be frozen (ours would still win: an errno goes before a notification)",
        tests: &[is(0, &[1]), any(1, 1 << 3)],
        answer: EPERM,
    }],
    otherwise: Answer::Allow,
};

const SET_ID_SAYS: &str = "set-user-id or set-group-id in the mode: in a writable mount the owner on the host may be a person or root";
const DEVICE_SAYS: &str = "`S_IFCHR`, `S_IFBLK`: devices";

/// `chmod`, `fchmod`, `creat`, `mkdir`: mode second.
pub static SET_ID_SECOND: Rule = Rule {
    name: "suid",
    clauses: &[Clause { says: SET_ID_SAYS, tests: &[any(1, SET_ID)], answer: EPERM }],
    otherwise: Answer::Allow,
};

/// `fchmodat`, `fchmodat2`, `mkdirat`: mode third.
pub static SET_ID_THIRD: Rule = Rule {
    name: "suid",
    clauses: &[Clause { says: SET_ID_SAYS, tests: &[any(2, SET_ID)], answer: EPERM }],
    otherwise: Answer::Allow,
};

/// `open`: flags second, mode third.
pub static SET_ID_OPEN: Rule = Rule {
    name: "suid",
    clauses: &[Clause { says: SET_ID_SAYS, tests: &[any(1, CREATES), any(2, SET_ID)], answer: EPERM }],
    otherwise: Answer::Allow,
};

/// `openat`: flags third, mode fourth.
pub static SET_ID_OPENAT: Rule = Rule {
    name: "suid",
    clauses: &[Clause { says: SET_ID_SAYS, tests: &[any(2, CREATES), any(3, SET_ID)], answer: EPERM }],
    otherwise: Answer::Allow,
};

/// `mknod`: mode and type second.
pub static SET_ID_MKNOD: Rule = Rule {
    name: "suid",
    clauses: &[
        Clause { says: SET_ID_SAYS, tests: &[any(1, SET_ID)], answer: EPERM },
        Clause { says: DEVICE_SAYS, tests: &[field(1, FILE_TYPE, DEVICES)], answer: EPERM },
    ],
    otherwise: Answer::Allow,
};

/// `mknodat`: mode and type third.
pub static SET_ID_MKNODAT: Rule = Rule {
    name: "suid",
    clauses: &[
        Clause { says: SET_ID_SAYS, tests: &[any(2, SET_ID)], answer: EPERM },
        Clause { says: DEVICE_SAYS, tests: &[field(2, FILE_TYPE, DEVICES)], answer: EPERM },
    ],
    otherwise: Answer::Allow,
};

const INIT_SAYS: &str = "process 1: it has the tool's uid, so the kernel would let the tool slow down the watch that ends the cell";

/// `sched_setscheduler`, `sched_setparam`, `sched_setattr`, `sched_setaffinity`: process first.
pub static NOT_INIT: Rule = Rule {
    name: "init",
    clauses: &[Clause { says: INIT_SAYS, tests: &[is(0, INIT)], answer: EPERM }],
    otherwise: Answer::Allow,
};

/// `prlimit64`: process first, new limits (a pointer) third.
pub static NOT_INIT_LIMITS: Rule = Rule {
    name: "init",
    clauses: &[Clause {
        says: "new limits for process 1: it would no longer do what the supervisor asks",
        tests: &[is(0, INIT), Test::Given { argument: 2 }],
        answer: EPERM,
    }],
    otherwise: Answer::Allow,
};

/// `setpriority`: kind (`PRIO_PROCESS` 0, `PRIO_PGRP` 1, `PRIO_USER` 2), then who.
pub static NOT_INIT_PRIORITY: Rule = Rule {
    name: "init",
    clauses: &[
        Clause { says: INIT_SAYS, tests: &[is(0, &[0, 1]), is(1, INIT)], answer: EPERM },
        Clause {
            says: "`PRIO_USER`: everyone of this uid, process 1 too",
            tests: &[is(0, &[2])],
            answer: EPERM,
        },
    ],
    otherwise: Answer::Allow,
};

/// `ioprio_set`: kind (`IOPRIO_WHO_PROCESS` 1, `_PGRP` 2, `_USER` 3), then who.
pub static NOT_INIT_IOPRIO: Rule = Rule {
    name: "init",
    clauses: &[
        Clause { says: INIT_SAYS, tests: &[is(0, &[1, 2]), is(1, INIT)], answer: EPERM },
        Clause {
            says: "`IOPRIO_WHO_USER`: everyone of this uid, process 1 too",
            tests: &[is(0, &[3])],
            answer: EPERM,
        },
    ],
    otherwise: Answer::Allow,
};
