//! What a cell will see of the host, gathered step by step: trees, files and the links that lead to them.

use std::fmt;
use std::path::{Path, PathBuf};

use jail::spec::Entry;

use super::view::{Link, View};

/// One thing made visible or hidden, and why, in words for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What it is about.
    pub topic: Topic,
    /// The fact, one line.
    pub text: String,
}

/// What a [`Note`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// A language runtime or an installed program.
    Runtime,
    /// The code of the entry script.
    Code,
    /// Something inside a visible tree that stays hidden.
    Hidden,
    /// A declared mount.
    Mount,
    /// Something that will probably be missed.
    Missing,
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Runtime => "runtime",
            Self::Code => "code",
            Self::Hidden => "hidden",
            Self::Mount => "mount",
            Self::Missing => "missing",
        })
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.topic, self.text)
    }
}

/// A tree or file of the host, at its own path.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bound {
    pub(crate) path: PathBuf,
    pub(crate) write: bool,
    pub(crate) map_owner: bool,
    pub(crate) guarded: Vec<PathBuf>,
    pub(crate) masked: Vec<PathBuf>,
    /// Asked for by the user, so kept whatever lies around it.
    pub(crate) declared: bool,
}

/// Everything gathered so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sight {
    system: Vec<PathBuf>,
    bounds: Vec<Bound>,
    links: Vec<Link>,
    notes: Vec<Note>,
    dirs: Vec<(usize, PathBuf)>,
}

impl Bound {
    fn shows(&self, path: &Path) -> bool {
        path.strip_prefix(&self.path)
            .is_ok_and(|inside| !self.masked.iter().any(|hidden| inside.starts_with(hidden)))
    }
}

impl Sight {
    /// Nothing but the system's own folders.
    pub(crate) fn new(system: Vec<PathBuf>) -> Self {
        Self { system, ..Self::default() }
    }

    /// Whether `path` (no links in it) is visible already.
    pub(crate) fn shows(&self, path: &Path) -> bool {
        self.is_system(path) || self.bounds.iter().any(|bound| bound.shows(path))
    }

    /// Whether `path` lies in the system's own folders.
    pub(crate) fn is_system(&self, path: &Path) -> bool {
        self.system.iter().any(|system| path.starts_with(system))
    }

    /// Adds a tree or file. A read-only one maps its owner only where other users could not read it: an id-mapped
    /// mount costs a user namespace.
    pub(crate) fn add(&mut self, bound: Bound) {
        self.bounds.push(bound);
    }

    /// Adds a read-only tree or file unless it is visible already; says whether it did.
    pub(crate) fn add_code(&mut self, view: &View, path: &Path, masked: Vec<PathBuf>) -> bool {
        if self.shows(path) {
            return false;
        }
        let map_owner = !view.is_public(path);
        self.bounds.push(Bound { path: path.to_owned(), map_owner, masked, ..Bound::default() });
        true
    }

    /// Marks the tree that holds `file` for owner mapping, where other users could not get at the file in it.
    pub(crate) fn must_read(&mut self, view: &View, file: &Path) {
        if let Some(bound) = self.bounds.iter_mut().find(|bound| bound.shows(file)) {
            let inside = file.ancestors().take_while(|path| path.starts_with(&bound.path));
            bound.map_owner |= !inside.into_iter().all(|path| view.is_public(path));
        }
    }

    /// Links that lead to something visible.
    pub(crate) fn add_links(&mut self, links: &[Link]) {
        self.links.extend_from_slice(links);
    }

    /// Says something to the user, once.
    pub(crate) fn note(&mut self, topic: Topic, text: String) {
        let note = Note { topic, text };
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Puts a folder on the cell's `PATH`, where entry `rank` of the host's stands.
    pub(crate) fn add_dir(&mut self, rank: usize, dir: PathBuf) {
        self.dirs.push((rank, dir));
    }

    /// The cell's `PATH`: tool folders and the system's, in the host's order, each once.
    pub(crate) fn path_dirs(&self) -> Vec<PathBuf> {
        let mut ranked = self.dirs.clone();
        ranked.sort_by_key(|(rank, _)| *rank);
        let mut dirs: Vec<PathBuf> = Vec::new();
        for (_, dir) in ranked {
            if !dirs.contains(&dir) {
                dirs.push(dir);
            }
        }
        dirs
    }

    /// The entries, links first, then trees with parents before what lies in them; and what to tell the user. Nothing
    /// is made again at or below what `base` has.
    pub(crate) fn finish(self, view: &View, base: &[Entry]) -> (Vec<Entry>, Vec<Note>) {
        let mut bounds = self.bounds;
        bounds.sort_by(|a, b| a.path.cmp(&b.path).then(b.declared.cmp(&a.declared)));
        let mut kept: Vec<Bound> = Vec::new();
        for bound in bounds {
            if bound.declared || !kept.iter().any(|outer| outer.shows(&bound.path)) {
                kept.push(bound);
            }
        }
        let mut links = self.links;
        links.sort();
        links.dedup_by(|a, b| a.at == b.at);
        links.retain(|link| {
            let at = &link.at;
            !base.iter().any(|entry| at.starts_with(entry.path()))
                && !kept.iter().any(|bound| at.starts_with(&bound.path))
                && !KERNEL.iter().any(|folder| at.starts_with(folder))
        });
        let links = links.into_iter().map(|link| Entry::Symlink { path: link.at, target: link.target });
        let binds = kept.into_iter().map(|bound| Entry::Bind {
            source: view.outside(&bound.path),
            path: bound.path,
            write: bound.write,
            map_owner: bound.map_owner,
            guarded: bound.guarded,
            masked: bound.masked,
        });
        (links.chain(binds).collect(), self.notes)
    }
}

/// Folders that are the jail's own business: a link met there is never made again.
const KERNEL: &[&str] = &["/proc", "/dev", "/sys", "/run"];
