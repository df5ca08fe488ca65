//! What a server may ask a person, and how.
//!
//! A question reaches a person through a client that they trust, so it says who asks. Nobody is asked for a password or a
//! key: what a server needs of that kind lies in the vault. A page is opened only where the server could go itself.

use model::{name::ServerName, visible::visible};
use serde_json::{Map, Value, json};

use super::envelope::{fold, look_alike};
use crate::{guard, results};

mod secrets;

/// Asks a person.
pub(super) const ELICITATION: &str = "elicitation/create";
/// Asks the client's model.
pub(super) const SAMPLING: &str = "sampling/createMessage";
/// Asks which folders are meant.
pub(super) const ROOTS: &str = "roots/list";
/// Longest text of a question, in characters.
const LONGEST: usize = 4_000;
/// Deepest schema that is looked through.
const DEPTH: usize = 8;

/// On which terms a server may ask.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asker<'a> {
    /// Its name.
    pub(super) server: &'a ServerName,
    /// What it asks passes as it is.
    pub(super) pass_through: bool,
    /// Hosts that it may reach: `name`, `*.name`, with or without `:port`.
    pub(super) hosts: &'a [String],
}

/// A question that is not asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Declined {
    /// The client cannot ask it. The capability that is missing, as the client would declare it.
    #[error("the client has not declared that it can do this")]
    Incapable(Value),
    /// Nobody is asked for such a thing.
    #[error("FH-ELICITATION-SECRET: nobody is asked for a password, key or token here (`{0}`)")]
    Secret(String),
    /// The page is not of the server.
    #[error("FH-ELICITATION-URL: a server may only send people to hosts of its own")]
    Url,
    /// Not a question that is known.
    #[error("FH-QUESTION: this is not asked here")]
    Unknown,
    /// Malformed.
    #[error("FH-QUESTION: the question is malformed: {0}")]
    Malformed(&'static str),
}

impl Declined {
    /// What the server is told: an error object of JSON-RPC (2.0, section 5.1).
    pub(super) fn error(&self) -> Value {
        let code = match self {
            Self::Incapable(_) | Self::Unknown => super::rpc::METHOD_NOT_FOUND,
            Self::Secret(_) | Self::Url | Self::Malformed(_) => super::rpc::INVALID_PARAMS,
        };
        json!({ "error": { "code": code, "message": self.to_string() } })
    }
}

/// A question as it is put to a client with these capabilities (MCP, `ClientCapabilities`).
///
/// # Errors
///
/// [`Declined`], where it is not to be asked.
pub(super) fn put(
    asker: Asker<'_>,
    capabilities: &Value,
    method: &str,
    params: &Value,
) -> Result<Value, Declined> {
    match method {
        ELICITATION => elicitation(asker, capabilities, params),
        SAMPLING if asker.pass_through => {
            able(capabilities, "sampling", None)?;
            Ok(params.clone())
        }
        ROOTS if asker.pass_through => {
            able(capabilities, "roots", None)?;
            Ok(params.clone())
        }
        _ => Err(Declined::Unknown),
    }
}

/// The capabilities that a server is told of.
pub(super) fn told(capabilities: &Value, pass_through: bool) -> Value {
    let Some(all) = capabilities.as_object() else { return json!({}) };
    let passes = |name: &str| pass_through || name == "elicitation";
    Value::Object(all.iter().filter(|(name, _)| passes(name)).map(|(k, v)| (k.clone(), v.clone())).collect())
}

fn elicitation(asker: Asker<'_>, capabilities: &Value, params: &Value) -> Result<Value, Declined> {
    let members = params.as_object().ok_or(Declined::Malformed("it has no parameters"))?;
    let mode = match members.get("mode") {
        None => "form",
        Some(mode) => mode.as_str().ok_or(Declined::Malformed("its mode is no text"))?,
    };
    if !asker.pass_through && look_alike(members, &MEMBERS).is_some() {
        return Err(Declined::Malformed("a member of it looks like another one"));
    }
    match mode {
        "form" => {
            able(capabilities, "elicitation", Some("form"))?;
            if !asker.pass_through
                && let Some(field) = secret_field(members)
                && !guard::off("mcp-elicitation-secrets")
            {
                return Err(Declined::Secret(visible(&field)));
            }
        }
        "url" => {
            able(capabilities, "elicitation", Some("url"))?;
            let url =
                members.get("url").and_then(Value::as_str).ok_or(Declined::Malformed("it has no `url`"))?;
            if !asker.pass_through && !is_own(url, asker.hosts) && !guard::off("mcp-elicitation-hosts") {
                return Err(Declined::Url);
            }
        }
        _ => return Err(Declined::Unknown),
    }
    if asker.pass_through {
        return Ok(params.clone());
    }
    let message = members.get("message").and_then(Value::as_str).unwrap_or_default();
    let message: String = message.chars().take(LONGEST).collect();
    let mut members = members.clone();
    let text = format!("[server {} asks] {}", asker.server, lines(&message));
    members.remove("message");
    let Value::Object(mut members) = results::shown(Value::Object(members)) else {
        return Err(Declined::Malformed("it has no parameters"));
    };
    members.insert("message".to_owned(), text.into());
    Ok(Value::Object(members))
}

