//! Starting a jail: one `posix_spawn`, no fork by hand.

use std::{
    fs::File,
    io::Write as _,
    os::fd::{AsRawFd, OwnedFd},
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use jail::{
    message::Report,
    spec::{Identity, Spec},
};
use model::layer::{Layer, LayerName, LayerState};
use rustix::{
    io::FdFlags,
    net::{AddressFamily, SocketFlags, SocketType, socketpair},
    process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions},
};
use tokio::{io::unix::AsyncFd, sync::oneshot};

use super::{Control, Ended, Launcher, Sandbox, StartError, control::memfd_of, sys};

/// A jail program that was started and waits to be told what to build. Dropped, it ends.
#[derive(Debug)]
pub struct Waiting {
    control: Control,
    child: Launched,
    spec: File,
    timeout: Duration,
}

impl Waiting {
    /// Starts the program.
    pub(super) fn new(launcher: &Launcher) -> Result<Self, StartError> {
        let io = |step| move |source: std::io::Error| StartError::Io { step, source };
        // Orphans of the launcher become our children, so that PID 1's end is seen and its death signal is ours.
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
            .map_err(|error| io("becoming the reaper")(error.into()))?;
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .map_err(|error| io("making the control socket")(error.into()))?;
        let spec = memfd_of("spec", &[]).map_err(io("making room for the spec"))?;
        let control = Control::new(ours).map_err(io("watching the control socket"))?;
        let child = Launched(spawn(launcher, &theirs, &spec)?);
        // Nobody else that is started from now on gets it.
        rustix::io::fcntl_setfd(&spec, FdFlags::CLOEXEC)
            .map_err(|error| io("keeping the spec")(error.into()))?;
        Ok(Self { control, child, spec: File::from(spec), timeout: launcher.timeout })
    }

    /// Builds a cell after `spec`. The future is cancel-safe: dropped half way, everything made so far ends. Must be
    /// called within a tokio runtime with I/O enabled.
    ///
    /// # Errors
    /// Where a layer cannot be made on this host, or the program gives no answer.
    pub async fn start(mut self, spec: &Spec) -> Result<Sandbox, StartError> {
        let io = |step| move |source: std::io::Error| StartError::Io { step, source };
        let told = spec.tell().map_err(Into::into).and_then(|told| self.spec.write_all(&told));
        told.map_err(io("writing the spec"))?;
        let began = Instant::now();
        let built = tokio::time::timeout(self.timeout, async {
            // An error means that it has ended, after it said why or without a word.
            self.control.order_build().await.ok();
            build(&self.control).await
        });
        let waited_ms = || u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (pid, ready) = match built.await {
            Ok(Ok(Some(built))) => built,
            Ok(Err(failure)) => return Err(failure),
            Ok(Ok(None)) => return Err(StartError::Silent { waited_ms: waited_ms() }),
            Err(_elapsed) => return Err(StartError::Silent { waited_ms: waited_ms() }),
        };
        // The launcher is at its end: PID 1 reported itself ready only after that.
        let Self { control, child, .. } = self;
        drop(child);
        let (ended, hears) = oneshot::channel();
        let init = PidOne::open(pid).map_err(io("watching PID 1"))?;
        tokio::spawn(watch(init, control.clone(), ended));
        Ok(Sandbox { layers: layers(spec, &ready), control, pid, ended: hears })
    }
}

/// The program's first half: when it is dropped there is nothing left for it to do.
#[derive(Debug)]
struct Launched(Child);

impl Drop for Launched {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn spawn(launcher: &Launcher, control: &OwnedFd, spec: &OwnedFd) -> Result<Child, StartError> {
    let mut command = std::process::Command::new(&launcher.program);
    command.env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
    // Not the environment: only where `newgidmap` may lie, and in test-only builds the guard that is off.
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin");
    if cfg!(feature = "guard-off")
        && let Some(off) = std::env::var_os(jail::guard::VARIABLE)
    {
        command.env(jail::guard::VARIABLE, off);
    }
    // Inherited under their own numbers, which are its arguments: so the standard library can use posix_spawn, which
    // copies nothing of this process. Nothing else is started before the caller closes them to others.
    for fd in [control, spec] {
        rustix::io::fcntl_setfd(fd, FdFlags::empty())
            .map_err(|error| StartError::Io { step: "handing over an fd", source: error.into() })?;
        command.arg(fd.as_raw_fd().to_string());
    }
    command.spawn().map_err(|source| StartError::Program { program: launcher.program.clone(), source })
}

/// Waits for PID 1 to be made and the cell to be built. `None` when the jail went away without a word.
async fn build(control: &Control) -> Result<Option<(i32, Report)>, StartError> {
    let mut made = None;
    while let Some((report, _)) = control.receive().await {
        match report {
            Report::Made { pid } => made = Some(pid),
            Report::Failed(failure) => return Err(StartError::Layer(failure)),
            Report::Ready { .. } => return Ok(made.map(|pid| (pid, report))),
            Report::Started { .. }
            | Report::Exited { .. }
            | Report::Sockets
            | Report::MemoryCeiling { .. }
            | Report::Frozen { .. } => {}
        }
    }
    Ok(None)
}

/// PID 1 of a cell, watched by a pidfd.
#[derive(Debug)]
struct PidOne(AsyncFd<OwnedFd>);

impl PidOne {
    fn open(pid: i32) -> std::io::Result<Self> {
        let pid = Pid::from_raw(pid).ok_or(std::io::ErrorKind::InvalidInput)?;
        Ok(Self(sys::watched(rustix::process::pidfd_open(pid, PidfdFlags::NONBLOCK)?)?))
    }

