//! One cell's group in the unified hierarchy (cgroup v2). PID 1 is in it with the rest: a frozen process dies of
//! `SIGKILL` here, and a group of its own for PID 1 would cost each process a move, for which the kernel lets
//! everybody on the host hold still.

use std::path::{Path, PathBuf};

use model::limits::Limits;
use rustix::io::Errno;

use super::obstacle::Obstacle;
use super::place::Place;
use super::{Controller, controls, cpu_quota, removal};

/// Where the processes of a group that was delegated to us go, so that it can hand down controllers. Not
/// `fumehood-…`: it belongs to no cell and is never swept.
const EVACUATED: &str = "fumehood.main";

/// A group we made.
#[derive(Debug)]
pub(super) struct UnifiedGroup {
    /// Its folder.
    pub(super) folder: PathBuf,
    /// The controllers it has, each with why not.
    controllers: Vec<(Controller, Result<(), Obstacle>)>,
}

impl UnifiedGroup {
    /// Makes it in our own group, or in the nearest one above that lets us and can hand down what is `wanted`; if
    /// none can, in the one that hands down most.
    pub(super) fn create(place: &Place, name: &str, wanted: &[Controller]) -> Result<Self, Obstacle> {
        let reachable = wanted.iter().filter(|c| place.lacks(**c).is_none()).count();
        let mut best: Option<Self> = None;
        let mut nearest: Option<Obstacle> = None;
        for above in place.own.ancestors().take_while(|above| above.starts_with(&place.top)) {
            let candidate = match Self::create_in(above, above == place.own, name, wanted) {
                Ok(candidate) => candidate,
                Err(obstacle) => {
                    nearest.get_or_insert(obstacle);
                    continue;
                }
            };
            let better = best.as_ref().is_none_or(|best| candidate.count() > best.count());
            let worse = if better { best.replace(candidate) } else { Some(candidate) };
            if let Some(worse) = worse {
                removal::discard(&worse.folder);
            }
            if best.as_ref().is_some_and(|best| best.count() == reachable) {
                break;
            }
        }
        let mut group = best.ok_or_else(|| nearest.unwrap_or(Obstacle::NotMounted))?;
        for (controller, state) in &mut group.controllers {
            if let (Err(_), Some(obstacle)) = (&state, place.lacks(*controller)) {
                *state = Err(obstacle);
            }
        }
        Ok(group)
    }

    /// Sets one ceiling; what was set, in words.
    pub(super) fn limit(&self, controller: Controller, limits: &Limits) -> Result<String, Obstacle> {
        let state = self.controllers.iter().find(|(c, _)| *c == controller).map(|(_, state)| state);
        state.cloned().unwrap_or(Err(Obstacle::NoController { controller }))?;
        let mut note = "";
        match controller {
            Controller::Memory => {
                self.set("memory.max", &limits.memory.to_string())?;
                // Were one process alone killed, the rest would go on in a state nobody tested.
                self.set("memory.oom.group", "1")?;
                if self.set("memory.swap.max", "0").is_err() {
                    note = " (swap is not accounted by this kernel)";
                }
            }
            Controller::Cpu => {
                let (quota, period) = cpu_quota(limits.cpu_milli);
                self.set("cpu.max", &format!("{quota} {period}"))?;
            }
            // The one more is PID 1, which is ours.
            Controller::Pids => self.set("pids.max", &(u64::from(limits.processes) + 1).to_string())?,
        }
        Ok(format!("cgroup v2 {}{note}", self.folder.display()))
    }

    /// Whether the group has this controller.
    pub(super) fn has(&self, controller: Controller) -> bool {
        self.controllers.iter().any(|(c, state)| *c == controller && state.is_ok())
    }

    /// What the life-cycle files can do, in words.
    pub(super) fn lifecycle(&self) -> String {
        // `cgroup.kill` came with Linux 5.14, after `cgroup.freeze`.
        let kill = if self.folder.join("cgroup.kill").exists() { "freeze and kill" } else { "freeze" };
        format!("cgroup v2 {kill} in {}", self.folder.display())
    }

