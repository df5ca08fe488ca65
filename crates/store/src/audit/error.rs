//! Why something cannot be recorded, or what was recorded cannot be read.

use std::{io, path::PathBuf};

/// A record that cannot be written or read. Whoever wanted something recorded before doing it does not do it.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The database did not take it.
    #[error("the record in `{}` cannot be written: {reason}", .path.display())]
    Database {
        /// Which file.
        path: PathBuf,
        /// What the database says.
        reason: String,
    },
    /// The writer has ended.
    #[error("the record is closed")]
    Closed,
    /// A file or folder is not its reader's.
    #[error("`{}` belongs to user {owner}, not to user {me}", .path.display())]
    Foreign {
        /// Which one.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
        /// Who asked.
        me: u32,
    },
    /// Others can read or change it.
    #[error("`{}` is open to others: its mode is {mode:03o}", .path.display())]
    Exposed {
        /// Which one.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// It is not what it should be.
    #[error("`{}` is not {wanted}", .path.display())]
    Kind {
        /// Which one.
        path: PathBuf,
        /// What it should be.
        wanted: &'static str,
    },
    /// Nothing was recorded there.
    #[error("there is no record in `{}`", .0.display())]
    Missing(PathBuf),
    /// Rows that were there are gone.
    #[error("the record in `{}` ends at row {found}, but row {written} was written", .path.display())]
    Truncated {
        /// Which file.
        path: PathBuf,
        /// Its last row.
        found: u64,
        /// The last row that is known to have been written.
        written: u64,
    },
    /// The last row is another one.
    #[error("row {seq} of the record in `{}` is not the one that was written", .path.display())]
    Replaced {
        /// Which file.
        path: PathBuf,
        /// Which row.
        seq: u64,
    },
    /// A later Fumehood wrote it.
    #[error("the record in `{}` was written by a newer Fumehood, in version {version} of its form", .path.display())]
    Newer {
        /// Which file.
        path: PathBuf,
        /// Its version.
        version: i64,
    },
    /// A row is not what is written.
    #[error("row {seq} of the record cannot be read: {reason}")]
    Form {
        /// Which row.
        seq: u64,
        /// What is wrong.
        reason: String,
    },
    /// Checkpoints cannot be signed.
    #[error("the key `{}` of the record cannot be used: {reason}", .path.display())]
    Key {
        /// Which file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A system call failed.
    #[error("{step} `{}` failed: {reason}", .path.display())]
    Io {
        /// What was tried.
        step: &'static str,
        /// On what.
        path: PathBuf,
        /// Of what kind the failure was.
        kind: io::ErrorKind,
        /// Why.
        reason: String,
    },
}

impl AuditError {
    /// What to do about it; may be empty.
    pub fn hint(&self) -> String {
        match self {
            Self::Database { .. } => {
                "calls that have to be recorded first are refused till it can be written: look at the disk's room and rights"
                    .to_owned()
            }
            Self::Foreign { .. } => "run it as the user whose record it is".to_owned(),
            Self::Exposed { path, .. } => format!("look who could read it, then `chmod go-rwx {}`", path.display()),
            Self::Kind { path, .. } => format!("move `{}` away", path.display()),
            Self::Missing(_) => "it is made by the first call".to_owned(),
            Self::Truncated { .. } | Self::Replaced { .. } | Self::Form { .. } => {
                "`fumehood audit verify` says what is left; keep the folder as evidence under another name, and a new record \
                 begins"
                    .to_owned()
            }
            Self::Newer { .. } => "use that version, or one that is as new".to_owned(),
            Self::Key { .. } => {
                "put the key back from a backup, or keep the folder under another name, and a new record begins".to_owned()
            }
            Self::Io { kind: io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded, .. } => {
                "make room on that disk".to_owned()
            }
            Self::Io { kind: io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied, .. } => {
                "give its user the right to write there".to_owned()
            }
            Self::Closed | Self::Io { .. } => String::new(),
        }
    }
}
