//! The words of what is about pinned servers.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `add`
#[derive(Debug, Args)]
pub(crate) struct Add {
    /// How it is called from now on
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// `npx:PACKAGE@VERSION`, `uvx:PACKAGE==VERSION` or `https://HOST/PATH`; none for a program of this machine
    #[arg(value_name = "SOURCE", required_unless_present = "words")]
    pub(crate) source: Option<String>,
    /// Arguments of the package's program; without a source, a program of this machine and its arguments
    #[arg(last = true, value_name = "ARGUMENTS | COMMAND")]
    pub(crate) words: Vec<String>,
    /// Let it reach a host, as in `run`
    #[arg(long = "host", value_name = "RULE")]
    pub(crate) hosts: Vec<String>,
    /// Let it use a secret, as in `run`
    #[arg(long = "secret", value_name = "NAME[=VARIABLE]")]
    pub(crate) secrets: Vec<String>,
    /// Make a folder or file visible, as in `run`
    #[arg(long = "mount", value_name = "PATH[:rw]")]
    pub(crate) mounts: Vec<String>,
    /// Set a variable
    #[arg(long = "env", value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,
    /// Give it a folder at /data that stays
    #[arg(long)]
    pub(crate) data: bool,
    /// What it may count on its client for: plain, elicitation, roots, elicitation+roots
    #[arg(long, value_name = "PROFILE", default_value = "plain")]
    pub(crate) client: String,
    /// Read what it offers with its hosts and secrets, for a server that offers nothing without
    #[arg(long)]
    pub(crate) read_with_keys: bool,
    /// Let the install script of this package run
    #[arg(long = "allow-script", value_name = "PACKAGE")]
    pub(crate) scripts: Vec<String>,
    /// Declare it in fumehood.toml of this folder, which is made where there is none
    #[arg(long, conflicts_with = "global")]
    pub(crate) project: bool,
    /// Declare it in your own configuration, whatever project this is
    #[arg(long)]
    pub(crate) global: bool,
    /// Accept it without being asked if this is its full fingerprint
    #[arg(long, value_name = "FULL_FINGERPRINT")]
    pub(crate) accept: Option<String>,
}

/// `remove`
#[derive(Debug, Args)]
pub(crate) struct Remove {
    /// A server
    #[arg(value_name = "SERVER")]
    pub(crate) name: String,
}

/// `list`
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `review`
#[derive(Debug, Args)]
pub(crate) struct Review {
    /// A server; every one that waits for a decision where none is given
    #[arg(value_name = "SERVER")]
    pub(crate) name: Option<String>,
    /// Accept it without being asked if this is its full fingerprint
    #[arg(long, value_name = "FULL_FINGERPRINT", requires = "name", conflicts_with = "reject")]
    pub(crate) accept: Option<String>,
    /// Reject it without being asked
    #[arg(long, requires = "name")]
    pub(crate) reject: bool,
    /// Sign it too, with the private key in this file: it is accepted wherever the public key is in config.toml
    #[arg(long, value_name = "KEYFILE", requires = "name", conflicts_with = "reject")]
    pub(crate) sign: Option<PathBuf>,
    /// Make a private key for `--sign` in a new file, and print the line for `[review]` of config.toml
    #[arg(long, value_name = "FILE", exclusive = true)]
    pub(crate) new_key: Option<PathBuf>,
    /// Print what there is to decide as JSON, and decide nothing
    #[arg(long, conflicts_with_all = ["accept", "reject", "sign"])]
    pub(crate) json: bool,
}

/// `trust`
#[derive(Debug, Args)]
pub(crate) struct Trust {
    /// The project; this folder's where none is given
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
    /// Trust it without being asked if this is the digest of its fumehood.toml
    #[arg(long, value_name = "DIGEST", conflicts_with = "withdraw")]
    pub(crate) accept: Option<String>,
    /// Trust it no longer
    #[arg(long)]
    pub(crate) withdraw: bool,
    /// Print JSON, and decide nothing
    #[arg(long, conflicts_with_all = ["accept", "withdraw"])]
    pub(crate) json: bool,
}

/// `lock`
#[derive(Debug, Args)]
pub(crate) struct Lock {
    /// Servers; every declared one where none is given
    #[arg(value_name = "SERVER")]
    pub(crate) names: Vec<String>,
    /// Change nothing; fail where the lock is not what is declared, or what is installed and offered is not what is pinned
    #[arg(long, conflicts_with = "merge")]
    pub(crate) check: bool,
    /// Merge three locks as git asks for it (`merge.fumehood.driver = fumehood lock --merge %O %A %B`)
    #[arg(long, num_args = 3, value_names = ["BASE", "OURS", "THEIRS"], conflicts_with = "names")]
    pub(crate) merge: Option<Vec<PathBuf>>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `outdated`
#[derive(Debug, Args)]
pub(crate) struct Outdated {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `update`
#[derive(Debug, Args)]
pub(crate) struct Update {
    /// Servers; every declared package where none is given
    #[arg(value_name = "SERVER")]
    pub(crate) names: Vec<String>,
    /// Accept the new version without being asked if this is its full fingerprint
    #[arg(long, value_name = "FULL_FINGERPRINT")]
    pub(crate) accept: Option<String>,
}

/// `store`
#[derive(Debug, Args)]
pub(crate) struct Store {
    #[command(subcommand)]
    pub(crate) what: StoreVerb,
}

/// What can be done with the store of packages.
#[derive(Debug, Subcommand)]
pub(crate) enum StoreVerb {
    /// List what is installed, and which servers use it
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove what no server uses any more
    Gc,
    /// Compare every file with its digest
    Verify,
}

/// `fingerprint`
#[derive(Debug, Args)]
pub(crate) struct Fingerprint {
    /// A server, or a file with the result of `tools/list` (`-` for stdin)
    #[arg(value_name = "SERVER | FILE")]
    pub(crate) what: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
