//! One cell's group in a v1 hierarchy.

use std::path::PathBuf;

use model::limits::Limits;

use super::hierarchies::LegacyHierarchy;
use super::obstacle::Obstacle;
use super::{Controller, controls, cpu_quota, removal};

/// A group we made.
#[derive(Debug)]
pub(super) struct LegacyGroup {
    /// Its folder.
    pub(super) folder: PathBuf,
    /// The mount option of its hierarchy.
    pub(super) controllers: String,
}

impl LegacyGroup {
    /// Makes it below our own.
    pub(super) fn create(hierarchy: &LegacyHierarchy, name: &str) -> Result<Self, Obstacle> {
        let place = hierarchy.place.as_ref().map_err(Clone::clone)?;
        let folder = place.own.join(name);
        removal::make_fresh(&folder, true)?;
        Ok(Self { folder, controllers: hierarchy.controllers.clone() })
    }

    /// Sets one ceiling; what was set, in words.
    pub(super) fn limit(&self, controller: Controller, limits: &Limits) -> Result<String, Obstacle> {
        let mut note = "";
        match controller {
            Controller::Memory => {
                let bytes = limits.memory.to_string();
                self.set("memory.limit_in_bytes", &bytes)?;
                // Memory and swap together: the same ceiling leaves no room for swap. The file is missing where
                // the kernel does not account swap; then only the inclination to swap can be taken away.
                if self.set("memory.memsw.limit_in_bytes", &bytes).is_err() {
                    note = if self.set("memory.swappiness", "0").is_ok() {
                        " (swap is not accounted by this kernel; swappiness 0)"
                    } else {
                        " (swap is not limited)"
                    };
                }
            }
            Controller::Cpu => {
                let (quota, period) = cpu_quota(limits.cpu_milli);
                self.set("cpu.cfs_period_us", &period.to_string())?;
                self.set("cpu.cfs_quota_us", &quota.to_string())?;
            }
            // The one more is PID 1, which is ours.
            Controller::Pids => self.set("pids.max", &(u64::from(limits.processes) + 1).to_string())?,
        }
        Ok(format!("cgroup v1 {}{note}", self.folder.display()))
    }

    /// Takes over the CPUs and memory nodes of the group above: a new cpuset group has none, and takes no process.
    pub(super) fn inherit_cpus(&self) {
        for file in ["cpuset.cpus", "cpuset.mems"] {
            let above = self.folder.parent().map(|above| above.join(file));
            if let Some(set) = above.and_then(|file| std::fs::read_to_string(file).ok()) {
                // Where it fails the group stays without: entering it fails, and the start says so.
                controls::write(&self.folder.join(file), set.trim()).ok();
            }
        }
    }

    /// Whether the group's hierarchy has this controller.
    pub(super) fn has(&self, controller: Controller) -> bool {
        self.controllers.split(',').any(|name| name == controller.name())
    }

    fn set(&self, file: &str, value: &str) -> Result<(), Obstacle> {
        let file = self.folder.join(file);
        controls::write(&file, value).map_err(|errno| Obstacle::Write {
            file,
            value: value.to_owned(),
            errno,
        })
    }
}
