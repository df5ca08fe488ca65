//! Why a server has no surface, and so no fingerprint.

use crate::visible::excerpt;

use super::{Kind, MAX_ENTRIES, MAX_PAGES, MAX_SURFACE};

/// Why what a server says of itself cannot be held: it is then not offered at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SurfaceError {
    /// Two entries of one list have one name, so a call could mean either.
    #[error("two of the server's {}s are called `{}`", .kind, excerpt(.name, 80))]
    Duplicate {
        /// Of which list.
        kind: Kind,
        /// The name as received.
        name: String,
    },
    /// A list leads back to a page that was read already.
    #[error("`{}` goes round in circles: a page's cursor came twice", .0.method())]
    RepeatedCursor(Kind),
    /// A list has no end.
    #[error("`{}` has more than {MAX_PAGES} pages", .0.method())]
    TooManyPages(Kind),
    /// A list is too long to be read by a person, or a model.
    #[error("the server has more than {MAX_ENTRIES} {}s", .0)]
    TooManyEntries(Kind),
    /// All of it together is too much.
    #[error("what the server says of itself is over {} MiB", MAX_SURFACE >> 20)]
    TooLarge,
    /// A part that cannot be left out is over a bound.
    #[error("the server's {what} {why}")]
    OverBound {
        /// Such as `instructions`.
        what: String,
        /// Such as `are longer than 64 KiB`.
        why: String,
    },
    /// An answer is not of the protocol's shape.
    #[error("the server's answer to `{method}` is malformed: {why}")]
    Malformed {
        /// What was asked.
        method: String,
        /// What is missing or wrong.
        why: String,
    },
    /// The server answered with an error.
    #[error("the server answered `{method}` with error {code}: {message}")]
    Answer {
        /// What was asked.
        method: String,
        /// The JSON-RPC error code.
        code: i64,
        /// The server's words, shortened and made visible.
        message: String,
    },
    /// The server speaks another revision of the protocol.
    #[error("the server wants to speak revision `{0}` of the protocol")]
    Revision(String),
    /// The lists changed each time while they were read.
    #[error("the server's lists changed {0} times while they were read")]
    Unsettled(usize),
    /// A text that is no stored surface, or one of other rules.
    #[error("this is no surface as it is stored here: {0}")]
    Stored(String),
}

impl SurfaceError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        let report = "tell its authors";
        match self {
            Self::Duplicate { .. } => format!("{report}: names within a list have to differ"),
            Self::RepeatedCursor(_) | Self::TooManyPages(_) => {
                format!("{report}: a list has to end, and only a complete one can be accepted")
            }
            Self::TooManyEntries(_) | Self::TooLarge | Self::OverBound { .. } => {
                "no person could have read this; see if the server can be told to offer less".to_owned()
            }
            Self::Malformed { .. } => {
                format!("see that the command starts an MCP server and nothing else; if it does, {report}")
            }
            Self::Answer { .. } => {
                "see the server's log; some servers want a setting or a key before they list anything"
                    .to_owned()
            }
            Self::Revision(_) => {
                "use a version of the server that speaks 2025-11-25 or an earlier revision".to_owned()
            }
            Self::Unsettled(_) => {
                "try again when the server is at rest; if it never is, tell its authors".to_owned()
            }
            Self::Stored(_) => "have the server read anew: `fumehood lock` writes the file again".to_owned(),
        }
    }
}
