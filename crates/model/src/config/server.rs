//! A declared server, checked.

use std::collections::BTreeMap;

use super::complaint::Complaint;
use super::data::DataRequest;
use super::env::{self, EnvValue};
use super::limits::{SomeLimits, kept};
use super::mounts::{self, Asker, Place};
use super::network::{self, NetworkCheck, ServerNetwork};
use super::problem::Source;
use super::secrets;
use super::source::{Start, resolve as resolve_start};
use super::tools::{self, ToolRule};
use super::whose::Whose;
use super::written::{self, At};
use crate::mount::Mount;
use crate::name::ServerName;
use crate::profile::{Profile, ProfileError};
use crate::secret::SecretUse;

/// What a file declares about one server.
///
/// INVARIANT: a command has a program, and every value passed its check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    start: Start,
    client: Profile,
    reads_with_keys: bool,
    is_lazy: bool,
    scripts: Vec<String>,
    env: BTreeMap<String, EnvValue>,
    mounts: Vec<Mount>,
    data: Option<DataRequest>,
    limits: SomeLimits,
    network: ServerNetwork,
    secrets: Vec<SecretUse>,
    cell: Whose,
    is_pass_through: bool,
    tools: BTreeMap<String, ToolRule>,
}

impl Server {
    /// How it is started.
    pub fn start(&self) -> &Start {
        &self.start
    }

    /// As which client Fumehood presents itself.
    pub fn client(&self) -> &Profile {
        &self.client
    }

    /// Whether its lists are read with its hosts and secrets.
    pub fn reads_with_keys(&self) -> bool {
        self.reads_with_keys
    }

    /// Whether it is started at the first call only.
    pub fn is_lazy(&self) -> bool {
        self.is_lazy
    }

    /// Packages whose install scripts may run.
    pub fn scripts(&self) -> &[String] {
        &self.scripts
    }

    /// Variables beyond those that every cell has.
    pub fn env(&self) -> &BTreeMap<String, EnvValue> {
        &self.env
    }

    /// Mounts with absolute paths, a folder before what lies below it.
    pub fn mounts(&self) -> &[Mount] {
        &self.mounts
    }

    /// The persistent folder, where there is one.
    pub fn data(&self) -> Option<DataRequest> {
        self.data
    }

    /// What this server's own table says about limits.
    pub fn limits(&self) -> &SomeLimits {
        &self.limits
    }

    /// What it may reach, and how it is reached.
    pub fn network(&self) -> &ServerNetwork {
        &self.network
    }

    /// Secrets, each in a variable of its own; none of them exposed.
    pub fn secrets(&self) -> &[SecretUse] {
        &self.secrets
    }

    /// Whose cell it runs in.
    pub fn cell(&self) -> &Whose {
        &self.cell
    }

    /// Whether what it says is passed on as it is. Only the operator's file says so.
    pub fn is_pass_through(&self) -> bool {
        self.is_pass_through
    }

    /// What holds for calls of its tools, by their names; the default for those that are not among them.
    pub fn tools(&self) -> &BTreeMap<String, ToolRule> {
        &self.tools
    }
}

/// Resolves the `[servers]` of a file. Servers with problems are left out; the file is refused anyway.
pub(super) fn resolve(
    written: &BTreeMap<At<String>, written::Server>,
    asker: Asker,
    place: &Place<'_>,
    check: &dyn NetworkCheck,
    source: &mut Source<'_>,
) -> BTreeMap<ServerName, Server> {
    let mut servers = BTreeMap::new();
    for (name, server) in written {
        let start = resolve_start(name, server, source);
        let cell = server.cell.as_ref().and_then(|at| kept(source, at, |text| Whose::parse(text)));
        let cell = cell.unwrap_or_default();
        let is_sound = start.is_some();
        let resolved = Server {
            start: start.unwrap_or_default(),
            client: client(server, source),
            is_lazy: server.start == Some(written::Moment::Lazy),
            reads_with_keys: server.lists == Some(written::Lists::Keys),
            scripts: server.allow_scripts.iter().map(|at| at.get().clone()).collect(),
            env: env::resolve(&server.env, source),
            mounts: mounts::resolve(&server.mounts, asker, place, source),
            data: server.data.as_ref().and_then(|data| DataRequest::resolve(data, source)),
            limits: SomeLimits::resolve(server.limits.as_ref(), source),
            network: network::server(name, server, check, source),
            secrets: secrets::used(&server.secrets, &cell, source),
            cell,
            is_pass_through: is_pass_through(server, asker, source),
            tools: tools::rules(&server.tools, source),
        };
        match self::name(name) {
            Ok(name) if is_sound => {
                servers.insert(name, resolved);
            }
            Ok(_) => {}
            Err(complaint) => source.add(name.span(), &complaint),
        }
    }
    servers
}

/// A server's name where it stands as a key.
pub(super) fn name(at: &At<String>) -> Result<ServerName, Complaint> {
    ServerName::new(at.get().as_str()).map_err(|_| {
        Complaint::new(format!("`{}` is not a server name", at.get()))
            .help("use 1 to 64 letters, digits, `.`, `_` or `-`, beginning with a letter or digit")
    })
}

fn is_pass_through(server: &written::Server, asker: Asker, source: &mut Source<'_>) -> bool {
    let Some(at) = &server.profile else { return false };
    if asker == Asker::Project {
        let complaint = Complaint::new("`profile` is said by the operator's file alone");
        source.add(at.span(), &complaint.help("remove it, or declare the server in `config.toml`"));
    }
    *at.get() == written::Guarding::PassThrough
}

fn client(server: &written::Server, source: &mut Source<'_>) -> Profile {
    let read = server.client.as_ref().and_then(|at| {
        kept(source, at, |text| text.parse().map_err(|error: ProfileError| Complaint::new(error.to_string())))
    });
    read.unwrap_or_default()
}
