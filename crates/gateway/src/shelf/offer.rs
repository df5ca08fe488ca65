//! One server: what was accepted of it, and on which terms it is used.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use access::gate::ToolGate;
use model::{
    config::{ToolRule, Whose},
    name::ServerName,
    profile::Profile,
    visible::excerpt,
};
use serde_json::Value;
use tools::surface::{Kind, Surface};

use super::Entry;
use crate::guard;

/// On which terms a server is used, from configuration.
#[derive(Debug, Clone)]
pub struct Terms {
    /// Its name.
    pub name: ServerName,
    /// Whose cell it runs in.
    pub cell: Whose,
    /// Whether what it says passes as it is.
    pub pass_through: bool,
    /// What is said of its tools, by their own names.
    pub tools: BTreeMap<String, ToolRule>,
    /// Hosts that it may reach, as its file writes them.
    pub hosts: Vec<String>,
    /// Stands for everything that a running cell of it depends on: launch, keys, limits. Where it is another one after a
    /// reload, its cells are ended.
    pub version: String,
    /// As which client Fumehood presents itself to it.
    pub client: Profile,
}

/// One server on the shelf.
#[derive(Debug)]
pub struct Offer {
    terms: Arc<Terms>,
    /// What was accepted; none where nobody has.
    surface: Option<Arc<Surface>>,
    /// Sorted by kind, then as the surface has them.
    entries: Vec<Arc<Entry>>,
    by_name: Arc<HashMap<(Kind, String), Arc<Entry>>>,
    held: BTreeSet<(Kind, String)>,
    withheld: Option<Notice>,
    /// It is withheld for a change that was seen, and for nothing else.
    was_seen_to_change: bool,
    faults: Vec<Fault>,
}

/// Why nothing of a server can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The stable code.
    pub code: &'static str,
    /// Why, in a sentence without a full stop.
    pub reason: String,
    /// What a person does about it.
    pub remedy: String,
}

/// A tool that cannot be offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Its own name.
    pub tool: String,
    /// Why.
    pub reason: String,
}

impl Offer {
    /// A server that was accepted. A tool whose schema cannot be kept to is left out, and told of by [`Offer::faults`].
    pub fn accepted(terms: Terms, surface: Surface) -> Self {
        let mut faults = Vec::new();
        let mut entries = Vec::new();
        let nothing = ToolRule::default();
        for kind in Kind::ALL {
            for value in surface.list(kind) {
                let Some(plain) = value.get(kind.key()).and_then(Value::as_str) else { continue };
                let entry = if kind == Kind::Tool {
                    let rule = terms.tools.get(plain).unwrap_or(&nothing);
                    match ToolGate::new(&terms.name, value, rule, terms.pass_through) {
                        Ok(gate) => Entry::new(kind, &terms.name, plain, gate.shown().clone(), Some(gate)),
                        Err(error) => {
                            faults.push(Fault { tool: plain.to_owned(), reason: error.to_string() });
                            continue;
                        }
                    }
                } else {
                    Entry::new(kind, &terms.name, plain, shown(value, terms.pass_through), None)
                };
                entries.push(Arc::new(entry));
            }
        }
        let by_name =
            entries.iter().map(|entry| ((entry.kind(), entry.plain().to_owned()), Arc::clone(entry)));
        Self {
            by_name: Arc::new(by_name.collect()),
            terms: Arc::new(terms),
            surface: Some(Arc::new(surface)),
            entries,
            held: BTreeSet::new(),
            withheld: None,
            was_seen_to_change: false,
            faults,
        }
    }

    /// A server that was accepted, and was seen to offer something else since. Nothing of it may be used; a service that has
    /// seen the change itself knows what differs, and goes on with the rest.
    pub fn changed(terms: Terms, surface: Surface, notice: Notice) -> Self {
        Self { withheld: Some(notice), was_seen_to_change: true, ..Self::accepted(terms, surface) }
    }

    /// A server of which nothing may be used, and nothing is listed.
    pub fn withheld(terms: Terms, notice: Notice) -> Self {
        Self {
            terms: Arc::new(terms),
            surface: None,
            entries: Vec::new(),
            by_name: Arc::default(),
            held: BTreeSet::new(),
            withheld: Some(notice),
            was_seen_to_change: false,
            faults: Vec::new(),
        }
    }

