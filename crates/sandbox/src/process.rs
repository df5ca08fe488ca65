//! The process wall: one `fumehood-jail` per cell, spoken to over its control socket.

use std::{os::fd::OwnedFd, path::PathBuf, time::Duration};

use jail::message::Failure;
use model::{exit::Exit, layer::Layer};
use tokio::sync::oneshot;

mod control;
mod launch;
mod remedy;
mod sys;

pub use control::{Control, OrderError};
pub use launch::Waiting;
pub(crate) use launch::landlock_layer;

/// A built cell: PID 1 runs inside, nothing else does yet. Dropping it ends everything inside.
#[derive(Debug)]
pub struct Sandbox {
    /// The handle for orders; clone freely.
    pub control: Control,
    /// Each layer as it was really set up.
    pub layers: Vec<Layer>,
    /// Host pid of the cell's PID 1.
    pub pid: i32,
    /// Resolves when PID 1 is gone (and with it every process, mount and namespace of the cell).
    pub ended: oneshot::Receiver<Ended>,
}

/// Why PID 1 is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The control socket was closed by us.
    Closed,
    /// The memory watch of the jail saw this many bytes and killed everything.
    MemoryCeiling {
        /// What it saw.
        bytes: u64,
    },
    /// It was killed from outside.
    Lost,
}

/// A process started inside.
#[derive(Debug)]
pub struct Running {
    /// Number within the cell, from 1.
    pub id: u32,
    /// Pid inside the cell.
    pub pid: i32,
    /// Write end of its stdin (non-blocking, close-on-exec).
    pub stdin: OwnedFd,
    /// Read end of its stdout.
    pub stdout: OwnedFd,
    /// Read end of its stderr.
    pub stderr: OwnedFd,
    /// How it ended; an error when the cell ended first.
    pub exit: oneshot::Receiver<Exit>,
}

/// Where the jail program is and how long it may take.
#[derive(Debug, Clone)]
pub struct Launcher {
    /// The `fumehood-jail` program.
    pub program: PathBuf,
    /// How long building the cell may take.
    pub timeout: Duration,
}

/// A cell that could not be built. Nothing was weakened and nothing runs.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The jail program is not there or not executable.
    #[error("cannot run the jail program `{program}`")]
    Program {
        /// Its path.
        program: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A layer could not be made on this host.
    #[error("the wall cannot be held on this host: {0}")]
    Layer(Failure),
    /// The jail went away without a word, or did not finish in time.
    #[error("the jail gave no answer within {waited_ms} ms")]
    Silent {
        /// How long it was waited for, ms.
        waited_ms: u64,
    },
    /// A system call of ours failed.
    #[error("{step} failed")]
    Io {
        /// What was tried.
        step: &'static str,
        /// Why.
        source: std::io::Error,
    },
}

impl Launcher {
    /// Starts the jail program, while it is still worked out what it has to build. Must be called within a tokio runtime
    /// with I/O enabled.
    ///
    /// # Errors
    /// Where it is not there or cannot be run.
    pub fn begin(&self) -> Result<Waiting, StartError> {
        Waiting::new(self)
    }
}
