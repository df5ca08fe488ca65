//! Everything that the service is made of, from files: the same for `--check`, a start and a reload.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use access::{refusal::Code, rules::Rules};
use cell::folders::Folders;
use gateway::shelf::{Notice, Offer, Terms};
use model::{config::Operator, digest::Digest, name::ServerName};

use crate::{
    configuration::Configuration,
    server::{
        lock_file::Entry,
        standing::Standing,
        target::{Home, Target},
    },
    stop::Stop,
};

mod files;
mod warnings;

/// What the files come to.
pub(crate) struct Loaded {
    /// The operator's file.
    pub(crate) operator: Operator,
    /// Every declared server.
    pub(crate) servers: BTreeMap<ServerName, Served>,
    /// The same for the shelf: what was accepted of it, or why it is withheld.
    pub(crate) offers: Vec<Offer>,
    /// Who may use what.
    pub(crate) rules: Rules,
    /// What can be as it is and was most likely not meant so, a sentence each.
    pub(crate) warnings: Vec<String>,
}

/// One server, as it is declared and as it stands.
pub(crate) struct Served {
    /// How it is started.
    pub(crate) target: Target,
    /// Where it stands; what kept from finding out where that failed.
    pub(crate) standing: Result<Standing, String>,
    /// What is accepted of it, where it was seen to offer something else since.
    beneath: Option<Box<Entry>>,
    /// Stands for everything that a running cell of it depends on.
    pub(crate) version: Digest,
}

/// All that is wrong with the files; each a text of one or more lines, with its place and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.join("\n\n"))]
pub(crate) struct Problems(pub(crate) Vec<String>);

/// Reads them all: the operator's, the nearest project's from `folder` upwards, the locks and what was accepted. A server
/// that is not ready is withheld, and is no problem of the others.
pub(crate) fn load(folders: &Folders, folder: &Path) -> Result<Loaded, Problems> {
    let all = |errors: &[anyhow::Error]| Problems(errors.iter().map(told).collect());
    let configuration =
        Configuration::of_service(folders, folder.to_owned()).map_err(|errors| all(&errors))?;
    let declared = configuration.declared_servers(folders).map_err(|error| all(&[error]))?;
    let mut problems = files::problems(configuration.operator());
    let mut servers = BTreeMap::new();
    for (name, target) in declared {
        match target {
            Ok(target) => {
                let standing = Standing::of(&target, folders).map_err(|error| format!("{error:#}"));
                let beneath = match &standing {
                    Ok(Standing::Changed(_)) => ready(Standing::as_pinned(&target, folders)),
                    _ => None,
                };
                let entry = beneath.as_deref().or(match &standing {
                    Ok(Standing::Ready(entry)) => Some(entry),
                    _ => None,
                });
                let version = version(&target, entry, configuration.operator());
                servers.insert(name, Served { target, standing, beneath, version });
            }
            Err(error) => problems.push(told(&error)),
        }
    }
    if !problems.is_empty() {
        return Err(Problems(problems));
    }
    let offers: Vec<Offer> = servers.iter().map(|(name, served)| served.offer(name)).collect();
    let operator = configuration.operator().clone();
    let rules = Rules::new(&operator, servers.iter().map(|(name, served)| (name, &served.target.tools)));
    let warnings = warnings::of(&operator, &servers, &offers);
    Ok(Loaded { operator, servers, offers, rules, warnings })
}

/// The same for a service that listens where the command line says, if it says anything: what holds for the file's own
/// address holds there too.
pub(crate) fn load_for(
    folders: &Folders,
    folder: &Path,
    listen: Option<SocketAddr>,
) -> Result<Loaded, Problems> {
    let loaded = load(folders, folder)?;
    let allowed = listen.map_or(Ok(()), |address| loaded.operator.may_listen(address));
    allowed.map_err(|error| {
        Problems(vec![format!("fumehood: --listen: {error}\nfumehood: help: {}", error.hint())])
    })?;
    Ok(loaded)
}