    /// Its name.
    pub fn name(&self) -> &ServerName {
        &self.terms.name
    }

    /// On which terms it is used.
    pub fn terms(&self) -> &Arc<Terms> {
        &self.terms
    }

    /// What was accepted of it.
    pub fn surface(&self) -> Option<&Arc<Surface>> {
        self.surface.as_ref()
    }

    /// Every entry that was accepted and can be kept to, also what is held.
    pub fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    /// One entry by the server's own name for it.
    pub fn entry(&self, kind: Kind, plain: &str) -> Option<&Arc<Entry>> {
        self.by_name.get(&(kind, plain.to_owned()))
    }

    /// Why nothing of it may be used.
    pub fn notice(&self) -> Option<&Notice> {
        self.withheld.as_ref()
    }

    /// Whether an entry was seen to differ from what was accepted.
    pub fn is_held(&self, kind: Kind, plain: &str) -> bool {
        self.withheld.is_some() || self.held.contains(&(kind, plain.to_owned()))
    }

    /// Tools that are not offered, because their schemas cannot be kept to.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Whether it has a capability (MCP 2025-11-25, lifecycle), as it was accepted.
    pub fn can(&self, capability: &str) -> bool {
        let capabilities = self.surface.as_ref().map(|surface| surface.capabilities());
        capabilities.and_then(|all| all.get(capability)).is_some_and(|one| !one.is_null())
    }

    /// The same one, read anew, after it was seen to differ.
    pub(super) fn after(mut self, before: &Self) -> Self {
        let fingerprint = |offer: &Self| offer.surface.as_ref().map(|surface| *surface.fingerprint());
        if fingerprint(&self).is_some() && fingerprint(&self) == fingerprint(before) {
            self.held.clone_from(&before.held);
            let is_known = self.was_seen_to_change && !before.held.is_empty();
            let withheld = self.withheld.filter(|_| !is_known);
            self.withheld = withheld.or_else(|| before.withheld.clone());
        }
        self
    }

    /// The same one, less what differs now; none where nothing is lost.
    pub(super) fn holding(&self, now: &Result<Surface, String>, whole: bool) -> Option<Self> {
        let accepted = self.surface.as_ref()?;
        let mut held = self.held.clone();
        let mut withheld = self.withheld.clone();
        match now {
            Ok(now) if !whole => held.extend(differences(accepted, now)),
            Ok(_) => {
                withheld = Some(Notice {
                    code: "FH-CHANGED",
                    reason: "what the server offers is not what was accepted any more".into(),
                    remedy: self.remedy(),
                });
            }
            Err(why) => {
                let why = excerpt(why, 300);
                withheld = Some(Notice {
                    code: "FH-CHANGED",
                    reason: format!(
                        "what the server offers cannot be compared with what was accepted ({why})"
                    ),
                    remedy: self.remedy(),
                });
            }
        }
        let is_news = held != self.held || withheld != self.withheld;
        (is_news && !guard::off("shelf-hold")).then(|| Self {
            terms: Arc::clone(&self.terms),
            surface: self.surface.clone(),
            entries: self.entries.clone(),
            by_name: Arc::clone(&self.by_name),
            held,
            withheld,
            was_seen_to_change: false,
            faults: self.faults.clone(),
        })
    }

    fn remedy(&self) -> String {
        format!("a person has to look at the change: `fumehood review {}`", self.name())
    }
}

/// What was accepted and is not there any more, or is another one.
fn differences(accepted: &Surface, now: &Surface) -> Vec<(Kind, String)> {
    let name_of =
        |kind: Kind, entry: &Value| entry.get(kind.key()).and_then(Value::as_str).map(str::to_owned);
    let mut found = Vec::new();
    for kind in Kind::ALL {
        let there: HashMap<String, &Value> =
            now.list(kind).into_iter().filter_map(|entry| Some((name_of(kind, entry)?, entry))).collect();
        for entry in accepted.list(kind) {
            let Some(name) = name_of(kind, entry) else { continue };
            if there.get(&name) != Some(&entry) {
                found.push((kind, name));
            }
        }
    }
    found
}

/// A prompt, resource or template as a caller sees it: pictures that a server chose are left out.
fn shown(value: &Value, pass_through: bool) -> Value {
    let mut value = value.clone();
    if let Value::Object(members) = &mut value
        && !pass_through
    {
        members.remove("icons");
    }
    value
}
