//! What of the host a cell must see, worked out from names and files alone: nothing of the host is ever run.
//!
//! [`plan`] is the one entry point. Deliberately absent: mounting anything, and any look at this process's own
//! environment: a [`Host`] is handed in.

mod code;
mod fence;
mod homes;
mod interpreter;
mod layout;
mod mask;
mod mounts;
mod plan_error;
mod runtime;
mod shim;
mod sight;
mod system;
mod view;
mod walk;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use jail::spec::Entry;
use model::mount::Mount;

pub use self::fence::{Place, Rule, Touch};
use self::homes::Homes;
pub use self::mounts::{MAX_ENTRIES, MAX_GUARDED, MountError};
pub use self::plan_error::PlanError;
pub use self::shim::ShimError;
use self::sight::Sight;
pub use self::sight::{Note, Topic};
use self::view::View;

/// The host as the user who starts a cell has it.
#[derive(Debug, Clone)]
pub struct Host {
    /// What stands for `/`; anything else only in tests.
    pub root: PathBuf,
    /// `$HOME`.
    pub home: Option<PathBuf>,
    /// The folders of `PATH`, in order.
    pub path: Vec<PathBuf>,
    /// Working folder, absolute.
    pub cwd: PathBuf,
    /// Environment, for the variables by which version managers are told their folders and versions.
    pub env: BTreeMap<String, OsString>,
    /// Fumehood's own folders (configuration, state, data, run-time): out of reach for every cell.
    pub own: Vec<PathBuf>,
    /// Host name inside the cell.
    pub hostname: String,
}

/// What to put into a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The system's folders and the small `/etc`. First in the cell's root.
    pub base: Vec<Entry>,
    /// Links, runtimes, code and mounts, parents before what lies in them. After the cell's own `/tmp`, `/home/tool`
    /// and so on: a mount may lie below one of those.
    pub entries: Vec<Entry>,
    /// The command with its program, and a relative script, as absolute paths that exist inside.
    pub argv: Vec<String>,
    /// The cell's `PATH`.
    pub path_env: String,
    /// Working folder inside: the host's where it is visible, else [`Plan::WORKSPACE`].
    pub cwd: PathBuf,
    /// What was made visible or hidden, and why.
    pub notes: Vec<Note>,
}

impl Plan {
    /// Working folder of a cell that does not see the host's.
    pub const WORKSPACE: &'static str = "/workspace";
}

