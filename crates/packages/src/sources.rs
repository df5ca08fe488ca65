//! Where a client fetches from, as it says itself, and how a cell gets there.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    path::PathBuf,
};

use cell_api::spec::CellSpec;

use crate::{
    ask::AskError,
    place::{Place, PlaceError},
    words::Client,
};

mod pinning;

/// Where a client fetches from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sources {
    /// URLs of registries, by the variable that tells the client inside of them.
    pub(crate) registries: Vec<Registry>,
    /// Other URLs from which it fetches packages.
    pub(crate) files: Vec<String>,
    /// A file with certificate authorities (PEM) that it trusts.
    pub(crate) authorities: Option<String>,
    /// What its user should know.
    pub(crate) notes: Vec<String>,
    /// The versions it would choose, by all of its configuration, in its own words.
    pub(crate) chosen: Option<String>,
}

/// One registry of a client's configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Registry {
    /// The variable for the client inside.
    pub(crate) variable: String,
    /// As configured.
    pub(crate) url: String,
}

/// It is not known where packages come from, or the way there cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum SourcesError {
    /// The client did not answer.
    #[error("{0}")]
    Unanswered(#[from] AskError),
    /// It answered something else than was asked.
    #[error("`{program}` says of its configuration what is not understood: {why}")]
    Strange {
        /// Who.
        program: String,
        /// What was not understood.
        why: String,
    },
    /// A URL of its configuration leads nowhere.
    #[error("{0}")]
    Place(#[from] PlaceError),
    /// TLS to a registry that has no name.
    #[error("`{place}` has a certificate for an address")]
    CertificateForAddress {
        /// Which registry.
        place: String,
    },
    /// An address that no setting reaches.
    #[error("the registry `{host}` cannot be reached from a cell: {why}")]
    Unbound {
        /// Which.
        host: String,
        /// Why.
        why: String,
    },
}

impl SourcesError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Unanswered(AskError::Absent { program, .. }) => {
                format!("install `{program}`, or put it on your PATH")
            }
            Self::Unanswered(_) => "try that command in a terminal: it has to work there first".to_owned(),
            Self::Strange { program, .. } => format!("bring `{program}` up to date"),
            Self::Place(_) | Self::Unbound { .. } => {
                "correct the address of the registry in your package client's configuration".to_owned()
            }
            Self::CertificateForAddress { .. } => {
                "give the registry a name, and configure your package client with that".to_owned()
            }
        }
    }
}

/// Lets a cell of `client` fetch from there, and from nowhere else: allows the hosts, binds those that are not public,
/// tells the client inside where they are. What its user should know goes to `notes`. The rules that were added.
pub(crate) fn connect(
    spec: &mut CellSpec,
    client: Client,
    sources: &Sources,
    notes: &mut Vec<String>,
) -> Result<Vec<String>, SourcesError> {
    let mut hosts = Vec::new();
    // As configured: inside, some have another name.
    let mut known = BTreeSet::new();
    let mut trusted = pinning::Trusted::default();
    let mut lists: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for Registry { variable, url } in &sources.registries {
        let place = Place::parse(url)?;
        known.insert(place.rule());
        let place = pinning::registry(place, &mut spec.network.operator, &mut trusted, notes)?;
        hosts.push(place.reading());
        lists.entry(variable.clone()).or_default().push(place.url());
    }
    for url in &sources.files {
        let place = Place::parse(url)?;
        if known.contains(&place.rule()) {
            continue;
        }
        if place.is_nameless() {
            notes.push(format!("packages at {} are not fetched: a cell reaches hosts by name", place.rule()));
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
    trust(spec, client, sources.authorities.as_deref());
    spec.network.hosts.extend(hosts.iter().cloned());
    Ok(hosts)
}

/// Lets the way out trust the authorities that the client outside trusts: requests to registries are looked at, so it is
/// the supervisor that checks who a registry is. The client inside trusts what every cell does, these among them.
fn trust(spec: &mut CellSpec, client: Client, authorities: Option<&str>) {
    let from_environment = authority_variables(client).iter().filter_map(|name| env::var(name).ok());
    for file in from_environment.chain(authorities.map(str::to_owned)) {
        let path = PathBuf::from(file);
        let roots = &mut spec.network.operator.extra_roots;
        if path.is_absolute() && path.is_file() && !roots.contains(&path) {
            roots.push(path);
        }
    }
}

/// Variables by which a user makes the client trust more authorities.
fn authority_variables(client: Client) -> &'static [&'static str] {
    match client {
        Client::Npm => &["NODE_EXTRA_CA_CERTS"],
        Client::Uv => &["SSL_CERT_FILE"],
    }
}