/// The folder from which a project is looked for.
pub(crate) fn folder(asked: Option<&Path>) -> anyhow::Result<PathBuf> {
    let Some(asked) = asked else { return Ok(std::env::current_dir()?) };
    let found = std::fs::canonicalize(asked);
    let folder = found.map_err(|error| {
        Stop::new(crate::stop::USAGE, format!("--project `{}`: {error}", asked.display()), "")
    })?;
    if !folder.join(model::config::Project::FILE_NAME).is_file() {
        let message = format!("--project `{}`: there is no fumehood.toml in it", asked.display());
        return Err(Stop::new(crate::stop::USAGE, message, "name the folder of a project").into());
    }
    Ok(folder)
}

impl Served {
    /// As [`Standing::reason`], also where that could not be found out.
    pub(crate) fn reason(&self) -> Option<String> {
        match &self.standing {
            Ok(standing) => standing.reason(),
            Err(error) => Some(error.clone()),
        }
    }

    /// The command by which a person goes on.
    pub(crate) fn remedy(&self) -> String {
        match &self.standing {
            Ok(standing) => standing.remedy(&self.target),
            Err(_) => format!("fumehood review {}", self.target.name),
        }
    }

    fn offer(&self, name: &ServerName) -> Offer {
        let terms = Terms {
            name: name.clone(),
            cell: self.target.cell.clone(),
            pass_through: self.target.is_pass_through,
            tools: self.target.tools.clone(),
            hosts: self.target.spec.network.hosts.clone(),
            version: self.version.to_string(),
            client: self.target.client.clone(),
        };
        match (&self.standing, self.reason()) {
            (Ok(Standing::Ready(entry)), _) => Offer::accepted(terms, entry.surface.clone()),
            (standing, reason) => {
                let is_changed = matches!(standing, Ok(Standing::Changed(_)));
                let code = if is_changed { Code::CHANGED } else { Code::SERVER_WITHHELD }.as_str();
                let reason = reason.unwrap_or_else(|| "it is not ready".to_owned());
                let notice = Notice { code, reason, remedy: self.remedy() };
                match &self.beneath {
                    Some(entry) => Offer::changed(terms, entry.surface.clone(), notice),
                    None => Offer::withheld(terms, notice),
                }
            }
        }
    }
}

/// Of everything that a running cell has from files. What holds for calls alone is not in it: it holds for the next call
/// of the same cell.
fn version(target: &Target, entry: Option<&Entry>, operator: &Operator) -> Digest {
    let Target { name, home, lock: _, spec, transport, source, client, lists, is_lazy: _, .. } = target;
    let table = entry.map(|entry| entry.pinned.digest(name));
    let keys: Vec<_> = spec.secrets.iter().map(|one| (one, operator.secrets().get(&one.name))).collect();
    let home = match home {
        Home::Project { folder, .. } => Some(folder),
        Home::Operator | Home::CommandLine => None,
    };
    // It is compared with what the same program wrote the same way, and with nothing else.
    let whole = (
        name,
        home,
        spec,
        transport,
        source,
        client,
        lists,
        table,
        keys,
        &target.cell,
        target.is_pass_through,
    );
    Digest::of(format!("{whole:?}").as_bytes())
}

fn ready(standing: anyhow::Result<Standing>) -> Option<Box<Entry>> {
    match standing {
        Ok(Standing::Ready(entry)) => Some(entry),
        _ => None,
    }
}

/// An error as a person reads it, with its advice.
fn told(error: &anyhow::Error) -> String {
    let Some(stop) = error.downcast_ref::<Stop>() else { return format!("fumehood: {error:#}") };
    let text = stop.to_string();
    if text.contains('\n') {
        return text.trim_end().to_owned();
    }
    match stop.hint() {
        "" => format!("fumehood: {text}"),
        hint => format!("fumehood: {text}\nfumehood: help: {hint}"),
    }
}
