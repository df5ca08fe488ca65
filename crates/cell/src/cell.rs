//! The one cell of this supervisor: what is known of it, and who may ask for its end.

use std::{cell::RefCell, collections::BTreeMap, io, os::fd::OwnedFd, rc::Rc};

use cell_api::{
    event::EventKind,
    info::{CellInfo, CellState, End, SecretInfo},
    order::{EndOrder, LogMark},
    spec::CellSpec,
};
use egress::credential::Placeholder;
use model::{
    exit::{Cause, Exit},
    layer::Layer,
    secret::SecretName,
};
use sandbox::{cgroup::CellGroups, process::Control};
use tokio::{sync::watch, task::JoinHandle};

use crate::{
    Supervision, clock, events::Events, folders::make_private, log_file::LogFile, owner::OwnerRecord,
    process::Process,
};

/// The cell. One thread owns it; nothing here waits while it holds a borrow.
#[derive(Debug)]
pub(crate) struct Cell {
    /// Name of its folder.
    pub(crate) id: String,
    /// Where things are.
    pub(crate) supervision: Supervision,
    /// What happened.
    pub(crate) events: Events,
    /// What changes.
    pub(crate) state: RefCell<State>,
    broker: RefCell<Option<OwnedFd>>,
    log: RefCell<Option<LogFile>>,
    egress_file: RefCell<Option<LogFile>>,
    log_dropped: std::cell::Cell<u64>,
    record: RefCell<OwnerRecord>,
    leftovers: std::cell::Cell<bool>,
    ended: watch::Sender<Option<End>>,
    wishes: watch::Sender<Option<Wish>>,
}

/// What changes over a cell's life.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// None before it was created.
    pub(crate) described: Option<Described>,
    /// Each layer as it was set up.
    pub(crate) layers: Vec<Layer>,
    /// The secrets it uses, once their values are there.
    pub(crate) secrets: Vec<SecretInfo>,
    /// What stands for each of them inside.
    pub(crate) placeholders: BTreeMap<SecretName, Placeholder>,
    /// How often each was used, by host.
    key_uses: BTreeMap<(SecretName, String), u64>,
    /// Who listens to the broker.
    pub(crate) following: Option<JoinHandle<()>>,
    /// For a person to read.
    pub(crate) notes: Vec<String>,
    /// Host pid of PID 1.
    pub(crate) jail: Option<i32>,
    /// While it runs.
    pub(crate) control: Option<Control>,
    /// Its groups, until they are removed.
    pub(crate) groups: CellGroups,
    /// Its host id, where started by root; nobody else's as long as it is here.
    pub(crate) lease: Option<sandbox::identity::Lease>,
    /// Its way out, while it runs.
    pub(crate) egress: Option<Rc<egress::core::Egress>>,
    /// Held while the list of hosts is changed.
    pub(crate) network_changes: Rc<tokio::sync::Mutex<()>>,
    /// What happened at the edge; outlives the egress.
    pub(crate) egress_log: Option<std::sync::Arc<egress::event::Log>>,
    /// Up to which revision of that it was told.
    pub(crate) egress_told: u64,
    /// Who tells it.
    pub(crate) telling: Option<JoinHandle<()>>,
    /// What every further process begins with.
    pub(crate) template: Option<jail::spec::Process>,
    /// All that were started.
    pub(crate) processes: BTreeMap<u32, Rc<Process>>,
    /// Tasks that look after it.
    pub(crate) watches: Watches,
}

/// The tasks that look after a cell.
#[derive(Debug, Default)]
pub(crate) struct Watches {
    /// Over the data folder.
    pub(crate) quota: Option<JoinHandle<()>>,
    /// Over each writable mount.
    pub(crate) mounts: Vec<JoinHandle<()>>,
    /// Dropped when nothing runs any more: then they look a last time.
    pub(crate) living: Option<watch::Sender<()>>,
}

/// A cell that was created.
#[derive(Debug)]
pub(crate) struct Described {
    /// What it was created from.
    pub(crate) spec: CellSpec,
    /// When.
    pub(crate) created: String,
    /// Where it stands.
    pub(crate) phase: CellState,
}

/// How somebody wants the cell to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Stdin closed, then `SIGTERM`, then `SIGKILL`.
    Orderly(EndOrder),
    /// `SIGKILL`.
    AtOnce(Cause),
}

