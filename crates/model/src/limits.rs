//! Ceilings of a cell, resolved: every value is there and within its bounds.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// What a cell may use at the most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Memory of all processes together with tmpfs and memfd, in bytes. Swap is always 0.
    pub memory: u64,
    /// CPU time per wall-clock time, in thousandths of one core (1000 = one core).
    pub cpu_milli: u32,
    /// Processes and threads.
    pub processes: u32,
    /// Open files of each process (`RLIMIT_NOFILE`).
    pub open_files: u64,
    /// Size of any one file, in bytes (`RLIMIT_FSIZE`).
    pub file_size: u64,
    /// Each of `/tmp`, `/workspace`, `$HOME`, `/dev/shm`, in bytes.
    pub scratch: u64,
    /// Files in each of those.
    pub scratch_files: u64,
    /// Layers without which the start is refused.
    pub require: BTreeSet<Requirement>,
}

/// A limit whose enforcement by the kernel can be made a condition of starting.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Requirement {
    /// The memory ceiling.
    Memory,
    /// The CPU ceiling.
    Cpu,
    /// The process-count ceiling.
    #[serde(alias = "processes")]
    Pids,
    /// Landlock.
    Landlock,
}

const MIB: u64 = 1024 * 1024;

impl Limits {
    /// Defaults of a declared server.
    pub fn server() -> Self {
        Self {
            memory: 512 * MIB,
            cpu_milli: 1000,
            processes: 128,
            open_files: 1024,
            file_size: 1024 * MIB,
            scratch: 64 * MIB,
            scratch_files: 8192,
            require: BTreeSet::new(),
        }
    }

    /// Defaults of model-written code (`exec`): less of everything, and memory and pids must be held.
    pub fn code() -> Self {
        Self {
            cpu_milli: 500,
            processes: 30,
            require: BTreeSet::from([Requirement::Memory, Requirement::Pids]),
            ..Self::server()
        }
    }
}
