//! The groups of a running cell.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use jail::spec::{CgroupView, Cgroups};

use super::hierarchies::LegacyHierarchy;
use super::legacy::LegacyGroup;
use super::obstacle::Obstacle;
use super::removal::{self, Leftover};
use super::unified::UnifiedGroup;
use super::{Controller, controls};

/// The groups made for one cell; made by [`super::Hierarchies::create`]. They outlive this value: whoever drops it
/// without [`CellGroups::remove`] leaves them to [`super::sweep`].
#[derive(Debug, Default)]
pub struct CellGroups {
    pub(super) unified: Option<UnifiedGroup>,
    pub(super) legacy: Vec<LegacyGroup>,
}

/// Memory charged to a cell, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryUse {
    /// Now.
    pub current: u64,
    /// The most so far; none before Linux 5.19 in the unified hierarchy.
    pub peak: Option<u64>,
}

/// Why a cell was not frozen or thawed.
#[derive(Debug, thiserror::Error)]
pub enum FreezeError {
    /// The cell has no group in the unified hierarchy.
    #[error("the cell has no group that could be frozen")]
    NoGroup,
    /// A control file could not be used.
    #[error("`{}` cannot be used", file.display())]
    File {
        /// Which.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Some process did not stop, or go on, in time.
    #[error("the cell was not {} within {} ms", if *frozen { "frozen" } else { "thawed" }, patience.as_millis())]
    Late {
        /// What was asked for.
        frozen: bool,
        /// How long it was waited for.
        patience: Duration,
    },
}

impl CellGroups {
    /// What the jail has to be told: the folders to enter, and what of them a runtime inside may read.
    pub fn spec(&self) -> Cgroups {
        let legacy = self.legacy.iter().map(|group| group.folder.clone());
        let limits_in_unified =
            self.unified.as_ref().is_some_and(|group| Controller::ALL.into_iter().any(|c| group.has(c)));
        let view = if limits_in_unified {
            CgroupView::Unified
        } else if self.legacy.is_empty() {
            CgroupView::Stated
        } else {
            let controllers = self.legacy.iter().map(|group| group.controllers.clone()).collect();
            CgroupView::Legacy { controllers }
        };
        Cgroups {
            unified: self.unified.as_ref().map(|group| group.folder.clone()),
            legacy: legacy.collect(),
            view,
        }
    }

    /// Every folder of the cell, in the order they can be removed; for the owner's record.
    pub fn paths(&self) -> Vec<PathBuf> {
        let unified = self.unified.iter().map(|group| group.folder.clone());
        unified.chain(self.legacy.iter().map(|group| group.folder.clone())).collect()
    }

    /// Stops every process, PID 1 too, and waits until all have stopped.
    pub fn freeze(&self, patience: Duration) -> Result<(), FreezeError> {
        self.set_frozen(true, patience)
    }

    /// Lets them go on, and waits until all do.
    pub fn thaw(&self, patience: Duration) -> Result<(), FreezeError> {
        self.set_frozen(false, patience)
    }

    /// Sends `SIGKILL` to everything in the cell, PID 1 and frozen processes too. False where the host cannot do
    /// that; the end of the PID namespace has to do it then.
    pub fn kill(&self) -> bool {
        self.unified
            .as_ref()
            .is_some_and(|group| controls::write(&group.folder.join("cgroup.kill"), "1").is_ok())
    }

    /// How many processes the kernel killed because the cell was out of memory. None where nobody counts.
    pub fn oom_kills(&self) -> Option<u64> {
        self.count(Controller::Memory, ("memory.events", "oom_kill"), ("memory.oom_control", "oom_kill"))
    }

    /// How often a fork was refused because of the ceiling of processes. None where nobody counts.
    pub fn pids_denied(&self) -> Option<u64> {
        self.count(Controller::Pids, ("pids.events", "max"), ("pids.events", "max"))
    }

    /// Memory charged to the cell. None where nobody counts.
    pub fn memory(&self) -> Option<MemoryUse> {
        if let Some(group) = self.unified_with(Controller::Memory) {
            let current = controls::number(&group.folder.join("memory.current"))?;
            return Some(MemoryUse { current, peak: controls::number(&group.folder.join("memory.peak")) });
        }
        let folder = &self.legacy_with(Controller::Memory)?.folder;
        let current = controls::number(&folder.join("memory.usage_in_bytes"))?;
        Some(MemoryUse { current, peak: controls::number(&folder.join("memory.max_usage_in_bytes")) })
    }

    /// Whether any process is in the cell, PID 1 included. None where there is no group to tell.
    pub fn populated(&self) -> Option<bool> {
        if let Some(group) = &self.unified {
            return controls::keyed(&group.folder.join("cgroup.events"), "populated").map(|n| n != 0);
        }
        let group = self.legacy.first()?;
        Some(!controls::words(&group.folder.join("cgroup.procs")).is_empty())
    }

    /// Kills what is left and removes the groups; waits for `patience` at the most. Returns what is still there,
    /// which the next [`super::sweep`] has to take.
    pub fn remove(&self, patience: Duration) -> Vec<Leftover> {
        removal::remove(&self.paths(), Instant::now() + patience)
    }

    /// The cell's group in a v1 hierarchy, made when first asked for: hierarchies can hold several controllers.
    pub(super) fn legacy(
        &mut self,
        hierarchy: &LegacyHierarchy,
        name: &str,
    ) -> Result<&LegacyGroup, Obstacle> {
        let made = self.legacy.iter().position(|group| group.controllers == hierarchy.controllers);
        let at = if let Some(at) = made {
            at
        } else {
            self.legacy.push(LegacyGroup::create(hierarchy, name)?);
            self.legacy.len() - 1
        };
        self.legacy.get(at).ok_or(Obstacle::NotMounted)
    }

    fn set_frozen(&self, frozen: bool, patience: Duration) -> Result<(), FreezeError> {
        let group = &self.unified.as_ref().ok_or(FreezeError::NoGroup)?.folder;
        let deadline = Instant::now() + patience;
        let file = group.join("cgroup.freeze");
        if let Err(errno) = controls::write(&file, if frozen { "1" } else { "0" }) {
            return Err(FreezeError::File { file, source: errno.into() });
        }
        let file = group.join("cgroup.events");
        match controls::wait_for(&file, "frozen", u64::from(frozen), deadline) {
            Ok(true) => Ok(()),
            Ok(false) => Err(FreezeError::Late { frozen, patience }),
            Err(source) => Err(FreezeError::File { file, source }),
        }
    }

    fn count(&self, controller: Controller, unified: (&str, &str), legacy: (&str, &str)) -> Option<u64> {
        if let Some(group) = self.unified_with(controller) {
            return controls::keyed(&group.folder.join(unified.0), unified.1);
        }
        let group = self.legacy_with(controller)?;
        controls::keyed(&group.folder.join(legacy.0), legacy.1)
    }

    fn unified_with(&self, controller: Controller) -> Option<&UnifiedGroup> {
        self.unified.as_ref().filter(|group| group.has(controller))
    }

    fn legacy_with(&self, controller: Controller) -> Option<&LegacyGroup> {
        self.legacy.iter().find(|group| group.has(controller))
    }
}
