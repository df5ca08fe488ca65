//! Test-only: what a supervisor that a cell has taken over would try. Built with the feature `guard-off` alone, so that a
//! test can see each attempt fail in a real supervisor, and succeed in one that has not confined itself.

use std::{fs::File, io, os::unix::net::UnixStream, path::Path, process::Command};

use cell_api::order::LogMark;
use rustix::process::{DumpableBehavior, Pid, PidfdFlags, Signal};

use secrets::plaintext::Plaintext;

use crate::cell::Cell;

/// What to try: `read=PATH`, `list=PATH`, `write=PATH`, `connect=PATH`, `run=PATH`, `memory=PID`, `handle=PID`,
/// `signal=PID`, `dumpable=`, `look-up=NAME`; separated by `;`.
const VARIABLE: &str = "FUMEHOOD_SUPERVISOR_TRIES";

/// Tries everything, and says in the log of the cell what became of it.
pub(crate) fn attempt(cell: &Cell) {
    let Ok(tries) = std::env::var(VARIABLE) else { return };
    for one in tries.split(';').filter(|one| !one.is_empty()) {
        let (what, object) = one.split_once('=').unwrap_or((one, ""));
        let said = match attempt_one(what, object) {
            Ok(()) => "done".to_owned(),
            Err(error) => format!("refused: {error}"),
        };
        cell.log_line(LogMark::Fumehood, &format!("taken over: {one}: {said}"));
    }
}

/// The values of a supervisor that writes them into its log when `canary` is among the guards left out: what a search for a
/// value has to find.
#[derive(Default)]
pub(crate) struct Leaks(Vec<String>);

impl std::fmt::Debug for Leaks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Leaks")
    }
}

impl Leaks {
    /// Keeps a value, if it is to be leaked.
    pub(crate) fn take(&mut self, value: &Plaintext) {
        if sandbox::guard::off("canary") {
            self.0.push(String::from_utf8_lossy(value.expose()).into_owned());
        }
    }

    /// Writes them.
    pub(crate) fn write(&self, cell: &Cell) {
        self.0.iter().for_each(|value| cell.log_line(LogMark::Fumehood, &format!("a key came: {value}")));
    }
}

fn attempt_one(what: &str, object: &str) -> io::Result<()> {
    let process = || {
        object
            .parse()
            .ok()
            .and_then(Pid::from_raw)
            .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))
    };
    match what {
        "read" => std::fs::read(object).map(drop),
        "list" => std::fs::read_dir(object).map(drop),
        "write" => std::fs::write(object, "taken over"),
        "connect" => UnixStream::connect(object).map(drop),
        "run" => Command::new(object).status().map(drop),
        "memory" => File::open(Path::new("/proc").join(object).join("mem")).map(drop),
        "handle" => {
            rustix::process::pidfd_open(process()?, PidfdFlags::empty()).map(drop).map_err(Into::into)
        }
        "signal" => Ok(rustix::process::kill_process(process()?, Signal::CONT)?),
        "dumpable" => Ok(rustix::process::set_dumpable_behavior(DumpableBehavior::Dumpable)?),
        "look-up" => std::net::ToSocketAddrs::to_socket_addrs(&(object, 0)).map(drop),
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}
