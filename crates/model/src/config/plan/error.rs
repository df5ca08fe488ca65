//! Why nothing can be started as asked.

use std::collections::BTreeSet;

use super::Origin;
use crate::config::complaint::{Complaint, nearest, quoted};

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// No file declares the server.
    #[error("no server is called `{name}`")]
    Unknown {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: BTreeSet<String>,
    },
    /// Both files declare it.
    #[error("the server `{name}` is declared by the project's file and by the operator's")]
    DeclaredTwice {
        /// The name asked for.
        name: String,
    },
    /// A variable is to hold a secret and something else.
    #[error("the variable `{variable}` is to hold the secret `{secret}`, and is set by `env` as well")]
    VariableTwice {
        /// Which variable.
        variable: String,
        /// Which secret.
        secret: String,
    },
    /// More was asked for than the operator allows.
    #[error("{}", sentence(.0))]
    TooMuch(Vec<Excess>),
    /// The command is none.
    #[error("{message}")]
    Command {
        /// What is wrong with it.
        message: String,
        /// What to do.
        help: Option<String>,
    },
}

impl PlanError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown { name, known } => match nearest(name, known.iter().map(String::as_str)) {
                Some(meant) => Some(format!("did you mean `{meant}`?")),
                None if known.is_empty() => Some(
                    "no file declares any: write `-- COMMAND` to run one that is not declared".to_owned(),
                ),
                None => Some(format!("declared are {}", quoted(known.iter().map(String::as_str)))),
            },
            Self::DeclaredTwice { .. } => Some("rename one of the two".to_owned()),
            Self::VariableTwice { variable, .. } => Some(format!(
                "take `{variable}` out of `env` or `--env`: the cell gets a placeholder instead"
            )),
            Self::TooMuch(_) => {
                Some("ask for less, or raise the value in `[maximum]` of the operator's file".to_owned())
            }
            Self::Command { help, .. } => help.clone(),
        }
    }
}

impl From<Complaint> for PlanError {
    fn from(complaint: Complaint) -> Self {
        Self::Command { message: complaint.message, help: complaint.help }
    }
}

/// A ceiling above the operator's maximum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excess {
    /// Which: the name of a limit, or `data`.
    pub what: &'static str,
    /// What was asked for, with its unit.
    pub asked: String,
    /// What is allowed, with its unit.
    pub maximum: String,
    /// Who asked.
    pub by: Origin,
}

fn sentence(excesses: &[Excess]) -> String {
    excesses
        .iter()
        .map(|Excess { what, asked, maximum, by }| {
            format!("`{what}` of {asked}, asked for by {by}, is above the operator's maximum of {maximum}")
        })
        .collect::<Vec<_>>()
        .join("; ")
}
