//! The words of `serve`.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;

/// `serve`
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Read everything, say all that is wrong and which servers are ready, and start nothing
    #[arg(long, conflicts_with_all = ["install", "new_key"])]
    pub(crate) check: bool,
    /// As root: make it a service of this machine, with a user of its own and a systemd unit
    #[arg(long, conflicts_with = "new_key")]
    pub(crate) install: bool,
    /// Make a key for a caller, and print it once, with the lines that let it in
    #[arg(long, value_name = "NAME")]
    pub(crate) new_key: Option<String>,
    /// Listen there instead of where the configuration says; port 0 for any
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// Put the Unix socket there
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// Offer the servers of this project too, instead of those of the one around the working folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) project: Option<PathBuf>,
    /// Write each line of the log, and what is printed, as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// With `--install`: lay the files down below this folder, for a package or an image
    #[arg(long, value_name = "FOLDER", requires = "install", conflicts_with_all = ["check", "new_key"])]
    pub(crate) root: Option<PathBuf>,
    /// With `--install`: print what would be done, and do nothing
    #[arg(long, requires = "install", conflicts_with_all = ["check", "new_key"])]
    pub(crate) dry_run: bool,
}
