//! Requests that stand for themselves (MCP 2026-07-28): each says its revision in `_meta`, and no hello goes before it. The
//! server has a session with us all the same, and sees nothing of that.

use serde_json::{Map, Value, json};
use tools::{introspect::REVISIONS, json, surface::Kind, visible::excerpt};

use super::{
    Front,
    call::Call,
    catalog::asked_by,
    message::{self, INTERNAL_ERROR, INVALID_PARAMS, Id, METHOD_NOT_FOUND, member},
};
use crate::guard;

/// The revision.
const MODERN: &str = "2026-07-28";
/// Asks which revisions a server knows, and what it has.
pub(super) const DISCOVER: &str = "server/discover";
/// Members of `_meta` that are the protocol's own begin so (MCP 2026-07-28, basic protocol, `_meta`).
const OWN: &str = "io.modelcontextprotocol/";
/// In which revision a request is made.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// What the client can do.
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// What the client says of itself.
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
/// Who answers.
const SERVER: &str = "io.modelcontextprotocol/serverInfo";
/// Requests that are the server's to answer.
const FORWARDED: [&str; 4] = ["tools/call", "prompts/get", "resources/read", "completion/complete"];
/// Of a second round, which there is none of here (MCP 2026-07-28, multi round-trip requests).
const OF_ROUNDS: [&str; 2] = ["inputResponses", "requestState"];
/// How long a client may take what it was told for fresh, in ms: it can have itself told of changes.
const TTL: u64 = 10_000;
/// Another revision is wanted (MCP 2026-07-28, versioning).
const UNSUPPORTED_VERSION: i64 = -32022;
/// No such resource, up to 2025-11-25; [`INVALID_PARAMS`] since.
const RESOURCE_NOT_FOUND: i64 = -32002;
/// Something is to be opened in a browser first: 2025-11-25 alone.
const URL_ELICITATION: i64 = -32042;

/// What has to be known of such a request until it is answered.
#[derive(Debug)]
pub(super) struct Asked {
    /// Its result can be kept for a while.
    is_read: bool,
    /// Under which it wants to hear how far it is.
    token: Option<Value>,
}

/// Why a request is not answered otherwise.
#[derive(Debug)]
pub(super) struct Fault {
    code: i64,
    message: String,
    data: Option<Value>,
}

impl Fault {
    pub(super) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    fn line(&self, id: &Id) -> Vec<u8> {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let (Some(data), Value::Object(members)) = (&self.data, &mut error) {
            members.insert("data".into(), data.clone());
        }
        message::line(&json!({ "jsonrpc": "2.0", "id": id.value(), "error": error }))
    }
}

impl From<(i64, String)> for Fault {
    fn from((code, message): (i64, String)) -> Self {
        Self { code, message, data: None }
    }
}

/// Whether a request or notification is one of this era: it says so itself, or there is none of its kind before.
pub(super) fn is_modern(method: &str, params: Option<&Value>) -> bool {
    method == DISCOVER || says_revision(params)
}

fn says_revision(params: Option<&Value>) -> bool {
    params.and_then(|params| params.get("_meta")?.get(VERSION)).is_some()
}

