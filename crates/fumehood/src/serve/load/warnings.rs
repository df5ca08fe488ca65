//! What can be as it is, and was most likely not meant so.

use std::collections::BTreeMap;

use gateway::shelf::Offer;
use model::{
    config::{Operator, Pattern},
    name::ServerName,
};
use serde_json::Value;
use tools::surface::{Kind, Surface};

use super::Served;

/// All of it, a sentence each without a full stop.
pub(super) fn of(
    operator: &Operator,
    servers: &BTreeMap<ServerName, Served>,
    offers: &[Offer],
) -> Vec<String> {
    let mut warnings = Vec::new();
    nobody(operator, &mut warnings);
    for offer in offers {
        for fault in offer.faults() {
            warnings.push(format!(
                "{}: the tool `{}` is left out: {}",
                offer.name(),
                fault.tool,
                fault.reason
            ));
        }
    }
    for (name, served) in servers {
        let Some(surface) = surface(offers, name) else { continue };
        for tool in served.target.tools.keys().filter(|tool| !has(surface, Kind::Tool, tool)) {
            warnings.push(format!("{name}: `tools.{tool}` is about no tool of this server"));
        }
    }
    for (role, what) in operator.roles() {
        let lists: [(&str, &[Pattern], &[Kind]); 3] = [
            ("tools", what.tools(), &[Kind::Tool]),
            ("prompts", what.prompts(), &[Kind::Prompt]),
            ("resources", what.resources(), &[Kind::Resource, Kind::ResourceTemplate]),
        ];
        for (list, patterns, kinds) in lists {
            for pattern in patterns.iter().filter(|pattern| is_idle(pattern, kinds, servers, offers)) {
                warnings.push(format!(
                    "the role `{role}` has `{pattern}` in `{list}`, which is nothing of any server"
                ));
            }
        }
    }
    for key in operator.keys().values() {
        if let Some(server) = key.server().filter(|server| !servers.contains_key(*server)) {
            warnings.push(format!(
                "the key `{}` is for the server `{server}`, which nobody declares",
                key.name()
            ));
        }
    }
    warnings
}

/// Callers that there are not, or that may do nothing.
fn nobody(operator: &Operator, warnings: &mut Vec<String>) {
    let (keys, peers) = (operator.keys(), operator.peers());
    if operator.identities().is_empty() && keys.is_empty() && peers.is_empty() {
        let only = "only whoever runs the service is let in, over the socket: there is no `[identity]`, no `[keys]` and no \
                    `[peers]`";
        warnings.push(only.to_owned());
    } else if operator.roles().is_empty() {
        warnings.push("nobody may use anything: there are no `[roles]`".to_owned());
    }
    for key in keys.values().filter(|key| key.roles().is_empty()) {
        warnings.push(format!("the key `{}` has no role, and sees nothing", key.name()));
    }
    for peer in peers.values().filter(|peer| peer.roles().is_empty()) {
        warnings.push(format!("the peer `{}` has no role, and sees nothing", peer.name()));
    }
}

/// Whether a pattern covers nothing, as far as is known: what a server that is withheld offers is not.
fn is_idle(
    pattern: &Pattern,
    kinds: &[Kind],
    servers: &BTreeMap<ServerName, Served>,
    offers: &[Offer],
) -> bool {
    servers.keys().filter(|server| pattern.covers_server(server)).all(|server| {
        let Some(surface) = surface(offers, server) else { return false };
        let names = kinds.iter().flat_map(|kind| names(surface, *kind));
        // `*` on this side says no more than the server's name, and a template stands for URIs that are not listed.
        pattern.name() != "*"
            && !kinds.iter().any(|kind| *kind == Kind::ResourceTemplate && !surface.list(*kind).is_empty())
            && !names.into_iter().any(|name| pattern.covers(server, name))
    })
}

fn surface<'a>(offers: &'a [Offer], name: &ServerName) -> Option<&'a Surface> {
    offers.iter().find(|offer| offer.name() == name)?.surface().map(AsRef::as_ref)
}

fn has(surface: &Surface, kind: Kind, name: &str) -> bool {
    names(surface, kind).any(|known| known == name)
}

fn names(surface: &Surface, kind: Kind) -> impl Iterator<Item = &str> {
    surface.list(kind).into_iter().filter_map(move |value| value.get(kind.key()).and_then(Value::as_str))
}
