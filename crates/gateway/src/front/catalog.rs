//! What a client is told of a server: what was accepted, less what is held; or the one entry of ours.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use tools::{
    introspect::{REVISION, REVISIONS},
    surface::{Kind, Surface},
};

use super::{Notice, message};

/// The list that a method asks for.
pub(super) fn asked_by(method: &str) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| kind.method() == method)
}

/// The name of the entry that is ours.
pub(super) const OUR_TOOL: &str = "fumehood_status";

/// What was accepted, and what of it is held back.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    surface: Option<Surface>,
    held: BTreeSet<(Kind, String)>,
    /// In its place, where nothing may be used.
    pub(super) notice: Option<Notice>,
}

impl Catalog {
    pub(super) fn of(surface: Surface) -> Self {
        Self { surface: Some(surface), ..Self::default() }
    }

    pub(super) fn closed(notice: Notice) -> Self {
        Self { notice: Some(notice), ..Self::default() }
    }

    /// What was accepted.
    pub(super) fn surface(&self) -> Option<&Surface> {
        self.surface.as_ref()
    }

    /// The answer to `initialize`.
    pub(super) fn hello(&self, params: Option<&Value>) -> Value {
        let asked = params.and_then(|params| params.get("protocolVersion")).and_then(Value::as_str);
        let revision = asked.filter(|asked| REVISIONS.contains(asked)).unwrap_or(REVISION);
        let changing = json!({ "listChanged": true });
        let (capabilities, server) = match &self.surface {
            Some(surface) => {
                let mut capabilities = surface.capabilities().clone();
                if let Value::Object(members) = &mut capabilities {
                    for name in ["tools", "prompts", "resources"] {
                        // Whatever the server does, we may take something off a list.
                        if let Some(Value::Object(capability)) = members.get_mut(name) {
                            capability.insert("listChanged".into(), true.into());
                        }
                    }
                    // There has to be a list from which ours can be read.
                    members.entry("tools").or_insert_with(|| changing.clone());
                }
                (capabilities, surface.server_info().clone())
            }
            None => {
                let version = env!("CARGO_PKG_VERSION");
                let names = ["tools", "prompts", "resources"];
                let capabilities: Map<String, Value> =
                    names.iter().map(|name| ((*name).to_owned(), changing.clone())).collect();
                (capabilities.into(), json!({ "name": "fumehood", "version": version }))
            }
        };
        let mut hello =
            json!({ "protocolVersion": revision, "capabilities": capabilities, "serverInfo": server });
        let instructions = self.surface.as_ref().and_then(Surface::instructions);
        if let (Some(instructions), Value::Object(members)) = (instructions, &mut hello) {
            members.insert("instructions".into(), instructions.into());
        }
        hello
    }

    /// A whole list in one page; `None` where the server has no such list.
    pub(super) fn list(&self, list: Kind) -> Option<Value> {
        let mut entries: Vec<Value> = match (&self.surface, &self.notice) {
            (Some(surface), None) => {
                if surface.capabilities().get(list.capability()).is_none() && list != Kind::Tool {
                    return None;
                }
                let offered = surface.list(list).into_iter();
                offered.filter(|entry| !self.is_held_entry(list, entry)).cloned().collect()
            }
            _ => Vec::new(),
        };
        if list == Kind::Tool
            && let Some(notice) = &self.notice
        {
            entries.push(json!({
                "name": OUR_TOOL,
                "title": "Fumehood: this server is not available",
                "description": notice.description(),
                "inputSchema": { "type": "object", "properties": {}, "additionalProperties": false },
                "annotations": { "readOnlyHint": true, "openWorldHint": false },
            }));
        }
        Some(Value::Object(Map::from_iter([(list.list().to_owned(), Value::Array(entries))])))
    }

    /// Whether an entry of this name is offered: in the accepted list, and not held.
    pub(super) fn offers(&self, list: Kind, name: &str) -> bool {
        self.notice.is_none() && !self.is_held(list, name) && self.knows(list, name)
    }

    /// Whether it was accepted under this name.
    pub(super) fn knows(&self, list: Kind, name: &str) -> bool {
        self.surface.as_ref().is_some_and(|surface| {
            surface.list(list).iter().any(|entry| entry.get(list.key()).and_then(Value::as_str) == Some(name))
        })
    }

    /// Whether it was accepted, and has changed since.
    pub(super) fn is_held(&self, list: Kind, name: &str) -> bool {
        self.held.contains(&(list, name.to_owned()))
    }

    fn is_held_entry(&self, list: Kind, entry: &Value) -> bool {
        let name = entry.get(list.key()).and_then(Value::as_str);
        name.is_none_or(|name| self.is_held(list, name))
    }

    /// Holds every accepted entry that is not there any more, or is another one. The capabilities under which something
    /// is held. What is held stays so: a server that goes back does not make up for it.
    pub(super) fn hold(&mut self, now: &Surface) -> BTreeSet<&'static str> {
        let Some(accepted) = &self.surface else { return BTreeSet::new() };
        let mut touched = BTreeSet::new();
        for list in Kind::ALL {
            let there = now.list(list);
            for entry in accepted.list(list) {
                let Some(name) = entry.get(list.key()).and_then(Value::as_str) else { continue };
                if !there.contains(&entry) && self.held.insert((list, name.to_owned())) {
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

    /// The capabilities that a client was told of, and which have lists.
    pub(super) fn announced(&self) -> Vec<&'static str> {
        let all = ["tools", "prompts", "resources"];
        match &self.surface {
            Some(surface) => all
                .into_iter()
                .filter(|name| *name == "tools" || surface.capabilities().get(*name).is_some())
                .collect(),
            None => all.to_vec(),
        }
    }
}
