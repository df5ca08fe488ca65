//! `/proc`: the host's processes, PID 1 of the cell, and what the kernel shows of itself.

use testkit::world::Caller;

use crate::scene::{SECRET, Scene};
use crate::table::Control::{None, Off, OffWhere};
use crate::table::{Case, case, each, prove};

const OTHER_USERNS: &str = "across user namespaces the kernel itself asks a capability, and an ordinary user's cell cannot do without one";
const ROOT_ONLY: &str = "the host lets only root open it, and an ordinary user's cell has no way to be root";
const KERNEL_ASKS: &str = "the kernel asks a capability of the initial user namespace even of root's files";
const HIDDEN: &[i32] = &[libc::EACCES, libc::EPERM];
const READ_ONLY: &[i32] = &[libc::EROFS, libc::EACCES];

/// The control of what a process of the same host user could read.
const AS_HOST_USER: crate::table::Control = Off("pid-namespace,user-namespace,landlock");

pub(crate) const CASES: &[Case] = &[
    case("command lines of the host", "find,{victim}", &[], Off("pid-namespace")),
    each("environment", "of-victim,{victim},environ,{secret}", &[], AS_HOST_USER, None(OTHER_USERNS)),
    each("root", "of-victim,{victim},root{in-victims-root},{secret}", &[], AS_HOST_USER, None(OTHER_USERNS)),
    each("working folder", "of-victim,{victim},cwd/canary,{secret}", &[], AS_HOST_USER, None(OTHER_USERNS)),
    each("open file", "of-victim,{victim},fd/9,{secret}", &[], AS_HOST_USER, None(OTHER_USERNS)),
    each("memory", "memory-of-victim,{victim}", &[], AS_HOST_USER, None(OTHER_USERNS)),
    case("PID 1: memory", "memory,1", HIDDEN, Off("dumpable,landlock,capabilities")),
    case("PID 1: memory to write", "write-memory,1", HIDDEN, Off("dumpable,landlock,capabilities")),
    case(
        "PID 1: memory by call",
        "copy-memory,1",
        &[libc::EPERM],
        Off("dumpable,landlock,capabilities,seccomp-process_vm_readv"),
    ),
    case("PID 1: tracing", "attach,1", &[libc::EPERM], Off("dumpable,landlock,capabilities,seccomp-ptrace")),
    case("PID 1: environment", "read,/proc/1/environ", HIDDEN, Off("dumpable,landlock,capabilities")),
    case("PID 1: open files", "list,/proc/1/fd", HIDDEN, Off("dumpable,landlock,capabilities")),
    case("PID 1: root", "list,/proc/1/root", HIDDEN, Off("dumpable,landlock,capabilities")),
    case("PID 1: working folder", "list,/proc/1/cwd", HIDDEN, Off("dumpable,landlock,capabilities")),
    case("PID 1: program", "read,/proc/1/exe", HIDDEN, Off("dumpable,landlock,capabilities")),
    case("PID 1: maps", "read,/proc/1/maps", HIDDEN, Off("dumpable,landlock,capabilities")),
    each(
        "core_pattern",
        "open-write,/proc/sys/kernel/core_pattern",
        READ_ONLY,
        Off("identity,proc-masks"),
        None(ROOT_ONLY),
    ),
    each(
        "modprobe",
        "open-write,/proc/sys/kernel/modprobe",
        &[libc::EROFS, libc::EACCES, libc::ENOENT],
        OffWhere("/proc/sys/kernel/modprobe", "identity,proc-masks"),
        None(ROOT_ONLY),
    ),
    each(
        "drop_caches",
        "open-write,/proc/sys/vm/drop_caches",
        READ_ONLY,
        Off("identity,proc-masks"),
        None(ROOT_ONLY),
    ),
    each(
        "overcommit",
        "open-write,/proc/sys/vm/overcommit_memory",
        READ_ONLY,
        Off("identity,proc-masks"),
        None(ROOT_ONLY),
    ),
    case(
        "own network's settings",
        "open-write,/proc/sys/net/ipv4/ip_forward",
        READ_ONLY,
        Off("proc-masks,capabilities"),
    ),
    each(
        "interrupts",
        "open-write,/proc/irq/default_smp_affinity",
        &[libc::EROFS, libc::EACCES, libc::ENOENT],
        OffWhere("/proc/irq/default_smp_affinity", "identity,proc-masks"),
        None(ROOT_ONLY),
    ),
    each(
        "sysrq-trigger",
        "open-write,/proc/sysrq-trigger",
        &[libc::EROFS, libc::EACCES, libc::ENOENT],
        OffWhere("/proc/sysrq-trigger", "identity,proc-masks"),
        None(ROOT_ONLY),
    ),
    case("kallsyms", "read,/proc/kallsyms", &[], OffWhere("/proc/kallsyms", "proc-masks")),
    case("config.gz", "read,/proc/config.gz", &[], OffWhere("/proc/config.gz", "proc-masks")),
    each(
        "timer_list",
        "read,/proc/timer_list",
        &[],
        OffWhere("/proc/timer_list", "identity,proc-masks"),
        None(ROOT_ONLY),
    ),
    each(
        "kpagecount",
        "read,/proc/kpagecount",
        &[],
        OffWhere("/proc/kpagecount", "identity,proc-masks"),
        None(ROOT_ONLY),
    ),
    case("kcore", "read,/proc/kcore", &[], None(KERNEL_ASKS)),
    case("kmsg", "read,/proc/kmsg", &[], None(KERNEL_ASKS)),
    case(
        "/dev/mem",
        "read,/dev/mem",
        &[libc::ENOENT],
        None("`/dev` is made anew; there is no guard that would show the host's"),
    ),
    case(
        "/dev/kmsg",
        "read,/dev/kmsg",
        &[libc::ENOENT],
        None("`/dev` is made anew; there is no guard that would show the host's"),
    ),
    case(
        "disks",
        "list,/sys/block",
        &[libc::ENOENT],
        None("`/sys` is made anew; there is no guard that would show the host's"),
    ),
];

fn stage(caller: Caller, _: Option<&str>) -> Scene {
    let mut scene = Scene::new(caller);
    // Where root starts the cell, the control without a user namespace runs as the host's 65534.
    let uid = if caller == Caller::Root { 65_534 } else { caller.ids().0 };
    let folder = scene.world.make_folder("victim").unwrap();
    let canary = scene.world.make_file("victim/canary", SECRET, 0o600).unwrap();
    for path in [&folder, &canary] {
        std::os::unix::fs::lchown(path, Some(uid), Some(uid)).unwrap();
    }
    std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let name = format!("victim-{}", scene.world.folder().file_name().unwrap().to_str().unwrap());
    let attacker = scene.world.attacker();
    let mut command = std::process::Command::new("setpriv");
    if rustix::process::geteuid().is_root() {
        command.args(["--reuid", &uid.to_string(), "--regid", &uid.to_string(), "--clear-groups"]);
    }
    command.args(["sh", "-c", "exec \"$0\" --victim \"$1\" 9<canary"]).arg(&attacker).arg(&name);
    scene.accompany(command.current_dir(&folder).env("THE_SECRET", SECRET));
    scene.word("victim", name).place("in-victims-root", "victim/canary")
}

#[test]
fn proc_shows_the_cell_alone() {
    prove("proc", CASES, stage);
}
