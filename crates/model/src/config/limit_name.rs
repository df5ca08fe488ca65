//! The limits that are numbers: their names, their bounds, and how their values are shown.

use std::fmt;
use std::ops::RangeInclusive;

use super::complaint::Complaint;
use crate::limits::Limits;
use crate::size;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const TIB: u64 = 1 << 40;

/// The limits that are numbers, in the order in which they are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LimitName {
    /// In bytes.
    Memory,
    /// In thousandths of a core.
    Cpu,
    /// A count.
    Processes,
    /// A count.
    OpenFiles,
    /// In bytes.
    FileSize,
    /// In bytes.
    Scratch,
    /// A count.
    ScratchFiles,
}

impl LimitName {
    /// Every one.
    pub const ALL: [Self; 7] = [
        Self::Memory,
        Self::Cpu,
        Self::Processes,
        Self::OpenFiles,
        Self::FileSize,
        Self::Scratch,
        Self::ScratchFiles,
    ];

    /// The key in a file, and the name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Cpu => "cpu",
            Self::Processes => "processes",
            Self::OpenFiles => "open_files",
            Self::FileSize => "file_size",
            Self::Scratch => "scratch",
            Self::ScratchFiles => "scratch_files",
        }
    }

    /// What may be asked for. The lower ends let `true` run, the upper ones are what Linux can count: 4,194,304
    /// processes (`PID_MAX_LIMIT`), 1,048,576 open files (the default of `fs.nr_open`), files of 16 TiB (ext4).
    pub fn bounds(self) -> RangeInclusive<u64> {
        match self {
            Self::Memory => 8 * MIB..=16 * TIB,
            Self::Cpu => 10..=1_024_000,
            Self::Processes => 1..=4_194_304,
            Self::OpenFiles => 16..=1_048_576,
            Self::FileSize => 4 * KIB..=16 * TIB,
            Self::Scratch => 64 * KIB..=TIB,
            Self::ScratchFiles => 16..=16_777_216,
        }
    }

    /// A value with its unit: `512 MiB`, `0.5 cores`, `128`.
    pub fn show(self, value: u64) -> String {
        match self {
            Self::Memory | Self::FileSize | Self::Scratch => size::format(value),
            Self::Cpu => format!("{} cores", cores(value)),
            Self::Processes | Self::OpenFiles | Self::ScratchFiles => value.to_string(),
        }
    }

    /// This limit of complete limits.
    pub fn of(self, limits: &Limits) -> u64 {
        match self {
            Self::Memory => limits.memory,
            Self::Cpu => u64::from(limits.cpu_milli),
            Self::Processes => u64::from(limits.processes),
            Self::OpenFiles => limits.open_files,
            Self::FileSize => limits.file_size,
            Self::Scratch => limits.scratch,
            Self::ScratchFiles => limits.scratch_files,
        }
    }

    /// Sets this limit; `value` is within [`Self::bounds`], so nothing saturates.
    pub(super) fn set(self, limits: &mut Limits, value: u64) {
        match self {
            Self::Memory => limits.memory = value,
            Self::Cpu => limits.cpu_milli = u32::try_from(value).unwrap_or(u32::MAX),
            Self::Processes => limits.processes = u32::try_from(value).unwrap_or(u32::MAX),
            Self::OpenFiles => limits.open_files = value,
            Self::FileSize => limits.file_size = value,
            Self::Scratch => limits.scratch = value,
            Self::ScratchFiles => limits.scratch_files = value,
        }
    }

    pub(super) fn check(self, value: u64) -> Result<u64, Complaint> {
        within(self.as_str(), &self.bounds(), value, |value| self.show(value))
    }

    pub(super) fn check_count(self, count: i64) -> Result<u64, Complaint> {
        let count = u64::try_from(count)
            .map_err(|_| Complaint::new(format!("`{self}` cannot be negative")).help(self.range_text()))?;
        self.check(count)
    }

    pub(super) fn check_cores(self, cores: f64) -> Result<u64, Complaint> {
        let milli = (cores * 1000.0).round();
        if !(0.0..=9e15).contains(&milli) {
            return Err(Complaint::new(format!("`{self}` cannot be `{cores}`")).help(self.range_text()));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "in 0..=9e15 by the check above"
        )]
        let milli = milli as u64;
        self.check(milli)
    }

    pub(super) fn range_text(self) -> String {
        let bounds = self.bounds();
        format!("from {} to {}", self.show(*bounds.start()), self.show(*bounds.end()))
    }
}

impl fmt::Display for LimitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A value that must lie in a range.
pub(super) fn within(
    label: &str,
    bounds: &RangeInclusive<u64>,
    value: u64,
    show: impl Fn(u64) -> String,
) -> Result<u64, Complaint> {
    if bounds.contains(&value) {
        return Ok(value);
    }
    let (least, most) = (show(*bounds.start()), show(*bounds.end()));
    Err(Complaint::new(format!("`{label}` cannot be {}", show(value)))
        .help(format!("from {least} to {most}")))
}

/// Cores of thousandths, without trailing zeros.
fn cores(milli: u64) -> String {
    let text = format!("{}.{:03}", milli / 1000, milli % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
