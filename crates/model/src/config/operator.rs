//! The operator's file, checked.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use super::complaint::Complaint;
use super::hosts;
use super::identity::{self, IdentityProvider};
use super::limits::{SomeLimits, kept};
use super::local::{self, LocalKey, Peer};
use super::maximum::Maximum;
use super::mounts::{Asker, Place};
use super::network::{self, EgressSettings, NetworkCheck, ShapeOnly, Upstream};
use super::problem::{Problems, Source};
use super::role::{self, Role, RoleName};
use super::secrets::{self, DeclaredSecret};
use super::serve::{self, AuditSettings, ListenError, Serve};
use super::server::{self, Server};
use super::written::At;
use super::{read, written};
use crate::name::ServerName;
use crate::reviewer::{PublicKey, PublicKeyError};
use crate::secret::SecretName;

/// What whoever runs Fumehood laid down. The default is what holds without a file: nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Operator {
    servers: BTreeMap<ServerName, Server>,
    limits: SomeLimits,
    code_limits: SomeLimits,
    maximum: Maximum,
    upstreams: BTreeMap<String, Upstream>,
    egress: EgressSettings,
    allow: BTreeMap<ServerName, Vec<String>>,
    secrets: BTreeMap<SecretName, DeclaredSecret>,
    min_age: Option<Duration>,
    reviewers: BTreeSet<PublicKey>,
    serve: Serve,
    identities: BTreeMap<String, IdentityProvider>,
    keys: BTreeMap<String, LocalKey>,
    peers: BTreeMap<String, Peer>,
    roles: BTreeMap<RoleName, Role>,
    audit: AuditSettings,
}

/// The most keys of reviewers.
const MOST_REVIEWERS: usize = 64;

impl Operator {
    /// Its name in Fumehood's configuration folder.
    pub const FILE_NAME: &'static str = "config.toml";

    /// Checks the bytes of a file. `file` is the name to show in problems; `home` is what `~/` stands for.
    ///
    /// Of host rules only the outer shape is judged.
    ///
    /// # Errors
    ///
    /// [`Problems`]: all of them, each with its place. With broken syntax only that is told.
    pub fn resolve(file: &str, bytes: &[u8], home: Option<&Path>) -> Result<Self, Problems> {
        Self::resolve_with(file, bytes, home, &ShapeOnly)
    }

    /// The same, with the host rules judged by whoever knows what they mean.
    ///
    /// # Errors
    ///
    /// As [`Operator::resolve`].
    pub fn resolve_with(
        file: &str,
        bytes: &[u8],
        home: Option<&Path>,
        check: &dyn NetworkCheck,
    ) -> Result<Self, Problems> {
        let place = Place { folder: Path::new("/"), home };
        read::file(file, bytes, |written: written::Operator, source| {
            let code = written.code.unwrap_or_default().limits;
            let limits = SomeLimits::resolve(written.limits.as_ref(), source);
            let code_limits = SomeLimits::resolve(code.as_ref(), source);
            let maximum = Maximum::resolve(written.maximum.as_ref(), source);
            maximum.check_defaults(written.limits.as_ref(), &limits, source);
            maximum.check_defaults(code.as_ref(), &code_limits, source);
            let servers = server::resolve(&written.servers, Asker::Operator, &place, check, source);
            let upstreams = written.upstreams.iter().filter_map(|(name, upstream)| {
                let resolved = network::upstream(name, upstream, &place, check, source)?;
                Some((name.get().clone(), resolved))
            });
            let upstreams = upstreams.collect();
            let egress = written.egress.map(|egress| network::egress(&egress, &place, check, source));
            let allow = allow(&written.allow, check, source);
            let egress = egress.unwrap_or_default();
            let secrets = secrets::declared(&written.secrets, &place, check, source);
            let min_age = written.packages.and_then(|packages| packages.min_age_days).and_then(|at| {
                kept(source, &at, |days| match u64::try_from(*days) {
                    Ok(days) if days <= 3650 => Ok(Duration::from_hours(days * 24)),
                    _ => Err(Complaint::new("this is no age of a release").help("write 0 to 3650 days")),
                })
            });
            let reviewers = reviewers(&written.review.unwrap_or_default().keys, source);
            let has_identity = !written.identity.is_empty();
            let serve = serve::serve(&written.serve.unwrap_or_default(), has_identity, source);
            let identities =
                identity::identities(&written.identity, &written.roles, serve.url(), &place, source);
            let keys = local::keys(&written.keys, &written.roles, source);
            let peers = local::peers(&written.peers, &written.roles, source);
            let roles = role::roles(&written.roles, source);
            let audit = serve::audit(&written.audit.unwrap_or_default(), &place, source);
            Self {
                servers,
                limits,
                code_limits,
                maximum,
                upstreams,
                egress,
                allow,
                secrets,
                min_age,
                reviewers,
                serve,
                identities,
                keys,
                peers,
                roles,
                audit,
            }
        })
    }

