//! The shelf as one caller sees it.

use std::sync::Arc;

use access::{Object, Verb, judge::Authorizer, principal::Principal};
use serde_json::{Map, Value, json};
use tools::surface::Kind;

use crate::{
    call::Scope,
    guard, names,
    shelf::{Entry, Offer, Shown, Stock},
};

/// Everything that one caller may use, at one moment. It is made anew for each message, and belongs to nobody else.
#[derive(Debug)]
pub struct View {
    scope: Scope,
    tools: Vec<Arc<Shown>>,
    prompts: Vec<Arc<Shown>>,
    resources: Vec<Arc<Shown>>,
    templates: Vec<Arc<Shown>>,
    /// Servers of which something is seen.
    offers: Vec<Arc<Offer>>,
}

impl View {
    /// What `who` may use of `stock`, as `authorizer` judges it.
    pub fn of(stock: &Stock, authorizer: &dyn Authorizer, who: &Principal, scope: &Scope) -> Self {
        let mut view = Self {
            scope: scope.clone(),
            tools: Vec::new(),
            prompts: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            offers: Vec::new(),
        };
        for offer in stock.offers().filter(|offer| in_scope(offer, who, scope)) {
            let mut sees_any = false;
            for entry in offer.entries() {
                if !sees(authorizer, who, entry) {
                    continue;
                }
                sees_any = true;
                if offer.is_held(entry.kind(), entry.plain()) {
                    continue;
                }
                let shown = match scope {
                    Scope::All => entry.in_all(),
                    Scope::Server(_) => entry.alone(),
                };
                view.list_mut(entry.kind()).push(Arc::clone(shown));
            }
            if sees_any {
                view.offers.push(Arc::clone(offer));
            }
        }
        for kind in Kind::ALL {
            view.list_mut(kind).sort_by(|one, other| one.name.cmp(&other.name));
        }
        view
    }

    /// Tools, sorted by name.
    pub fn tools(&self) -> &[Arc<Shown>] {
        &self.tools
    }

    /// Prompts, sorted by name.
    pub fn prompts(&self) -> &[Arc<Shown>] {
        &self.prompts
    }

    /// Resources, sorted by address.
    pub fn resources(&self) -> &[Arc<Shown>] {
        &self.resources
    }

    /// Templates of resources, sorted.
    pub fn templates(&self) -> &[Arc<Shown>] {
        &self.templates
    }

    /// One of the four lists.
    pub fn list(&self, kind: Kind) -> &[Arc<Shown>] {
        match kind {
            Kind::Tool => &self.tools,
            Kind::Prompt => &self.prompts,
            Kind::Resource => &self.resources,
            Kind::ResourceTemplate => &self.templates,
        }
    }

    /// Servers of which something is seen.
    pub fn offers(&self) -> &[Arc<Offer>] {
        &self.offers
    }

    /// Whether nothing at all is seen: for this caller there is no such scope.
    pub fn is_empty(&self) -> bool {
        self.offers.is_empty()
    }

    /// The capabilities to tell a client of (MCP 2025-11-25, lifecycle). Of one server they are its own, less what has no
    /// place here; every list may change, because roles and acceptances do.
    pub fn capabilities(&self) -> Value {
        let mut all = Map::new();
        for offer in &self.offers {
            let Some(surface) = offer.surface() else { continue };
            for (name, capability) in surface.capabilities().as_object().into_iter().flatten() {
                if capability.is_null() {
                    continue;
                }
                match (&self.scope, name.as_str()) {
                    (Scope::Server(_), _) => drop(all.insert(name.clone(), capability.clone())),
                    (Scope::All, "prompts" | "completions" | "logging") => {
                        all.entry(name.clone()).or_insert_with(|| json!({}));
                    }
                    (Scope::All, "resources") => {
                        let subscribe = capability.get("subscribe") == Some(&Value::Bool(true));
                        let known = all.entry(name.clone()).or_insert_with(|| json!({}));
                        if subscribe && let Value::Object(known) = known {
                            known.insert("subscribe".into(), true.into());
                        }
                    }
                    (Scope::All, _) => {}
                }
            }
        }
        all.entry("tools").or_insert_with(|| json!({}));
        for name in ["tools", "prompts", "resources"] {
            if let Some(Value::Object(capability)) = all.get_mut(name) {
                capability.insert("listChanged".into(), true.into());
            }
        }
        Value::Object(all)
    }

