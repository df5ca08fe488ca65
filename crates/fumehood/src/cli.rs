//! The words of the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) mod audit;
pub(crate) mod lock;
pub(crate) mod policy;
pub(crate) mod secret;
pub(crate) mod serve;

/// Runs the tools of an AI agent in cells: without your keys, your files and your network.
#[derive(Debug, Parser)]
#[command(name = "fumehood", version, max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Run an MCP server in a cell; stdin and stdout carry the protocol
    Run(Run),
    /// Run any command in a throw-away cell; memory and process ceilings must be held by the kernel
    Exec(Exec),
    /// Declare a server, install it, read what it offers, and ask whether it is accepted
    Add(lock::Add),
    /// Take a server out of its file and its lock
    Remove(lock::Remove),
    /// List the servers, and whether each is accepted
    List(lock::List),
    /// Show what a model would read of a server, or what has changed of it, and accept or reject that
    Review(lock::Review),
    /// Show what a project's fumehood.toml asks for, and let its servers be used
    Trust(lock::Trust),
    /// Pin every declared server anew where it is not, or check that all are as they are pinned
    Lock(lock::Lock),
    /// Show which packages have newer versions
    Outdated(lock::Outdated),
    /// Install the newest version of a package beside the one in use, show what would change, and swap on a yes
    Update(lock::Update),
    /// See, check and clean the store of packages
    Store(lock::Store),
    /// Print the fingerprint of a server, or of a file with its tools
    Fingerprint(lock::Fingerprint),
    /// Put all servers behind one address, and judge and record every call
    Serve(serve::Serve),
    /// Say what would happen to a call of a tool, and which rule decides
    Policy(policy::Policy),
    /// See what was recorded of calls, and check that it is as it was written
    Audit(audit::Audit),
    /// Let a server reach a host: its running cells at once, later ones by its configuration
    Allow(Change),
    /// Take a host from a server, and cut what is open to it
    Deny(Change),
    /// Show what was let out of cells and what was not, and ask what would be
    Egress(Egress),
    /// Keep keys in a vault, bound to the hosts they are for; cells get placeholders
    Secret(secret::Secret),
    /// List the running cells
    Ps(Ps),
    /// Show what a server wrote to stderr
    Logs(Logs),
    /// Try every layer on this host, and say what would improve it
    Doctor(Doctor),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Carry messages between stdin, stdout and a remote MCP server (runs in the cell of such a server)
    #[command(hide = true)]
    Bridge(Bridge),
    /// Supervise one cell (started by `run` and `exec`)
    #[command(hide = true)]
    Cell(Supervise),
    /// Give one cell's supervisor its secrets (started by `run` and `exec`)
    #[command(hide = true)]
    Vault(secret::Broker),
}

/// What a cell is given.
#[derive(Debug, Default, Args)]
pub(crate) struct Given {
    /// Name to list and log it under
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Make a folder or file visible at its own path, read-only unless `:rw` follows
    #[arg(long = "mount", value_name = "PATH[:rw]")]
    pub(crate) mounts: Vec<String>,
    /// Set a variable, or pass on your own value of it
    #[arg(long = "env", value_name = "NAME[=VALUE]")]
    pub(crate) env: Vec<String>,
    /// Mount a folder at /data that stays; cells that give the same name share it
    #[arg(long, value_name = "NAME[:SIZE]")]
    pub(crate) data: Option<String>,
    /// Set a ceiling: memory, cpu, processes, open_files, file_size, scratch, scratch_files, require
    #[arg(long = "limit", value_name = "NAME=VALUE")]
    pub(crate) limits: Vec<String>,
    /// Let it reach a host: `api.example.com`, `*.example.com`, `host:8443`, `http://host:8080`, `tcp://host:5432`,
    /// 'GET,HEAD host/v1/*'
    #[arg(long = "host", value_name = "RULE")]
    pub(crate) hosts: Vec<String>,
    /// Let it use a secret: the variable holds a placeholder, the value is written into requests to the secret's hosts
    #[arg(long = "secret", value_name = "NAME[=VARIABLE]")]
    pub(crate) secrets: Vec<String>,
    /// Give it the real value of a secret, where nothing else works; asks you to type its name
    #[arg(long = "expose", value_name = "NAME[=VARIABLE]")]
    pub(crate) exposed: Vec<String>,
    /// Do not ask about this secret of `--expose`
    #[arg(long, value_name = "NAME", requires = "exposed")]
    pub(crate) expose_yes_really: Vec<String>,
    /// Say what the cell sees, and pass the program's stderr on
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// `run`
#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) given: Given,
    /// Seconds the server has to end by itself after stdin is closed
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(0..=600))]
    pub(crate) grace: u64,
    /// Listen on a port of this machine's loopback (0 for any) and lead it to a port inside the cell
    #[arg(long, value_name = "[127.0.0.1:]PORT:INSIDE")]
    pub(crate) publish: Vec<String>,
    /// Fail where it is not accepted, has changed or is not installed, instead of asking or letting the client wait
    #[arg(long)]
    pub(crate) strict: bool,
    /// Let the lists of a program of this machine pass as they are: for whoever is writing it
    #[arg(long, conflicts_with = "strict")]
    pub(crate) unreviewed: bool,
    /// A server of fumehood.toml or of the operator's file, or a command; after `--` always a command
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "NAME | COMMAND"
    )]
    pub(crate) words: Vec<String>,
}