impl Host {
    /// The real host, with the variables of an environment.
    pub fn new(
        env: impl IntoIterator<Item = (OsString, OsString)>,
        cwd: PathBuf,
        own: Vec<PathBuf>,
        hostname: String,
    ) -> Self {
        let env: BTreeMap<String, OsString> =
            env.into_iter().filter_map(|(name, value)| Some((name.into_string().ok()?, value))).collect();
        let path = env.get("PATH").map(|path| std::env::split_paths(path).collect()).unwrap_or_default();
        let home = env.get("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        Self { root: PathBuf::from("/"), home, path, cwd, env, own, hostname }
    }

    /// A variable that names a folder or file by an absolute path.
    pub(crate) fn folder(&self, name: &str) -> Option<PathBuf> {
        self.env.get(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// A variable as text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.env.get(name).and_then(|value| value.to_str())
    }
}

/// Works out what the cell for `command` sees of the host, its declared `mounts` among it.
pub fn plan(host: &Host, command: &[String], mounts: &[Mount]) -> Result<Plan, PlanError> {
    let program = command.first().filter(|program| !program.is_empty()).ok_or(PlanError::Empty)?;
    let view = View::new(&host.root);
    let homes = Homes::read(&view, host.home.as_deref());
    let own: Vec<PathBuf> = host.own.iter().flat_map(|path| both(&view, path)).collect();
    let ground = Ground { host, view, homes, own };
    let mut sight = Sight::new(system::folders(&ground.view));
    mounts::show(&ground.view, &ground.homes, &ground.own, mounts, &mut sight)?;
    let found = runtime::find(&ground, &mut sight, program)?;
    let mut argv = command.to_vec();
    if let Some(first) = argv.first_mut() {
        *first = text(&found)?;
    }
    code::show_named(&ground, &mut sight, program, &mut argv)?;
    runtime::add_usual(&ground, &mut sight);
    runtime::add_system_dirs(&ground, &mut sight);
    let dirs = sight.path_dirs();
    let path_env = dirs.iter().map(|dir| text(dir)).collect::<Result<Vec<_>, _>>()?.join(":");
    let cwd = if sight.shows(&host.cwd) { host.cwd.clone() } else { PathBuf::from(Plan::WORKSPACE) };
    let base = system::entries(&ground.view, &host.hostname);
    let (entries, notes) = sight.finish(&ground.view, &base);
    base.iter().chain(&entries).try_for_each(check_text)?;
    Ok(Plan { base, entries, argv, path_env, cwd, notes })
}

/// The host, and what is known of it from the start.
#[derive(Debug)]
pub(crate) struct Ground<'a> {
    pub(crate) host: &'a Host,
    pub(crate) view: View,
    pub(crate) homes: Homes,
    /// Fumehood's own folders, as handed in and with links resolved.
    pub(crate) own: Vec<PathBuf>,
}

/// Folders that many things share, so that none of them may show the whole.
const SHARED: &[&str] = &[
    "/",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/media",
    "/mnt",
    "/opt",
    "/proc",
    "/run",
    "/sys",
    "/tmp",
    "/usr",
    "/usr/local",
    "/var",
    "/var/lib",
    "/var/tmp",
];
/// Folders of a home that many programs, or all of a person's papers, share.
const SHARED_IN_HOME: &[&str] = &[
    ".cache",
    ".config",
    ".local",
    ".local/bin",
    ".local/lib",
    ".local/share",
    ".local/state",
    ".ssh",
    ".aws",
    ".gnupg",
    "bin",
    "Desktop",
    "Documents",
    "Downloads",
    "Music",
    "Pictures",
    "Public",
    "Templates",
    "Videos",
];

impl Ground<'_> {
    /// Whether a folder holds more of the user or the host than one program or project.
    pub(crate) fn is_personal(&self, folder: &Path) -> bool {
        SHARED.iter().any(|shared| folder == Path::new(shared))
            || self.homes.within(folder).is_some()
            || self.homes.people.iter().any(|home| {
                folder
                    .strip_prefix(home)
                    .is_ok_and(|inside| SHARED_IN_HOME.iter().any(|shared| inside == Path::new(shared)))
            })
            || self.own.iter().any(|own| own.starts_with(folder))
            || self.is_own(folder)
    }

    /// Whether a path lies in one of Fumehood's own folders.
    pub(crate) fn is_own(&self, path: &Path) -> bool {
        self.own.iter().any(|own| path.starts_with(own))
    }

    /// Whether two paths lead to the same place; `real` holds no link.
    pub(crate) fn same(&self, path: &Path, real: &Path) -> bool {
        path == real || self.view.trace(path).is_ok_and(|trace| trace.real == real)
    }
}

fn both(view: &View, path: &Path) -> Vec<PathBuf> {
    let real = view.trace(path).ok().map(|trace| trace.real).filter(|real| real != path);
    [Some(path.to_owned()), real].into_iter().flatten().collect()
}

/// A path as text: a command line and a spec hold no other.
pub(crate) fn text(path: &Path) -> Result<String, PlanError> {
    path.to_str().map(str::to_owned).ok_or_else(|| PlanError::NotText { path: path.to_owned() })
}

fn check_text(entry: &Entry) -> Result<(), PlanError> {
    let check = |path: &Path| match path.as_os_str().to_str() {
        Some(_) => Ok(()),
        None => Err(PlanError::NotText { path: path.to_owned() }),
    };
    match entry {
        Entry::Bind { source, path, guarded, masked, .. } => {
            check(source)?;
            check(path)?;
            guarded.iter().chain(masked).try_for_each(|inside| check(&path.join(inside)))
        }
        Entry::Symlink { path, target } => check(path).and_then(|()| check(target)),
        Entry::Dir { path } | Entry::File { path, .. } | Entry::Tmpfs { path, .. } => check(path),
    }
}

/// The last name of a command's program: `/usr/bin/node` is `node`.
pub(crate) fn base_name(program: &str) -> &str {
    Path::new(program).file_name().and_then(OsStr::to_str).unwrap_or(program)
}
