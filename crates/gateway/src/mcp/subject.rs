//! What a request is about, as its caller sees it.

use std::sync::Arc;

use access::Verb;
use model::name::ServerName;
use serde_json::{Map, Value};
use tools::surface::Kind;

use super::{
    questions::Asker,
    rpc::{Fault, INVALID_PARAMS},
};
use crate::{
    call::Scope,
    names,
    shelf::{Offer, Shown},
    view::View,
};

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
        view: &View,
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
        let find = |kind: Kind| shown(view.list(kind), &name);
        let entry = match verb {
            Verb::CallTool => find(Kind::Tool),
            Verb::GetPrompt => find(Kind::Prompt),
            Verb::ReadResource | Verb::Subscribe => find(Kind::Resource),
            Verb::Complete => {
                find(Kind::Prompt).or_else(|| find(Kind::ResourceTemplate)).or_else(|| find(Kind::Resource))
            }
        };
        let server = match (entry, scope) {
            (Some(entry), _) => Some(entry.server.clone()),
            (None, Scope::Server(server)) => Some(server.clone()),
            (None, Scope::All) => names::plain_uri(&name).map(|(server, _)| server),
        };
        let offer = server.and_then(|name| view.offers().iter().find(|offer| *offer.name() == name));
        let tool = entry.filter(|_| verb == Verb::CallTool).map(|entry| Arc::clone(&entry.value));
        Ok(Self { verb, tool, offer: offer.cloned(), name })
    }

    /// Whose it is.
    pub(super) fn server(&self) -> Option<&ServerName> {
        self.offer.as_ref().map(|offer| offer.name())
    }

    /// Whether what its server says passes as it is.
    pub(super) fn is_pass_through(&self) -> bool {
        self.offer.as_ref().is_some_and(|offer| offer.terms().pass_through)
    }

    /// On which terms its server may ask anything.
    pub(super) fn asker(&self) -> Option<Asker<'_>> {
        let terms = self.offer.as_ref()?.terms();
        Some(Asker { server: &terms.name, pass_through: terms.pass_through, hosts: &terms.hosts })
    }

    /// Whether a caller with this view sees it as well.
    pub(super) fn is_still(&self, view: &View) -> bool {
        let kind = match self.verb {
            Verb::CallTool => Kind::Tool,
            Verb::GetPrompt => Kind::Prompt,
            // What is read is often not listed: the server has to be one that is seen.
            Verb::ReadResource | Verb::Subscribe | Verb::Complete => {
                return self.server().is_some_and(|server| view.offers().iter().any(|o| o.name() == server));
            }
        };
        let now = shown(view.list(kind), &self.name);
        now.is_some_and(|now| Some(&now.server) == self.server())
    }
}

/// Lists are sorted by name.
fn shown<'a>(list: &'a [Arc<Shown>], name: &str) -> Option<&'a Arc<Shown>> {
    let at = list.binary_search_by(|entry| entry.name.as_str().cmp(name)).ok()?;
    list.get(at)
}

fn text(value: Option<&Value>, name: &str) -> Result<String, Fault> {
    let text = value.and_then(Value::as_str).map(str::to_owned);
    text.ok_or_else(|| Fault::new(INVALID_PARAMS, format!("`{name}` is missing, or no text")))
}
