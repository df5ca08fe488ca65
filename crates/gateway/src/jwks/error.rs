//! Why there are no keys.

use access::token::KeySetError;

/// Why the keys of an issuer could not be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeysError {
    /// An address is none.
    #[error("`{0}` is no address that keys can come from")]
    Address(String),
    /// Keys over a connection that anybody can change.
    #[error("`{0}` is not https")]
    Plain(String),
    /// No answer, or a broken one.
    #[error("`{host}` gave no answer: {why}")]
    Unreachable {
        /// Who was asked.
        host: String,
        /// What happened.
        why: String,
    },
    /// Not within its time.
    #[error("`{host}` gave no whole answer in time")]
    Time {
        /// Who was asked.
        host: String,
    },
    /// An answer that is not the document. Redirections are not followed.
    #[error("`{address}` answered with status {status}")]
    Status {
        /// What was asked.
        address: String,
        /// HTTP status.
        status: u16,
    },
    /// More than [`super::fetch::MAX_BYTES`].
    #[error("the answer of `{host}` is larger than 512 KiB")]
    Size {
        /// Who was asked.
        host: String,
    },
    /// The issuer's document is for somebody else, or says nothing of keys.
    #[error("the document at `{address}` {why}")]
    Document {
        /// Where it is.
        address: String,
        /// What is wrong.
        why: &'static str,
    },
    /// A file cannot be read.
    #[error("`{path}` cannot be read: {why}")]
    File {
        /// Which.
        path: String,
        /// Why.
        why: String,
    },
    /// What came is no set of keys.
    #[error("the keys of `{issuer}`: {why}")]
    Set {
        /// Whose.
        issuer: String,
        /// What is wrong.
        why: KeySetError,
    },
    /// The certificates that were handed in are none.
    #[error("the certificates cannot be used: {0}")]
    Certificates(String),
    /// There are none yet, and the last try was a moment ago.
    #[error("there are no keys of `{0}`")]
    Absent(String),
}

impl KeysError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        "FH-KEYS-UNAVAILABLE"
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Plain(_) => {
                "keys come over https, or over http from this machine where the issuer is here too"
            }
            Self::Document { .. } => {
                "`issuer` has to be what the document at the issuer says, to the letter; or name the keys with `keys`"
            }
            Self::Status { .. } => "name the address of the keys with `keys`; redirections are not followed",
            Self::File { .. } => "name a file with a JWK Set, readable for the user who runs the gateway",
            Self::Set { why, .. } => why.hint(),
            Self::Certificates(_) => "name a file with certificates in PEM form as `extra_root`",
            _ => "the issuer has to be reachable from here; `extra_root` names a private authority",
        }
    }
}
