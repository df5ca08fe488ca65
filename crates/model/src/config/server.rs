//! A declared server, checked.

use std::collections::BTreeMap;

use super::complaint::Complaint;
use super::data::DataRequest;
use super::env::{self, EnvValue};
use super::limits::SomeLimits;
use super::mounts::{self, Asker, Place};
use super::network::{self, NetworkCheck, ServerNetwork};
use super::problem::Source;
use super::secrets;
use super::written::{self, At};
use crate::mount::Mount;
use crate::name::ServerName;
use crate::secret::SecretUse;

/// What a file declares about one server.
///
/// INVARIANT: the command has a program, and every value passed its check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    command: Vec<String>,
    env: BTreeMap<String, EnvValue>,
    mounts: Vec<Mount>,
    data: Option<DataRequest>,
    limits: SomeLimits,
    network: ServerNetwork,
    secrets: Vec<SecretUse>,
}

impl Server {
    /// The program and its arguments.
    pub fn command(&self) -> &[String] {
        &self.command
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
        let command = command(name, server, source);
        let resolved = Server {
            command: command.unwrap_or_default(),
            env: env::resolve(&server.env, source),
            mounts: mounts::resolve(&server.mounts, asker, place, source),
            data: server.data.as_ref().and_then(|data| DataRequest::resolve(data, source)),
            limits: SomeLimits::resolve(server.limits.as_ref(), source),
            network: network::server(name, server, check, source),
            secrets: secrets::used(&server.secrets, source),
        };
        match self::name(name) {
            Ok(name) if !resolved.command.is_empty() => {
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

fn command(name: &At<String>, server: &written::Server, source: &mut Source<'_>) -> Option<Vec<String>> {
    let Some(command) = &server.command else {
        if source.is_left_out(&["servers", name.get(), "command"]) {
            return None;
        }
        let complaint = Complaint::new(format!("the server `{}` has no `command`", name.get()));
        source.add(
            name.span(),
            &complaint.help("add the program and its arguments: `command = [\"node\", \"server.js\"]`"),
        );
        return None;
    };
    let mut sound = true;
    for argument in command.get() {
        if let Err(complaint) = env::check_argument(argument.get()) {
            source.add(argument.span(), &complaint);
            sound = false;
        }
    }
    let arguments: Vec<String> = command.get().iter().map(|argument| argument.get().clone()).collect();
    if sound && let Err(complaint) = env::check_command(&arguments) {
        source.add(command.span(), &complaint);
        sound = false;
    }
    sound.then_some(arguments)
}