    /// What the servers say of themselves to a model, each under its name where there are several.
    pub fn instructions(&self) -> Option<String> {
        let said = self.offers.iter().filter_map(|offer| {
            let text = offer.surface()?.instructions()?;
            Some(match self.scope {
                Scope::All => format!("# {}\n\n{text}", offer.name()),
                Scope::Server(_) => text.to_owned(),
            })
        });
        let said: Vec<String> = said.collect();
        (!said.is_empty()).then(|| said.join("\n\n"))
    }

    /// Who answers: of one server its own name, as it was accepted.
    pub fn server_info(&self) -> Value {
        match (&self.scope, self.offers.first().and_then(|offer| offer.surface())) {
            (Scope::Server(_), Some(surface)) => surface.server_info().clone(),
            _ => json!({ "name": "fumehood", "version": env!("CARGO_PKG_VERSION") }),
        }
    }
}

impl View {
    fn list_mut(&mut self, kind: Kind) -> &mut Vec<Arc<Shown>> {
        match kind {
            Kind::Tool => &mut self.tools,
            Kind::Prompt => &mut self.prompts,
            Kind::Resource => &mut self.resources,
            Kind::ResourceTemplate => &mut self.templates,
        }
    }
}

/// One thing as a caller sees it, without lists being made for it: what a [`View`] made at the same moment has of it.
#[derive(Debug)]
pub struct Glimpse {
    /// The entry, where the caller sees one of this name.
    pub shown: Option<Arc<Shown>>,
    /// Whose it is, or would be.
    pub offer: Arc<Offer>,
}

impl Glimpse {
    /// What `who` sees of `stock` under `name`, of the first of `kinds` that has it; none where no server in scope is meant.
    pub fn of(
        stock: &Stock,
        authorizer: &dyn Authorizer,
        who: &Principal,
        scope: &Scope,
        kinds: &[Kind],
        name: &str,
    ) -> Option<Self> {
        let entry = match scope {
            Scope::All => kinds.iter().find_map(|kind| stock.public(*kind, name)),
            Scope::Server(server) => {
                let offer = stock.offer(server)?;
                kinds.iter().find_map(|kind| offer.entry(*kind, name))
            }
        };
        let server = match (entry, scope) {
            (Some(entry), _) => entry.server().clone(),
            (None, Scope::Server(server)) => server.clone(),
            (None, Scope::All) => names::plain_uri(name)?.0,
        };
        let offer = stock.offer(&server).filter(|offer| in_scope(offer, who, scope))?;
        let shown =
            entry.filter(|entry| !offer.is_held(entry.kind(), entry.plain()) && sees(authorizer, who, entry));
        let shown = shown.map(|entry| match scope {
            Scope::All => Arc::clone(entry.in_all()),
            Scope::Server(_) => Arc::clone(entry.alone()),
        });
        Some(Self { shown, offer: Arc::clone(offer) })
    }
}

/// Whether a server is of the scope, and this caller not bound to another one.
pub(crate) fn in_scope(offer: &Offer, who: &Principal, scope: &Scope) -> bool {
    let is_asked = match scope {
        Scope::All => true,
        Scope::Server(name) => offer.name() == name,
    };
    is_asked && (who.server().is_none_or(|bound| bound == offer.name()) || guard::off("view-bound-server"))
}

/// Whether a caller sees an entry: exactly when a call of it would be permitted by its roles.
pub(crate) fn sees(authorizer: &dyn Authorizer, who: &Principal, entry: &Entry) -> bool {
    let verb = match entry.kind() {
        Kind::Tool => Verb::CallTool,
        Kind::Prompt => Verb::GetPrompt,
        Kind::Resource | Kind::ResourceTemplate => Verb::ReadResource,
    };
    let object = Object { verb, server: entry.server().clone(), name: entry.plain().to_owned() };
    authorizer.sees(who, &object) || guard::off("view-roles")
}
