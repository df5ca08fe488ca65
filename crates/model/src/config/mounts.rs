//! Mounts: where a written path leads, and which ones are never given.
//!
//! Paths are judged as text here. Links are found where a mount is opened; that is why a mount that a project asked
//! for keeps the folder it must lie beneath.

use std::path::{Component, Path, PathBuf};

use super::complaint::Complaint;
use super::problem::Source;
use super::written::{self, At};
use crate::mount::{Data, Mount};

/// Where paths start from.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The folder relative paths are relative to: of the project's file, or where the command line runs. Absolute.
    pub folder: &'a Path,
    /// The user's home folder: what `~/` stands for, and what is never mounted as a whole.
    pub home: Option<&'a Path>,
}

/// Who asks for a mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asker {
    Project,
    Operator,
    CommandLine,
}

/// Resolves the mounts of one server, sorted so that a folder comes before what lies below it.
pub(super) fn resolve(
    written: &[At<written::Mount>],
    asker: Asker,
    place: &Place<'_>,
    source: &mut Source<'_>,
) -> Vec<Mount> {
    let mut mounts: Vec<Mount> = Vec::new();
    for at in written {
        let checked = match at.get() {
            written::Mount::Text(text) => parse(text, asker, place),
            written::Mount::Table(table) => {
                path(&table.path, asker, place).map(|path| Mount { path, write: table.write })
            }
        };
        match checked.and_then(|mount| without_twin(&mounts, mount)) {
            Ok(mount) => mounts.push(mount),
            Err(complaint) => source.add(at.span(), &complaint),
        }
    }
    mounts.sort_by(|a, b| a.path.cmp(&b.path));
    mounts
}

/// `PATH`, `PATH:ro` or `PATH:rw`.
pub(super) fn parse(text: &str, asker: Asker, place: &Place<'_>) -> Result<Mount, Complaint> {
    let (written, write) = match text.rsplit_once(':') {
        Some((path, "ro")) => (path, false),
        Some((path, "rw")) => (path, true),
        // `:r`, `:wr`, `:RO` are slips, and a slip must not become a path or an access that nobody meant.
        Some((_, ending)) if ending.len() <= 3 && ending.bytes().all(|b| b.is_ascii_alphabetic()) => {
            let complaint = Complaint::new(format!("`:{ending}` is no access"));
            return Err(complaint.help(format!(
                "end with `:ro` to read or `:rw` to write; a name that itself ends in `:{ending}` needs one of them behind it"
            )));
        }
        _ => (text, false),
    };
    Ok(Mount { path: path(written, asker, place)?, write })
}

/// Refuses a second mount of the same path.
pub(super) fn without_twin(mounts: &[Mount], mount: Mount) -> Result<Mount, Complaint> {
    match mounts.iter().find(|other| other.path == mount.path) {
        None => Ok(mount),
        Some(twin) => {
            let how = if twin.write == mount.write { "twice" } else { "once read-only and once writable" };
            Err(Complaint::new(format!("`{}` is mounted {how}", mount.path.display()))
                .help("keep one of the two"))
        }
    }
}

fn path(written: &str, asker: Asker, place: &Place<'_>) -> Result<PathBuf, Complaint> {
    let path = absolute(written, asker, place)?;
    refuse_special(&path, place.home)?;
    if asker == Asker::Project && !normalised(place.folder).is_some_and(|folder| path.starts_with(folder)) {
        return Err(Complaint::new(format!("`{}` lies outside the project's folder", path.display())).help(
            "give it with `--mount` on the command line, or declare the server in the operator's file",
        ));
    }
    Ok(path)
}

/// Where a written path leads.
pub(super) fn absolute(written: &str, asker: Asker, place: &Place<'_>) -> Result<PathBuf, Complaint> {
    if written.is_empty() {
        return Err(Complaint::new("the path is empty").help("name a folder or a file of the host"));
    }
    if written.chars().any(char::is_control) {
        return Err(Complaint::new("the path holds a control character")
            .help("rename the folder, or mount the one above it"));
    }
    let from_home = if written == "~" { Some("") } else { written.strip_prefix("~/") };
    let absolute = match (from_home, asker) {
        (Some(_), Asker::Project) => {
            return Err(Complaint::new("`~` means somebody else's home on every machine")
                .help("a project's file mounts folders of the project; for another one use `--mount` on the command line or the operator's file"));
        }
        (Some(rest), _) => place
            .home
            .ok_or_else(|| {
                Complaint::new("it is not known which folder `~` is").help("write the absolute path")
            })?
            .join(rest),
        (None, Asker::Operator) if !Path::new(written).is_absolute() => {
            return Err(Complaint::new(format!("`{written}` is a relative path"))
                .help("write the absolute path, or one that begins with `~/`"));
        }
        (None, _) if written.starts_with('~') => {
            return Err(Complaint::new("`~` for another user is not understood")
                .help("write the absolute path, or `./~…` for a name that begins like that"));
        }
        (None, _) => place.folder.join(written),
    };
    normalised(&absolute).ok_or_else(|| {
        Complaint::new(format!("`{written}` does not lead to an absolute path")).help("write one")
    })
}

/// Resolves `.` and `..` as text; nothing for a path that is not absolute.
pub(super) fn normalised(path: &Path) -> Option<PathBuf> {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::RootDir => result.push("/"),
            Component::Normal(name) => result.push(name),
            Component::ParentDir => {
                result.pop();
            }
            Component::CurDir | Component::Prefix(_) => {}
        }
    }
    result.is_absolute().then_some(result)
}

/// Folders of which nothing is mounted: other processes, devices, and the sockets of every daemon.
const NOTHING_OF: [&str; 5] = ["/run", "/var/run", "/proc", "/sys", "/dev"];

/// Folders that the cell makes itself; what lies below them can be mounted.
const OWN: [&str; 11] = [
    "/tmp",
    "/etc",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/workspace",
    "/home/tool",
    Data::INSIDE,
    "/var/tmp",
];

fn refuse_special(path: &Path, home: Option<&Path>) -> Result<(), Complaint> {
    let shown = path.display();
    if path == Path::new("/") {
        return Err(
            Complaint::new("the whole file system is never mounted").help("name the folder that is needed")
        );
    }
    if let Some(special) = NOTHING_OF.iter().find(|special| path.starts_with(special)) {
        return Err(Complaint::new(format!("nothing of `{special}` is mounted"))
            .help("it holds sockets, devices or other processes of the host"));
    }
    if OWN.iter().any(|own| path == Path::new(own)) {
        return Err(Complaint::new(format!("the cell has a `{shown}` of its own"))
            .help("mount a folder below it, or another one"));
    }
    let above_home = home.and_then(normalised).is_some_and(|home| home.starts_with(path));
    let like_a_home =
        path == Path::new("/root") || path == Path::new("/home") || path.parent() == Some(Path::new("/home"));
    if above_home || like_a_home {
        return Err(Complaint::new(format!("`{shown}` is a home folder, or holds one"))
            .help("keys and histories lie there: mount the folder inside it that is needed"));
    }
    Ok(())
}
