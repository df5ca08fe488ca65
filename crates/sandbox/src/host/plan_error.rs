//! Why it cannot be worked out what a cell must see.

use std::io;
use std::path::{Path, PathBuf};

use super::mounts::MountError;
use super::shim::ShimError;

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// No program is named.
    #[error("the command is empty")]
    Empty,
    /// `PATH` has no such program.
    #[error("`{program}` is in none of the folders of PATH ({searched})", searched = list(searched))]
    NotOnPath {
        /// As named.
        program: String,
        /// The folders searched, in order.
        searched: Vec<PathBuf>,
    },
    /// A program or script named by its path is not there.
    #[error("`{path}` cannot be looked at", path = path.display())]
    Missing {
        /// The absolute path.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// A file that may not be executed, or no file.
    #[error("`{path}` is not an executable file", path = path.display())]
    NotExecutable {
        /// The absolute path.
        path: PathBuf,
    },
    /// The interpreter named in a script's first line.
    #[error("`{script}` wants the interpreter `{interpreter}`, which cannot be used: {cause}", script = script.display())]
    Interpreter {
        /// The script.
        script: PathBuf,
        /// As its first line names it.
        interpreter: String,
        /// What is wrong with it.
        cause: Box<PlanError>,
    },
    /// Scripts that are each other's interpreter.
    #[error("`{script}` leads from one interpreter to the next without end", script = script.display())]
    Endless {
        /// The last one looked at.
        script: PathBuf,
    },
    /// A program in a place of which it is not known what belongs to it.
    #[error("`{program}` was found at `{at}`, and it is not known what it needs from there", at = at.display())]
    Unknown {
        /// As named.
        program: String,
        /// Where it lies.
        at: PathBuf,
    },
    /// A snap runs only under its own daemon.
    #[error("`{program}` is a snap, which runs only under `snapd`")]
    Snap {
        /// As named.
        program: String,
    },
    /// What a program needs holds a home folder or much else.
    #[error("`{program}` needs `{tree}`, which holds more than one program", tree = tree.display())]
    TooWide {
        /// As named.
        program: String,
        /// The tree.
        tree: PathBuf,
    },
    /// The project around a script is too large to be looked through.
    #[error("the project `{tree}` around `{script}` cannot be looked through: {cause}", tree = tree.display(), script = script.display())]
    Project {
        /// The project's folder.
        tree: PathBuf,
        /// The script.
        script: PathBuf,
        /// Why not.
        cause: String,
    },
    /// Code in one of Fumehood's own folders.
    #[error("`{path}` lies in Fumehood's own folders", path = path.display())]
    Own {
        /// The program or script.
        path: PathBuf,
    },
    /// A path that is no UTF-8.
    #[error("`{path}` is not valid UTF-8", path = path.display())]
    NotText {
        /// The path.
        path: PathBuf,
    },
    /// A version manager's shim that leads nowhere.
    #[error(transparent)]
    Shim(#[from] ShimError),
    /// A declared mount.
    #[error(transparent)]
    Mount(#[from] MountError),
}

impl PlanError {
    /// What would help.
    pub fn hint(&self) -> String {
        match self {
            Self::Empty => "name the program after `--`".into(),
            Self::NotOnPath { .. } => "install it, or name it by its path".into(),
            Self::Missing { .. } => "check the path".into(),
            Self::NotExecutable { path } => {
                format!("name its interpreter before it, or `chmod +x {}`", path.display())
            }
            Self::Interpreter { cause, .. } => cause.hint(),
            Self::Endless { .. } => "name the interpreter before the script".into(),
            Self::Unknown { at, .. } => {
                let folder = at.parent().unwrap_or(at).display();
                format!("make its folder visible with `--mount {folder}`")
            }
            Self::Snap { .. } => "install it from the distribution or its makers instead".into(),
            Self::TooWide { .. } | Self::Own { .. } => "install it in a folder of its own".into(),
            Self::Project { script, .. } => {
                let folder = script.parent().unwrap_or(script).display();
                format!("say what the server needs with `--mount`, such as `--mount {folder}`")
            }
            Self::NotText { .. } => "rename it".into(),
            Self::Shim(error) => error.hint(),
            Self::Mount(error) => error.hint(),
        }
    }
}

/// A path as text: a command line and a spec hold no other.
pub(crate) fn text(path: &Path) -> Result<String, PlanError> {
    path.to_str().map(str::to_owned).ok_or_else(|| PlanError::NotText { path: path.to_owned() })
}

fn list(paths: &[PathBuf]) -> String {
    let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    if paths.is_empty() { "it has none".to_owned() } else { paths.join(", ") }
}
