//! What one cell gets, after command line, files and defaults are laid over one another.

mod ceilings;
mod error;

use std::collections::BTreeMap;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::env::{self, EnvValue};
use super::flags::Flags;
use super::network::Transport;
use super::operator::Operator;
use super::project::Project;
use super::server::Server;
use super::source::{self, Start};
use super::tools::ToolRule;
use super::whose::Whose;
use crate::limits::Limits;
use crate::mount::{Data, Mount};
use crate::name::ServerName;
use crate::profile::Profile;
use crate::secret::SecretUse;
use crate::size;

use ceilings::Ceilings;
pub use error::{Excess, PlanError};

/// Everything that is known about a cell before the host is looked at.
///
/// INVARIANT: nothing that a project's file or the command line asked for is above the operator's maximum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    name: ServerName,
    origin: Origin,
    start: Start,
    client: Profile,
    reads_with_keys: bool,
    is_lazy: bool,
    scripts: Vec<String>,
    env: BTreeMap<String, EnvValue>,
    mounts: Vec<PlannedMount>,
    data: Option<Data>,
    limits: Limits,
    hosts: Vec<String>,
    proxy_env: bool,
    transport: Transport,
    secrets: Vec<SecretUse>,
    cell: Whose,
    is_pass_through: bool,
    tools: BTreeMap<String, ToolRule>,
}

/// A mount and what must hold when it is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedMount {
    /// The mount, its path judged as text only.
    pub mount: Mount,
    /// The folder beneath which it must still lie when every link is followed, because a project asked for it.
    pub beneath: Option<PathBuf>,
}

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// Nobody: it is built in.
    BuiltIn,
    /// The operator's file.
    Operator,
    /// The project's file.
    Project,
    /// The command line.
    CommandLine,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BuiltIn => "the defaults",
            Self::Operator => "the operator's file",
            Self::Project => "the project's file",
            Self::CommandLine => "the command line",
        })
    }
}

impl Plan {
    /// A declared server. The command line counts most, then the server's own table, the `[limits]` of a project's
    /// file, the operator's `[limits]`, what is built in. Layers to insist on: a project's file adds to the operator's
    /// list, only the command line replaces it.
    ///
    /// A project's server has its persistent folder for itself: a name that two projects use is two folders.
    ///
    /// # Errors
    ///
    /// [`PlanError`] where the name is declared in no file or in both, or a maximum is exceeded.
    pub fn server(
        name: &str,
        project: Option<&Project>,
        operator: &Operator,
        flags: &Flags,
    ) -> Result<Self, PlanError> {
        let ours = project.and_then(|project| find(name, project.servers()).map(|found| (project, found)));
        match (ours, find(name, operator.servers())) {
            // Which of the two was meant cannot be told, and a cloned project must not take over a name in use.
            (Some(_), Some((name, _))) => Err(PlanError::DeclaredTwice { name: name.to_string() }),
            (Some((project, (name, server))), None) => {
                let scope = project.folder().as_os_str().as_bytes();
                let draft = Draft {
                    name,
                    origin: Origin::Project,
                    data_name: name.scoped(scope),
                    server: Some(server),
                    beneath: Some(project.folder().to_owned()),
                    // The operator's words about a name are about the operator's server of that name.
                    allowed: &[],
                };
                let mut ceilings = Ceilings::new(Limits::server(), operator);
                ceilings.add(Origin::Operator, operator.limits());
                ceilings.add(Origin::Project, project.limits());
                ceilings.add(Origin::Project, server.limits());
                draft.finish(server.start().clone(), ceilings, flags)
            }
            (None, Some((name, server))) => {
                let draft = Draft {
                    name,
                    origin: Origin::Operator,
                    data_name: name.clone(),
                    server: Some(server),
                    beneath: None,
                    allowed: operator.allow(name),
                };
                let mut ceilings = Ceilings::new(Limits::server(), operator);
                ceilings.add(Origin::Operator, operator.limits());
                ceilings.add(Origin::Operator, server.limits());
                draft.finish(server.start().clone(), ceilings, flags)
            }
            (None, None) => Err(PlanError::Unknown {
                name: name.to_owned(),
                known: project
                    .into_iter()
                    .flat_map(|project| project.servers().keys())
                    .chain(operator.servers().keys())
                    .map(ToString::to_string)
                    .collect(),
            }),
        }
    }

