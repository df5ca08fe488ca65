//! What the kernel shows of itself inside: `/proc`, `/dev`, `/sys`.

use std::{
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::Path,
};

use rustix::{
    fs::OFlags,
    mount::{MountAttrFlags, OpenTreeFlags, open_tree},
};

use crate::{
    failure::Step,
    guard,
    message::{Failure, Stage},
    place::{attach_at, exists, file, filesystem, folder, mask, open, put, tmpfs},
    spec::{CgroupView, Spec},
    sys,
    tree::Tree,
};

/// Entries of `/proc` that tell of, or reach into, the host kernel rather than the cell.
const COVERED: [&str; 15] = [
    "acpi",
    "asound",
    "config.gz",
    "kallsyms",
    "kcore",
    "keys",
    "kmsg",
    "kpagecgroup",
    "kpagecount",
    "kpageflags",
    "latency_stats",
    "sched_debug",
    "scsi",
    "sysrq-trigger",
    "timer_list",
];

/// Entries of `/proc` that programs read (`/proc/sys/kernel/…`) and nothing inside may write.
const READ_ONLY: [&str; 4] = ["bus", "fs", "irq", "sys"];

/// Kernel file systems, made while the host's `/proc` is still visible (the kernel wants to see one to give one).
#[derive(Debug)]
pub(crate) struct Mounts {
    proc: OwnedFd,
    cgroup: Vec<(String, OwnedFd)>,
}

impl Mounts {
    pub(crate) fn prepare(spec: &Spec) -> Result<Self, Failure> {
        let proc = if guard::off("pid-namespace") {
            let flags = OpenTreeFlags::OPEN_TREE_CLONE
                | OpenTreeFlags::OPEN_TREE_CLOEXEC
                | OpenTreeFlags::AT_RECURSIVE;
            open_tree(rustix::fs::CWD, "/proc", flags)
        } else {
            let flags = MountAttrFlags::MOUNT_ATTR_NOSUID
                | MountAttrFlags::MOUNT_ATTR_NODEV
                | MountAttrFlags::MOUNT_ATTR_NOEXEC;
            filesystem("proc", &[], flags)
        };
        let proc = proc.step(Stage::Proc, || "mounting /proc of the cell".into())?;
        Ok(Self { proc, cgroup: cgroup_mounts(&spec.cgroups.view) })
    }

    pub(crate) fn put(self, root: BorrowedFd<'_>, spec: &Spec, devices: Vec<Tree>) -> Result<(), Failure> {
        put_dev(root, devices)?;
        put_proc(root, self.proc.as_fd())?;
        put_sys(root, spec, self.cgroup)
    }
}

fn put_dev(root: BorrowedFd<'_>, devices: Vec<Tree>) -> Result<(), Failure> {
    let step = |what: &str| format!("making /dev{what}");
    let at = folder(root, Path::new("/dev"))?;
    let noexec = MountAttrFlags::MOUNT_ATTR_NOEXEC;
    let dev = tmpfs(&[("size", "64k"), ("nr_inodes", "64"), ("mode", "0755")], noexec)
        .step(Stage::Mounts, || step(""))?;
    attach_at(dev.as_fd(), at.as_fd()).step(Stage::Mounts, || step(""))?;
    for device in devices {
        put(root, &device)?;
    }
    for (name, target) in [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
        ("ptmx", "pts/ptmx"),
    ] {
        rustix::fs::symlinkat(target, &dev, name).step(Stage::Mounts, || step("/").clone() + name)?;
    }
    let pts = folder(root, Path::new("/dev/pts"))?;
    let flags = MountAttrFlags::MOUNT_ATTR_NOSUID | noexec;
    let terminals = filesystem("devpts", &[("ptmxmode", "0666"), ("mode", "0620")], flags)
        .step(Stage::Mounts, || step("/pts"))?;
    attach_at(terminals.as_fd(), pts.as_fd()).step(Stage::Mounts, || step("/pts"))?;
    drop(folder(root, Path::new("/dev/shm"))?);
    sys::mount_setattr(dev.as_fd(), false, libc::MOUNT_ATTR_RDONLY, None)
        .step(Stage::Mounts, || "making /dev read-only".into())
}

