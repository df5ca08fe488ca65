//! What a version manager's shim would run, worked out from the manager's own files. No shim is ever executed.

mod asdf;
mod family;
mod mise;
mod volta;

use std::path::{Path, PathBuf};

use super::ground::Ground;
use super::view::View;

/// What stands behind a program that may be a shim.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Shim {
    /// It is no shim.
    No,
    /// The manager hands over to whatever comes later on `PATH`.
    Later,
    /// The program it would run, and folders searched before `PATH` by what that program starts.
    Program { path: PathBuf, beside: Vec<PathBuf> },
}

/// Why a shim leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShimError {
    /// No file or variable chooses a version.
    #[error("`{program}` is a shim of {tool}, and no version is chosen for it in `{cwd}`", cwd = cwd.display())]
    NoVersion {
        /// The version manager.
        tool: &'static str,
        /// The program asked for.
        program: String,
        /// The folder in which it was asked for.
        cwd: PathBuf,
    },
    /// The chosen version is not there, or has no such program.
    #[error("`{program}` is a shim of {tool}, and {version} (chosen by `{by}`) has no such program")]
    NotInstalled {
        /// The version manager.
        tool: &'static str,
        /// The program asked for.
        program: String,
        /// The version or versions.
        version: String,
        /// The file or variable that chose it.
        by: String,
    },
    /// A file of the manager's cannot be understood.
    #[error("`{program}` is a shim of {tool}, whose file `{file}` cannot be understood: {cause}", file = file.display())]
    Unreadable {
        /// The version manager.
        tool: &'static str,
        /// The program asked for.
        program: String,
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
}

impl ShimError {
    /// What would help.
    pub fn hint(&self) -> String {
        match self {
            Self::NoVersion { tool, .. } => {
                format!(
                    "choose a version with {tool}, or name the program by the path of an installed version"
                )
            }
            Self::NotInstalled { tool, version, .. } => {
                format!("install {version} with {tool}, or choose another version")
            }
            Self::Unreadable { .. } => "name the program by the path of an installed version".into(),
        }
    }
}

/// What stands behind `at` (parents without links), asked for as `program`.
pub(crate) fn behind(ground: &Ground<'_>, at: &Path, program: &str) -> Result<Shim, ShimError> {
    let Some(folder) = at.parent() else { return Ok(Shim::No) };
    let Some(root) = folder.parent() else { return Ok(Shim::No) };
    match folder.file_name().and_then(|name| name.to_str()) {
        Some("shims") => {
            if let Some(family) = family::of(ground, root) {
                return family.choose(ground, root, program);
            }
            if mise::is_shim(ground, root, at) {
                return mise::choose(ground, root, program);
            }
            asdf::choose(ground, root, at, program)
        }
        Some("bin") if volta::is_shim(ground, root, program) => volta::choose(ground, root, program),
        _ => Ok(Shim::No),
    }
}

/// The folder of a version below `installs`: by its exact name, else the newest one that begins with it.
fn installed(view: &View, installs: &Path, version: &str) -> Option<PathBuf> {
    let exact = installs.join(version);
    // A version is one name: `../..` in a project's file leads nowhere.
    let plain = !version.is_empty() && !version.contains('/') && version != "." && version != "..";
    if !plain {
        return None;
    }
    if view.is_dir(&exact) {
        return Some(exact);
    }
    let wanted = if version == "latest" { String::new() } else { format!("{version}.") };
    let names = view.names(installs);
    let fits = names
        .iter()
        .filter_map(|name| name.to_str())
        .filter(|name| name.starts_with(&wanted) && name.starts_with(|first: char| first.is_ascii_digit()));
    fits.max_by_key(|name| numbers(name)).map(|name| installs.join(name))
}

/// A version's numbers, for comparing; a pre-release (`3.13.0rc1`) counts below its release.
fn numbers(version: &str) -> (Vec<u64>, bool) {
    let numbers = version.split(['.', '-', '+']).map_while(|part| {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    });
    (numbers.collect(), version.chars().all(|letter| letter.is_ascii_digit() || letter == '.'))
}

/// The first file of that name in the working folder or above it.
fn upwards(ground: &Ground<'_>, name: &str) -> Option<PathBuf> {
    ground.host.cwd.ancestors().map(|folder| folder.join(name)).find(|file| ground.view.is_file(file))
}