    /// A server that no file declares, under a name that the caller chose (`fumehood run -- node server.js`).
    /// A project's file has no say in it; `[allow]` of the operator's has.
    ///
    /// # Errors
    ///
    /// [`PlanError`] where there is no program, or a maximum is exceeded.
    pub fn command(
        name: &ServerName,
        command: Vec<String>,
        operator: &Operator,
        flags: &Flags,
    ) -> Result<Self, PlanError> {
        let mut ceilings = Ceilings::new(Limits::server(), operator);
        ceilings.add(Origin::Operator, operator.limits());
        let draft = Draft { allowed: operator.allow(name), ..Draft::undeclared(name) };
        draft.finish(Start::Command(command), ceilings, flags)
    }

    /// Model-written code (`fumehood exec`): [`Limits::code`], the operator's `[code.limits]`, the command line.
    /// Its name is that of an interpreter more often than not, so `[allow]` gives it nothing.
    ///
    /// # Errors
    ///
    /// [`PlanError`] where there is no program, or a maximum is exceeded.
    pub fn code(
        name: &ServerName,
        command: Vec<String>,
        operator: &Operator,
        flags: &Flags,
    ) -> Result<Self, PlanError> {
        let mut ceilings = Ceilings::new(Limits::code(), operator);
        ceilings.add(Origin::Operator, operator.code_limits());
        Draft::undeclared(name).finish(Start::Command(command), ceilings, flags)
    }

    /// The cell's name.
    pub fn name(&self) -> &ServerName {
        &self.name
    }

    /// Where the command comes from.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// How it is started.
    pub fn start(&self) -> &Start {
        &self.start
    }

    /// The program and its arguments; none where the server is elsewhere.
    pub fn program(&self) -> &[String] {
        match &self.start {
            Start::Command(command) => command,
            Start::Remote { .. } => &[],
        }
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

    /// Mounts, a folder before what lies below it.
    pub fn mounts(&self) -> &[PlannedMount] {
        &self.mounts
    }

    /// The persistent folder.
    pub fn data(&self) -> Option<&Data> {
        self.data.as_ref()
    }

    /// Every ceiling.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What it may reach: host rules.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// Whether there is an explicit proxy inside.
    pub fn proxy_env(&self) -> bool {
        self.proxy_env
    }

    /// Secrets, each in a variable that nothing else sets. Only the command line exposes one.
    pub fn secrets(&self) -> &[SecretUse] {
        &self.secrets
    }

    /// Whose cell it runs in behind `fumehood serve`.
    pub fn cell(&self) -> &Whose {
        &self.cell
    }

    /// Whether what it says is passed on as it is.
    pub fn is_pass_through(&self) -> bool {
        self.is_pass_through
    }

    /// What holds for calls of its tools, by their names; the default for those that are not among them.
    pub fn tools(&self) -> &BTreeMap<String, ToolRule> {
        &self.tools
    }

    /// How it speaks MCP.
    pub fn transport(&self) -> Transport {
        self.transport
    }
}

/// A plan before the command line has its say.
struct Draft<'a> {
    name: &'a ServerName,
    origin: Origin,
    data_name: ServerName,
    server: Option<&'a Server>,
    beneath: Option<PathBuf>,
    allowed: &'a [String],
}

impl<'a> Draft<'a> {
    fn undeclared(name: &'a ServerName) -> Self {
        Self {
            name,
            origin: Origin::CommandLine,
            data_name: name.clone(),
            server: None,
            beneath: None,
            allowed: &[],
        }
    }

