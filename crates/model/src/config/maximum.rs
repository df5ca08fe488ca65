//! `[maximum]`, checked.

use std::collections::BTreeMap;

use super::complaint::Complaint;
use super::data;
use super::limit_name::LimitName;
use super::limits::{Numbers, SomeLimits, kept, numbers, size_of};
use super::problem::Source;
use super::written;

/// What no project's file and no command line may exceed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Maximum {
    numbers: BTreeMap<LimitName, u64>,
    data: Option<u64>,
}

impl Maximum {
    /// The most of this limit: bytes, thousandths of a core, or a count.
    pub fn get(&self, name: LimitName) -> Option<u64> {
        self.numbers.get(&name).copied()
    }

    /// The largest persistent folder, in bytes.
    pub fn data(&self) -> Option<u64> {
        self.data
    }

    pub(super) fn resolve(written: Option<&written::Maximum>, source: &mut Source<'_>) -> Self {
        let Some(written) = written else { return Self::default() };
        Self {
            numbers: numbers(
                &Numbers {
                    memory: written.memory.as_ref(),
                    cpu: written.cpu.as_ref(),
                    processes: written.processes.as_ref(),
                    open_files: written.open_files.as_ref(),
                    file_size: written.file_size.as_ref(),
                    scratch: written.scratch.as_ref(),
                    scratch_files: written.scratch_files.as_ref(),
                },
                source,
            ),
            data: written
                .data
                .as_ref()
                .and_then(|at| kept(source, at, |size| data::check_size(size_of(size)?))),
        }
    }

    /// Defaults above the maximum would contradict it: told where they stand.
    pub(super) fn check_defaults(
        &self,
        written: Option<&written::Limits>,
        resolved: &SomeLimits,
        source: &mut Source<'_>,
    ) {
        let Some(written) = written else { return };
        for (name, value) in resolved.iter() {
            let Some(maximum) = self.get(name).filter(|maximum| value > *maximum) else { continue };
            let message =
                format!("`{name}` of {} is above the maximum of {}", name.show(value), name.show(maximum));
            source.add(
                written.span_of(name).unwrap_or(0..0),
                &Complaint::new(message).help("lower it, or raise the value in `[maximum]`"),
            );
        }
    }
}
