//! The first half: what needs the caller's rights. It reads the spec, enters the cgroups, takes hold of the trees to
//! be mounted (where started by root), makes PID 1 in its namespaces, writes its id maps, and ends.

use std::{
    fs::File,
    io::{Read, Seek},
    os::fd::{AsFd, AsRawFd, OwnedFd},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use rustix::{
    fs::{Mode, OFlags},
    pipe::{PipeFlags, pipe_with},
    process::{getgid, getuid},
};

use crate::{
    control::{Control, Incoming},
    failure::Step,
    guard,
    inheritance::{INSIDE, Inheritance},
    init,
    message::{Failure, Order, Report, Stage},
    spec::{Identity, Spec},
    sys::{self, Fork},
    tree::{self, Trees},
};

/// Enters the v1 groups. `tasks` takes the one thread there is without the wait that `cgroup.procs` has for all
/// threads of a process to hold still.
fn enter_legacy(groups: &[PathBuf]) -> Result<(), Failure> {
    for group in groups {
        let tasks = group.join("tasks");
        std::fs::write(&tasks, "0").step(Stage::Cgroup, || format!("entering {}", group.display()))?;
    }
    Ok(())
}

fn open_unified(group: Option<&Path>) -> Result<Option<OwnedFd>, Failure> {
    let open = |group: &Path| {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::fs::open(group, flags, Mode::empty());
        opened.step(Stage::Cgroup, || format!("opening {}", group.display()))
    };
    group.map(open).transpose()
}

/// The whole program. Its two arguments are the numbers of inherited fds: the control socket's, and that of a file
/// that holds the spec. Returns the exit code of the launcher.
pub fn main() -> i32 {
    let mut numbers = std::env::args().skip(1).map_while(|number| number.parse::<i32>().ok());
    let inherited = |number: Option<i32>| number.filter(|number| *number > 2).map(sys::inherited);
    let (Some(Ok(control)), Some(Ok(spec))) = (inherited(numbers.next()), inherited(numbers.next())) else {
        eprintln!("fumehood-jail is started by fumehood; it does nothing by itself");
        return 2;
    };
    match launch(Control::new(control), spec) {
        Ok(()) => 0,
        Err((control, failure)) => {
            control.report(&Report::Failed(failure));
            1
        }
    }
}

fn launch(control: Control, spec: OwnedFd) -> Result<(), (Control, Failure)> {
    match prepare(&control, spec) {
        Ok((spec, trees, group)) => make_init(spec, control, trees, group.as_ref()),
        Err(failure) => Err((control, failure)),
    }
}

fn prepare(control: &Control, spec: OwnedFd) -> Result<(Spec, Trees, Option<OwnedFd>), Failure> {
    if !guard::off("close-fds") {
        // Whatever the supervisor's caller left open is none of the cell's business.
        let own = [control.as_fd().as_raw_fd(), spec.as_raw_fd()];
        sys::close_others(own).step(Stage::Spec, || "closing foreign fds".into())?;
    }
    await_spec(control)?;
    let mut text = Vec::new();
    let mut file = File::from(spec);
    // Whoever wrote it has left the end behind as the place where reading would begin.
    file.rewind()
        .and_then(|()| file.read_to_end(&mut text))
        .step(Stage::Spec, || "reading the spec".into())?;
    let spec = Spec::parse(&text)?;
    enter_legacy(&spec.cgroups.legacy)?;
    let group = open_unified(spec.cgroups.unified.as_deref())?;
    let trees = match spec.identity {
        Identity::Reserved { id } => tree::take(&spec, Some(id))?,
        Identity::Caller { .. } => Trees::default(),
    };
    Ok((spec, trees, group))
}

/// This program is started while it is still worked out what to build.
fn await_spec(control: &Control) -> Result<(), Failure> {
    loop {
        match control.receive() {
            Incoming::Order(Order::Build, _) => return Ok(()),
            Incoming::Order(..) | Incoming::Noise => {}
            Incoming::Closed => {
                let step = || "waiting for the spec".into();
                return Err(rustix::io::Errno::PIPE).step(Stage::Spec, step);
            }
        }
    }
}

fn make_init(
    spec: Spec,
    control: Control,
    trees: Trees,
    group: Option<&OwnedFd>,
) -> Result<(), (Control, Failure)> {
    let identity = spec.identity;
    let made = drop_groups(identity).and_then(|groups_dropped| {
        let (go, went) = pipe_with(PipeFlags::CLOEXEC).step(Stage::Namespaces, || "making a pipe".into())?;
        let side = sys::fork_into(namespaces(), group.map(OwnedFd::as_fd))
            .step(Stage::Namespaces, || "making the namespaces".into())?;
        Ok((groups_dropped, go, went, side))
    });
    let (groups_dropped, go, went, side) = match made {
        Ok(made) => made,
        Err(failure) => return Err((control, failure)),
    };
    let Fork::Parent(pid) = side else {
        drop(went);
        init::run(Inheritance { spec, control, trees, go, groups_dropped });
    };
    let may_drop = match write_maps(pid, identity) {
        Ok(may_drop) => may_drop,
        Err(failure) => return Err((control, failure)),
    };
    control.report(&Report::Made { pid });
    match rustix::io::write(&went, &[u8::from(may_drop)]).step(Stage::Identity, || "waking PID 1".into()) {
        Ok(_) => Ok(()),
        Err(failure) => Err((control, failure)),
    }
}

fn namespaces() -> u64 {
    // No guard takes the mount namespace away: what PID 1 does next would be done to the host's own mounts.
    let always = u64::from(libc::CLONE_NEWNS.unsigned_abs());
    let all = [
        ("user-namespace", libc::CLONE_NEWUSER),
        ("pid-namespace", libc::CLONE_NEWPID),
        ("network-namespace", libc::CLONE_NEWNET),
        ("ipc-namespace", libc::CLONE_NEWIPC),
        ("uts-namespace", libc::CLONE_NEWUTS),
    ];
    all.into_iter()
        .filter(|(name, _)| !guard::off(name))
        .fold(always, |flags, (_, flag)| flags | u64::from(flag.unsigned_abs()))
}

/// Root's supplementary groups go before the user namespace; a user's cannot (`newgidmap` may help later).
fn drop_groups(identity: Identity) -> Result<bool, Failure> {
    match identity {
        _ if guard::off("groups") => Ok(false),
        Identity::Reserved { .. } => {
            rustix::thread::set_thread_groups(&[])
                .step(Stage::Identity, || "dropping supplementary groups".into())?;
            Ok(true)
        }
        // Nothing to drop where the only group is the user's own.
        Identity::Caller { .. } => {
            let own = getgid();
            let groups =
                rustix::process::getgroups().step(Stage::Identity, || "reading the groups".into())?;
            Ok(groups.into_iter().all(|group| group == own))
        }
    }
}

/// Writes the maps of PID 1 from outside. Returns whether PID 1 may drop its groups itself.
fn write_maps(pid: i32, identity: Identity) -> Result<bool, Failure> {
    let proc = Path::new("/proc").join(pid.to_string());
    let write = |name: &str, text: String| {
        let path = proc.join(name);
        std::fs::write(&path, text).step(Stage::Identity, || format!("writing {}", path.display()))
    };
    match identity {
        _ if guard::off("user-namespace") => Ok(false),
        Identity::Reserved { id } => {
            let id = if guard::off("identity") { 0 } else { id };
            write("uid_map", format!("{INSIDE} {id} 1\n"))?;
            write("gid_map", format!("{INSIDE} {id} 1\n"))?;
            Ok(false)
        }
        Identity::Caller { subgid } => {
            write("uid_map", format!("{INSIDE} {} 1\n", getuid().as_raw()))?;
            // Where `newgidmap` will not, the kernel keeps the groups, and the report says so.
            if let Some(first) = subgid
                && !guard::off("groups")
                && new_gid_map(pid, first)
            {
                return Ok(true);
            }
            write("setgroups", "deny".into())?;
            write("gid_map", format!("{INSIDE} {} 1\n", getgid().as_raw()))?;
            Ok(false)
        }
    }
}

/// `newgidmap` (setuid, from shadow) is the one way for a user to map a gid other than its own, and with it to drop
/// supplementary groups.
fn new_gid_map(pid: i32, first: u32) -> bool {
    Command::new("newgidmap")
        .args([pid.to_string(), INSIDE.to_string(), first.to_string(), "1".into()])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
