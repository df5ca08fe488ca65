//! What came of a request, in the words of the client's revision.

use access::{Verb, refusal::Refusal};
use http::StatusCode;
use model::name::ServerName;
use serde_json::{Map, Value, json};

use super::rpc::{
    Fault, HEADER_MISMATCH, INTERNAL_ERROR, INVALID_PARAMS, MISSING_CAPABILITY, Outcome, REFUSED,
    RESOURCE_NOT_FOUND, UNSUPPORTED_VERSION, URL_ELICITATION,
};
use crate::{
    call::{Concluded, End, Scope},
    names, results,
};

/// Where a refusal stands in the `_meta` of a tool's result.
pub(super) const REFUSAL: &str = "dev.fumehood/refusal";
/// Who answers, in the `_meta` of each result (MCP 2026-07-28, basic protocol).
pub(super) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Members of results that clients of before 2026-07-28 do not know.
const MODERN: [&str; 3] = ["resultType", "ttlMs", "cacheScope"];

/// What a conclusion is told in the light of.
#[derive(Debug)]
pub(super) struct About<'a> {
    /// What was wanted.
    pub(super) verb: Verb,
    /// The name or address, as the caller wrote it.
    pub(super) name: &'a str,
    /// Of which servers the caller speaks.
    pub(super) scope: &'a Scope,
    /// Whose it is, where it is somebody's.
    pub(super) server: Option<&'a ServerName>,
    /// What the server says passes as it is.
    pub(super) pass_through: bool,
    /// Whether the client speaks 2026-07-28.
    pub(super) modern: bool,
}

/// What to tell the client.
#[derive(Debug)]
pub(super) enum Told {
    /// This.
    Outcome(Outcome),
    /// The server wants answers before it goes on (MCP 2026-07-28, multi round-trip requests).
    InputRequired(Map<String, Value>),
}

/// What came of a walk.
pub(super) fn told(about: &About<'_>, concluded: Option<Concluded>) -> Told {
    let Some(concluded) = concluded else {
        return Told::Outcome(Err(Fault::new(INTERNAL_ERROR, "the request could not be carried out")));
    };
    match concluded.end {
        End::Done(Value::Object(result)) => done(about, result),
        End::Done(_) => Told::Outcome(Err(Fault::new(INTERNAL_ERROR, "the server's result is no object"))),
        End::Refused(refusal) if refusal.hidden => {
            Told::Outcome(Err(unknown(about.verb, about.name, about.modern)))
        }
        End::Refused(refusal) => Told::Outcome(refused(about.verb, &refusal, &concluded.call.to_string())),
        End::Failed(error) => Told::Outcome(Err(failed(about, &error))),
    }
}

fn done(about: &About<'_>, mut result: Map<String, Value>) -> Told {
    match result.get("resultType").map(|kind| kind.as_str().unwrap_or_default()) {
        None | Some("complete") => {}
        Some("input_required") => return Told::InputRequired(result),
        Some(_) => {
            let why = "the server answered in a way that is not spoken here (`resultType`)";
            return Told::Outcome(Err(Fault::new(INTERNAL_ERROR, why)));
        }
    }
    if let (Scope::All, Some(server)) = (about.scope, about.server) {
        rename(about.verb, server, &mut result);
    }
    if !about.modern {
        result.retain(|name, _| !MODERN.contains(&name.as_str()));
        return Told::Outcome(Ok(result));
    }
    if about.verb == Verb::ReadResource {
        let ttl = result.get("ttlMs").and_then(Value::as_u64).unwrap_or(0);
        cacheable(&mut result, ttl);
    }
    Told::Outcome(Ok(result))
}

/// What a result says of how long it may be kept, and by whom: never by anybody for another caller.
pub(super) fn cacheable(result: &mut Map<String, Value>, ttl_ms: u64) {
    result.insert("ttlMs".to_owned(), ttl_ms.into());
    result.insert("cacheScope".to_owned(), "private".into());
}

/// A result of 2026-07-28, and who answers.
pub(super) fn complete(result: &mut Map<String, Value>, server_info: &Value) {
    result.entry("resultType").or_insert_with(|| "complete".into());
    if !matches!(result.get("_meta"), Some(Value::Object(_))) {
        result.insert("_meta".to_owned(), json!({}));
    }
    if let Some(Value::Object(meta)) = result.get_mut("_meta") {
        meta.insert(SERVER_INFO.to_owned(), server_info.clone());
    }
}

