//! The endings, and what `run` says about each.

use crate::tool::Tool;

/// How a running cell comes to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The tool ends by itself, with exit code 3.
    ByItself,
    /// The client closes our stdin.
    StdinClosed,
    /// The client, which holds both pipes, is killed.
    ClientKilled,
    /// `SIGTERM` to `run`.
    Terminated,
    /// `SIGINT` to `run`.
    Interrupted,
    /// `SIGKILL` to `run`.
    RunKilled,
    /// `SIGTERM` to the supervisor.
    SupervisorTerminated,
    /// `SIGKILL` to the supervisor.
    SupervisorKilled,
    /// `SIGKILL` to the cell's PID 1.
    JailKilled,
    /// `SIGKILL` to `run` and its supervisor at the same instant.
    BothKilled,
    /// `SIGKILL` to `run`, its supervisor and PID 1 at the same instant.
    AllKilled,
}

/// How `run` ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// With an exit code.
    Code(i32),
    /// By `SIGKILL`.
    Killed,
}

impl Ending {
    /// Which of `run` and the supervisor is not killed, and may take its time to notice.
    pub(crate) fn spares(self, run: i32, supervisor: i32) -> Vec<i32> {
        match self {
            Self::RunKilled => vec![supervisor],
            Self::SupervisorKilled => vec![run],
            Self::BothKilled | Self::AllKilled => Vec::new(),
            _ => vec![run, supervisor],
        }
    }

    /// Whether nobody is left who could clear up what has a name.
    pub(crate) fn leaves_names(self) -> bool {
        matches!(self, Self::BothKilled | Self::AllKilled)
    }

    /// Whether something is killed, so that the kernel's part must be over at once, and not first `run`.
    pub(crate) fn is_abrupt(self) -> bool {
        matches!(
            self,
            Self::RunKilled | Self::SupervisorKilled | Self::JailKilled | Self::BothKilled | Self::AllKilled
        )
    }

    /// How `run` ends, and what it says on stderr; where there is nothing to say, nothing.
    pub(crate) fn told(self, tool: Tool) -> (End, Option<&'static str>) {
        match self {
            Self::ByItself => (End::Code(3), Some(" ended: exit code 3\n")),
            Self::StdinClosed | Self::ClientKilled if tool.obeys() => (End::Code(0), None),
            Self::StdinClosed | Self::ClientKilled | Self::SupervisorTerminated => {
                (End::Code(137), Some(" ended: signal 9 (SIGKILL): its end was asked for\n"))
            }
            Self::Terminated => (End::Code(143), None),
            Self::Interrupted => (End::Code(130), None),
            Self::SupervisorKilled => (
                End::Code(1),
                Some(" ended: its supervisor died (signal: 9 (SIGKILL)), and the cell with it\n"),
            ),
            Self::JailKilled => (End::Code(1), Some(" ended: the jail was killed from outside\n")),
            Self::RunKilled | Self::BothKilled | Self::AllKilled => (End::Killed, None),
        }
    }
}
