//! The words of what is about the record of calls.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// `audit`
#[derive(Debug, Args)]
pub(crate) struct Audit {
    #[command(subcommand)]
    pub(crate) what: AuditVerb,
    /// The folder of a record, or of a copy of one; your own where none is given
    #[arg(long, value_name = "FOLDER", global = true)]
    pub(crate) folder: Option<PathBuf>,
}

/// What can be asked about the record.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditVerb {
    /// Show the last rows
    Tail(Tail),
    /// Show the rows that fit all that is said
    Search(Search),
    /// Show everything that belongs to a call, in order: decision, intent, requests, uses of keys, outcome
    Show(Show),
    /// Check that no row was changed, dropped, moved or cut off: exit code 0 or 1
    Verify(Verify),
    /// Print rows for other programs
    Export(Export),
    /// Erase arguments and results that were kept (`bodies = true`) of the rows that fit; rows stay as they are
    Erase(Erase),
}

/// `audit tail`
#[derive(Debug, Args)]
pub(crate) struct Tail {
    /// Go on as it grows
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// How many rows
    #[arg(short = 'n', long = "lines", value_name = "N", default_value_t = 20)]
    pub(crate) lines: usize,
    /// Print each row as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `audit search`
#[derive(Debug, Args)]
pub(crate) struct Search {
    #[command(flatten)]
    pub(crate) fits: Fits,
    /// Print each row as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which rows.
#[derive(Debug, Default, Args)]
pub(crate) struct Fits {
    /// The tool, prompt or URI, as its server names it
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// The server
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// The subject of who asked
    #[arg(long, value_name = "SUBJECT")]
    pub(crate) principal: Option<String>,
    /// The tenant of who asked
    #[arg(long, value_name = "TENANT")]
    pub(crate) tenant: Option<String>,
    /// The code of a refusal, such as FH-TIER-3
    #[arg(long, value_name = "CODE")]
    pub(crate) code: Option<String>,
    /// denied, intent, outcome, call, egress, key_use, identity, service or coalesced
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<store::audit::Kind>,
    /// The id of the call
    #[arg(long, value_name = "CALL")]
    pub(crate) call: Option<store::audit::CallId>,
    /// From then on: `2026-11-30T13:00:00Z`, or how long ago: `2h`
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Before that
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
}

/// `audit show`
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The id of the call: every answer and every row has it
    #[arg(value_name = "CALL")]
    pub(crate) call: store::audit::CallId,
    /// Also show arguments and result, where they were kept
    #[arg(long)]
    pub(crate) bodies: bool,
    /// Print each row as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `audit verify`
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// The public key that has to have signed the checkpoints: what `verify` printed when the record was new
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<store::audit::VerifierKey>,
    /// Another file with checkpoints of the record: the second place, or an old copy
    #[arg(long = "checkpoints", value_name = "FILE")]
    pub(crate) checkpoints: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `audit export`
#[derive(Debug, Args)]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) fits: Fits,
    /// In which form
    #[arg(long, value_enum, default_value_t = Form::Jsonl)]
    pub(crate) format: Form,
}

/// `audit erase`
#[derive(Debug, Args)]
pub(crate) struct Erase {
    #[command(flatten)]
    pub(crate) fits: Fits,
    /// Of every row, where nothing else is said
    #[arg(long, conflicts_with_all = ["tool", "server", "principal", "tenant", "code", "kind", "call", "since", "until"])]
    pub(crate) all: bool,
}

/// The form of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Each row as it is hashed, with its hash
    Jsonl,
    /// API Activity (6003) of OCSF 1.9, with the profile record_integrity
    Ocsf,
}