/// The only answer to a name that does not exist and to one that this caller may not use.
pub(super) fn unknown(verb: Verb, name: &str, modern: bool) -> Fault {
    match verb {
        Verb::CallTool => Fault::new(INVALID_PARAMS, format!("Unknown tool: {name}")),
        Verb::GetPrompt => Fault::new(INVALID_PARAMS, format!("Unknown prompt: {name}")),
        Verb::Complete => Fault::new(INVALID_PARAMS, format!("Unknown prompt or resource: {name}")),
        Verb::ReadResource | Verb::Subscribe => {
            let code = if modern { INVALID_PARAMS } else { RESOURCE_NOT_FOUND };
            Fault::new(code, "Resource not found").data(json!({ "uri": name }))
        }
    }
}

/// A refusal: of a tool, a result that a model reads; of anything else, an error.
fn refused(verb: Verb, refusal: &Refusal, call: &str) -> Outcome {
    let text = sentence(refusal);
    // Which rule it was is for the record, where the call's id leads: it is no caller's business.
    let facts = json!({ "code": refusal.code.as_str(), "call": call });
    if verb != Verb::CallTool {
        return Err(Fault::new(REFUSED, text).data(facts));
    }
    let result = json!({
        "content": [{ "type": "text", "text": text }],
        "isError": true,
        "_meta": { REFUSAL: facts },
    });
    match result {
        Value::Object(result) => Ok(result),
        _ => Err(Fault::new(REFUSED, text)),
    }
}

/// `CODE: reason. remedy`
fn sentence(refusal: &Refusal) -> String {
    let reason = format!("{}: {}", refusal.code, refusal.reason.trim_end_matches('.'));
    match &refusal.remedy {
        Some(remedy) => format!("{reason}. {remedy}"),
        None => reason,
    }
}

/// A server's error. Codes that a revision has for one purpose keep it; those that a client of the newer one must not get
/// become what that has instead.
fn failed(about: &About<'_>, error: &Value) -> Fault {
    let mut fault = Fault::of_server(error);
    if !about.pass_through {
        // The lines of a text stay lines, as they do over stdio.
        fault.message = results::visible(&fault.message);
    }
    match (about.modern, fault.code) {
        (true, RESOURCE_NOT_FOUND) => fault.code = INVALID_PARAMS,
        (true, URL_ELICITATION) => fault.code = INTERNAL_ERROR,
        (true, HEADER_MISMATCH | MISSING_CAPABILITY | UNSUPPORTED_VERSION) => {
            fault.status = StatusCode::BAD_REQUEST;
        }
        _ => {}
    }
    // A server that does not know the address says so in its own words, without what we were asked for.
    let is_address = matches!(about.verb, Verb::ReadResource | Verb::Subscribe);
    if is_address
        && let Some(Value::Object(data)) = &mut fault.data
        && data.contains_key("uri")
    {
        data.insert("uri".to_owned(), about.name.into());
    }
    fault
}

/// Addresses in a result, as callers who speak of all servers write them.
fn rename(verb: Verb, server: &ServerName, result: &mut Map<String, Value>) {
    match verb {
        Verb::CallTool => each(result.get_mut("content"), |block| rename_block(server, block)),
        Verb::GetPrompt => each(result.get_mut("messages"), |message| {
            if let Some(content) = message.get_mut("content") {
                rename_block(server, content);
            }
        }),
        Verb::ReadResource => each(result.get_mut("contents"), |contents| rename_uri(server, Some(contents))),
        Verb::Complete | Verb::Subscribe => {}
    }
}

fn each(list: Option<&mut Value>, change: impl FnMut(&mut Value)) {
    list.and_then(Value::as_array_mut).into_iter().flatten().for_each(change);
}

fn rename_block(server: &ServerName, block: &mut Value) {
    match block.get("type").and_then(Value::as_str) {
        Some("resource_link") => rename_uri(server, Some(block)),
        Some("resource") => rename_uri(server, block.get_mut("resource")),
        _ => {}
    }
}

fn rename_uri(server: &ServerName, of: Option<&mut Value>) {
    if let Some(Value::String(uri)) = of.and_then(|of| of.get_mut("uri")) {
        *uri = names::uri(server, uri);
    }
}

#[cfg(test)]
mod tests;