/// A notification as a session has it.
pub(super) fn of_session(method: &str, params: Option<&Value>, line: &[u8]) -> Vec<u8> {
    match params.and_then(Value::as_object) {
        Some(members) if says_revision(params) => {
            let params = without_envelope(members.clone());
            message::line(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
        }
        _ => message::with_end(line),
    }
}

/// Parameters without what is said to us alone.
fn without_envelope(mut params: Map<String, Value>) -> Map<String, Value> {
    if guard::off("front-modern-envelope") {
        return params;
    }
    if let Some(Value::Object(meta)) = params.get_mut("_meta") {
        meta.retain(|key, _| !key.starts_with(OWN));
        if meta.is_empty() {
            params.remove("_meta");
        }
    }
    params.retain(|key, _| !OF_ROUNDS.contains(&key.as_str()));
    params
}

impl Front {
    /// A request of the client that stands for itself.
    pub(super) fn stands_alone(&mut self, method: &str, id: &Id, params: Option<&Value>) {
        let answer = match self.alone(method, id, params) {
            Ok(None) => return,
            Ok(Some(mut result)) => {
                self.complete(&mut result);
                message::result(id, &Value::Object(result))
            }
            Err(fault) => fault.line(id),
        };
        self.answer(answer);
    }

    /// Its result, where it is ours to give and there is one at once.
    fn alone(
        &mut self,
        method: &str,
        id: &Id,
        params: Option<&Value>,
    ) -> Result<Option<Map<String, Value>>, Fault> {
        let meta = member(params, "_meta").map_err(|why| Fault::new(INVALID_PARAMS, why))?;
        self.preamble(meta)?;
        if let Some(list) = asked_by(method) {
            return self.list_alone(list, params).map(Some);
        }
        match (method, params.and_then(Value::as_object)) {
            (DISCOVER, _) => Ok(Some(self.discover())),
            ("subscriptions/listen", _) => self.listen(id, params).map(|()| None),
            (method, Some(params)) if FORWARDED.contains(&method) => {
                self.forward(method, id, params).map(|()| None)
            }
            _ => Err(no_method(method)),
        }
    }

    /// What each request has to say of itself.
    fn preamble(&mut self, meta: Option<&Value>) -> Result<(), Fault> {
        let missing = |key: &str| Fault::new(INVALID_PARAMS, format!("`_meta` has no `{key}`"));
        let said = |key: &str| meta.and_then(|meta| meta.get(key));
        let version = said(VERSION).and_then(Value::as_str).ok_or_else(|| missing(VERSION))?;
        if version != MODERN {
            // Revisions with sessions are spoken here, but not in this way.
            let supported = if REVISIONS.contains(&version) { vec![MODERN] } else { supported() };
            let data = json!({ "supported": supported, "requested": excerpt(version, 60) });
            let fault = Fault::new(UNSUPPORTED_VERSION, "Unsupported protocol version");
            return Err(Fault { data: Some(data), ..fault });
        }
        said(CAPABILITIES).filter(|able| able.is_object()).ok_or_else(|| missing(CAPABILITIES))?;
        if let Some(name) = said(CLIENT).and_then(|client| client.get("name")?.as_str()) {
            self.client.name = Some(excerpt(name, 100));
        }
        Ok(())
    }

    fn discover(&mut self) -> Map<String, Value> {
        for capability in self.catalog.announced() {
            if !self.client.announced.contains(&capability) {
                self.client.announced.push(capability);
            }
        }
        let mut result = Map::from_iter([
            ("supportedVersions".to_owned(), json!(supported())),
            ("capabilities".to_owned(), Value::Object(self.catalog.spoken_alone())),
        ]);
        if let Some(instructions) = self.catalog.instructions() {
            result.insert("instructions".into(), instructions.into());
        }
        cacheable(&mut result, TTL);
        result
    }

    fn list_alone(&self, list: Kind, params: Option<&Value>) -> Result<Map<String, Value>, Fault> {
        let Value::Object(mut result) = self.entries(list, params)? else {
            return Err(no_method(list.method()));
        };
        cacheable(&mut result, TTL);
        Ok(result)
    }

    /// Hands a request on as a session has it.
    fn forward(&mut self, method: &str, id: &Id, params: &Map<String, Value>) -> Result<(), Fault> {
        // No answer here ends in a question, so there is nothing that a client could come back with.
        if params.contains_key("requestState") && !guard::off("front-modern-state") {
            return Err(Fault::new(INVALID_PARAMS, "`requestState` is none that was given out here"));
        }
        let asked = Asked {
            is_read: method == "resources/read",
            token: params.get("_meta").and_then(|meta| meta.get("progressToken")).cloned(),
        };
        let params = Value::Object(without_envelope(params.clone()));
        let subject = self.subject(method, Some(&params))?;
        let line =
            message::line(&json!({ "jsonrpc": "2.0", "id": id.value(), "method": method, "params": params }));
        self.modern.insert(id.clone(), asked);
        self.pass(Call { id: id.clone(), subject, line });
        Ok(())
    }

    /// An answer as the request wants it.
    pub(super) fn in_its_era(&mut self, id: &Id, line: Vec<u8>) -> Vec<u8> {
        let Some(asked) = self.modern.remove(id) else { return line };
        match self.finished(&asked, &line) {
            Ok(outcome) => message::line(&outcome),
            Err(why) => {
                let said = format!("FH-MALFORMED: the server's answer cannot be passed on: {why}");
                message::error(Some(id), INTERNAL_ERROR, &said)
            }
        }
    }

    fn finished(&self, asked: &Asked, line: &[u8]) -> Result<Value, String> {
        let mut message = json::parse(line).map_err(|error| error.to_string())?;
        let members = message.as_object_mut().ok_or("it is no message")?;
        match (members.remove("result"), members.get_mut("error")) {
            (Some(Value::Object(mut result)), _) => {
                // A question in the place of a result would be put to the person, or to the model, by the client itself.
                let is_result = result.get("resultType").is_none_or(|kind| kind == "complete");
                if !is_result && !guard::off("front-modern-results") {
                    return Err("it is no result (`resultType`)".to_owned());
                }
                if asked.is_read {
                    let ttl = result.get("ttlMs").and_then(Value::as_u64).unwrap_or(0);
                    cacheable(&mut result, ttl);
                }
                self.complete(&mut result);
                members.insert("result".into(), Value::Object(result));
            }
            (None, Some(error)) => {
                let code = match error.get("code").and_then(Value::as_i64) {
                    Some(RESOURCE_NOT_FOUND) => Some(INVALID_PARAMS),
                    Some(URL_ELICITATION) => Some(INTERNAL_ERROR),
                    _ => None,
                };
                if let (Some(code), Value::Object(error)) = (code, error) {
                    error.insert("code".into(), code.into());
                }
            }
            _ => return Err("its result is no object".to_owned()),
        }
        Ok(message)
    }

    /// Says that it is a result, and whose.
    fn complete(&self, result: &mut Map<String, Value>) {
        result.entry("resultType").or_insert_with(|| "complete".into());
        let meta = result.entry("_meta").or_insert_with(|| json!({}));
        if !meta.is_object() {
            *meta = json!({});
        }
        if let Value::Object(meta) = meta {
            meta.insert(SERVER.into(), self.catalog.server_info());
        }
    }

    /// Whether a notification of the server tells how far a request is that stands for itself. Nothing else of a server
    /// goes to a client that has not asked for it.
    pub(super) fn is_progress_of_modern(&self, method: &str, line: &[u8]) -> bool {
        if self.modern.is_empty() || method != "notifications/progress" {
            return !self.modern.is_empty() && guard::off("front-modern-messages");
        }
        let message = json::parse(line).unwrap_or_default();
        let token = message.get("params").and_then(|params| params.get("progressToken"));
        token.is_some() && self.modern.values().any(|asked| asked.token.as_ref() == token)
    }
}

/// Newest first.
fn supported() -> Vec<&'static str> {
    std::iter::once(MODERN).chain(REVISIONS).collect()
}

/// How long a result may be kept, and by whom: never for another caller.
fn cacheable(result: &mut Map<String, Value>, ttl_ms: u64) {
    result.insert("ttlMs".into(), ttl_ms.into());
    result.insert("cacheScope".into(), "private".into());
}

fn no_method(method: &str) -> Fault {
    Fault::new(METHOD_NOT_FOUND, format!("Method not found: {}", excerpt(method, 100)))
}
