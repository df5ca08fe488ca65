//! PID 1 of the cell: takes the identity, builds the root, gives up every privilege, and then waits for orders.

use std::{
    collections::BTreeMap,
    os::fd::{AsFd, OwnedFd},
};

use landlock::RulesetCreated;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::Mode,
    process::{DumpableBehavior, Gid, Signal, Uid, WaitOptions},
    thread::{CapabilitySet, CapabilitySets},
};

use crate::{
    control::{Control, Incoming},
    failure::Step,
    guard,
    inheritance::{INSIDE, Inheritance, await_maps},
    landlock as domain,
    message::{Failure, MAX_SOCKETS, Order, Report, Stage},
    network, root, signals,
    spec::{Identity, Spec},
    start, sys, tree,
    watch::Watch,
};

/// Builds the cell and serves it. Never returns: its end is the cell's end.
pub(crate) fn run(from: Inheritance) -> ! {
    let Inheritance { spec, control, trees, go, groups_dropped } = from;
    let Some(may_drop) = await_maps(&go) else { sys::exit_now(1) };
    let built = build(&spec, trees, groups_dropped, may_drop);
    let init = match built {
        Ok((rules, signals, ready)) => {
            control.report(&ready);
            Init {
                watch: spec
                    .watch
                    .filter(|_| !guard::off("memory-watch"))
                    .map(|watch| Watch::new(watch, &spec)),
                spec,
                control,
                rules,
                signals,
                started: BTreeMap::new(),
            }
        }
        Err(failure) => {
            control.report(&Report::Failed(failure));
            sys::exit_now(1);
        }
    };
    init.serve()
}

type Built = (Option<RulesetCreated>, OwnedFd, Report);

fn build(spec: &Spec, taken: tree::Trees, groups_dropped: bool, may_drop: bool) -> Result<Built, Failure> {
    rustix::process::umask(Mode::from_raw_mode(0o022));
    // A handler of PID 1's could be set off from inside; without one the kernel ignores such signals to init.
    sys::reset_signals().step(Stage::Identity, || "resetting signals".into())?;
    let dropped = take_identity(spec.identity, may_drop)?;
    if !guard::off("cgroup-namespace") {
        // Only now: the view begins where PID 1 is, which is where it was born, not where the launcher was.
        sys::new_cgroup_namespace().step(Stage::Namespaces, || "making the cgroup namespace".into())?;
    }
    hide_self()?;
    if !guard::off("uts-namespace") {
        rustix::system::sethostname(spec.hostname.as_bytes())
            .step(Stage::Namespaces, || "setting the host name".into())?;
    }
    if !guard::off("network-namespace") {
        network::set_up(&spec.routes)?;
    }
    let trees = match spec.identity {
        Identity::Reserved { .. } => taken,
        Identity::Caller { .. } => tree::take(spec, None)?,
    };
    let unmapped = trees.unmapped.clone();
    root::build(spec, trees)?;
    let landlock_abi = if guard::off("landlock") { 0 } else { sys::landlock_abi() };
    let rules = domain::rules(spec, landlock_abi)?;
    give_up_capabilities(spec.watch.is_some())?;
    let signals = sys::child_signals().step(Stage::Exec, || "listening for ended children".into())?;
    let groups_dropped = groups_dropped || dropped;
    Ok((rules, signals, Report::Ready { landlock_abi, groups_dropped, unmapped }))
}

/// Becomes 65534:65534, which the id maps lead to the tool's host id.
fn take_identity(identity: Identity, may_drop: bool) -> Result<bool, Failure> {
    let step = || "taking the tool's identity".to_owned();
    let (uid, gid) = (Uid::from_raw(INSIDE), Gid::from_raw(INSIDE));
    if may_drop {
        rustix::thread::set_thread_groups(&[]).step(Stage::Identity, step)?;
    }
    if guard::off("user-namespace") {
        return become_nobody().step(Stage::Identity, step).map(|()| may_drop);
    }
    match identity {
        Identity::Reserved { .. } => {
            rustix::thread::set_thread_res_gid(gid, gid, gid).step(Stage::Identity, step)?;
            rustix::thread::set_thread_res_uid(uid, uid, uid).step(Stage::Identity, step)?;
        }
        // The map leads to a subordinate gid; the present one has no place in it.
        Identity::Caller { .. } if may_drop => {
            rustix::thread::set_thread_res_gid(gid, gid, gid).step(Stage::Identity, step)?;
        }
        Identity::Caller { .. } => {}
    }
    Ok(may_drop)
}

/// Only for the control of an attack test: the host's own 65534, with the capabilities that building the cell takes.
fn become_nobody() -> rustix::io::Result<()> {
    let (uid, gid) = (Uid::from_raw(INSIDE), Gid::from_raw(INSIDE));
    rustix::thread::set_keep_capabilities(true)?;
    rustix::thread::set_thread_res_gid(gid, gid, gid)?;
    rustix::thread::set_thread_res_uid(uid, uid, uid)?;
    let mut sets = rustix::thread::capabilities(None)?;
    sets.effective = sets.permitted;
    rustix::thread::set_capabilities(None, sets)
}

