//! The reviewed list: every system call by name, what is done with it, and why.

use super::rule::Rule;

mod events;
mod files;
mod kernel;
mod memory;
mod network;
#[cfg(target_arch = "x86_64")]
mod older;
mod processes;
mod supervisor;

/// One line of the list.
#[derive(Debug, PartialEq, Eq)]
pub struct Call {
    symbol: &'static str,
    /// Its number on this architecture.
    pub number: u32,
    /// What is done with it.
    pub verdict: Verdict,
    /// Why, in a few words.
    pub reason: &'static str,
}

impl Call {
    /// The call's name in the kernel's tables.
    pub fn name(&self) -> &'static str {
        self.symbol.strip_prefix("SYS_").unwrap_or(self.symbol)
    }
}

/// What is done with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The kernel does it.
    Allow,
    /// `EPERM`: known and refused.
    Refuse,
    /// `ENOSYS`: as if the kernel did not have it, since programs have a fallback for that.
    Absent,
    /// It depends on the arguments.
    Filtered(&'static Rule),
}

/// Lines that belong together.
#[derive(Debug)]
pub struct Family {
    /// What they have in common.
    pub title: &'static str,
    /// The lines.
    pub calls: &'static [Call],
}

/// The whole list, by family.
pub fn families() -> &'static [Family] {
    FAMILIES
}

/// Every line.
pub fn calls() -> impl Iterator<Item = &'static Call> {
    FAMILIES.iter().flat_map(|family| family.calls)
}

/// Every line of a supervisor's list: the tools', with the differences of its own.
pub fn supervisor_calls() -> impl Iterator<Item = &'static Call> {
    let differs = |call: &&Call| supervisor::CALLS.iter().any(|own| own.number == call.number);
    calls().filter(move |call| !differs(call)).chain(supervisor::CALLS)
}

const FAMILIES: &[Family] = &[
    Family { title: "Files and folders", calls: files::CALLS },
    Family { title: "Memory", calls: memory::CALLS },
    Family { title: "Processes, threads, identity", calls: processes::CALLS },
    Family { title: "Waiting, signals, time", calls: events::CALLS },
    Family { title: "Sockets and messages between processes", calls: network::CALLS },
    Family { title: "The whole machine", calls: kernel::CALLS },
    #[cfg(target_arch = "x86_64")]
    Family { title: "Older calls, x86_64 only", calls: older::CALLS },
];

/// `line!(SYS_read, Allow, "why")`.
macro_rules! line {
    ($symbol:ident, $verdict:expr, $reason:literal) => {
        Call {
            symbol: stringify!($symbol),
            number: super::number($crate::seccomp::numbers::$symbol),
            verdict: $verdict,
            reason: $reason,
        }
    };
}
use line;

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers are small and positive; the filter compares 32 bits"
)]
const fn number(number: libc::c_long) -> u32 {
    number as u32
}
