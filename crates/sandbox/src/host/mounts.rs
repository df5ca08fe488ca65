//! Whether a declared mount may be shown, and what in it stays read-only.

use std::io;
use std::path::{Path, PathBuf};

use model::mount::{Mount, is_guarded};
use rustix::fs::FileType;

use super::fence::{Fence, Rule};
use super::homes::Homes;
use super::sight::{Bound, Sight, Topic};
use super::view::{Kind, View};
use super::walk::{Met, Step, WalkError, walk};
use crate::guard;

/// Most entries a mount may hold: a tree is looked through at every start, and two million names take seconds.
pub const MAX_ENTRIES: u64 = 2_000_000;
/// Most guarded entries of a writable mount: each becomes a mount of its own, of which the kernel allows 100,000
/// in a namespace (`fs.mount-max`).
pub const MAX_GUARDED: usize = 4096;

/// Why a declared mount is refused.
#[derive(Debug, thiserror::Error)]
pub enum MountError {
    /// The path is relative.
    #[error("mount `{path}`: the path is not absolute", path = path.display())]
    Relative {
        /// As declared.
        path: PathBuf,
    },
    /// Nothing is there, or it cannot be looked at.
    #[error("mount `{path}` cannot be looked at", path = path.display())]
    Missing {
        /// As declared.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// Neither a folder nor a regular file.
    #[error("mount `{path}` is neither a folder nor a regular file", path = path.display())]
    Special {
        /// As declared.
        path: PathBuf,
    },
    /// One of the places no cell sees.
    #[error("mount `{path}` is refused: it {rule}", path = path.display())]
    Forbidden {
        /// Without links.
        path: PathBuf,
        /// Which place, and how the mount touches it.
        rule: Rule,
    },
    /// The tree holds a Unix socket: a read-only mount does not stop a connection to its owner.
    #[error("mount `{path}` is refused: it holds the Unix socket `{socket}`", path = path.display(), socket = socket.display())]
    Socket {
        /// Without links.
        path: PathBuf,
        /// The first socket found.
        socket: PathBuf,
    },
    /// The tree is too large to be looked through.
    #[error("mount `{path}` is refused: it holds more than {MAX_ENTRIES} entries, too many to look for sockets", path = path.display())]
    TooLarge {
        /// Without links.
        path: PathBuf,
    },
    /// A folder of the tree cannot be listed, yet could be entered.
    #[error("mount `{path}` is refused: `{folder}` cannot be looked through", path = path.display(), folder = folder.display())]
    Unreadable {
        /// Without links.
        path: PathBuf,
        /// The folder.
        folder: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// A writable mount that is itself one of the guarded names.
    #[error("mount `{path}` cannot be writable: programs of yours run or trust what is in it", path = path.display())]
    Guarded {
        /// Without links.
        path: PathBuf,
    },
    /// A guarded name that is a symbolic link: what keeps it read-only would be put over the link's target, and the
    /// link itself could be replaced.
    #[error("mount `{path}` cannot be writable: `{link}` is a symbolic link and cannot be kept from being replaced", path = path.display(), link = link.display())]
    GuardedLink {
        /// Without links.
        path: PathBuf,
        /// The link.
        link: PathBuf,
    },
    /// More guarded entries than can be mounted over.
    #[error("mount `{path}` cannot be writable: it holds more than {MAX_GUARDED} entries such as `.git`", path = path.display())]
    TooManyGuarded {
        /// Without links.
        path: PathBuf,
    },
    /// The same place declared twice, once to be written.
    #[error("mount `{path}` is declared both writable and read-only", path = path.display())]
    Twice {
        /// Without links.
        path: PathBuf,
    },
}

impl MountError {
    /// What would help.
    pub fn hint(&self) -> String {
        match self {
            Self::Relative { .. } => "write the whole path, beginning with `/`".into(),
            Self::Missing { path, .. } => format!("make `{}` first, or leave the mount out", path.display()),
            Self::Special { .. } => "mount the folder that holds what the server needs".into(),
            Self::Forbidden { rule, .. } => rule.hint().into(),
            Self::Socket { socket, .. } => {
                let folder = socket.parent().unwrap_or(Path::new("/")).display();
                format!("mount a folder beside `{folder}`, or end the program that listens there")
            }
            Self::TooLarge { .. } => "mount the part of it that the server needs".into(),
            Self::Unreadable { .. } => "mount a part of it without that folder".into(),
            Self::Guarded { .. } => "mount it read-only".into(),
            Self::GuardedLink { link, .. } => {
                format!("mount it read-only, or put a real file or folder in place of `{}`", link.display())
            }
            Self::TooManyGuarded { .. } => "mount the project that the server works on".into(),
            Self::Twice { .. } => "declare it once".into(),
        }
    }
}

/// A read-only mount that is visible already and in which somebody still has to look for sockets: before anything runs
/// that could connect to one. Whoever has time for it may let it overlap with the building of the cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsearched {
    view: View,
    path: PathBuf,
}

impl Unsearched {
    /// Looks.
    ///
    /// # Errors
    /// If there is a socket, or the tree cannot be looked through.
    pub fn search(&self) -> Result<(), MountError> {
        look_through(&self.view, &self.path, false).map(drop)
    }
}

/// Checks every declared mount and makes it visible. What is left to be searched is in the result.
pub(crate) fn show(
    view: &View,
    homes: &Homes,
    own: &[PathBuf],
    declared: &[Mount],
    sight: &mut Sight,
) -> Result<Vec<Unsearched>, MountError> {
    let mut unsearched = Vec::new();
    if declared.is_empty() {
        return Ok(unsearched);
    }
    let fence = Fence::new(view, homes, own);
    let mut shown: Vec<Mount> = Vec::new();
    for mount in declared {
        if !mount.path.is_absolute() {
            return Err(MountError::Relative { path: mount.path.clone() });
        }
        let trace = view
            .trace(&mount.path)
            .map_err(|source| MountError::Missing { path: mount.path.clone(), source })?;
        sight.add_links(&trace.links);
        let real = trace.real;
        if let Some(before) = shown.iter().find(|before| before.path == real) {
            if before.write == mount.write {
                continue;
            }
            return Err(MountError::Twice { path: real });
        }
        let bound = check(view, &fence, &real, mount)?;
        if !mount.write && view.is_dir(&real) {
            unsearched.push(Unsearched { view: view.clone(), path: real.clone() });
        }
        sight.note(Topic::Mount, words(mount, &real, bound.guarded.len()));
        sight.add(bound);
        shown.push(Mount { path: real, write: mount.write });
    }
    Ok(unsearched)
}

fn check(view: &View, fence: &Fence<'_>, real: &Path, mount: &Mount) -> Result<Bound, MountError> {
    if !guard::off("mount-rules")
        && let Some(rule) = fence.stops(real)
    {
        return Err(MountError::Forbidden { path: real.to_owned(), rule });
    }
    let mut guarded = Vec::new();
    match view.kind(real) {
        // Its guarded names are part of what is built.
        Some(Kind::Dir) if mount.write => guarded = look_through(view, real, true)?,
        Some(Kind::Dir | Kind::File) => {}
        Some(Kind::Other) | None => return Err(MountError::Special { path: mount.path.clone() }),
    }
    if mount.write && !guard::off("guarded-names") && lies_in_guarded(real) {
        return Err(MountError::Guarded { path: real.to_owned() });
    }
    Ok(Bound {
        path: real.to_owned(),
        write: mount.write,
        map_owner: true,
        guarded,
        masked: Vec::new(),
        declared: true,
    })
}

/// One pass over the tree: ends at a socket, and gathers the guarded entries of a writable one.
fn look_through(view: &View, real: &Path, write: bool) -> Result<Vec<PathBuf>, MountError> {
    let sockets = !guard::off("socket-scan");
    let names = write && !guard::off("guarded-names");
    if !sockets && !names {
        return Ok(Vec::new());
    }
    let (mut guarded, mut problem) = (Vec::new(), None);
    // A guarded folder's content is guarded with it: only the outermost becomes a mount.
    let within =
        |guarded: &[PathBuf], met: Met<'_>| guarded.iter().any(|above| met.folder.starts_with(above));
    let walked = walk(&view.outside(real), MAX_ENTRIES, &mut |met| {
        if sockets && met.kind == FileType::Socket {
            let socket = real.join(met.relative());
            problem = Some(MountError::Socket { path: real.to_owned(), socket });
            return Step::End;
        }
        if names && is_guarded_name(met.name) && !within(&guarded, met) {
            if met.kind == FileType::Symlink {
                let link = real.join(met.relative());
                problem = Some(MountError::GuardedLink { path: real.to_owned(), link });
                return Step::End;
            }
            if guarded.len() == MAX_GUARDED {
                problem = Some(MountError::TooManyGuarded { path: real.to_owned() });
                return Step::End;
            }
            guarded.push(met.relative());
        }
        Step::Enter
    });
    match (walked, problem) {
        (_, Some(problem)) => Err(problem),
        (Ok(()), None) => {
            guarded.sort();
            Ok(guarded)
        }
        (Err(WalkError::TooMany), None) => Err(MountError::TooLarge { path: real.to_owned() }),
        (Err(WalkError::Unreadable { folder, source }), None) => {
            Err(MountError::Unreadable { path: real.to_owned(), folder, source })
        }
    }
}

/// Case is ignored: on a case-insensitive file system `.GIT` is what git opens as `.git`.
fn is_guarded_name(name: &std::ffi::OsStr) -> bool {
    name.to_str().is_some_and(|name| is_guarded(name) || is_guarded(&name.to_ascii_lowercase()))
}

/// A writable mount may not be a guarded entry, nor lie in a repository's own folder.
fn lies_in_guarded(real: &Path) -> bool {
    let git = |path: &Path| path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git"));
    real.file_name().is_some_and(is_guarded_name) || real.ancestors().any(git)
}

fn words(mount: &Mount, real: &Path, guarded: usize) -> String {
    let mut text = mount.path.display().to_string();
    if real != mount.path {
        text = format!("{text} at {}", real.display());
    }
    match (mount.write, guarded) {
        (false, _) => format!("{text} (read-only)"),
        (true, 0) => format!("{text} (writable)"),
        (true, 1) => format!("{text} (writable but for one guarded entry)"),
        (true, count) => format!("{text} (writable but for {count} guarded entries)"),
    }
}
