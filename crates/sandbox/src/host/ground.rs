//! The host a plan is made for, and what is known of it from the start.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::homes::Homes;
use super::view::View;

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

/// The host, and what is known of it from the start.
#[derive(Debug)]
pub(crate) struct Ground<'a> {
    pub(crate) host: &'a Host,
    pub(crate) view: View,
    pub(crate) homes: Homes,
    /// Fumehood's own folders, as handed in and with links resolved.
    pub(crate) own: Vec<PathBuf>,
    /// What lies at [`super::Plan::PACKAGE`] inside.
    pub(crate) package: Option<&'a Path>,
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

impl<'a> Ground<'a> {
    /// Reads what every question needs: whose homes there are, and where Fumehood's own folders really lie.
    pub(crate) fn new(host: &'a Host) -> Self {
        let view = View::new(&host.root);
        let homes = Homes::read(&view, host.home.as_deref());
        let own = host.own.iter().flat_map(|path| both(&view, path)).collect();
        Self { host, view, homes, own, package: None }
    }

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

/// The last name of a command's program: `/usr/bin/node` is `node`.
pub(crate) fn base_name(program: &str) -> &str {
    Path::new(program).file_name().and_then(OsStr::to_str).unwrap_or(program)
}
