//! Where the control-group hierarchies are mounted, and where in them we are.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::mountinfo::{Mount, cgroup_mounts};
use super::obstacle::Obstacle;
use super::place::Place;
use super::unified::UnifiedGroup;
use super::{Controller, controls};

#[cfg(test)]
mod tests;

/// The control groups of this host, as this process sees them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hierarchies {
    unified: Result<Place, Obstacle>,
    legacy: Vec<LegacyHierarchy>,
}

/// A v1 hierarchy that has controllers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LegacyHierarchy {
    /// Its controllers, joined as its mount option is: `cpu,cpuacct`.
    pub(super) controllers: String,
    /// Where it is.
    pub(super) place: Result<Place, Obstacle>,
}

impl Hierarchies {
    /// Looks at this process. What cannot be read shows in the layers of [`Hierarchies::create`].
    pub fn detect() -> Self {
        Self::read(Path::new("/proc/self"))
    }

    /// Like [`Hierarchies::detect`], from another folder that holds `mountinfo` and `cgroup`.
    pub fn read(proc_self: &Path) -> Self {
        let read = |name: &str| {
            let file = proc_self.join(name);
            std::fs::read(&file)
                .map_err(|e| Obstacle::Proc { file: file.display().to_string(), errno: controls::errno(&e) })
        };
        match (read("mountinfo"), read("cgroup")) {
            (Ok(mountinfo), Ok(cgroup)) => Self::parse(&mountinfo, &cgroup, &is_on_top),
            (Err(obstacle), _) | (_, Err(obstacle)) => Self { unified: Err(obstacle), legacy: Vec::new() },
        }
    }

    /// From the text of the two files. `on_top` tells whether a mount is what one finds at its mount point.
    fn parse(mountinfo: &[u8], cgroup: &[u8], on_top: &dyn Fn(&Mount) -> bool) -> Self {
        let mounts: Vec<Mount> = cgroup_mounts(mountinfo).into_iter().filter(on_top).collect();
        let mut found = Self { unified: Err(Obstacle::NotMounted), legacy: Vec::new() };
        for line in cgroup.split(|&b| b == b'\n') {
            let mut fields = line.splitn(3, |&b| b == b':');
            let (Some(_), Some(controllers), Some(own)) = (fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            let own = Path::new(OsStr::from_bytes(own));
            if controllers.is_empty() {
                found.unified = place(mounts.iter().filter(|m| m.unified), own, || Obstacle::NotMounted);
                continue;
            }
            let text = String::from_utf8_lossy(controllers);
            let names: Vec<&str> = text.split(',').filter(|name| !name.starts_with("name=")).collect();
            if names.is_empty() {
                continue;
            }
            let controllers = names.join(",");
            let of_this = |m: &&Mount| !m.unified && names.iter().all(|n| m.options.iter().any(|o| o == n));
            let place = place(mounts.iter().filter(of_this), own, || Obstacle::LegacyNotMounted {
                controllers: controllers.clone(),
            });
            found.legacy.push(LegacyHierarchy { controllers, place });
        }
        found
    }

    /// The v1 hierarchy a controller is bound to, if any. One that is bound there is not to be had in the unified
    /// hierarchy, mounted or not.
    pub(super) fn legacy(&self, controller: Controller) -> Option<&LegacyHierarchy> {
        self.legacy_of(controller.name())
    }

    /// The v1 hierarchy that holds the controller of this name.
    pub(super) fn legacy_of(&self, controller: &str) -> Option<&LegacyHierarchy> {
        self.legacy.iter().find(|h| h.controllers.split(',').any(|name| name == controller))
    }

    /// Makes the group in the unified hierarchy, with the controllers that are not bound to v1.
    pub(super) fn unified(&self, name: &str) -> Result<UnifiedGroup, Obstacle> {
        let place = self.unified.as_ref().map_err(Clone::clone)?;
        let wanted: Vec<Controller> =
            Controller::ALL.into_iter().filter(|c| self.legacy(*c).is_none()).collect();
        UnifiedGroup::create(place, name, &wanted)
    }

    /// Where groups of this name may be made: in our own group of each hierarchy, in the unified one also above it.
    pub(super) fn places(&self, name: &str) -> Vec<PathBuf> {
        let unified = self.unified.iter().flat_map(|place| {
            let above = place.own.ancestors().take_while(|above| above.starts_with(&place.top));
            above.map(|above| above.join(name))
        });
        let legacy = self.legacy.iter().filter_map(|hierarchy| hierarchy.place.as_ref().ok());
        unified.chain(legacy.map(|place| place.own.join(name))).collect()
    }

    /// Why no group in the unified hierarchy can have this controller, if that is so and we can look.
    pub(super) fn lacks(&self, controller: Controller) -> Option<Obstacle> {
        self.unified.as_ref().ok()?.lacks(controller)
    }
}

/// The best way to our own group: a writable mount before a read-only one, then the one that shows most of what is
/// above us.
fn place<'a>(
    mounts: impl Iterator<Item = &'a Mount>,
    own: &Path,
    not_mounted: impl FnOnce() -> Obstacle,
) -> Result<Place, Obstacle> {
    let mut mounted = false;
    let reachable = mounts.inspect(|_| mounted = true).filter_map(|mount| {
        let below = own.strip_prefix(&mount.root).ok()?;
        // What `strip_prefix` leaves may still lead out of the mount by `..`.
        let inside = below.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        inside.then_some((mount, below))
    });
    let best = reachable.min_by_key(|(mount, _)| (!mount.writable, mount.root.components().count()));
    match best {
        Some((mount, below)) if below.as_os_str().is_empty() => {
            Ok(Place { own: mount.point.clone(), top: mount.point.clone() })
        }
        Some((mount, below)) => Ok(Place { own: mount.point.join(below), top: mount.point.clone() }),
        None if mounted => Err(Obstacle::NotVisible { group: own.display().to_string() }),
        None => Err(not_mounted()),
    }
}

/// Whether the mount is what one finds at its mount point, and not covered by a later one.
fn is_on_top(mount: &Mount) -> bool {
    rustix::fs::stat(&mount.point)
        .is_ok_and(|stat| (rustix::fs::major(stat.st_dev), rustix::fs::minor(stat.st_dev)) == mount.device)
}