    fn finish(self, start: Start, mut ceilings: Ceilings<'_>, flags: &Flags) -> Result<Plan, PlanError> {
        let elsewhere = match &start {
            Start::Command(command) => {
                env::check_command(command)?;
                None
            }
            Start::Remote { url, .. } => source::authority(url),
        };
        ceilings.add(Origin::CommandLine, flags.limits());
        let mut excesses = ceilings.excesses();
        let data = self.data(flags, ceilings.operator.maximum().data(), &mut excesses);
        if !excesses.is_empty() {
            return Err(PlanError::TooMuch(excesses));
        }

        let declared = self.server.into_iter().flat_map(Server::mounts);
        let declared =
            declared.map(|mount| PlannedMount { mount: mount.clone(), beneath: self.beneath.clone() });
        let typed = flags.mounts().iter().map(|mount| PlannedMount { mount: mount.clone(), beneath: None });
        let mounts: BTreeMap<PathBuf, PlannedMount> =
            declared.chain(typed).map(|planned| (planned.mount.path.clone(), planned)).collect();

        let mut env = self.server.map(|server| server.env().clone()).unwrap_or_default();
        env.extend(flags.env().iter().map(|(name, value)| (name.clone(), value.clone())));
        let secrets = secrets(self.server.map(Server::secrets).unwrap_or_default(), flags.secrets());
        if let Some(taken) = secrets.iter().find(|one| env.contains_key(&one.variable)) {
            return Err(PlanError::VariableTwice {
                variable: taken.variable.clone(),
                secret: taken.name.to_string(),
            });
        }
        let network = self.server.map(Server::network).cloned().unwrap_or_default();
        let hosts = network.hosts().iter().chain(self.allowed).chain(flags.hosts()).cloned();
        let hosts = elsewhere.map(str::to_owned).into_iter().chain(hosts).collect();
        Ok(Plan {
            name: self.name.clone(),
            origin: self.origin,
            start,
            client: self.server.map(|server| server.client().clone()).unwrap_or_default(),
            is_lazy: self.server.is_some_and(Server::is_lazy),
            reads_with_keys: self.server.is_some_and(Server::reads_with_keys),
            scripts: self.server.map(|server| server.scripts().to_vec()).unwrap_or_default(),
            env,
            mounts: mounts.into_values().collect(),
            data,
            limits: ceilings.limits,
            hosts,
            proxy_env: network.proxy_env(),
            transport: network.transport(),
            cell: self.server.map(|server| server.cell().clone()).unwrap_or_default(),
            is_pass_through: self.server.is_some_and(Server::is_pass_through),
            tools: self.server.map(|server| server.tools().clone()).unwrap_or_default(),
            secrets,
        })
    }

    fn data(&self, flags: &Flags, maximum: Option<u64>, excesses: &mut Vec<Excess>) -> Option<Data> {
        let declared = self.server.and_then(Server::data);
        let (name, asked) = match (flags.data(), declared) {
            (Some(flag), declared) => {
                let typed = flag.size.map(|size| (size, Origin::CommandLine));
                let other = declared.and_then(super::DataRequest::size).map(|size| (size, self.origin));
                (flag.name.clone(), typed.or(other))
            }
            (None, Some(declared)) => {
                (self.data_name.clone(), declared.size().map(|size| (size, self.origin)))
            }
            (None, None) => return None,
        };
        let most = maximum.unwrap_or(u64::MAX);
        let size = match asked {
            Some((size, by)) => {
                if size > most && by != Origin::Operator {
                    excesses.push(Excess {
                        what: "data",
                        asked: size::format(size),
                        maximum: size::format(most),
                        by,
                    });
                }
                size
            }
            None => Data::DEFAULT_SIZE.min(most),
        };
        Some(Data { name, size })
    }
}

/// The command line replaces what a file says of a variable. A secret that it exposes is exposed in each of its variables:
/// in one of them it could not be kept any more.
fn secrets(declared: &[SecretUse], typed: &[SecretUse]) -> Vec<SecretUse> {
    let mut uses: Vec<SecretUse> = declared.to_vec();
    for one in typed {
        let is_exposed = one.expose && one.variable == one.name.as_str();
        if is_exposed && uses.iter().any(|other| other.name == one.name) {
            continue;
        }
        uses.retain(|other| other.variable != one.variable);
        uses.push(one.clone());
    }
    for one in &mut uses {
        one.expose |= typed.iter().any(|other| other.expose && other.name == one.name);
    }
    uses
}

fn find<'a>(name: &str, servers: &'a BTreeMap<ServerName, Server>) -> Option<(&'a ServerName, &'a Server)> {
    servers.iter().find(|(known, _)| known.as_str() == name)
}