/// `exec`
#[derive(Debug, Args)]
pub(crate) struct Exec {
    /// Start it in this running cell instead of a new one
    #[arg(long = "in", value_name = "CELL", conflicts_with_all = ["name", "mounts", "data", "limits", "hosts", "secrets", "exposed"])]
    pub(crate) cell: Option<String>,
    #[command(flatten)]
    pub(crate) given: Given,
    /// The command
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// `allow` and `deny`
#[derive(Debug, Args)]
pub(crate) struct Change {
    /// A declared server, or the name under which one runs
    #[arg(value_name = "SERVER")]
    pub(crate) server: String,
    /// What it may reach: `api.example.com`, `*.example.com`, `host:8443`, `http://host:8080`, `tcp://host:5432`,
    /// 'GET,HEAD host/v1/*'
    #[arg(required = true, value_name = "RULE")]
    pub(crate) rules: Vec<String>,
    /// Change the running cells only, and no file
    #[arg(long)]
    pub(crate) once: bool,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `egress`
#[derive(Debug, Args)]
pub(crate) struct Egress {
    #[command(subcommand)]
    pub(crate) what: EgressVerb,
}

/// What can be asked about the edge.
#[derive(Debug, Subcommand)]
pub(crate) enum EgressVerb {
    /// Show connections, refusals and changes; of cells that run, else of the last one that did
    Log(EgressLog),
    /// Say what would happen to a request, and which rule decides: exit code 0 or 12
    Check(EgressCheck),
}

/// `egress log`
#[derive(Debug, Args)]
pub(crate) struct EgressLog {
    /// Name or id of a cell; every one where none is given
    #[arg(value_name = "NAME | ID")]
    pub(crate) whose: Option<String>,
    /// Go on as it grows
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Print each entry as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `egress check`
#[derive(Debug, Args)]
pub(crate) struct EgressCheck {
    /// A running cell by name or id, or a declared server
    #[arg(value_name = "SERVER")]
    pub(crate) server: String,
    /// A URL, or `host:port`
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// The method of the request; GET where none is given
    #[arg(long, value_name = "METHOD")]
    pub(crate) method: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `ps`
#[derive(Debug, Args)]
pub(crate) struct Ps {
    /// Also show allowed hosts and open connections
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `logs`
#[derive(Debug, Args)]
pub(crate) struct Logs {
    /// Name or id of a cell
    #[arg(value_name = "NAME | ID")]
    pub(crate) whose: String,
    /// Go on as it grows
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Only the last lines
    #[arg(short = 'n', long = "lines", value_name = "N")]
    pub(crate) lines: Option<usize>,
    /// Print each line as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `doctor`
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `completions`
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Which shell
    pub(crate) shell: clap_complete::Shell,
}

/// `bridge`
#[derive(Debug, Args)]
pub(crate) struct Bridge {
    /// Where the remote server is
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// A header of every request, filled from a variable: `NAME:VARIABLE`, `NAME:text with ${VARIABLE}`, or `NAME=text`
    #[arg(long = "header", value_name = "NAME:VARIABLE")]
    pub(crate) headers: Vec<String>,
    /// Let the URL begin with `http://`
    #[arg(long)]
    pub(crate) plain: bool,
}

/// `cell`
#[derive(Debug, Args)]
pub(crate) struct Supervise {
    /// An inherited, connected stream socket
    #[arg(long)]
    pub(crate) owner_fd: i32,
    /// An inherited stream socket whose other end the broker of the vault has
    #[arg(long)]
    pub(crate) broker_fd: Option<i32>,
    /// Where cells and logs lie
    #[arg(long)]
    pub(crate) state: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn flags_after_the_command_belong_to_it() {
        let cli = Cli::try_parse_from(["fumehood", "run", "-v", "npx", "-y", "--mount", "x"]).unwrap();
        let Verb::Run(run) = cli.verb else { panic!() };
        assert_eq!(run.words, ["npx", "-y", "--mount", "x"]);
        assert!(run.given.verbose && run.given.mounts.is_empty());
    }
}
