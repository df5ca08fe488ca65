//! `limits` and `[maximum]`.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{At, Size};
use crate::config::limit_name::LimitName;
use crate::limits::Requirement;

/// Ceilings of a cell.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Limits {
    /// Memory of all processes together with tmpfs and memfd: 8 MiB to 16 TiB.
    pub(crate) memory: Option<At<Size>>,
    /// CPU time per wall-clock time, in cores: 0.01 to 1024.
    #[schemars(range(min = 0.01, max = 1024.0))]
    pub(crate) cpu: Option<At<f64>>,
    /// Processes and threads.
    #[schemars(range(min = 1, max = 4_194_304))]
    pub(crate) processes: Option<At<i64>>,
    /// Open files of each process.
    #[schemars(range(min = 16, max = 1_048_576))]
    pub(crate) open_files: Option<At<i64>>,
    /// Size of any one file: 4 KiB to 16 TiB.
    pub(crate) file_size: Option<At<Size>>,
    /// Each of `/tmp`, `/workspace`, `$HOME` and `/dev/shm`: 64 KiB to 1 TiB.
    pub(crate) scratch: Option<At<Size>>,
    /// Files in each of those.
    #[schemars(range(min = 16, max = 16_777_216))]
    pub(crate) scratch_files: Option<At<i64>>,
    /// Layers which the kernel must hold, else the start is refused.
    pub(crate) require: Option<Vec<At<Requirement>>>,
}

/// Ceilings of the ceilings.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Maximum {
    /// The most memory that may be asked for: 8 MiB to 16 TiB.
    pub(crate) memory: Option<At<Size>>,
    /// The most CPU time that may be asked for, in cores: 0.01 to 1024.
    #[schemars(range(min = 0.01, max = 1024.0))]
    pub(crate) cpu: Option<At<f64>>,
    /// The most processes and threads that may be asked for.
    #[schemars(range(min = 1, max = 4_194_304))]
    pub(crate) processes: Option<At<i64>>,
    /// The most open files of each process that may be asked for.
    #[schemars(range(min = 16, max = 1_048_576))]
    pub(crate) open_files: Option<At<i64>>,
    /// The largest file that may be asked for: 4 KiB to 16 TiB.
    pub(crate) file_size: Option<At<Size>>,
    /// The most scratch space that may be asked for: 64 KiB to 1 TiB.
    pub(crate) scratch: Option<At<Size>>,
    /// The most scratch files that may be asked for.
    #[schemars(range(min = 16, max = 16_777_216))]
    pub(crate) scratch_files: Option<At<i64>>,
    /// The largest persistent folder that may be asked for: 1 MiB to 64 TiB.
    pub(crate) data: Option<At<Size>>,
}

impl Limits {
    /// Where a limit stands, if it is there.
    pub(crate) fn span_of(&self, name: LimitName) -> Option<Range<usize>> {
        match name {
            LimitName::Memory => self.memory.as_ref().map(At::span),
            LimitName::Cpu => self.cpu.as_ref().map(At::span),
            LimitName::Processes => self.processes.as_ref().map(At::span),
            LimitName::OpenFiles => self.open_files.as_ref().map(At::span),
            LimitName::FileSize => self.file_size.as_ref().map(At::span),
            LimitName::Scratch => self.scratch.as_ref().map(At::span),
            LimitName::ScratchFiles => self.scratch_files.as_ref().map(At::span),
        }
    }
}
