//! What a run of the product can leave on the host, listed: processes, namespaces, mounts, control groups, host ids,
//! and files. A listing is compared with the one made before the run.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs, io,
    path::{Path, PathBuf},
    process::Child,
};

use rustix::process::{Pid, WaitOptions, set_child_subreaper, waitpid};

mod names;
mod processes;

pub use processes::Process;

/// First part of the name of every control group of a cell.
const GROUP: &str = "fumehood-";

/// One thing that is still there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Leftover {
    /// A process, and its command line.
    Process(Process, String),
    /// A namespace, as in `net:[4026531840]`, and who holds it.
    Namespace(String, String),
    /// A line of this process's `mountinfo`.
    Mount(String),
    /// The folder of a control group.
    Group(PathBuf),
    /// The locked file of a host id.
    HostId(PathBuf),
    /// A file or folder.
    File(PathBuf),
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process(Process { pid, is_ending, .. }, line) => {
                write!(f, "process {pid}{}: {line}", if *is_ending { " (ending)" } else { "" })
            }
            Self::Namespace(namespace, holder) => write!(f, "namespace {namespace}, held by {holder}"),
            Self::Mount(line) => write!(f, "mount {line}"),
            Self::Group(folder) => write!(f, "control group {}", folder.display()),
            Self::HostId(lock) => write!(f, "host id {}", lock.display()),
            Self::File(path) => write!(f, "file {}", path.display()),
        }
    }
}

/// What is known of one run, and what was there before it.
#[derive(Debug)]
pub struct Traces {
    /// Part of the command line or the environment of its processes.
    marker: String,
    /// Folders that nobody else uses. What is made in them counts, except below `kept`.
    folders: Vec<PathBuf>,
    kept: Vec<PathBuf>,
    /// The folder with one folder per cell.
    cells_folder: PathBuf,
    before: Before,
    cells: BTreeSet<String>,
    namespaces: BTreeSet<String>,
    host_ids: BTreeSet<u32>,
    /// Processes that somebody else waits for.
    children: BTreeSet<i32>,
}

#[derive(Debug, Default)]
struct Before {
    processes: BTreeSet<i32>,
    mounts: BTreeSet<String>,
    files: BTreeSet<PathBuf>,
    namespaces: BTreeSet<String>,
}

/// How the folder begins in which a test plants leftovers to show that they are found.
pub const PLANTED: &str = "fh-planted-";

impl Traces {
    /// Lists what is there before a run. Orphans of the run will become children of this process, so that none of
    /// them is missed; processes are told from those of others by `marker` and by this descent.
    ///
    /// `folders` are the run's own; `cells` holds a folder for each cell; what lies in `kept` may stay.
    pub fn before(marker: &str, folders: &[PathBuf], cells: &Path, kept: &[PathBuf]) -> io::Result<Self> {
        set_child_subreaper(Some(rustix::process::getpid()))?;
        let mut traces = Self {
            marker: marker.to_owned(),
            folders: folders.to_vec(),
            kept: kept.to_vec(),
            cells_folder: cells.to_owned(),
            before: Before::default(),
            cells: BTreeSet::new(),
            namespaces: BTreeSet::new(),
            host_ids: BTreeSet::new(),
            children: BTreeSet::new(),
        };
        traces.before = Before {
            processes: processes::all().into_iter().map(|process| process.pid).collect(),
            mounts: names::mounts()?,
            files: traces.files(),
            namespaces: processes::own_namespaces()?,
        };
        Ok(traces)
    }

    /// Only remembers the names of the cells there are: faster than [`Traces::look`].
    pub fn look_for_cells(&mut self) {
        // One that is just beginning has no name yet.
        let entries = names::entries(&self.cells_folder).into_iter();
        self.cells.extend(entries.filter(|name| !name.starts_with('.')));
    }

    /// Leaves a child to whoever started it: orphans are collected here, children are not.
    pub fn leave(&mut self, child: &Child) {
        self.children.insert(child.id().cast_signed());
    }

    /// Looks at the run while it lives, and remembers what to look for later. Returns its processes.
    pub fn look(&mut self) -> Vec<Process> {
        self.look_for_cells();
        let present = self.run();
        for process in &present {
            let others =
                process.namespaces().into_iter().filter(|name| !self.before.namespaces.contains(name));
            self.namespaces.extend(others);
            self.host_ids.extend(process.host_id().filter(|id| *id >= sandbox::identity::FIRST_ID));
        }
        present
    }

    /// The children of a process, without a look at anything else.
    pub fn children_of(parent: i32) -> Vec<Process> {
        processes::all().into_iter().filter(|process| process.parent == parent && !process.is_dead).collect()
    }

