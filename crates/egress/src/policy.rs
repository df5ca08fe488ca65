//! The rules of one cell at one moment, and the judgement of a name and a port by them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use model::name::ServerName;

use crate::name::HostName;
use crate::refusal::{Code, Refusal, Subject};
use crate::rule::{HostRule, Kind, Names};

/// The rules of one cell at one moment. A change makes a new one with a higher generation.
#[derive(Debug)]
pub struct Policy {
    server: ServerName,
    generation: u64,
    rules: Vec<Arc<HostRule>>,
    exact: HashMap<HostName, Vec<Arc<HostRule>>>,
    below: HashMap<HostName, Vec<Arc<HostRule>>>,
}

/// The proof that a rule lets a connection to this name and port through. Made by [`Policy::judge`] only.
#[derive(Debug)]
pub struct Permit {
    server: ServerName,
    name: HostName,
    port: u16,
    kind: Kind,
    rule: Arc<HostRule>,
    generation: u64,
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
    /// The rules of `server`. The same rule twice counts once.
    pub fn new(server: ServerName, generation: u64, rules: impl IntoIterator<Item = HostRule>) -> Self {
        let mut policy =
            Self { server, generation, rules: Vec::new(), exact: HashMap::new(), below: HashMap::new() };
        let mut sorted: Vec<HostRule> = rules.into_iter().collect();
        sorted.sort();
        sorted.dedup();
        for rule in sorted.into_iter().map(Arc::new) {
            let (table, name) = match rule.names() {
                Names::Exact(name) => (&mut policy.exact, name.clone()),
                Names::Below(suffix) => (&mut policy.below, suffix.clone()),
            };
            table.entry(name).or_default().push(Arc::clone(&rule));
            policy.rules.push(rule);
        }
        policy
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

    /// The names that rules spell out, each once.
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
        let exact = self.exact.contains_key(name);
        nearest.map(|rule| Reach { ports, exact, rule })
    }

    /// Whether a connection to `name` at `port` may be made, and by which rule.
    ///
    /// Of several rules for the port the one counts that looks least at what is said (TCP before TLS before HTTP), and
    /// among equals the nearest: it is what the rules together allow.
    pub fn judge(&self, name: &HostName, port: u16) -> Result<Permit, Refusal> {
        let found = self
            .covering(name)
            .filter_map(|rule| rule.kind(port).map(|kind| (kind, rule)))
            .reduce(|best, next| if next.0 < best.0 { next } else { best });
        if let Some((kind, rule)) = found {
            return Ok(Permit {
                server: self.server.clone(),
                name: name.clone(),
                port,
                kind,
                rule: Arc::clone(rule),
                generation: self.generation,
            });
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
    /// still allowed, by the same rule or another.
    pub fn judge_again(&self, permit: &Permit) -> Result<Permit, Refusal> {
        match self.judge(&permit.name, permit.port) {
            Ok(again) if again.kind == permit.kind => Ok(again),
            _ => Err(Refusal::new(Code::Removed, permit.subject(), "")),
        }
    }

    /// The rules about `name`: those that spell it out, then the wildcards from the nearest to the farthest.
    fn covering<'a>(&'a self, name: &'a HostName) -> impl Iterator<Item = &'a Arc<HostRule>> {
        let exact = self.exact.get(name).into_iter().flatten();
        let below = name.parents().filter_map(|parent| self.below.get(parent)).flatten();
        exact.chain(below).filter(|rule| rule.covers(name))
    }
}

impl Permit {
    /// Whose cell it is.
    pub fn server(&self) -> &ServerName {
        &self.server
    }

    /// The host.
    pub fn name(&self) -> &HostName {
        &self.name
    }

    /// The TCP port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// What is spoken there.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The rule that let it through.
    pub fn rule(&self) -> &Arc<HostRule> {
        &self.rule
    }

    /// The generation of the rules it was judged by.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// For a refusal of what was permitted so far.
    pub fn subject(&self) -> Subject<'_> {
        Subject {
            server: &self.server,
            host: self.name.as_str(),
            port: Some(self.port),
            rule: Some(&self.rule),
        }
    }

    /// The refusal of something about the permitted host; `detail` says what was seen.
    pub(crate) fn refuse(&self, code: Code, detail: &str) -> Refusal {
        Refusal::new(code, self.subject(), detail)
    }
}

#[cfg(test)]
pub(crate) mod tests;
