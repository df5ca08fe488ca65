//! Control groups of one cell: ceilings, and the life-cycle of the tree as a whole.
//!
//! The two are kept apart, because hosts keep them apart. *Limits* (memory, CPU, processes) are set wherever each
//! controller lives: a v1 hierarchy or the unified one. *Life-cycle* (freeze, kill, events) is done with the core
//! files of the unified hierarchy, which work even where it has no controller (hybrid hosts). The v1 freezer is never
//! used: processes it froze outlive `SIGKILL` until somebody thaws them.
//!
//! Nothing here fails as a whole: what a host does not give becomes a [`Layer`] that says so, with its remedy.

mod advice;
mod controls;
mod hierarchies;
mod legacy;
mod mountinfo;
mod obstacle;
mod place;
mod removal;
mod runtime;
mod unified;

#[cfg(test)]
mod live_tests;

pub use hierarchies::Hierarchies;
pub use removal::{Leftover, sweep};
pub use runtime::{CellGroups, FreezeError, MemoryUse};

use std::path::PathBuf;

use model::layer::{Layer, LayerName};
use model::limits::Limits;
use obstacle::Obstacle;

use crate::guard;

/// Every group of ours is called this and the cell's id.
const PREFIX: &str = "fumehood-";

/// The groups made for a cell, and how well each ceiling is held.
#[derive(Debug)]
#[must_use = "the groups stay until `CellGroups::remove` is called"]
pub struct Created {
    /// The groups; empty where the host gave none.
    pub groups: CellGroups,
    /// [`LayerName::Memory`], [`LayerName::Cpu`], [`LayerName::Processes`] and [`LayerName::Lifecycle`], in this
    /// order, each enforced or missing.
    pub layers: Vec<Layer>,
}

impl Hierarchies {
    /// Makes this cell's groups wherever the host lets us, below our own group where possible, so that ceilings of
    /// whoever started us go on to hold.
    ///
    /// `cell_id` becomes part of a folder's name: 1 to 64 of `a-z A-Z 0-9 . _ -`. A group of that name which exists
    /// already is used only after it was found empty and removed.
    pub fn create(&self, cell_id: &str, limits: &Limits) -> Created {
        let Some(name) = group_name(cell_id) else {
            let obstacle = Obstacle::Name { id: cell_id.to_owned() };
            let layers = LAYERS.into_iter().map(|layer| advice::missing(layer, &obstacle)).collect();
            return Created { groups: CellGroups::default(), layers };
        };
        let mut groups = CellGroups::default();
        let unified = self.unified(&name);
        let mut layers = Vec::with_capacity(LAYERS.len());
        let limits = &set_ceilings(limits);
        for controller in Controller::ALL {
            let held = match self.legacy(controller) {
                Some(hierarchy) => groups.legacy(hierarchy, &name).and_then(|g| g.limit(controller, limits)),
                None => match &unified {
                    Ok(group) => group.limit(controller, limits),
                    Err(obstacle) => Err(self.lacks(controller).unwrap_or_else(|| obstacle.clone())),
                },
            };
            layers.push(advice::layer(controller.layer(), held));
        }
        self.add_shown(&mut groups, &name);
        layers.push(match unified {
            Ok(group) => {
                let layer = advice::enforced(LayerName::Lifecycle, group.lifecycle());
                groups.unified = Some(group);
                layer
            }
            Err(obstacle) => advice::missing(LayerName::Lifecycle, &obstacle),
        });
        Created { groups, layers }
    }
}

impl Hierarchies {
    /// Every folder that [`Hierarchies::create`] may make for this cell, in the order they can be removed: for a record
    /// that is written before it does. None where the id cannot be part of a group's name.
    pub fn candidates(&self, cell_id: &str) -> Vec<PathBuf> {
        let Some(name) = group_name(cell_id) else { return Vec::new() };
        self.places(&name)
    }

    /// Groups without a ceiling, in the v1 hierarchies that a JVM wants to see beside memory and CPU before it
    /// believes in any (it looks for all four). Where one cannot be made, a JVM sizes its heap by the host.
    fn add_shown(&self, groups: &mut CellGroups, name: &str) {
        if groups.legacy.is_empty() {
            return;
        }
        for hierarchy in ["cpuacct", "cpuset"].iter().filter_map(|shown| self.legacy_of(shown)) {
            if let Ok(group) = groups.legacy(hierarchy, name) {
                group.inherit_cpus();
            }
        }
    }
}

/// The ceilings that groups get: the declared ones, but in the control of an attack test so high that none is felt.
fn set_ceilings(limits: &Limits) -> Limits {
    if guard::off("cgroup-limits") {
        Limits { memory: 8 << 30, processes: 10_000, ..limits.clone() }
    } else {
        limits.clone()
    }
}

const LAYERS: [LayerName; 4] =
    [LayerName::Memory, LayerName::Cpu, LayerName::Processes, LayerName::Lifecycle];

/// The controllers a ceiling is set with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Controller {
    Memory,
    Cpu,
    Pids,
}

impl Controller {
    const ALL: [Self; 3] = [Self::Memory, Self::Cpu, Self::Pids];

    /// The kernel's name for it.
    fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Cpu => "cpu",
            Self::Pids => "pids",
        }
    }

    fn layer(self) -> LayerName {
        match self {
            Self::Memory => LayerName::Memory,
            Self::Cpu => LayerName::Cpu,
            Self::Pids => LayerName::Processes,
        }
    }
}

/// The folder's name for a cell, unless the id could lead out of a folder.
fn group_name(cell_id: &str) -> Option<String> {
    let fits = cell_id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
    (fits && (1..=64).contains(&cell_id.len())).then(|| format!("{PREFIX}{cell_id}"))
}

/// A CPU ceiling as the kernel takes it: quota and period in microseconds. A quota under 1 ms is refused by the
/// kernel (`min_cfs_quota_period`), so very small shares are counted over a whole second.
fn cpu_quota(cpu_milli: u32) -> (u64, u64) {
    let period: u64 = if cpu_milli < 10 { 1_000_000 } else { 100_000 };
    ((u64::from(cpu_milli.max(1)) * period) / 1000, period)
}
