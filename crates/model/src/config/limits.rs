//! Limits that say something about some ceilings and leave the others open.

use std::collections::{BTreeMap, BTreeSet};

use super::complaint::{Complaint, nearest, quoted};
use super::limit_name::LimitName;
use super::problem::Source;
use super::written::{self, At, Size};
use crate::limits::Requirement;
use crate::size;

/// Some of the ceilings, each within its bounds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SomeLimits {
    numbers: BTreeMap<LimitName, u64>,
    require: Option<BTreeSet<Requirement>>,
}

impl SomeLimits {
    /// What is said about this limit: bytes, thousandths of a core, or a count.
    pub fn get(&self, name: LimitName) -> Option<u64> {
        self.numbers.get(&name).copied()
    }

    /// What is said about the layers to insist on; an empty set says *none*.
    pub fn require(&self) -> Option<&BTreeSet<Requirement>> {
        self.require.as_ref()
    }

    /// Everything that is said.
    pub fn iter(&self) -> impl Iterator<Item = (LimitName, u64)> {
        self.numbers.iter().map(|(name, value)| (*name, *value))
    }

    pub(super) fn resolve(written: Option<&written::Limits>, source: &mut Source<'_>) -> Self {
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
            require: written.require.as_ref().map(|list| list.iter().map(|layer| *layer.get()).collect()),
        }
    }

    /// Takes in one `NAME=VALUE` of the command line.
    pub(super) fn add_flag(&mut self, text: &str) -> Result<(), Complaint> {
        let (name, value) = text.split_once('=').ok_or_else(|| {
            Complaint::new("there is no `=` in it")
                .help("write `--limit NAME=VALUE`, for example `--limit memory=1GiB`")
        })?;
        let (name, value) = (name.trim().replace('-', "_"), value.trim());
        let twice = || Complaint::new(format!("`{name}` is given twice")).help("give each limit once");
        if name == "require" {
            let layers = requirements(value)?;
            return match self.require.replace(layers) {
                None => Ok(()),
                Some(_) => Err(twice()),
            };
        }
        let limit = LimitName::ALL
            .into_iter()
            .find(|limit| limit.as_str() == name)
            .ok_or_else(|| unknown_limit(&name))?;
        let value = match limit {
            LimitName::Memory | LimitName::FileSize | LimitName::Scratch => limit.check(size_text(value)?)?,
            LimitName::Cpu => {
                let cores = value.parse().map_err(|_| {
                    Complaint::new(format!("`{value}` is not a number of cores")).help(limit.range_text())
                })?;
                limit.check_cores(cores)?
            }
            LimitName::Processes | LimitName::OpenFiles | LimitName::ScratchFiles => {
                let count = value.parse().map_err(|_| {
                    Complaint::new(format!("`{value}` is not a whole number")).help(limit.range_text())
                })?;
                limit.check_count(count)?
            }
        };
        match self.numbers.insert(limit, value) {
            None => Ok(()),
            Some(_) => Err(twice()),
        }
    }
}

/// The bytes a written size stands for.
pub(super) fn size_of(written: &Size) -> Result<u64, Complaint> {
    match written {
        Size::Text(text) => size_text(text),
        Size::Bytes(bytes) => u64::try_from(*bytes).map_err(|_| Complaint::new("a size cannot be negative")),
    }
}

/// The bytes of a size on the command line or in a string.
pub(super) fn size_text(text: &str) -> Result<u64, Complaint> {
    size::parse(text).map_err(|error| Complaint::new(error.to_string()).help(error.hint()))
}

/// The checked value, or nothing and a problem at its place.
pub(super) fn kept<T, R>(
    source: &mut Source<'_>,
    at: &At<T>,
    check: impl FnOnce(&T) -> Result<R, Complaint>,
) -> Option<R> {
    match check(at.get()) {
        Ok(value) => Some(value),
        Err(complaint) => {
            source.add(at.span(), &complaint);
            None
        }
    }
}

/// What the two written tables have in common.
pub(super) struct Numbers<'a> {
    pub(super) memory: Option<&'a At<Size>>,
    pub(super) cpu: Option<&'a At<f64>>,
    pub(super) processes: Option<&'a At<i64>>,
    pub(super) open_files: Option<&'a At<i64>>,
    pub(super) file_size: Option<&'a At<Size>>,
    pub(super) scratch: Option<&'a At<Size>>,
    pub(super) scratch_files: Option<&'a At<i64>>,
}

pub(super) fn numbers(written: &Numbers<'_>, source: &mut Source<'_>) -> BTreeMap<LimitName, u64> {
    LimitName::ALL
        .into_iter()
        .filter_map(|name| {
            let size =
                |at: &At<Size>, source: &mut Source<'_>| kept(source, at, |size| name.check(size_of(size)?));
            let count =
                |at: &At<i64>, source: &mut Source<'_>| kept(source, at, |count| name.check_count(*count));
            let value = match name {
                LimitName::Memory => size(written.memory?, source),
                LimitName::Cpu => kept(source, written.cpu?, |cores| name.check_cores(*cores)),
                LimitName::Processes => count(written.processes?, source),
                LimitName::OpenFiles => count(written.open_files?, source),
                LimitName::FileSize => size(written.file_size?, source),
                LimitName::Scratch => size(written.scratch?, source),
                LimitName::ScratchFiles => count(written.scratch_files?, source),
            };
            Some((name, value?))
        })
        .collect()
}

fn requirements(text: &str) -> Result<BTreeSet<Requirement>, Complaint> {
    const KNOWN: [(&str, Requirement); 5] = [
        ("memory", Requirement::Memory),
        ("cpu", Requirement::Cpu),
        ("pids", Requirement::Pids),
        ("processes", Requirement::Pids),
        ("landlock", Requirement::Landlock),
    ];
    if matches!(text.trim(), "" | "none") {
        return Ok(BTreeSet::new());
    }
    text.split(',')
        .map(str::trim)
        .map(|name| {
            KNOWN.iter().find_map(|(known, layer)| (*known == name).then_some(*layer)).ok_or_else(|| {
                Complaint::new(format!("`{name}` is no layer that can be required"))
                    .help("a list of memory, cpu, pids, landlock with commas between, or `none`")
            })
        })
        .collect()
}

fn unknown_limit(name: &str) -> Complaint {
    let known = LimitName::ALL.map(LimitName::as_str).into_iter().chain(["require"]);
    let complaint = Complaint::new(format!("there is no limit `{name}`"));
    match nearest(name, known.clone()) {
        Some(meant) => complaint.help(format!("did you mean `{meant}`?")),
        None => complaint.help(format!("limits are {}", quoted(known))),
    }
}
