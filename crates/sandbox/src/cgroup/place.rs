//! Where in a mounted hierarchy we are.

use std::path::PathBuf;

use super::obstacle::Obstacle;
use super::{Controller, controls};

/// Where a hierarchy is reachable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The folder of our own group.
    pub(super) own: PathBuf,
    /// The mount point; `own` is this or below.
    pub(super) top: PathBuf,
}

impl Place {
    /// Why no group of this hierarchy can have `controller`, if that is so. Only the real root group has no type,
    /// and only there does a missing controller mean that the kernel has none.
    pub(super) fn lacks(&self, controller: Controller) -> Option<Obstacle> {
        let there = controls::words(&self.top.join("cgroup.controllers"));
        if there.iter().any(|name| name == controller.name()) {
            None
        } else if self.top.join("cgroup.type").exists() {
            Some(Obstacle::NotDelegated { controller, folder: self.top.clone() })
        } else {
            Some(Obstacle::NoController { controller })
        }
    }
}
