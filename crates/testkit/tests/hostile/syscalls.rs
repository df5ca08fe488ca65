//! System calls: refused by errno, never by a signal, whatever door they come by.
//!
//! Calls that only the host's root is listened to have no control here: the tests of `jail` ask them as root with and
//! without the filter, and run the filter itself in an interpreter.

use crate::scene::Scene;
use crate::table::Control::{None, Off, OffUnless, OffWhere};
use crate::table::{Case, case, prove};

const ABSENT: &[i32] = &[libc::ENOSYS];
const REFUSED: &[i32] = &[libc::EPERM];
const NO_FAMILY: &[i32] = &[libc::EAFNOSUPPORT];
const INTERPRETED: &str = "no kernel of today answers; the tests of `jail` run the filter in an interpreter";
const MODULE: &str = "whether the kernel answers depends on its modules; the family beside it has a control";

pub(crate) const CASES: &[Case] = &[
    case("every refused call", "table", &[], Off("seccomp")),
    case("unknown numbers", "unknown", ABSENT, None(INTERPRETED)),
    case("x32", "x32", ABSENT, None(INTERPRETED)),
    case("i386", "i386", ABSENT, OffWhere("/proc/sys/abi/vsyscall32", "seccomp-x32-arch")),
    case("unshare: user namespace", "unshare,10000000", REFUSED, Off("seccomp-unshare")),
    case(
        "unshare: with high bits",
        "unshare,100010000000",
        REFUSED,
        None("the kernel itself refuses flags it does not know"),
    ),
    case("unshare: mount namespace", "unshare,20000", REFUSED, Off("seccomp-unshare,capabilities")),
    case("clone: user namespace", "clone,10000000", REFUSED, Off("seccomp-clone")),
    case("clone: with high bits", "clone,ffffffff10000000", REFUSED, Off("seccomp-clone")),
    case("clone3", "clone3", ABSENT, Off("seccomp-clone3")),
    case("setns", "setns", REFUSED, Off("seccomp-setns,capabilities")),
    case("ptrace of its own", "trace-me", REFUSED, Off("seccomp-ptrace")),
    case("process_vm_readv", "copy-own-memory", REFUSED, Off("seccomp-process_vm_readv")),
    case("pidfd_getfd", "take-fd", REFUSED, Off("seccomp-pidfd_getfd")),
    case("kcmp", "compare", REFUSED, Off("seccomp-kcmp")),
    case("personality", "personality", REFUSED, Off("seccomp-personality")),
    case("prctl: its own map", "own-map", REFUSED, Off("seccomp-prctl")),
    case("seccomp: a listener", "listener", REFUSED, Off("seccomp-listener")),
    case("PID 1: priority", "init-priority", REFUSED, Off("seccomp-init,capabilities")),
    case("PID 1: limits", "init-limits", REFUSED, Off("seccomp-init,capabilities")),
    case("PID 1: processors", "init-affinity", REFUSED, Off("seccomp-init,capabilities")),
    case("PID 1: disk priority", "init-io-priority", REFUSED, Off("seccomp-init,capabilities")),
    case("modify_ldt", "segments", REFUSED, OffWhere("/proc/sys/abi/vsyscall32", "seccomp-modify_ldt")),
    case("iopl", "io-privilege", REFUSED, None("some kernels are built without it")),
    case("userfaultfd", "userfaultfd", REFUSED, Off("seccomp-userfaultfd")),
    case(
        "io_uring",
        "io-uring",
        ABSENT,
        OffUnless("/proc/sys/kernel/io_uring_disabled", "2", "seccomp-io_uring_setup"),
    ),
    case("io_setup", "io-setup", ABSENT, Off("seccomp-io_setup")),
    case(
        "perf_event_open",
        "perf",
        REFUSED,
        OffUnless("/proc/sys/kernel/perf_event_paranoid", "3", "seccomp-perf_event_open"),
    ),
    case("add_key", "add-key", REFUSED, Off("seccomp-add_key")),
    case("keyctl", "keyring", REFUSED, Off("seccomp-keyctl")),
    case("request_key", "request-key", REFUSED, Off("seccomp-request_key")),
    case("fanotify", "fanotify", REFUSED, Off("seccomp-fanotify_init")),
    case("memfd_secret", "secret-memory", ABSENT, Off("seccomp-memfd_secret")),
    case("cachestat", "cachestat", ABSENT, Off("seccomp-cachestat")),
    case("openat2", "openat2", ABSENT, Off("seccomp-openat2")),
    case("listmount", "listmount", ABSENT, Off("seccomp-listmount")),
    case("lsm_list_modules", "lsm-modules", ABSENT, Off("seccomp-lsm_list_modules")),
    case(
        "the kernel's log",
        "kernel-log",
        REFUSED,
        OffUnless("/proc/sys/kernel/dmesg_restrict", "1", "seccomp-syslog"),
    ),
    case(
        "memory policy",
        "memory-policy",
        REFUSED,
        OffWhere("/proc/self/numa_maps", "seccomp-set_mempolicy"),
    ),
    case("sysfs", "file-systems", ABSENT, None("distributions build their kernels without it")),
    case("mount", "mount", REFUSED, Off("seccomp-mount,capabilities,landlock")),
    case("open_tree", "open-tree", REFUSED, Off("seccomp-open_tree,capabilities")),
    case("fsopen", "fsopen", REFUSED, Off("seccomp-fsopen,capabilities")),
    case("chroot", "chroot", REFUSED, Off("seccomp-chroot,capabilities")),
    case("sethostname", "hostname", REFUSED, Off("seccomp-sethostname,capabilities")),
    case("socket: packets", "socket,17,3,0", NO_FAMILY, Off("seccomp-socket,capabilities")),
    case(
        "socket: packets with high bits",
        "socket,17,3,0,high",
        NO_FAMILY,
        Off("seccomp-socket,capabilities"),
    ),
    case("socket: kernel events", "socket,16,3,15", &[libc::EPROTONOSUPPORT], Off("seccomp-socket")),
    case("socket: raw", "socket,2,3,1", REFUSED, Off("seccomp-socket,capabilities")),
    case("socket: crypto", "socket,38,5,0", NO_FAMILY, None(MODULE)),
    case("socket: machines", "socket,40,1,0", NO_FAMILY, None(MODULE)),
    case("socket: xdp", "socket,44,3,0", NO_FAMILY, None(MODULE)),
    case("socket: tipc", "socket,30,1,0", NO_FAMILY, None(MODULE)),
    case("socket: can", "socket,29,3,1", NO_FAMILY, None(MODULE)),
    case("socket: sctp", "socket,2,5,132", &[libc::ESOCKTNOSUPPORT], None(MODULE)),
    case("socket: mptcp", "socket,2,1,262", &[libc::EPROTONOSUPPORT], None(MODULE)),
    case("pair: packets", "pair,17,3,0", NO_FAMILY, None("the kernel itself has no such pairs")),
];

#[test]
fn refused_calls_fail_and_nothing_is_killed() {
    prove("syscalls", CASES, |caller, _| Scene::new(caller));
}