fn put_proc(root: BorrowedFd<'_>, proc: BorrowedFd<'_>) -> Result<(), Failure> {
    let at = folder(root, Path::new("/proc"))?;
    attach_at(proc, at.as_fd()).step(Stage::Proc, || "putting /proc in place".into())?;
    if guard::off("proc-masks") {
        return Ok(());
    }
    for name in COVERED.into_iter().filter(|name| exists(proc, name)) {
        mask(root, &Path::new("/proc").join(name))?;
    }
    for name in READ_ONLY.into_iter().filter(|name| exists(proc, name)) {
        let step = || format!("making /proc/{name} read-only");
        let flags =
            OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
        let over = open_tree(proc, name, flags).step(Stage::Proc, step)?;
        sys::mount_setattr(over.as_fd(), true, libc::MOUNT_ATTR_RDONLY, None).step(Stage::Proc, step)?;
        let point = open(root, &Path::new("/proc").join(name), OFlags::PATH).step(Stage::Proc, step)?;
        attach_at(over.as_fd(), point.as_fd()).step(Stage::Proc, step)?;
    }
    Ok(())
}

/// The cell's own hierarchies, or nothing where the kernel gives none: the limits are stated by files then.
fn cgroup_mounts(view: &CgroupView) -> Vec<(String, OwnedFd)> {
    let flags = MountAttrFlags::MOUNT_ATTR_RDONLY
        | MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    let made = match view {
        CgroupView::Stated => return Vec::new(),
        CgroupView::Unified => filesystem("cgroup2", &[], flags).map(|mount| vec![(String::new(), mount)]),
        CgroupView::Legacy { controllers } => controllers
            .iter()
            .map(|names| {
                let options: Vec<(&str, &str)> = names.split(',').map(|name| (name, "")).collect();
                filesystem("cgroup", &options, flags).map(|mount| (names.clone(), mount))
            })
            .collect(),
    };
    made.unwrap_or_default()
}

fn put_sys(root: BorrowedFd<'_>, spec: &Spec, mounts: Vec<(String, OwnedFd)>) -> Result<(), Failure> {
    let base = Path::new("/sys/fs/cgroup");
    let at = folder(root, base)?;
    if mounts.is_empty() {
        return state_limits(root, spec, base);
    }
    for (names, mount) in mounts {
        let step = || format!("mounting the cgroup view {names}");
        let point = if names.is_empty() { None } else { Some(folder(root, &base.join(&names))?) };
        let point = point.as_ref().map_or(at.as_fd(), OwnedFd::as_fd);
        attach_at(mount.as_fd(), point).step(Stage::Mounts, step)?;
        // As systemd has it: `cpu` and `cpuacct` lead to the one hierarchy of both.
        for name in names.split(',').filter(|name| *name != names) {
            rustix::fs::symlinkat(names.as_str(), &at, name).step(Stage::Mounts, step)?;
        }
    }
    Ok(())
}

/// The files that libuv, the JVM and Go read, in both layouts (cgroups(7); v1: memory.txt, cfs bandwidth).
fn state_limits(root: BorrowedFd<'_>, spec: &Spec, base: &Path) -> Result<(), Failure> {
    const PERIOD_US: u64 = 100_000;
    let limits = &spec.rlimits;
    let quota = u64::from(limits.cpu_milli) * PERIOD_US / 1000;
    let (memory, processes) = (format!("{}\n", limits.memory), format!("{}\n", limits.processes));
    for (name, contents) in [
        ("cgroup.controllers", "cpu memory pids\n".to_owned()),
        ("memory.max", memory.clone()),
        ("memory.high", "max\n".to_owned()),
        ("memory.swap.max", "0\n".to_owned()),
        ("pids.max", processes.clone()),
        ("cpu.max", format!("{quota} {PERIOD_US}\n")),
        ("memory/memory.limit_in_bytes", memory.clone()),
        ("memory/memory.soft_limit_in_bytes", memory),
        ("pids/pids.max", processes),
        ("cpu/cpu.cfs_quota_us", format!("{quota}\n")),
        ("cpu/cpu.cfs_period_us", format!("{PERIOD_US}\n")),
    ] {
        file(root, &base.join(name), contents.as_bytes())?;
    }
    Ok(())
}
