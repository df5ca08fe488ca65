//! The words of `fumehood secret` and of the broker.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// `secret`
#[derive(Debug, Args)]
pub(crate) struct Secret {
    #[command(subcommand)]
    pub(crate) what: SecretVerb,
}

/// What can be done with secrets.
#[derive(Debug, Subcommand)]
pub(crate) enum SecretVerb {
    /// Keep a secret in the vault; its value is asked for, or read from stdin
    Set(Box<SecretSet>),
    /// List secrets, where they may be written and how old they are; never a value
    List(SecretList),
    /// Show where a secret's value may be written
    ShowBinding(SecretShow),
    /// Give a secret another value; running cells use it from the next request on
    Rotate(SecretName),
    /// Forget a secret; running cells lose it at once
    Rm(SecretName),
    /// Write a sealed backup of the whole vault into a new file
    Export(SecretExport),
    /// Put a sealed backup, or an earlier version, in the vault's place
    Restore(SecretRestore),
    /// Say or change how the vault's key is kept, and who else can open the vault
    Seal(SecretSeal),
}

/// `secret set`
#[derive(Debug, Args)]
pub(crate) struct SecretSet {
    /// Its name, such as GITHUB_TOKEN
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// A host it is for: `api.github.com`, `api.github.com:8443` or `*.example.com`; always HTTPS
    #[arg(long = "host", value_name = "HOST")]
    pub(crate) hosts: Vec<String>,
    /// Write it into this header; `authorization` where no place is named
    #[arg(long = "header", value_name = "NAME")]
    pub(crate) headers: Vec<String>,
    /// Write it into the user name or the password of HTTP Basic
    #[arg(long)]
    pub(crate) basic: bool,
    /// Write it into this parameter of the query
    #[arg(long = "query", value_name = "NAME")]
    pub(crate) queries: Vec<String>,
    /// Write it into segments of the path
    #[arg(long)]
    pub(crate) path_segment: bool,
    /// Write it into texts of a JSON body
    #[arg(long)]
    pub(crate) json_body: bool,
    /// Write it into values of a form
    #[arg(long)]
    pub(crate) form: bool,
    /// Write it into text messages of a WebSocket
    #[arg(long)]
    pub(crate) websocket: bool,
    /// Only into requests with this method
    #[arg(long = "method", value_name = "METHOD")]
    pub(crate) methods: Vec<String>,
    /// Only into requests to these paths, such as `/repos/acme/*`
    #[arg(long = "path", value_name = "PATH")]
    pub(crate) paths: Vec<String>,
    /// What becomes of requests to its hosts with credentials that are not the cell's own
    #[arg(long, value_name = "WHAT", default_value = "refuse")]
    pub(crate) foreign: Foreign,
    /// Keep it without a host: it can only be given to a cell as it is, with `--expose`
    #[arg(long, conflicts_with_all = ["hosts", "headers", "basic", "queries", "path_segment", "json_body", "form", "websocket", "methods", "paths"])]
    pub(crate) only_expose: bool,
    #[command(flatten)]
    pub(crate) whose: Whose,
}

/// Whose value it is.
#[derive(Debug, Args)]
pub(crate) struct Whose {
    /// The value of this user alone, for servers that name the secret with `per = "user"`: the issuer that vouches for the user and the subject there
    #[arg(long = "user", value_name = "ISSUER|SUBJECT")]
    pub(crate) user: Option<String>,
    /// The tenant of the user, where the user has one
    #[arg(long, value_name = "TENANT", requires = "user")]
    pub(crate) tenant: Option<String>,
}

/// What becomes of other credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Foreign {
    /// The request is refused
    Refuse,
    /// They are passed on
    Allow,
}

/// `secret list`
#[derive(Debug, Args)]
pub(crate) struct SecretList {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `secret show-binding`
#[derive(Debug, Args)]
pub(crate) struct SecretShow {
    /// Which
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) whose: Whose,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `secret rotate` and `secret rm`
#[derive(Debug, Args)]
pub(crate) struct SecretName {
    /// Which
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) whose: Whose,
}

/// `secret export`
#[derive(Debug, Args)]
pub(crate) struct SecretExport {
    /// The file to make
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Seal it to this age recipient, `age1…`
    #[arg(long = "recipient", value_name = "RECIPIENT")]
    pub(crate) recipients: Vec<String>,
    /// Seal it with a passphrase that is asked for
    #[arg(long, conflicts_with = "recipients")]
    pub(crate) passphrase: bool,
}

/// `secret restore`
#[derive(Debug, Args)]
pub(crate) struct SecretRestore {
    /// A backup, or a version of the vault
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Open it with the identity in this file, as `age-keygen` writes it
    #[arg(long, value_name = "FILE")]
    pub(crate) identity: Option<PathBuf>,
    /// Replace a vault that works and holds something
    #[arg(long)]
    pub(crate) replace: bool,
}

/// `secret seal`
#[derive(Debug, Args)]
pub(crate) struct SecretSeal {
    /// Lock the key with a passphrase, asked for whenever a cell with secrets starts
    #[arg(long, conflicts_with = "key_file")]
    pub(crate) passphrase: bool,
    /// Keep the key in a file that only you can read
    #[arg(long)]
    pub(crate) key_file: bool,
    /// Let this age recipient, `age1…`, open the vault too
    #[arg(long = "recipient", value_name = "RECIPIENT")]
    pub(crate) recipients: Vec<String>,
    /// Seal the next version without this recipient
    #[arg(long = "without", value_name = "RECIPIENT")]
    pub(crate) without: Vec<String>,
}

/// `vault`
#[derive(Debug, Args)]
pub(crate) struct Broker {
    /// The secrets to give
    #[arg(required_unless_present = "needles", value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Whose cell it is, by the digits of its key
    #[arg(long, value_name = "KEY", requires = "personal")]
    pub(crate) user: Option<String>,
    /// One of the secrets of which that user has a value of its own
    #[arg(long, value_name = "NAME", requires = "user")]
    pub(crate) personal: Vec<String>,
    /// Give what finds every value, and no value
    #[arg(long, conflicts_with_all = ["names", "user", "personal"])]
    pub(crate) needles: bool,
}