    fn create_in(above: &Path, own: bool, name: &str, wanted: &[Controller]) -> Result<Self, Obstacle> {
        let folder = above.join(name);
        removal::make_fresh(&folder, false)?;
        let group = Self { controllers: hand_down(above, own, wanted), folder };
        match usable(above, &group.folder) {
            Ok(()) => Ok(group),
            Err(obstacle) => {
                removal::discard(&group.folder);
                Err(obstacle)
            }
        }
    }

    fn count(&self) -> usize {
        self.controllers.iter().filter(|(_, state)| state.is_ok()).count()
    }

    fn set(&self, file: &str, value: &str) -> Result<(), Obstacle> {
        set(self.folder.join(file), value)
    }
}

/// Lets the groups below `above` have the controllers, as far as it has them itself.
fn hand_down(above: &Path, own: bool, wanted: &[Controller]) -> Vec<(Controller, Result<(), Obstacle>)> {
    let has = controls::words(&above.join("cgroup.controllers"));
    let given = controls::words(&above.join("cgroup.subtree_control"));
    let names = |list: &[String], controller: Controller| list.iter().any(|n| n == controller.name());
    // Asked of at most once, and only where something has to be enabled: it can move processes.
    let mut vacant = None;
    let mut result = Vec::with_capacity(wanted.len());
    for &controller in wanted {
        let state = if names(&given, controller) {
            Ok(())
        } else if !names(&has, controller) {
            Err(Obstacle::NotDelegated { controller, folder: above.to_path_buf() })
        } else if *vacant.get_or_insert_with(|| is_vacant(above) || (own && evacuate(above))) {
            enable(above, controller)
        } else {
            Err(Obstacle::Populated { folder: above.to_path_buf() })
        };
        result.push((controller, state));
    }
    result
}

fn enable(folder: &Path, controller: Controller) -> Result<(), Obstacle> {
    set(folder.join("cgroup.subtree_control"), &format!("+{}", controller.name()))
}

/// Whether controllers may be enabled for the groups below. A group with processes refuses most of them; but `cpu`
/// and `pids` alone it would take, and thereby turn every group below into a threaded one, so it is not asked at all.
/// The real root group (it alone has no type) may have processes.
fn is_vacant(folder: &Path) -> bool {
    !folder.join("cgroup.type").exists() || controls::words(&folder.join("cgroup.procs")).is_empty()
}

/// Moves the processes of our own group into a group below it, where that group is ours to arrange: systemd marked it
/// as delegated, or nobody but this process is in it.
fn evacuate(own: &Path) -> bool {
    let procs = own.join("cgroup.procs");
    let alone = controls::words(&procs) == [std::process::id().to_string()];
    let mut mark = [0u8; 1];
    // systemd.resource-control(5), `Delegate=`.
    let marked = rustix::fs::getxattr(own, "user.delegate", &mut mark).is_ok_and(|_| mark == *b"1");
    if !alone && !marked {
        return false;
    }
    let shelter = own.join(EVACUATED);
    match rustix::fs::mkdir(&shelter, rustix::fs::Mode::from_raw_mode(0o755)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(_) => return false,
    }
    // Processes that fork meanwhile are met in a later round.
    for _ in 0..16 {
        let inside = controls::words(&procs);
        if inside.is_empty() {
            return true;
        }
        for pid in inside {
            match controls::write(&shelter.join("cgroup.procs"), &pid) {
                Ok(()) | Err(Errno::SRCH) => {}
                Err(_) => return false,
            }
        }
    }
    false
}

/// Whether processes of ours can be moved from below `above` into the new group.
fn usable(above: &Path, folder: &Path) -> Result<(), Obstacle> {
    if controls::words(&folder.join("cgroup.type")) != ["domain"] {
        return Err(Obstacle::Threaded { folder: above.to_path_buf() });
    }
    // cgroups(7): whoever moves a process must be able to write the nearest common ancestor's cgroup.procs.
    let common = above.join("cgroup.procs");
    match std::fs::OpenOptions::new().write(true).open(&common) {
        Ok(_) => Ok(()),
        Err(error) => Err(Obstacle::NoGroup {
            folder: above.to_path_buf(),
            legacy: false,
            errno: controls::errno(&error),
        }),
    }
}

fn set(file: PathBuf, value: &str) -> Result<(), Obstacle> {
    controls::write(&file, value).map_err(|errno| Obstacle::Write { file, value: value.to_owned(), errno })
}
