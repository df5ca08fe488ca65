//! `npx` and `uvx` in a cell: they get the hosts of their registry, as the client itself is configured on this machine,
//! and a cache of their own that stays. Until packages are installed apart from their running.
//!
//! The clients are asked outside, from a folder of nobody's, and only what reads: no code of a package runs there, and no
//! project's file says which registry it is.

use std::collections::{BTreeMap, BTreeSet};

use cell::folders::Folders;
use cell_api::spec::CellSpec;
use model::{mount::Data, name::ServerName};

use self::{
    place::Place,
    words::{Asked, Client},
};
use crate::terminal;

mod ask;
mod memory;
mod npm;
mod pinning;
mod place;
mod uv;
mod words;

/// Quota of a cache: 2 GiB, some hundred packages with all they need.
const CACHE_SIZE: u64 = 2 << 30;

/// Where a client fetches from, as it says itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Sources {
    /// URLs of registries, by the variable that tells the client inside of them.
    registries: Vec<Registry>,
    /// Other URLs from which it fetches packages.
    files: Vec<String>,
    /// A file with certificate authorities (PEM) that it trusts.
    authorities: Option<String>,
    /// What its user should know.
    notes: Vec<String>,
}

/// One registry of a client's configuration.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Registry {
    /// The variable for the client inside.
    variable: String,
    /// As configured.
    url: String,
}

/// Gives the cell of a package runner what it needs; other cells stay as they are. `most` is the operator's maximum of a
/// persistent folder, in bytes.
pub(crate) fn fit(
    spec: &mut CellSpec,
    folders: &Folders,
    most: Option<u64>,
    verbose: bool,
) -> anyhow::Result<()> {
    let Some(asked) = words::read(&spec.command) else { return Ok(()) };
    words::make_whole(&mut spec.command, &asked);
    let sources = match memory::recall(folders, &asked) {
        Some(sources) => sources,
        None => match asked.client.sources(&asked) {
            Ok(sources) => {
                memory::keep(folders, &asked, &sources);
                sources
            }
            // Whoever names hosts knows better.
            Err(error) if !spec.network.hosts.is_empty() => {
                terminal::say(&format!("{error:#}; only the hosts that are named are reached"));
                Sources::default()
            }
            Err(error) => return Err(error),
        },
    };
    for note in &sources.notes {
        terminal::say(note);
    }
    let hosts = connect(spec, &sources)?;
    if verbose && !hosts.is_empty() {
        terminal::say(&format!(
            "{} may reach {}, where it fetches packages by its own configuration; they stay at `{}`",
            spec.name,
            hosts.join(", "),
            Data::INSIDE
        ));
    }
    for (name, value) in asked.client.variables() {
        spec.env.entry(name.to_owned()).or_insert(value);
    }
    trust(spec, asked.client, sources.authorities.as_deref());
    if spec.data.is_none() {
        spec.data = Some(cache(spec, &asked, most));
    }
    Ok(())
}

/// Allows the hosts, binds those that are not public, and tells the client inside where they are.
fn connect(spec: &mut CellSpec, sources: &Sources) -> anyhow::Result<Vec<String>> {
    let mut hosts = Vec::new();
    // As configured: inside, some have another name.
    let mut known = BTreeSet::new();
    let mut trusted = pinning::Trusted::default();
    let mut lists: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for Registry { variable, url } in &sources.registries {
        let place = Place::parse(url)?;
        known.insert(place.rule());
        let place = pinning::registry(place, &mut spec.network.operator, &mut trusted)?;
        hosts.push(place.reading());
        lists.entry(variable.clone()).or_default().push(place.url());
    }
    for url in &sources.files {
        let place = Place::parse(url)?;
        if known.contains(&place.rule()) {
            continue;
        }
        if place.is_nameless() {
            terminal::say(&format!(
                "packages at {} are not fetched: a cell reaches hosts by name",
                place.rule()
            ));
            continue;
        }
        pinning::files(&place, &mut spec.network.operator, &trusted);
        hosts.push(place.reading());
    }
    hosts.sort();
    hosts.dedup();
    for (variable, urls) in lists {
        spec.env.entry(variable).or_insert_with(|| urls.join(" "));
    }
    spec.network.hosts.extend(hosts.iter().cloned());
    Ok(hosts)
}

/// Lets the way out trust the authorities that the client outside trusts: requests to registries are looked at, so it is
/// the supervisor that checks who a registry is. The client inside trusts what every cell does, these among them.
fn trust(spec: &mut CellSpec, client: Client, authorities: Option<&str>) {
    let from_environment = client.authority_variables().iter().filter_map(|name| std::env::var(name).ok());
    for file in from_environment.chain(authorities.map(str::to_owned)) {
        let path = std::path::PathBuf::from(file);
        let roots = &mut spec.network.operator.extra_roots;
        if path.is_absolute() && path.is_file() && !roots.contains(&path) {
            roots.push(path);
        }
    }
}

/// A folder for these packages of this server: what one package leaves in its cache, no other one runs.
fn cache(spec: &CellSpec, asked: &Asked, most: Option<u64>) -> Data {
    let mut scope = vec![spec.name.as_str()];
    scope.extend(asked.packages.iter().map(String::as_str));
    let name = ServerName::new(asked.client.name()).unwrap_or_else(|_| spec.name.clone());
    Data { name: name.scoped(scope.join("\0").as_bytes()), size: CACHE_SIZE.min(most.unwrap_or(u64::MAX)) }
}

impl Client {
    fn sources(self, asked: &Asked) -> anyhow::Result<Sources> {
        match self {
            Self::Npm => npm::sources(asked),
            Self::Uv => uv::sources(asked),
        }
    }

    fn variables(self) -> Vec<(&'static str, String)> {
        match self {
            Self::Npm => npm::variables(),
            Self::Uv => uv::variables(),
        }
    }

    /// Variables by which a user makes the client trust more authorities.
    fn authority_variables(self) -> &'static [&'static str] {
        match self {
            Self::Npm => &["NODE_EXTRA_CA_CERTS"],
            Self::Uv => &["SSL_CERT_FILE"],
        }
    }
}