impl Cell {
    /// Takes a free id, makes the cell's folder and says who owns it.
    pub(crate) fn new(mut supervision: Supervision) -> io::Result<Rc<Self>> {
        let record = OwnerRecord::mine()?;
        for folder in [&supervision.folders.state, &supervision.folders.cells()] {
            make_private(folder).map_err(io::Error::other)?;
        }
        // Whoever is killed meanwhile leaves a folder whose name says whose it was, or one with a record in it.
        let beginning = supervision.folders.cells().join(record.supervisor.folder());
        std::fs::create_dir(&beginning)?;
        record.write(&beginning)?;
        let id = loop {
            let id = random_id()?;
            // A folder takes the place of an empty one at the most; a cell's is never empty.
            match std::fs::rename(&beginning, supervision.folders.cell(&id)) {
                Ok(()) => break id,
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty
                    ) => {}
                Err(error) => return Err(error),
            }
        };
        Ok(Rc::new(Self {
            id,
            broker: RefCell::new(supervision.broker.take()),
            supervision,
            events: Events::default(),
            state: RefCell::default(),
            log: RefCell::default(),
            egress_file: RefCell::default(),
            log_dropped: std::cell::Cell::default(),
            record: RefCell::new(record),
            leftovers: std::cell::Cell::default(),
            ended: watch::Sender::new(None),
            wishes: watch::Sender::new(None),
        }))
    }

    /// The connection to the broker; whoever asks first has it.
    pub(crate) fn broker(&self) -> Option<OwnedFd> {
        self.broker.take()
    }

    /// Where it stands; `None` before it was created.
    pub(crate) fn phase(&self) -> Option<CellState> {
        self.state.borrow().described.as_ref().map(|described| described.phase)
    }

    /// Says where it stands now.
    pub(crate) fn set_phase(&self, phase: CellState) {
        if let Some(described) = &mut self.state.borrow_mut().described {
            described.phase = phase;
        }
    }

    /// How it looks from outside; `None` before it was created.
    pub(crate) fn info(&self) -> Option<CellInfo> {
        let state = self.state.borrow();
        let described = state.described.as_ref()?;
        Some(CellInfo {
            id: self.id.clone(),
            name: described.spec.name.clone(),
            declared: described.spec.declared.clone(),
            kind: described.spec.kind,
            state: described.phase,
            supervisor: rustix::process::getpid().as_raw_nonzero().get(),
            jail: state.jail,
            command: described.spec.command.clone(),
            created: described.created.clone(),
            layers: state.layers.clone(),
            secrets: state.secrets.clone(),
            notes: state.notes.clone(),
            log: self.log.borrow().as_ref().map(|log| log.path().to_owned()).unwrap_or_default(),
            end: self.ended.borrow().clone(),
        })
    }

    /// Describes it, and begins its log. `None` when it was described before.
    pub(crate) fn describe(&self, spec: CellSpec) -> io::Result<Option<()>> {
        if self.state.borrow().described.is_some() {
            return Ok(None);
        }
        let logs = self.supervision.folders.logs(&spec.name);
        make_private(&logs).map_err(io::Error::other)?;
        *self.log.borrow_mut() = Some(LogFile::begin(&logs, &clock::file_stamp(), &self.id)?);
        let described = Described { spec, created: clock::now(), phase: CellState::Created };
        self.state.borrow_mut().described = Some(described);
        self.events.push(EventKind::Created);
        Ok(Some(()))
    }

    /// Writes what a process said on stderr to the log.
    pub(crate) fn log(&self, bytes: &[u8]) {
        if let Some(log) = &mut *self.log.borrow_mut() {
            log.raw(bytes);
        }
        self.tell_truncation();
    }

    /// Writes what one of several processes said, each line marked with which.
    pub(crate) fn log_marked(&self, mark: &str, bytes: &[u8]) {
        if let Some(log) = &mut *self.log.borrow_mut() {
            let text = String::from_utf8_lossy(bytes);
            text.lines().for_each(|line| log.line(mark, line));
        }
        self.tell_truncation();
    }

    /// Writes a line that came another way.
    pub(crate) fn log_line(&self, mark: LogMark, text: &str) {
        let mark = match mark {
            LogMark::StrayStdout => "stdout",
            LogMark::Fumehood => "fumehood",
        };
        if let Some(log) = &mut *self.log.borrow_mut() {
            log.line(mark, text);
        }
        self.tell_truncation();
    }

    /// Keeps what happened at the edge as a JSON line, for when the cell is gone. What cannot be written is in the
    /// cell's log all the same.
    pub(crate) fn record_egress(&self, entry: &egress::event::Entry) {
        let name = self.state.borrow().described.as_ref().map(|described| described.spec.name.clone());
        let (Some(name), Ok(mut line)) = (name, serde_json::to_vec(entry)) else { return };
        line.push(b'\n');
        let mut file = self.egress_file.borrow_mut();
        if file.is_none() {
            let folder = self.supervision.folders.egress_logs(&name);
            if make_private(&folder).is_ok() {
                *file = LogFile::begin(&folder, &clock::file_stamp(), &self.id).ok();
            }
        }
        if let Some(file) = &mut *file {
            file.raw(&line);
        }
    }

    /// How often the value of a secret was written into requests to a host, this time included.
    pub(crate) fn count_key_use(&self, secret: &SecretName, host: &str) -> u64 {
        /// Hosts under a wildcard may be many; those beyond are counted as one.
        const HOSTS: usize = 256;
        let uses = &mut self.state.borrow_mut().key_uses;
        let mut at = (secret.clone(), host.to_owned());
        if uses.len() >= HOSTS && !uses.contains_key(&at) {
            at.1.clear();
        }
        let count = uses.entry(at).or_default();
        *count += 1;
        *count
    }

    /// Changes the owner's record. What cannot be written is no reason to stop: the next start looks by itself.
    pub(crate) fn record(&self, change: impl FnOnce(&mut OwnerRecord)) -> io::Result<()> {
        let mut record = self.record.borrow_mut();
        change(&mut record);
        record.write(&self.supervision.folders.cell(&self.id))
    }

    /// Says whether groups are left that only the next start can remove; the record names them.
    pub(crate) fn left_behind(&self, left: bool) {
        self.leftovers.set(left);
    }

    /// Whether something is left that only the next start can remove.
    pub(crate) fn has_leftovers(&self) -> bool {
        self.leftovers.get()
    }

    /// Asks for the end. A wish for an immediate end is never taken back by a later orderly one.
    pub(crate) fn wish(&self, wish: Wish) {
        self.wishes.send_if_modified(|held| {
            let stronger = match held {
                None => true,
                Some(Wish::Orderly(_)) => *held != Some(wish),
                Some(Wish::AtOnce(_)) => false,
            };
            if stronger {
                *held = Some(wish);
            }
            stronger
        });
    }

    /// Says a wish once more, for somebody who begins to listen only now.
    pub(crate) fn wish_again(&self, wish: Wish) {
        self.wishes.send_replace(Some(wish));
    }

    /// The strongest wish so far, and its changes.
    pub(crate) fn wishes(&self) -> watch::Receiver<Option<Wish>> {
        self.wishes.subscribe()
    }

    /// Says that a process has ended by itself.
    pub(crate) fn tell_exit(&self, process: &Process, exit: Exit) {
        process.ended(Some(exit));
        self.events.push(EventKind::ProcessExited { process: process.id, exit });
    }

    /// Says that nothing of it is left.
    pub(crate) fn ended(&self, end: End) {
        self.set_phase(CellState::Ended);
        let End { cause, exit, detail } = end.clone();
        self.events.push(EventKind::Ended { cause, exit, detail });
        self.ended.send_replace(Some(end));
    }

    /// Waits until nothing of it is left.
    pub(crate) async fn end(&self) -> End {
        let mut ended = self.ended.subscribe();
        match ended.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(end)) => end.clone(),
            Ok(None) | Err(_) => {
                End { cause: Cause::JailLost, exit: None, detail: Cause::JailLost.to_string() }
            }
        }
    }

    /// Whether anybody is attached to anything.
    pub(crate) fn is_attached(&self) -> bool {
        self.state.borrow().processes.values().any(|process| process.is_attached())
    }

    fn tell_truncation(&self) {
        /// Events of this kind come no closer than this, so that a noisy tool cannot push others out of the ring.
        const STEP: u64 = 256 << 20;
        let dropped = self.log.borrow().as_ref().map_or(0, LogFile::dropped);
        let told = self.log_dropped.get();
        if dropped > 0 && (told == 0 || dropped - told >= STEP) {
            self.log_dropped.set(dropped);
            self.events.push(EventKind::LogTruncated { dropped });
        }
    }
}

fn random_id() -> io::Result<String> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes)?;
    // Twelve hexadecimal digits: short enough to be typed, and a name in use is noticed.
    Ok(format!("{:012x}", u64::from_ne_bytes(bytes) >> 16))
}
