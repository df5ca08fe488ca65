//! Why nothing was installed.

use model::digest::Digest;

use crate::{sources::SourcesError, store::StoreError, workshop::WorkshopError};

/// Nothing was installed; nothing of it is left.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// No package is named.
    #[error("`{runner}` is not told which package")]
    Unnamed {
        /// The runner.
        runner: &'static str,
    },
    /// A folder, a file, a repository or a URL.
    #[error("`{package}` is of no registry, so nothing says what its bytes should be")]
    NoRegistry {
        /// As written.
        package: String,
    },
    /// A flag that cannot be kept.
    #[error("`{flag}` of `{runner}` cannot be kept when a package is installed once and for all")]
    Flag {
        /// The runner.
        runner: &'static str,
        /// The flag.
        flag: String,
    },
    /// A script is allowed for a package that is not in the tree, or has none.
    #[error("`{package}` may run its install script, but has none here")]
    NoScript {
        /// As named in the configuration.
        package: String,
    },
    /// The lock's tree file is not the one that was accepted.
    #[error("the tree file is not the pinned one: `{found}` instead of `{pinned}`")]
    TreeFile {
        /// By the lock.
        pinned: Digest,
        /// What lies there.
        found: Digest,
    },
    /// The lock's tree file cannot be used.
    #[error("the tree file cannot be used: {why}")]
    BadTreeFile {
        /// Why.
        why: String,
    },
    /// The packages are the pinned ones by their names, but their files are not.
    #[error("what was installed is not what was pinned: `{found}` instead of `{pinned}`")]
    Content {
        /// By the lock.
        pinned: Digest,
        /// What came of it.
        found: Digest,
    },
    /// The client has no file whose hash is the one that was pinned, or that the registry announced.
    #[error("a package's file is not the one its hash was taken of: {told}")]
    Integrity {
        /// In the client's words.
        told: String,
    },
    /// No such package, or no such version.
    #[error("{told}")]
    NotFound {
        /// In the client's words.
        told: String,
    },
    /// The package would have to be built, which runs its code.
    #[error("`{package}` comes as source only, and building it would run its code: {told}")]
    SourceOnly {
        /// Which package.
        package: String,
        /// In the client's words.
        told: String,
    },
    /// There are files of it, for other machines or other versions of the interpreter.
    #[error("there is nothing of it for this machine: {told}")]
    OtherMachines {
        /// In the client's words.
        told: String,
    },
    /// The client refuses what a package brings.
    #[error("a package is not made as it has to be: {told}")]
    Malformed {
        /// In the client's words.
        told: String,
    },
    /// The client failed.
    #[error("`{line}` failed ({end}): {told}")]
    Client {
        /// The command line inside.
        line: String,
        /// How it ended.
        end: String,
        /// What it said at last.
        told: String,
    },
    /// The client gave something that is not understood.
    #[error("`{what}` is not as expected: {why}")]
    Strange {
        /// What.
        what: String,
        /// Why.
        why: String,
    },
    /// It is not known where packages come from.
    #[error("{0}")]
    Sources(#[from] SourcesError),
    /// There was no cell.
    #[error("the installation cannot be confined: {0}")]
    Workshop(#[from] WorkshopError),
    /// The tree cannot be kept.
    #[error("{0}")]
    Store(#[from] StoreError),
}

impl InstallError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Unnamed { runner } => format!("name one: `{runner} PACKAGE`"),
            Self::NoRegistry { .. } => {
                "name a package of a registry, or run what you have on disk as a local command".to_owned()
            }
            Self::Flag { .. } => {
                "leave it out; settings of the package client itself belong into its own configuration file".to_owned()
            }
            Self::NoScript { .. } => "take it out of `allow_scripts`".to_owned(),
            Self::TreeFile { .. } => {
                "restore the file beside the lock (`git checkout fumehood.lock.d`), or pin anew with `fumehood update`"
                    .to_owned()
            }
            Self::BadTreeFile { .. } => "pin anew with `fumehood update`".to_owned(),
            Self::Content { .. } => {
                "if another version of Node.js or Python explains it, look at it with `fumehood update`; else somebody \
                 has changed what the registry gives: do not use it"
                    .to_owned()
            }
            Self::Integrity { .. } => {
                "somebody has changed the file under a version that exists: do not use it before the package's \
                 author has said why"
                    .to_owned()
            }
            Self::NotFound { .. } => {
                "look at the spelling and the version; a version may have been withdrawn by its author".to_owned()
            }
            Self::OtherMachines { .. } => {
                "choose another version, or another interpreter (`uvx --python VERSION …`)".to_owned()
            }
            Self::Malformed { .. } => "do not use it: its author's own tools do not make such a file".to_owned(),
            Self::SourceOnly { .. } => "choose a version that has a wheel, or ask its author for one".to_owned(),
            Self::Client { .. } => {
                "try the same in a terminal: it has to work there; what needs a key or another host than the registry \
                 is not there in the cell of an installation"
                    .to_owned()
            }
            Self::Strange { .. } => "bring the package client up to date".to_owned(),
            Self::Sources(error) => error.hint(),
            // The cell of an installation takes no flags.
            Self::Workshop(WorkshopError { hint: Some(hint), .. }) if hint.contains("`--mount ") => {
                "put the package client into `/usr/local/bin`, or where its own installer puts it: of other folders it \
                 is not known what belongs to it"
                    .to_owned()
            }
            Self::Workshop(error) => error.hint.clone().unwrap_or_else(|| "see `fumehood doctor`".to_owned()),
            Self::Store(error) => error.hint(),
        }
    }
}
