//! How a program of an installed tree is started.

use std::{collections::BTreeMap, path::PathBuf};

use crate::words::Client;

/// A start, for a cell that has the tree at [`Start::INSIDE`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// Program and arguments, those that were asked for among them.
    pub command: Vec<String>,
    /// Variables it needs.
    pub env: BTreeMap<String, String>,
    /// The folder of the host that is the tree.
    pub folder: PathBuf,
}

impl Start {
    /// Where a cell has the tree.
    pub const INSIDE: &'static str = "/package";
}

/// Nothing to start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// No package was named.
    #[error("no package is named")]
    Unnamed,
    /// The package is not in the tree.
    #[error("`{package}` is not in the tree")]
    NoPackage {
        /// Its name.
        package: String,
    },
    /// The package has no program of this name.
    #[error("`{package}` has no program `{wanted}`")]
    NoProgram {
        /// Who runs it.
        client: Client,
        /// The package.
        package: String,
        /// What was wanted.
        wanted: String,
        /// What it has.
        has: Vec<String>,
    },
    /// Several, none of which is the obvious one.
    #[error("`{package}` has no program of its own name, and it is not said which other one is meant")]
    Ambiguous {
        /// Who runs it.
        client: Client,
        /// The package.
        package: String,
        /// What it has.
        has: Vec<String>,
    },
    /// The program is not a file of its package.
    #[error("program `{program}` of `{package}` is not a file of that package: `{path}`")]
    Outside {
        /// The package.
        package: String,
        /// The program.
        program: String,
        /// Where it should lie.
        path: String,
    },
    /// It is not known how to run the file.
    #[error("it is not known how `{program}` is run: {why}")]
    Unrunnable {
        /// The program.
        program: String,
        /// Why.
        why: String,
    },
}

impl StartError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Unnamed | Self::NoPackage { .. } => "add the server anew with `fumehood add`".to_owned(),
            Self::NoProgram { client, package, has, .. } | Self::Ambiguous { client, package, has } => {
                let runner = match client {
                    Client::Npm => "npx -p",
                    Client::Uv => "uvx --from",
                };
                match has.as_slice() {
                    [] => "it is a library: there is nothing to start".to_owned(),
                    has => format!(
                        "say which, in place of the source: `fumehood add NAME -- {runner} {package} {}`",
                        has.join("|")
                    ),
                }
            }
            Self::Outside { .. } => {
                "do not use this package: a program of its own would lie inside of it".to_owned()
            }
            Self::Unrunnable { .. } => "run it as a local command that names its interpreter".to_owned(),
        }
    }
}
