//! The rules of one cell at one moment, and the judgement by them: of a name and a port, then of each request.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use model::name::ServerName;

use crate::credential::Keyring;
use crate::front;
use crate::name::HostName;
use crate::refusal::{Code, Refusal, Subject};
use crate::rule::terms::Terms;
use crate::rule::{HostRule, Kind, Names};

pub use crate::permit::Permit;
pub use request::Allowed;

pub mod request;

/// The rules and the keys of one cell at one moment. A change makes a new one with a higher generation.
#[derive(Debug)]
pub struct Policy {
    server: ServerName,
    generation: u64,
    rules: Vec<Arc<HostRule>>,
    exact: HashMap<HostName, Vec<Arc<HostRule>>>,
    below: HashMap<HostName, Vec<Arc<HostRule>>>,
    keys: Arc<Keyring>,
}

/// What the rules say of one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach {
    /// The ports, each with what is spoken there.
    pub ports: BTreeMap<u16, Kind>,
    /// Whether a rule spells the name out; else it is only under a wildcard, and looking it up tells the owner of the
    /// wildcard's suffix something.
    pub exact: bool,
    /// The nearest rule.
    pub rule: Arc<HostRule>,
}

impl Policy {
    /// The rules of `server`, which has no keys yet. The same rule twice counts once.
    pub fn new(server: ServerName, generation: u64, rules: impl IntoIterator<Item = HostRule>) -> Self {
        let mut policy = Self {
            server,
            generation,
            rules: Vec::new(),
            exact: HashMap::new(),
            below: HashMap::new(),
            keys: Arc::default(),
        };
        let mut sorted: Vec<HostRule> = rules.into_iter().collect();
        sorted.sort();
        sorted.dedup();
        for rule in sorted.into_iter().map(Arc::new) {
            policy.enter(Arc::clone(&rule));
            policy.rules.push(rule);
        }
        policy
    }

    /// The same rules with these keys, for a policy that has none. The hosts of a key are allowed on their TLS ports for
    /// the requests of its binding, whatever the rules say: who gave the server the key asked for that. They are not among
    /// [`Policy::rules`].
    #[must_use]
    pub fn with_keys(mut self, keys: Arc<Keyring>) -> Self {
        for key in keys.keys() {
            let binding = key.binding();
            let paths: Vec<_> = match binding.paths.as_slice() {
                [] => vec![None],
                some => some.iter().cloned().map(Some).collect(),
            };
            for rule in key.rules() {
                let terms =
                    paths.iter().map(|path| Terms::new(binding.methods.iter().cloned(), path.clone()));
                terms
                    .filter_map(|terms| rule.clone().with_terms(terms))
                    .for_each(|rule| self.enter(rule.into()));
            }
        }
        self.keys = keys;
        self
    }

    fn enter(&mut self, rule: Arc<HostRule>) {
        let (table, name) = match rule.names() {
            Names::Exact(name) => (&mut self.exact, name.clone()),
            Names::Below(suffix) => (&mut self.below, suffix.clone()),
        };
        table.entry(name).or_default().push(rule);
    }

    /// Whose cell it is.
    pub fn server(&self) -> &ServerName {
        &self.server
    }

    /// Higher than that of every policy before.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The rules, in their own order.
    pub fn rules(&self) -> &[Arc<HostRule>] {
        &self.rules
    }

    /// The keys.
    pub fn keys(&self) -> &Arc<Keyring> {
        &self.keys
    }

    /// The names that rules and keys spell out, each once.
    pub fn names(&self) -> impl Iterator<Item = &HostName> {
        self.exact.keys()
    }

    /// What the rules say of `name`; none where no rule is about it.
    pub fn reach(&self, name: &HostName) -> Option<Reach> {
        let mut ports: BTreeMap<u16, Kind> = BTreeMap::new();
        let mut nearest = None;
        for rule in self.covering(name) {
            nearest.get_or_insert_with(|| Arc::clone(rule));
            for (port, kind) in rule.ports() {
                ports.entry(port).and_modify(|known| *known = kind.min(*known)).or_insert(kind);
            }
        }
        for (port, kind) in &mut ports {
            if self.has_key_at(name, *port) {
                *kind = Kind::Tls;
            }
        }
        let exact = self.exact.contains_key(name);
        nearest.map(|rule| Reach { ports, exact, rule })
    }

    /// Whether a connection to `name` at `port` may be made, and by which rule.
    ///
    /// Of several rules for the port the one counts that looks least at what is said (TCP before TLS before HTTP), among
    /// those one without terms, and among equals the nearest: it is what the rules together allow. Where a key is bound,
    /// TLS is spoken and nothing else. TLS with a host that shares its front with others is looked into whatever the rules
    /// say.
    pub fn judge(&self, name: &HostName, port: u16) -> Result<Permit, Refusal> {
        let here = self.at(name, port);
        if let Some((kind, rules)) = here {
            let plain = rules.iter().find(|rule| rule.terms().is_none());
            if let Some(rule) = plain.or(rules.first()) {
                return Ok(Permit {
                    server: self.server.clone(),
                    name: name.clone(),
                    port,
                    kind,
                    inspect: kind == Kind::Tls
                        && (front::is_shared(name) || rules.iter().any(|rule| rule.terms().is_some())),
                    rule: Arc::clone(rule),
                    generation: self.generation,
                });
            }
        }
        let near = self.covering(name).next();
        let subject = Subject {
            server: &self.server,
            host: name.as_str(),
            port: Some(port),
            rule: near.map(AsRef::as_ref),
        };
        Err(Refusal::new(if near.is_some() { Code::Port } else { Code::Host }, subject, ""))
    }

    /// Whether what `permit` let through may go on under these rules: the name, the port and what is spoken there are
    /// still allowed, by the same rule or another, and are looked at as before. What passes unseen and is to be looked
    /// at cannot go on, nor the reverse: its two ends have agreed on keys with us, or with each other.
    pub fn judge_again(&self, permit: &Permit) -> Result<Permit, Refusal> {
        match self.judge(&permit.name, permit.port) {
            Ok(again) if again.kind == permit.kind && again.inspect == permit.inspect => Ok(again),
            _ => Err(Refusal::new(Code::Removed, permit.subject(), "")),
        }
    }

    /// What is spoken with `name` at `port`, and the rules that say so, from the nearest to the farthest.
    fn at<'a>(&'a self, name: &'a HostName, port: u16) -> Option<(Kind, Vec<&'a Arc<HostRule>>)> {
        let about = || self.covering(name).filter_map(|rule| rule.kind(port).map(|kind| (kind, rule)));
        let widest = match about().map(|(kind, _)| kind).min()? {
            _ if self.has_key_at(name, port) => Kind::Tls,
            widest => widest,
        };
        Some((widest, about().filter(|(kind, _)| *kind == widest).map(|(_, rule)| rule).collect()))
    }

    fn has_key_at(&self, name: &HostName, port: u16) -> bool {
        self.keys.keys().iter().any(|key| key.covers(name, port))
    }

    /// The rules about `name`: those that spell it out, then the wildcards from the nearest to the farthest.
    fn covering<'a>(&'a self, name: &'a HostName) -> impl Iterator<Item = &'a Arc<HostRule>> {
        let exact = self.exact.get(name).into_iter().flatten();
        let below = name.parents().filter_map(|parent| self.below.get(parent)).flatten();
        let any = crate::guard::off("host-rules").then_some(&self.rules).into_iter().flatten();
        exact.chain(below).filter(|rule| rule.covers(name)).chain(any)
    }
}

#[cfg(test)]
pub(crate) mod tests;
