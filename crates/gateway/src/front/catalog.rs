//! What a client is told of a server: what was accepted, less what is held; or the one entry of ours.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde_json::{Map, Value, json};
use tools::{
    introspect::{REVISION, REVISIONS},
    surface::{Kind, Surface},
};

use super::{Notice, call::Subject, message};
use crate::guard;

/// The list that a method asks for.
pub(super) fn asked_by(method: &str) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| kind.method() == method)
}

/// The name of the entry that is ours.
pub(super) const OUR_TOOL: &str = "fumehood_status";
/// The capabilities that have lists.
pub(super) const LISTED: [&str; 3] = ["tools", "prompts", "resources"];

/// What was accepted, and what of it is held back.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    surface: Option<Surface>,
    /// The names in it.
    names: HashMap<Kind, HashSet<String>>,
    held: BTreeSet<(Kind, String)>,
    /// Tools as they are shown, by name, where that is not as they were accepted; those that are missing are not offered.
    shown: Option<BTreeMap<String, Value>>,
    /// In its place, where nothing may be used.
    notice: Option<Notice>,
}

/// Whether something may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// As it was accepted.
    Offered,
    /// It was accepted, and has changed since.
    Held,
    /// Nobody has accepted anything of the name.
    Unknown,
}

impl Catalog {
    pub(super) fn of(surface: Surface) -> Self {
        let in_list = |list: Kind| {
            let entries = surface.list(list).into_iter();
            entries.filter_map(|entry| name_of(list, entry).map(str::to_owned)).collect()
        };
        let names = Kind::ALL.into_iter().map(|list| (list, in_list(list))).collect();
        Self { surface: Some(surface), names, ..Self::default() }
    }

    pub(super) fn closed(notice: Notice) -> Self {
        Self { notice: Some(notice), ..Self::default() }
    }

    /// Shows the tools so.
    pub(super) fn show(&mut self, tools: BTreeMap<String, Value>) {
        self.shown = Some(tools);
    }

    /// Withdraws everything; whether that is news.
    pub(super) fn withdraw(&mut self, notice: Notice) -> bool {
        let is_new = self.notice.as_ref() != Some(&notice);
        if !guard::off("front-withdraw") {
            self.notice = Some(notice);
        }
        is_new
    }

    /// Why nothing may be used.
    pub(super) fn notice(&self) -> Option<&Notice> {
        self.notice.as_ref()
    }

    /// What was accepted.
    pub(super) fn surface(&self) -> Option<&Surface> {
        self.surface.as_ref()
    }

    /// Whether the server has a capability that may be used.
    pub(super) fn has(&self, capability: &str) -> bool {
        let capability = self.surface.as_ref().and_then(|surface| surface.capabilities().get(capability));
        capability.is_some_and(|capability| !capability.is_null())
    }

    /// The answer to `initialize`.
    pub(super) fn hello(&self, params: Option<&Value>) -> Value {
        let asked = params.and_then(|params| params.get("protocolVersion")).and_then(Value::as_str);
        let revision = asked.filter(|asked| REVISIONS.contains(asked)).unwrap_or(REVISION);
        let changing = || json!({ "listChanged": true });
        let Some(surface) = self.surface.as_ref().filter(|_| self.notice.is_none()) else {
            let capabilities: Map<String, Value> =
                LISTED.iter().map(|name| ((*name).to_owned(), changing())).collect();
            let server = self.server_info();
            return json!({ "protocolVersion": revision, "capabilities": capabilities, "serverInfo": server });
        };
        let mut capabilities = surface.capabilities().as_object().cloned().unwrap_or_default();
        capabilities.retain(|_, capability| !capability.is_null());
        for name in LISTED {
            match capabilities.get_mut(name) {
                // Whatever the server does, we may take something off a list.
                Some(Value::Object(capability)) => drop(capability.insert("listChanged".into(), true.into())),
                Some(other) => *other = changing(),
                None => {}
            }
        }
        // There has to be a list from which ours can be read.
        capabilities.entry("tools").or_insert_with(changing);
        let mut hello = json!({
            "protocolVersion": revision,
            "capabilities": capabilities,
            "serverInfo": surface.server_info(),
        });
        if let (Some(instructions), Value::Object(members)) = (surface.instructions(), &mut hello) {
            members.insert("instructions".into(), instructions.into());
        }
        hello
    }

    /// What is spoken here by requests that stand for themselves.
    pub(super) fn spoken_alone(&self) -> Map<String, Value> {
        let lists =
            self.announced().into_iter().map(|name| (name.to_owned(), json!({ "listChanged": true })));
        let is_open = self.notice.is_none() && self.has("completions");
        lists.chain(is_open.then(|| ("completions".to_owned(), json!({})))).collect()
    }

    /// Who answers: the server, or we in its place.
    pub(super) fn server_info(&self) -> Value {
        match self.surface.as_ref().filter(|_| self.notice.is_none()) {
            Some(surface) => surface.server_info().clone(),
            None => json!({ "name": "fumehood", "version": env!("CARGO_PKG_VERSION") }),
        }
    }

    /// How to use the server, in its own words.
    pub(super) fn instructions(&self) -> Option<String> {
        let surface = self.surface.as_ref().filter(|_| self.notice.is_none())?;
        surface.instructions().map(ToString::to_string)
    }

