//! The places of a host that no mount may touch.

use std::fmt;
use std::path::{Path, PathBuf};

use super::homes::Homes;
use super::view::View;

/// How a path touches a forbidden place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The place.
    pub place: PathBuf,
    /// What it is.
    pub kind: Place,
    /// How the path stands to it.
    pub touch: Touch,
}

/// What a forbidden place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The root of the file system.
    Root,
    /// A home folder.
    Home,
    /// Run-time state of the host's daemons.
    Run,
    /// The kernel's own file systems and devices, and what the host boots from.
    Kernel,
    /// The host's configuration.
    Etc,
    /// A container engine's socket, state or storage.
    Containers,
    /// Fumehood's own configuration, state or store.
    Own,
}

/// How a path stands to a forbidden place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// It is the place.
    Is,
    /// It contains it.
    Contains,
    /// It lies in it.
    Within,
}

impl Rule {
    /// What to do instead.
    pub fn hint(&self) -> &'static str {
        match self.kind {
            Place::Root => "mount the folder that the server needs",
            Place::Home => "mount a folder inside the home, such as one project",
            Place::Run => {
                "sockets and state of daemons cannot be given to a cell; copy what the server needs elsewhere"
            }
            Place::Kernel => {
                "a cell has its own `/proc`, `/dev` and limits; nothing of the host's can be given to it"
            }
            Place::Etc => {
                "a cell has its own small `/etc`; mount the one file or folder that the server needs"
            }
            Place::Containers => "whoever reaches a container engine owns the host; this cannot be allowed",
            Place::Own => "Fumehood's own folders are out of reach for every cell",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            Place::Root => return f.write_str("is the root of the host's file system"),
            Place::Home => "a home folder",
            Place::Run => "the run-time state of the host's daemons",
            Place::Kernel => "a folder of the kernel",
            Place::Etc => "the host's configuration",
            Place::Containers => "a container engine's folder",
            Place::Own => "a folder of Fumehood's own",
        };
        let touch = match self.touch {
            Touch::Is => "is",
            Touch::Contains => "contains",
            Touch::Within => "lies in",
        };
        write!(f, "{touch} {what} (`{}`)", self.place.display())
    }
}

/// Fixed places, and whether what lies in them is forbidden too.
const PLACES: &[(&str, Place, bool)] = &[
    ("/run", Place::Run, true),
    ("/var/run", Place::Run, true),
    ("/proc", Place::Kernel, true),
    ("/sys", Place::Kernel, true),
    ("/dev", Place::Kernel, true),
    ("/boot", Place::Kernel, true),
    ("/etc", Place::Etc, false),
    ("/var/lib/docker", Place::Containers, true),
    ("/var/lib/containerd", Place::Containers, true),
    ("/var/lib/containers", Place::Containers, true),
    ("/var/lib/crio", Place::Containers, true),
    ("/var/lib/kubelet", Place::Containers, true),
    ("/var/lib/rancher", Place::Containers, true),
    ("/var/snap/docker", Place::Containers, true),
];

/// Container engines' folders below a person's home.
const HOME_CONTAINERS: &[&str] = &[
    ".docker",
    ".local/share/docker",
    ".local/share/containers",
    ".config/containers",
    ".colima",
    ".lima",
    ".rd",
];

/// The forbidden places of one host, links resolved.
#[derive(Debug)]
pub(crate) struct Fence<'a> {
    view: &'a View,
    places: Vec<(PathBuf, Place, bool)>,
}

impl<'a> Fence<'a> {
    /// Gathers them.
    pub(crate) fn new(view: &'a View, homes: &Homes, own: &[PathBuf]) -> Self {
        let mut fence = Self { view, places: Vec::new() };
        for path in own {
            fence.add(path, Place::Own, true);
        }
        for (path, kind, within) in PLACES {
            fence.add(Path::new(path), *kind, *within);
        }
        for home in &homes.people {
            for name in HOME_CONTAINERS {
                fence.add(&home.join(name), Place::Containers, true);
            }
        }
        for home in &homes.all {
            fence.add(home, Place::Home, false);
        }
        fence
    }

    /// The rule that stops `real` (absolute, no links in it).
    pub(crate) fn stops(&self, real: &Path) -> Option<Rule> {
        let rule = |(place, kind, _): &(PathBuf, Place, bool), touch| {
            Some(Rule { place: place.clone(), kind: *kind, touch })
        };
        if real == Path::new("/") {
            return Some(Rule { place: real.to_owned(), kind: Place::Root, touch: Touch::Is });
        }
        // By inode as well: a bind mount shows the same folder at another path.
        let identity = self.view.identity(real);
        let same = |place: &Path| identity.is_some() && self.view.identity(place) == identity;
        if let Some(found) = self.places.iter().find(|place| place.0 == real || same(&place.0)) {
            return rule(found, Touch::Is);
        }
        if let Some(found) = self.places.iter().find(|place| place.2 && real.starts_with(&place.0)) {
            return rule(found, Touch::Within);
        }
        self.places
            .iter()
            .find(|place| place.0.starts_with(real))
            .and_then(|found| rule(found, Touch::Contains))
    }

    fn add(&mut self, path: &Path, kind: Place, within: bool) {
        let real = self.view.trace(path).ok().map(|trace| trace.real).filter(|real| real != path);
        for path in [Some(path.to_owned()), real].into_iter().flatten() {
            if path != Path::new("/") {
                self.places.push((path, kind, within));
            }
        }
    }
}
