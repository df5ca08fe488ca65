//! One process of the cell and its three streams, whether or not anybody is attached.

use std::{
    cell::{Cell as Slot, RefCell},
    io,
    os::fd::OwnedFd,
    rc::Rc,
};

use cell_api::{info::ProcessInfo, order::StderrMode};
use model::exit::Exit;
use tokio::{
    io::AsyncReadExt,
    net::unix::pipe,
    sync::{mpsc, watch},
};

use crate::{stderr_tap::StderrTap, stdin::Stdin};

/// A started process.
#[derive(Debug)]
pub(crate) struct Process {
    /// Number within the cell.
    pub(crate) id: u32,
    pid: i32,
    command: Vec<String>,
    /// Its stdin.
    pub(crate) stdin: Stdin,
    stdout: RefCell<Option<pipe::Receiver>>,
    attached: Slot<bool>,
    tap: StderrTap,
    fate: watch::Sender<Fate>,
}

/// What became of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It runs.
    Runs,
    /// It ended; how is unknown where the whole cell was ended.
    Ended(Option<Exit>),
}

/// The right to be the one who is attached. Dropping it lets the next one in.
#[derive(Debug)]
pub(crate) struct Seat {
    process: Rc<Process>,
    /// What the process says on stdout; `None` once that has ended.
    pub(crate) stdout: Option<pipe::Receiver>,
    /// Pieces of stderr, where asked for.
    pub(crate) stderr: Option<mpsc::Receiver<Vec<u8>>>,
}

impl Process {
    /// Takes over the streams of a started process.
    pub(crate) fn adopt(
        id: u32,
        pid: i32,
        command: Vec<String>,
        stdin: OwnedFd,
        stdout: OwnedFd,
    ) -> io::Result<Rc<Self>> {
        Ok(Rc::new(Self {
            id,
            pid,
            command,
            stdin: Stdin::new(pipe::Sender::from_owned_fd(stdin)?),
            stdout: RefCell::new(Some(pipe::Receiver::from_owned_fd(stdout)?)),
            attached: Slot::new(false),
            tap: StderrTap::default(),
            fate: watch::Sender::new(Fate::Runs),
        }))
    }

    /// How it looks from outside.
    pub(crate) fn info(&self) -> ProcessInfo {
        ProcessInfo {
            id: self.id,
            pid: self.pid,
            command: self.command.clone(),
            attached: self.attached.get(),
            exit: match *self.fate.borrow() {
                Fate::Runs => None,
                Fate::Ended(exit) => exit,
            },
        }
    }

    /// Says how it ended.
    pub(crate) fn ended(&self, exit: Option<Exit>) {
        self.fate.send_replace(Fate::Ended(exit));
    }

    /// Says that it ended with the cell, unless its own end is known.
    pub(crate) fn ended_if_running(&self) {
        self.fate.send_if_modified(|fate| {
            let runs = *fate == Fate::Runs;
            if runs {
                *fate = Fate::Ended(None);
            }
            runs
        });
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&self) -> bool {
        *self.fate.borrow() != Fate::Runs
    }

    /// Whether somebody is attached.
    pub(crate) fn is_attached(&self) -> bool {
        self.attached.get()
    }

    /// Waits for its end.
    pub(crate) async fn end(&self) -> Option<Exit> {
        let mut fate = self.fate.subscribe();
        match fate.wait_for(|fate| *fate != Fate::Runs).await.as_deref() {
            Ok(Fate::Ended(exit)) => *exit,
            Ok(Fate::Runs) | Err(_) => None,
        }
    }

    /// Sits down; `None` when the seat is taken.
    pub(crate) fn sit(self: &Rc<Self>, stderr: StderrMode) -> Option<Seat> {
        if self.attached.replace(true) {
            return None;
        }
        let stdout = self.stdout.borrow_mut().take();
        Some(Seat { process: Rc::clone(self), stdout, stderr: self.tap.open(stderr) })
    }

    /// Reads stderr to its end, hands each piece to `log`, and to whoever is attached and asked for it.
    pub(crate) async fn drain_stderr(&self, fd: OwnedFd, mut log: impl FnMut(&[u8])) {
        if let Ok(mut pipe) = pipe::Receiver::from_owned_fd(fd) {
            let mut buffer = Vec::new();
            loop {
                buffer.reserve(PIECE);
                match pipe.read_buf(&mut buffer).await {
                    Ok(0) | Err(_) => break,
                    Ok(_) => {
                        log(&buffer);
                        self.tap.pass(&buffer).await;
                        buffer.clear();
                    }
                }
            }
        }
        self.tap.close();
    }
}

/// How much is read at once: what a pipe holds by default (pipe(7)).
pub(crate) const PIECE: usize = 64 << 10;

impl Drop for Seat {
    fn drop(&mut self) {
        *self.process.stdout.borrow_mut() = self.stdout.take();
        self.process.tap.shut();
        self.process.attached.set(false);
    }
}

impl Seat {
    /// Whose seat it is.
    pub(crate) fn process(&self) -> &Process {
        &self.process
    }
}
