//! The words of `policy`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `policy`
#[derive(Debug, Args)]
pub(crate) struct Policy {
    #[command(subcommand)]
    pub(crate) what: PolicyVerb,
}

/// What can be asked about the rules.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyVerb {
    /// Say what would happen to a call, stage by stage, and which rule decides: exit code 0 or 12
    Explain(PolicyExplain),
}

/// `policy explain`
#[derive(Debug, Args)]
pub(crate) struct PolicyExplain {
    /// Who calls: the claims of a token as JSON or in a file (`@claims.json`), `key:NAME`, `peer:NAME`, or roles (`support,admin`)
    #[arg(long = "as", value_name = "WHO")]
    pub(crate) who: String,
    /// What: `SERVER/TOOL`, or the name under which callers have it
    #[arg(long, value_name = "TOOL")]
    pub(crate) tool: String,
    /// With which arguments, as JSON or in a file (`@arguments.json`)
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) args: String,
    /// With the servers of this project too, instead of those of the one around the working folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) project: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