/// PID 1 has the tool's uid. Undumpable, its memory, its fds and its program are out of the tool's reach.
fn hide_self() -> Result<(), Failure> {
    let wanted =
        if guard::off("dumpable") { DumpableBehavior::Dumpable } else { DumpableBehavior::NotDumpable };
    rustix::process::set_dumpable_behavior(wanted).step(Stage::Identity, || "becoming undumpable".into())
}

/// Empties every set. The memory watch needs `CAP_SYS_PTRACE` within the cell, to see undumpable processes too.
fn give_up_capabilities(watching: bool) -> Result<(), Failure> {
    let step = || "giving up capabilities".to_owned();
    if guard::off("capabilities") {
        return Ok(());
    }
    for number in 0..64_u64 {
        // The kernel's last capability is found by trying (capabilities(7), cap_last_cap).
        let one = CapabilitySet::from_bits_retain(1 << number);
        match rustix::thread::remove_capability_from_bounding_set(one) {
            Ok(()) => {}
            Err(rustix::io::Errno::INVAL) => break,
            Err(error) => return Err(error).step(Stage::Capabilities, step),
        }
    }
    rustix::thread::clear_ambient_capability_set().step(Stage::Capabilities, step)?;
    let kept = if watching { CapabilitySet::SYS_PTRACE } else { CapabilitySet::empty() };
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    rustix::thread::set_capabilities(None, sets).step(Stage::Capabilities, step)
}

/// The belt beside the socket's end. Only from the first order on is the supervisor surely the parent: it gives none
/// before it has seen the launcher's end, and a launcher that is just ending would count as a parent that died.
fn die_with_supervisor() -> Result<(), Failure> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .step(Stage::Identity, || "asking to die with the supervisor".into())
}

struct Init {
    spec: Spec,
    control: Control,
    rules: Option<RulesetCreated>,
    signals: OwnedFd,
    watch: Option<Watch>,
    /// Pid inside → the supervisor's number.
    started: BTreeMap<i32, u32>,
}

impl Init {
    fn serve(mut self) -> ! {
        loop {
            let timeout = self.watch.as_ref().map(|watch| Timespec {
                tv_sec: i64::from(watch.interval_ms() / 1000),
                tv_nsec: i64::from(watch.interval_ms() % 1000) * 1_000_000,
            });
            let mut fds =
                [PollFd::new(&self.control, PollFlags::IN), PollFd::new(&self.signals, PollFlags::IN)];
            let ready = poll(&mut fds, timeout.as_ref());
            let [control, children] = fds.map(|fd| !fd.revents().is_empty());
            match ready {
                Ok(0) => self.look_at_memory(),
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => continue,
                Err(_) => sys::exit_now(1),
            }
            if children {
                self.reap();
            }
            if control {
                match self.control.receive() {
                    Incoming::Order(order, fds) => self.obey(&order, fds),
                    Incoming::Noise => {}
                    Incoming::Closed => sys::exit_now(0),
                }
            }
        }
    }

    fn obey(&mut self, order: &Order, fds: Vec<OwnedFd>) {
        match *order {
            Order::Start { id } => {
                let rules = self.rules.as_ref();
                let started = die_with_supervisor().and_then(|()| start::start(&self.spec, rules, fds));
                match started {
                    Ok(pid) => {
                        self.started.insert(pid, id);
                        self.control.report(&Report::Started { id, pid });
                    }
                    Err(failure) => {
                        self.control.report(&Report::Failed(Failure { id: Some(id), ..failure }));
                    }
                }
            }
            // Meant for the launcher, which has ended.
            Order::Build => {}
            Order::Signal { id: None, signal } => signals::everyone(signal),
            Order::Signal { id: Some(id), signal } => {
                let found = self.started.iter().find(|(_, known)| **known == id);
                if let Some((pid, _)) = found {
                    signals::group(*pid, signal);
                }
            }
            Order::Sockets { ref kinds } => {
                let made: Result<Vec<OwnedFd>, Failure> =
                    kinds.iter().take(MAX_SOCKETS).map(|kind| network::make(*kind)).collect();
                match made {
                    Ok(sockets) => self.control.hand_over(&Report::Sockets, &sockets),
                    Err(failure) => self.control.report(&Report::Failed(failure)),
                }
            }
            Order::Freeze => {
                signals::stop_all();
                self.control.report(&Report::Frozen { frozen: true });
            }
            Order::Thaw => {
                signals::everyone(libc::SIGCONT);
                self.control.report(&Report::Frozen { frozen: false });
            }
        }
    }

    fn reap(&mut self) {
        // What it says is not needed: one reading may stand for many children.
        rustix::io::read(self.signals.as_fd(), &mut [0_u8; 128]).ok();
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            if let Some(id) = self.started.remove(&pid.as_raw_nonzero().get()) {
                let (code, signal) = (status.exit_status(), status.terminating_signal());
                self.control.report(&Report::Exited { id, code, signal });
            }
        }
    }

    fn look_at_memory(&mut self) {
        let Some(watch) = &mut self.watch else { return };
        if let Some(bytes) = watch.above_ceiling() {
            signals::everyone(libc::SIGKILL);
            self.control.report(&Report::MemoryCeiling { bytes });
        }
    }
}
