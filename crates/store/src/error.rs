//! Why what was accepted cannot be read or written.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

/// Something about acceptances, trust or pending changes that does not work. None of it means yes, or no.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// Somebody else owns a part of it.
    #[error("`{}` belongs to user {owner}, not to user {me}", .path.display())]
    Foreign {
        /// Which part.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
        /// Who asked.
        me: u32,
    },
    /// Others can read or change a part of it.
    #[error("`{}` is open to others: its mode is {mode:03o}", .path.display())]
    Exposed {
        /// Which part.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
        /// Those it should have.
        wanted: u32,
    },
    /// A part of it is something else.
    #[error("`{}` is not {wanted}", .path.display())]
    Kind {
        /// Which part.
        path: PathBuf,
        /// What it should be.
        wanted: &'static str,
    },
    /// A file is not what was written.
    #[error("the {kind} in `{}` is damaged: {why}", .path.display())]
    Damaged {
        /// What it was.
        kind: &'static str,
        /// Which file.
        path: PathBuf,
        /// In which way.
        why: String,
        /// What is to be done once it is gone.
        afterwards: &'static str,
    },
    /// A later Fumehood wrote it.
    #[error("the {kind} in `{}` was written by a newer Fumehood, in version {version} of its form", .path.display())]
    Newer {
        /// What it is.
        kind: &'static str,
        /// Which file.
        path: PathBuf,
        /// Its version.
        version: u64,
    },
    /// A key that is no digest.
    #[error("`{0}` is no key: it is not 64 lower-case hexadecimal digits")]
    Key(String),
    /// A folder that is not told from the top.
    #[error("`{}` is not an absolute path", .0.display())]
    Relative(PathBuf),
    /// What should be kept has no form.
    #[error("a {kind} cannot be written down: {why}")]
    Unwritable {
        /// What it is.
        kind: &'static str,
        /// Why.
        why: String,
    },
    /// Another process has not finished.
    #[error("another process has been writing in `{}` for {} s", .folder.display(), .waited.as_secs())]
    Busy {
        /// Where.
        folder: PathBuf,
        /// How long was waited.
        waited: Duration,
    },
    /// A system call failed.
    #[error("{step} `{}` failed: {source}", .path.display())]
    Io {
        /// What was tried.
        step: &'static str,
        /// On what.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl TrustError {
    /// What to do about it; may be empty.
    pub fn hint(&self) -> String {
        match self {
            Self::Foreign { path, .. } => {
                format!("run it as that user, or move `{}` away and review anew", path.display())
            }
            Self::Exposed { path, wanted, .. } => {
                format!(
                    "whoever could write it may have accepted something: look at `fumehood list`, then \
                     `chmod {wanted:03o} {}`",
                    quoted(path)
                )
            }
            Self::Kind { path, .. } => format!("move `{}` away", path.display()),
            Self::Damaged { path, afterwards, .. } => format!("`rm {}`, {afterwards}", quoted(path)),
            Self::Newer { .. } => "use that version, or one that is as new".to_owned(),
            Self::Relative(_) => "write the folder's path from `/` on".to_owned(),
            Self::Busy { folder, .. } => {
                format!(
                    "`fuser {}` tells which; end it if it hangs",
                    quoted(&folder.join(super::write::LOCK))
                )
            }
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    "make room on that disk".to_owned()
                }
                io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                    "`XDG_DATA_HOME` names another folder to keep it in".to_owned()
                }
                _ => String::new(),
            },
            Self::Key(_) | Self::Unwritable { .. } => String::new(),
        }
    }
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-+:@".contains(&byte));
    if plain { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