/// Everything but line ends made visible.
fn lines(text: &str) -> String {
    text.split('\n').map(|line| visible(line.trim_end_matches('\r'))).collect::<Vec<_>>().join("\n")
}

/// Whether a client can do something, in a way. To declare elicitation without a way is to declare forms alone.
fn able(capabilities: &Value, name: &str, way: Option<&str>) -> Result<(), Declined> {
    let declared = capabilities.get(name).and_then(Value::as_object);
    let can = match (declared, way) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(ways), Some(way)) => {
            let is_there = ways.get(way).is_some_and(|way| !way.is_null());
            is_there || (way == "form" && ways.get("url").is_none())
        }
    };
    if can || guard::off("mcp-client-capabilities") {
        return Ok(());
    }
    let inner = way.map_or_else(|| json!({}), |way| json!({ (way): {} }));
    Err(Declined::Incapable(json!({ (name): inner })))
}

/// Members of a question, and of a schema, that other readers could find under another spelling.
const MEMBERS: [&str; 5] = ["elicitationId", "message", "mode", "requestedSchema", "url"];

/// The field of a form, or the words of it, that ask for what nobody is asked for.
fn secret_field(question: &Map<String, Value>) -> Option<String> {
    let message = question.get("message").and_then(Value::as_str).unwrap_or_default();
    if secrets::asked_in(message) {
        return Some("message".to_owned());
    }
    question.get("requestedSchema").and_then(|schema| secret_in(schema, DEPTH))
}

/// Looks for fields wherever a schema may have them, under any spelling that some reader takes for the right one.
fn secret_in(schema: &Value, depth: usize) -> Option<String> {
    if depth == 0 {
        return Some("…".to_owned());
    }
    match schema {
        Value::Array(all) => all.iter().find_map(|one| secret_in(one, depth - 1)),
        Value::Object(members) => members.iter().find_map(|(key, value)| {
            match (fold(key).as_str(), value) {
                ("properties" | "patternproperties", Value::Object(fields)) => {
                    let named = fields.keys().find(|name| secrets::is_name(name)).cloned();
                    if named.is_some() {
                        return named;
                    }
                }
                ("title" | "description", Value::String(text)) if secrets::asked_in(text) => {
                    return Some(key.clone());
                }
                ("format", Value::String(format)) if format.eq_ignore_ascii_case("password") => {
                    return Some(key.clone());
                }
                _ => {}
            }
            secret_in(value, depth - 1)
        }),
        _ => None,
    }
}

/// Whether a page is one that the server could fetch itself, over TLS.
fn is_own(url: &str, hosts: &[String]) -> bool {
    let Ok(url) = url.parse::<http::Uri>() else { return false };
    let (Some(scheme), Some(authority)) = (url.scheme_str(), url.authority()) else { return false };
    if scheme != "https" || authority.as_str().contains('@') {
        return false;
    }
    let host = authority.host().trim_end_matches('.').to_ascii_lowercase();
    hosts.iter().any(|own| {
        let own = own.strip_prefix("https://").unwrap_or(own).to_ascii_lowercase();
        let (own, port) = match own.rsplit_once(':') {
            Some((own, port)) if !own.ends_with(':') => (own, port.parse::<u16>().ok()),
            _ => (own.as_str(), Some(443)),
        };
        let fits = match own.strip_prefix("*.") {
            Some(parent) => host.strip_suffix(parent).is_some_and(|front| front.ends_with('.')),
            None => host == own,
        };
        fits && port == Some(authority.port_u16().unwrap_or(443))
    })
}

#[cfg(test)]
mod tests;
