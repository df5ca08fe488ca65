//! What is wrong with a lock file, and where.

use super::{MAX_LOCK, VERSION};

/// A lock file that is refused. Nothing of it is used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {fault}")]
pub struct LockError {
    file: String,
    line: usize,
    fault: LockFault,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LockFault {
    /// Over [`MAX_LOCK`].
    #[error("the file is over {} MiB", MAX_LOCK >> 20)]
    TooLarge,
    /// Not UTF-8.
    #[error("the line is not UTF-8")]
    NotUtf8,
    /// An editor has put U+FEFF in front.
    #[error("the file begins with a byte order mark")]
    ByteOrderMark,
    /// Lines end with CR LF, or a CR stands alone.
    #[error("the line has a carriage return")]
    CarriageReturn,
    /// A control character, as a number of Unicode.
    #[error("the line has the control character U+{0:04X}")]
    Control(u32),
    /// Git's markers are still in it.
    #[error("the line is a conflict marker of git")]
    Conflict,
    /// Not TOML, or a key twice.
    #[error("{0}")]
    Syntax(String),
    /// Of a later version.
    #[error("the file is of version {0}, and this Fumehood reads version {VERSION}")]
    Newer(i64),
    /// A key that has no meaning here.
    #[error("unknown key `{0}`")]
    UnknownKey(String),
    /// A key that has to be there.
    #[error("`{0}` is missing")]
    MissingKey(String),
    /// A value of another shape.
    #[error("`{key}` {wanted}")]
    Value {
        /// Which key.
        key: String,
        /// What it has to be: `has to be …`.
        wanted: String,
    },
    /// The same content written in another way, or in another order.
    #[error("the line is not written, or does not stand, as Fumehood has it")]
    Spelling,
}

impl LockError {
    pub(super) fn new(file: &str, line: usize, fault: LockFault) -> Self {
        Self { file: crate::visible::excerpt(file, 400), line, fault }
    }

    /// The file as the caller named it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The line, counted from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// What is wrong there.
    pub fn fault(&self) -> &LockFault {
        &self.fault
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match &self.fault {
            LockFault::ByteOrderMark | LockFault::CarriageReturn => {
                "take the file as it is in version control; the line `fumehood.lock text eol=lf` in `.gitattributes` keeps it so"
            }
            LockFault::Conflict => {
                "keep one side of the table, without the markers; `fumehood lock --merge` as git's merge driver leaves fewer of them"
            }
            LockFault::Newer(_) => "update Fumehood, or ask whoever wrote the file which version they use",
            LockFault::Spelling => {
                "see with `git diff` who changed it; `fumehood lock` writes the same content in order"
            }
            LockFault::TooLarge
            | LockFault::NotUtf8
            | LockFault::Control(_)
            | LockFault::Syntax(_)
            | LockFault::UnknownKey(_)
            | LockFault::MissingKey(_)
            | LockFault::Value { .. } => {
                "take the file as it is in version control, or remove the server's table and `fumehood add` it again"
            }
        }
    }
}