    /// Whether there is a folder of a cell, or the beginning of one.
    pub fn sees_a_folder(&self) -> bool {
        !names::entries(&self.cells_folder).is_empty()
    }

    /// Whether a cell that was seen has a control group right below the mount point of a hierarchy: one look at each.
    pub fn sees_a_group(&self) -> bool {
        let points = self.before.mounts.iter().filter(|line| names::is_hierarchy(line));
        points.filter_map(|line| line.split(' ').nth(4)).any(|point| {
            self.cells.iter().any(|cell| Path::new(point).join(format!("{GROUP}{cell}")).exists())
        })
    }

    /// The names of the cells that were seen.
    pub fn cells(&self) -> &BTreeSet<String> {
        &self.cells
    }

    /// The namespaces that were seen, other than this process's own.
    pub fn namespaces(&self) -> &BTreeSet<String> {
        &self.namespaces
    }

    /// The host ids that were seen.
    pub fn host_ids(&self) -> &BTreeSet<u32> {
        &self.host_ids
    }

    /// What the kernel still has of the run: processes, namespaces and mounts.
    pub fn in_kernel(&self) -> io::Result<Vec<Leftover>> {
        self.collect_orphans();
        let run = self.run();
        let mut left: Vec<Leftover> =
            run.iter().map(|process| Leftover::Process(process.clone(), process.line())).collect();
        let holders = run.into_iter().chain(Process::of_this());
        for (namespace, holder) in processes::held(&self.namespaces, holders) {
            left.push(Leftover::Namespace(namespace, holder));
        }
        // Tests run beside one another, each in a process of its own: what another one planted is not this run's.
        let is_of_another = |line: &String| line.contains(PLANTED) && !line.contains(&self.marker);
        let mut mounts = names::mounts()?;
        mounts.retain(|line| !is_of_another(line));
        left.extend(mounts.difference(&self.before.mounts).cloned().map(Leftover::Mount));
        Ok(left)
    }

    /// What has a name and is still there: control groups, host ids, files.
    pub fn with_names(&self) -> Vec<Leftover> {
        let cells: BTreeSet<String> =
            self.cells.iter().cloned().chain(names::entries(&self.cells_folder)).collect();
        let groups: BTreeSet<String> = cells.iter().map(|cell| format!("{GROUP}{cell}")).collect();
        let mut left: Vec<Leftover> = names::groups()
            .into_iter()
            .filter(|folder| named(folder, &groups))
            .map(Leftover::Group)
            .collect();
        left.extend(names::held_host_ids(&self.host_ids).into_iter().map(Leftover::HostId));
        left.extend(self.files().difference(&self.before.files).cloned().map(Leftover::File));
        left
    }

    /// Both lists.
    pub fn all(&self) -> io::Result<Vec<Leftover>> {
        let mut left = self.in_kernel()?;
        left.extend(self.with_names());
        Ok(left)
    }

    /// Every living process that descends from this one or bears the marker, and was not there before.
    ///
    /// Not by the namespaces seen: once they are gone their numbers are given to those of others.
    fn run(&self) -> Vec<Process> {
        let all: BTreeMap<i32, Process> =
            processes::all().into_iter().map(|process| (process.pid, process)).collect();
        let own = std::process::id().cast_signed();
        all.values()
            .filter(|process| process.pid != own && !process.is_dead)
            .filter(|process| !self.before.processes.contains(&process.pid))
            .filter(|process| process.descends_from(own, &all) || process.mentions(&self.marker))
            .cloned()
            .collect()
    }

    /// Nobody else waits for orphans of the run that have ended.
    fn collect_orphans(&self) {
        let own = std::process::id().cast_signed();
        for process in processes::all() {
            if process.is_dead
                && process.parent == own
                && !self.children.contains(&process.pid)
                && !self.before.processes.contains(&process.pid)
                && let Some(pid) = Pid::from_raw(process.pid)
            {
                // It cannot be gone: only this process may collect it.
                waitpid(Some(pid), WaitOptions::NOHANG).ok();
            }
        }
    }

    fn files(&self) -> BTreeSet<PathBuf> {
        let mut files = BTreeSet::new();
        for folder in &self.folders {
            names::below(folder, &self.kept, &mut files);
        }
        files
    }
}

fn named(folder: &Path, names: &BTreeSet<String>) -> bool {
    folder.components().any(|part| part.as_os_str().to_str().is_some_and(|part| names.contains(part)))
}

/// Removes every control group of the cells that `traces` saw, innermost first: for the end of a test that failed.
pub fn remove_groups(traces: &Traces) {
    for left in traces.with_names().into_iter().rev() {
        if let Leftover::Group(folder) = left {
            // What is still in use stays; the test has failed already.
            fs::remove_dir(folder).ok();
        }
    }
}
