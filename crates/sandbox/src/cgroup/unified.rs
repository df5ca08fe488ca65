//! One cell's group in the unified hierarchy (cgroup v2): the ceilings on the group, and two leaves in it. `init`
//! holds PID 1 alone, so that freezing and the out-of-memory killer, which see only `tool`, never reach it.

use std::path::{Path, PathBuf};

use model::limits::Limits;
use rustix::io::Errno;

use super::hierarchies::Place;
use super::obstacle::Obstacle;
use super::{Controller, controls, cpu_quota, removal};

/// What PID 1 itself may use beside the tool's ceiling, bytes. Its own ceiling has to be out of the tool's way: were
/// both under one, the kernel could choose PID 1 when the tool has used up the memory.
const INIT_MEMORY: u64 = 16 * 1024 * 1024;
/// PID 1, and the child that it is starting and that is not in `tool` yet.
const INIT_PROCESSES: u64 = 2;
/// The launcher, PID 1 and `newgidmap`, which are in `tool` for a moment before there is a tool. So few processes are
/// held by the ceiling of the whole cell then, which counts PID 1 too.
const LAUNCH_PROCESSES: u64 = 3;

/// The leaf for PID 1.
pub(super) const INIT: &str = "init";
/// The leaf for everything else.
pub(super) const TOOL: &str = "tool";
/// Where the processes of a group that was delegated to us go, so that it can hand down controllers. Not
/// `fumehood-…`: it belongs to no cell and is never swept.
const EVACUATED: &str = "fumehood.main";

/// A group we made, with its two leaves.
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
        group.make_leaves()?;
        Ok(group)
    }

    /// Sets one ceiling; what was set, in words.
    pub(super) fn limit(&self, controller: Controller, limits: &Limits) -> Result<String, Obstacle> {
        let state = self.controllers.iter().find(|(c, _)| *c == controller).map(|(_, state)| state);
        state.cloned().unwrap_or(Err(Obstacle::NoController { controller }))?;
        let mut note = "";
        match controller {
            Controller::Memory => {
                self.set("memory.max", &(limits.memory.saturating_add(INIT_MEMORY)).to_string())?;
                self.set_tool("memory.max", &limits.memory.to_string())?;
                self.set_tool("memory.oom.group", "1")?;
                let swap = [self.set("memory.swap.max", "0"), self.set_tool("memory.swap.max", "0")];
                if swap.iter().any(Result::is_err) {
                    note = " (swap is not accounted by this kernel)";
                }
            }
            Controller::Cpu => {
                let (quota, period) = cpu_quota(limits.cpu_milli);
                let value = format!("{quota} {period}");
                self.set("cpu.max", &value)?;
                // Also on the leaf, where a runtime inside looks for it.
                self.set_tool("cpu.max", &value)?;
            }
            Controller::Pids => {
                let processes = u64::from(limits.processes);
                self.set("pids.max", &(processes + INIT_PROCESSES).to_string())?;
                self.set_tool("pids.max", &processes.max(LAUNCH_PROCESSES).to_string())?;
            }
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

    /// The leaf for PID 1.
    pub(super) fn init(&self) -> PathBuf {
        self.folder.join(INIT)
    }

    /// The leaf for everything else.
    pub(super) fn tool(&self) -> PathBuf {
        self.folder.join(TOOL)
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

    fn make_leaves(&mut self) -> Result<(), Obstacle> {
        for (controller, state) in &mut self.controllers {
            if state.is_ok() {
                *state = enable(&self.folder, *controller);
            }
        }
        for leaf in [self.init(), self.tool()] {
            if let Err(obstacle) = removal::make_fresh(&leaf, false) {
                removal::discard(&self.folder);
                return Err(obstacle);
            }
        }
        Ok(())
    }

    fn count(&self) -> usize {
        self.controllers.iter().filter(|(_, state)| state.is_ok()).count()
    }

    fn set(&self, file: &str, value: &str) -> Result<(), Obstacle> {
        set(self.folder.join(file), value)
    }

    fn set_tool(&self, file: &str, value: &str) -> Result<(), Obstacle> {
        set(self.tool().join(file), value)
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
