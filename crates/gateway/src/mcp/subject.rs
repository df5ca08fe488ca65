//! What a request is about, as its caller sees it.

use std::sync::Arc;

use access::{Verb, principal::Principal};
use model::name::ServerName;
use serde_json::{Map, Value, json};
use tools::surface::Kind;

use super::{
    questions::Asker,
    rpc::{Fault, INVALID_PARAMS},
};
use crate::{call::Scope, guard, results, service::Gateway, shelf::Offer, view::Glimpse};

/// Longest name or address, in bytes: addresses are kept as long as somebody follows them.
const LONGEST: usize = 8 << 10;

/// What a request is about.
#[derive(Debug)]
pub(super) struct Subject {
    /// What is wanted.
    pub(super) verb: Verb,
    /// The name or address, as the caller wrote it.
    pub(super) name: String,
    /// The tool, as the caller is shown it.
    pub(super) tool: Option<Arc<Value>>,
    /// Whose it is, where it is of a server of which the caller sees something.
    offer: Option<Arc<Offer>>,
}

impl Subject {
    /// Of parameters with a name in them.
    ///
    /// # Errors
    ///
    /// [`INVALID_PARAMS`], where they have none.
    pub(super) fn of(
        verb: Verb,
        params: &Map<String, Value>,
        gateway: &Gateway,
        who: &Principal,
        scope: &Scope,
    ) -> Result<Self, Fault> {
        let name = match verb {
            Verb::CallTool | Verb::GetPrompt => text(params.get("name"), "name"),
            Verb::ReadResource | Verb::Subscribe => text(params.get("uri"), "uri"),
            Verb::Complete => match params.get("ref") {
                Some(of) if of.get("name").is_some() => text(of.get("name"), "ref.name"),
                of => text(of.and_then(|of| of.get("uri")), "ref.uri"),
            },
        }?;
        let (offer, shown) = match gateway.glimpse(who, scope, kinds(verb), &name) {
            Some(Glimpse { offer, shown }) => (Some(offer), shown),
            None => (None, None),
        };
        let tool = shown.filter(|_| verb == Verb::CallTool).map(|shown| Arc::clone(&shown.value));
        Ok(Self { verb, name, tool, offer })
    }

    /// Who answers: of one server its own name, as it was accepted.
    pub(super) fn server_info(&self, scope: &Scope) -> Value {
        match (scope, self.offer.as_ref().and_then(|offer| offer.surface())) {
            (Scope::Server(_), Some(surface)) => surface.server_info().clone(),
            _ => json!({ "name": "fumehood", "version": env!("CARGO_PKG_VERSION") }),
        }
    }

    /// Whose it is.
    pub(super) fn server(&self) -> Option<&ServerName> {
        self.offer.as_ref().map(|offer| offer.name())
    }

    /// Whether what its server says passes as it is.
    pub(super) fn is_pass_through(&self) -> bool {
        self.offer.as_ref().is_some_and(|offer| offer.terms().pass_through)
    }

    /// What its server tells of a call meanwhile, as the caller is told.
    pub(super) fn shown(&self, params: Map<String, Value>) -> Value {
        let params = Value::Object(params);
        if self.is_pass_through() { params } else { results::shown(params) }
    }

    /// On which terms its server may ask anything.
    pub(super) fn asker(&self) -> Option<Asker<'_>> {
        let terms = self.offer.as_ref()?.terms();
        Some(Asker { server: &terms.name, pass_through: terms.pass_through, hosts: &terms.hosts })
    }

    /// Whether the caller sees it still, and it is of the same server.
    pub(super) fn is_still(&self, gateway: &Gateway, who: &Principal, scope: &Scope) -> bool {
        match self.verb {
            Verb::CallTool | Verb::GetPrompt => {
                let now = gateway.glimpse(who, scope, kinds(self.verb), &self.name);
                now.and_then(|now| now.shown).is_some_and(|shown| Some(&shown.server) == self.server())
            }
            // What is read is often not listed: the server has to be one that is seen.
            Verb::ReadResource | Verb::Subscribe | Verb::Complete => {
                let view = gateway.view(who, scope);
                self.server().is_some_and(|server| view.offers().iter().any(|offer| offer.name() == server))
            }
        }
    }
}

fn kinds(verb: Verb) -> &'static [Kind] {
    match verb {
        Verb::CallTool => &[Kind::Tool],
        Verb::GetPrompt => &[Kind::Prompt],
        Verb::ReadResource | Verb::Subscribe => &[Kind::Resource],
        Verb::Complete => &[Kind::Prompt, Kind::ResourceTemplate, Kind::Resource],
    }
}

fn text(value: Option<&Value>, name: &str) -> Result<String, Fault> {
    let text = value.and_then(Value::as_str);
    let text = text.ok_or_else(|| Fault::new(INVALID_PARAMS, format!("`{name}` is missing, or no text")))?;
    if text.len() > LONGEST && !guard::off("mcp-name-size") {
        return Err(Fault::new(INVALID_PARAMS, format!("`{name}` has more than {LONGEST} bytes")));
    }
    Ok(text.to_owned())
}
