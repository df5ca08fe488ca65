//! Why a process or a cell ended.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How one process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "how", content = "value")]
pub enum Exit {
    /// It called `exit` with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

impl Exit {
    /// The code a shell would report: the exit code, or 128 plus the signal.
    pub fn shell_code(self) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => 128 + signal,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => match signal_name(*signal) {
                Some(name) => write!(f, "signal {signal} ({name})"),
                None => write!(f, "signal {signal}"),
            },
        }
    }
}

/// Why a cell ended, besides its main process ending by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The main process ended by itself.
    Finished,
    /// The memory ceiling was reached and something was killed for it.
    MemoryCeiling,
    /// The quota of the data folder was reached.
    DataQuota,
    /// Whoever owned the cell asked for its end.
    Asked,
    /// Whoever owned the cell went away.
    OwnerGone,
    /// PID 1 of the cell was killed from outside.
    JailLost,
    /// The cell could not be built, or its main process not be started.
    NotStarted,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Finished => "the process ended",
            Self::MemoryCeiling => "the memory ceiling was reached",
            Self::DataQuota => "the data quota was reached",
            Self::Asked => "its end was asked for",
            Self::OwnerGone => "its owner went away",
            Self::JailLost => "the jail was killed from outside",
            Self::NotStarted => "it could not be started",
        })
    }
}

/// The name of a signal, for the standard ones (signal(7), x86-64 and arm64 numbering).
pub fn signal_name(signal: i32) -> Option<&'static str> {
    const NAMES: [&str; 31] = [
        "SIGHUP",
        "SIGINT",
        "SIGQUIT",
        "SIGILL",
        "SIGTRAP",
        "SIGABRT",
        "SIGBUS",
        "SIGFPE",
        "SIGKILL",
        "SIGUSR1",
        "SIGSEGV",
        "SIGUSR2",
        "SIGPIPE",
        "SIGALRM",
        "SIGTERM",
        "SIGSTKFLT",
        "SIGCHLD",
        "SIGCONT",
        "SIGSTOP",
        "SIGTSTP",
        "SIGTTIN",
        "SIGTTOU",
        "SIGURG",
        "SIGXCPU",
        "SIGXFSZ",
        "SIGVTALRM",
        "SIGPROF",
        "SIGWINCH",
        "SIGIO",
        "SIGPWR",
        "SIGSYS",
    ];
    let index = usize::try_from(signal).ok()?.checked_sub(1)?;
    NAMES.get(index).copied()
}