    async fn gone(&self) {
        // An error of the reactor would be seen at once by everything else; the cell is taken as gone then.
        if let Ok(mut ready) = self.0.readable().await {
            ready.retain_ready();
        }
        let reaped = rustix::process::waitid(
            WaitId::PidFd(std::os::fd::AsFd::as_fd(self.0.get_ref())),
            WaitIdOptions::EXITED | WaitIdOptions::NOHANG,
        );
        reaped.ok();
    }

    fn kill(&self) {
        rustix::process::pidfd_send_signal(self.0.get_ref(), Signal::KILL).ok();
    }
}

async fn watch(init: PidOne, control: Control, ended: oneshot::Sender<Ended>) {
    let why = tokio::select! {
        why = control.clone().listen() => why,
        () = init.gone() => {
            // What it said last is still in the socket.
            let why = control.clone().listen().await;
            ended.send(why).ok();
            return;
        }
    };
    // The socket is closed. PID 1 would end by itself, but not while it is frozen; a kill reaches it there too.
    init.kill();
    init.gone().await;
    ended.send(why).ok();
}

/// The layers that the jail made: all of them, or it would have said so.
fn layers(spec: &Spec, ready: &Report) -> Vec<Layer> {
    let enforced =
        |name, detail: String| Layer { name, state: LayerState::Enforced, detail, remedy: String::new() };
    let mut layers: Vec<Layer> = [
        LayerName::UserNamespace,
        LayerName::MountNamespace,
        LayerName::PidNamespace,
        LayerName::NetworkNamespace,
        LayerName::IpcNamespace,
        LayerName::UtsNamespace,
        LayerName::CgroupNamespace,
        LayerName::Capabilities,
        LayerName::NoNewPrivileges,
        LayerName::Seccomp,
    ]
    .into_iter()
    .map(|name| enforced(name, String::new()))
    .collect();
    let Report::Ready { landlock_abi, groups_dropped, unmapped } = ready else { return layers };
    layers.push(enforced(
        LayerName::Identity,
        match spec.identity {
            Identity::Reserved { id } => format!("host uid and gid {id}, used by no other running cell"),
            Identity::Caller { .. } => "the uid of the user who started it".into(),
        },
    ));
    for path in unmapped {
        layers.push(Layer {
            name: LayerName::MountOwners,
            state: LayerState::Missing,
            detail: format!("the owner of {path} could not be mapped to the tool"),
            remedy:
                "make the tree readable (or writable) to everybody, or keep it on ext4, xfs, btrfs or tmpfs"
                    .into(),
        });
    }
    layers.push(groups(spec.identity, *groups_dropped));
    layers.push(landlock_layer(*landlock_abi));
    layers
}

/// Landlock at an ABI level, 0 for none.
pub(crate) fn landlock_layer(abi: i32) -> Layer {
    let (state, detail, remedy) = if abi > 0 {
        (LayerState::Enforced, format!("ABI {abi}"), "")
    } else {
        let remedy = "boot a kernel from 5.13 on with `landlock` in its `lsm=` list";
        (LayerState::Missing, "the kernel has no Landlock, or it is not enabled".into(), remedy)
    };
    Layer { name: LayerName::Landlock, state, detail, remedy: remedy.into() }
}

fn groups(identity: Identity, dropped: bool) -> Layer {
    let (state, detail, remedy) = match (identity, dropped) {
        (_, true) => (LayerState::Enforced, String::new(), String::new()),
        (Identity::Reserved { .. } | Identity::Caller { .. }, false) => (
            LayerState::Missing,
            "the kernel keeps your supplementary groups inside; files only they may read are readable where mounted"
                .into(),
            "install `newgidmap` (package uidmap) and give your user a range in /etc/subgid".into(),
        ),
    };
    Layer { name: LayerName::Groups, state, detail, remedy }
}