    /// The capabilities with lists that a client is told of by [`Catalog::hello`] now.
    pub(super) fn announced(&self) -> Vec<&'static str> {
        let is_closed = self.surface.is_none() || self.notice.is_some();
        LISTED.into_iter().filter(|name| is_closed || *name == "tools" || self.has(name)).collect()
    }

    /// A whole list in one page; `None` where the server has no such list.
    pub(super) fn list(&self, list: Kind) -> Option<Value> {
        let mut entries: Vec<Value> = Vec::new();
        match (&self.surface, &self.notice) {
            (_, Some(notice)) if list == Kind::Tool => entries.push(ours(notice)),
            (Some(surface), None) => {
                if !self.has(list.capability()) && list != Kind::Tool {
                    return None;
                }
                let offered = surface.list(list).into_iter();
                let is_held =
                    |entry: &&Value| name_of(list, entry).is_none_or(|name| self.is_held(list, name));
                let shown = |entry: &Value| match (&self.shown, name_of(list, entry)) {
                    (Some(shown), Some(name)) if list == Kind::Tool => shown.get(name).cloned(),
                    _ => Some(entry.clone()),
                };
                entries = offered.filter(|entry| !is_held(entry)).filter_map(shown).collect();
            }
            _ => {}
        }
        Some(Value::Object(Map::from_iter([(list.list().to_owned(), Value::Array(entries))])))
    }

    /// Whether a request about this may go to the server.
    pub(super) fn judge(&self, subject: &Subject) -> Verdict {
        let in_list = |list: Kind, name: &str| {
            if self.is_held(list, name) {
                Verdict::Held
            } else if self.knows(list, name) || guard::off("front-unknown-names") {
                Verdict::Offered
            } else {
                Verdict::Unknown
            }
        };
        match subject {
            Subject::Tool(name) => in_list(Kind::Tool, name),
            Subject::Prompt(name) => in_list(Kind::Prompt, name),
            Subject::Resource(uri) => self.judge_address(uri),
            Subject::Reference(uri) => match in_list(Kind::ResourceTemplate, uri) {
                Verdict::Unknown => in_list(Kind::Resource, uri),
                verdict => verdict,
            },
            Subject::Session => Verdict::Offered,
        }
    }

    /// An address need not be in a list: it can be one of a template, or one that a result named. What would fall under
    /// a held template is held, and since a template can be read in several ways (RFC 6570, section 1.4), whatever
    /// begins as it does counts as falling under it.
    fn judge_address(&self, uri: &str) -> Verdict {
        if self.is_held(Kind::Resource, uri) {
            return Verdict::Held;
        }
        let mut held = self.held.iter().filter(|(kind, _)| *kind == Kind::ResourceTemplate);
        let falls_under_a_held_one = held.any(|(_, template)| {
            let literal = template.split('{').next().unwrap_or_default();
            uri.starts_with(literal)
        });
        if falls_under_a_held_one && !self.knows(Kind::Resource, uri) && !guard::off("front-held-templates") {
            return Verdict::Held;
        }
        Verdict::Offered
    }

    /// Whether it was accepted under this name.
    pub(super) fn knows(&self, list: Kind, name: &str) -> bool {
        self.names.get(&list).is_some_and(|names| names.contains(name))
    }

    fn is_held(&self, list: Kind, name: &str) -> bool {
        !self.held.is_empty() && self.held.contains(&(list, name.to_owned()))
    }

    /// Whether something is held.
    pub(super) fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// Holds every accepted entry that is not there any more, or is another one. The capabilities under which something
    /// is held that was not before. What is held stays so: a server that goes back does not make up for it.
    pub(super) fn hold(&mut self, now: &Surface) -> BTreeSet<&'static str> {
        let mut touched = BTreeSet::new();
        let Some(accepted) = &self.surface else { return touched };
        if guard::off("front-hold") {
            return touched;
        }
        if guard::off("front-sticky") {
            self.held.clear();
        }
        for list in Kind::ALL {
            let there: HashMap<&str, &Value> = now
                .list(list)
                .into_iter()
                .filter_map(|entry| name_of(list, entry).map(|name| (name, entry)))
                .collect();
            for entry in accepted.list(list) {
                let Some(name) = name_of(list, entry) else { continue };
                if there.get(name) != Some(&entry) && self.held.insert((list, name.to_owned())) {
                    touched.insert(list.capability());
                }
            }
        }
        touched
    }

    /// Lines that make a client read its lists anew, those of these capabilities.
    pub(super) fn tell_changed<'a>(capabilities: impl IntoIterator<Item = &'a str>) -> Vec<Vec<u8>> {
        capabilities
            .into_iter()
            .map(|capability| message::notification(&format!("notifications/{capability}/list_changed")))
            .collect()
    }
}

fn name_of(list: Kind, entry: &Value) -> Option<&str> {
    entry.get(list.key()).and_then(Value::as_str)
}

/// The one entry of a server that cannot be used.
fn ours(notice: &Notice) -> Value {
    json!({
        "name": OUR_TOOL,
        "title": "Fumehood: this server is not available",
        "description": notice.description(),
        "inputSchema": { "type": "object", "properties": {}, "additionalProperties": false },
        "annotations": { "readOnlyHint": true, "openWorldHint": false },
    })
}