    /// The operator's own servers by name.
    pub fn servers(&self) -> &BTreeMap<ServerName, Server> {
        &self.servers
    }

    /// Limits of every server that says nothing else.
    pub fn limits(&self) -> &SomeLimits {
        &self.limits
    }

    /// Limits of model-written code.
    pub fn code_limits(&self) -> &SomeLimits {
        &self.code_limits
    }

    /// What no project's file and no command line may exceed.
    pub fn maximum(&self) -> &Maximum {
        &self.maximum
    }

    /// Names bound to addresses.
    pub fn upstreams(&self) -> &BTreeMap<String, Upstream> {
        &self.upstreams
    }

    /// The operator's settings of the way out.
    pub fn egress(&self) -> &EgressSettings {
        &self.egress
    }

    /// Secrets whose value is not in the vault.
    pub fn secrets(&self) -> &BTreeMap<SecretName, DeclaredSecret> {
        &self.secrets
    }

    /// The age below which a release of a package is marked.
    pub fn min_age(&self) -> Duration {
        self.min_age.unwrap_or(Duration::from_hours(7 * 24))
    }

    /// The keys of those whose signature counts as accepted.
    pub fn reviewers(&self) -> &BTreeSet<PublicKey> {
        &self.reviewers
    }

    /// How `fumehood serve` is reached, and its bounds.
    pub fn serve(&self) -> &Serve {
        &self.serve
    }

    /// Whether the service may listen there: on any but a loopback address it needs an issuer and its own URL.
    ///
    /// # Errors
    ///
    /// [`ListenError`], with what is missing.
    pub fn may_listen(&self, address: SocketAddr) -> Result<(), ListenError> {
        serve::may_listen(address, !self.identities.is_empty(), self.serve.url().is_some())
    }

    /// Issuers whose tokens count, by the operator's names for them. No two have the same issuer.
    pub fn identities(&self) -> &BTreeMap<String, IdentityProvider> {
        &self.identities
    }

    /// Keys of callers, by the operator's names for them. No two are the same key.
    pub fn keys(&self) -> &BTreeMap<String, LocalKey> {
        &self.keys
    }

    /// Users of this machine, by the operator's names for them. No two are the same user.
    pub fn peers(&self) -> &BTreeMap<String, Peer> {
        &self.peers
    }

    /// What each role may use.
    pub fn roles(&self) -> &BTreeMap<RoleName, Role> {
        &self.roles
    }

    /// What holds for the record.
    pub fn audit(&self) -> &AuditSettings {
        &self.audit
    }

    /// Rules of servers that no project declares, by their name.
    pub fn allow(&self, name: &ServerName) -> &[String] {
        self.allow.get(name).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The rules by name. A name that cannot be a server's is told.
fn allow(
    written: &BTreeMap<At<String>, written::Hosts>,
    check: &dyn NetworkCheck,
    source: &mut Source<'_>,
) -> BTreeMap<ServerName, Vec<String>> {
    let mut allow = BTreeMap::new();
    for (name, list) in written {
        let hosts = hosts::rules(list, check, source);
        match server::name(name) {
            Ok(name) => {
                allow.insert(name, hosts);
            }
            Err(complaint) => source.add(name.span(), &complaint),
        }
    }
    allow
}

/// The keys, each told where it is none, or stands there twice.
fn reviewers(written: &[At<String>], source: &mut Source<'_>) -> BTreeSet<PublicKey> {
    let mut keys = BTreeSet::new();
    for at in written.iter().take(MOST_REVIEWERS) {
        kept(source, at, |text| {
            let key = text.parse().map_err(|error: PublicKeyError| {
                let help = match error {
                    PublicKeyError::Kind | PublicKeyError::Bytes => {
                        "write the key as `fumehood review --new-key FILE` prints it"
                    }
                    PublicKeyError::Anybody => "put the reviewer's key in its place",
                };
                Complaint::new(error.to_string()).help(help)
            })?;
            if keys.insert(key) {
                Ok(())
            } else {
                Err(Complaint::new("this key is given twice").help("keep one of the two"))
            }
        });
    }
    if let Some(one_too_many) = written.get(MOST_REVIEWERS) {
        let complaint = Complaint::new(format!("more than {MOST_REVIEWERS} keys"));
        source.add(one_too_many.span(), &complaint.help("leave out the keys of those who review no longer"));
    }
    keys
}
