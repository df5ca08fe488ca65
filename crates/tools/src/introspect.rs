//! Reading a server's surface: what to send, and what to make of each message that comes. Whoever has the connection
//! carries the messages, keeps the time, and decides how long a server may take.
//!
//! ```
//! use model::profile::Profile;
//! use serde_json::json;
//! use tools::introspect::Introspection;
//!
//! let mut reading = Introspection::new(&Profile::plain(), "fumehood-1f3a-");
//! let hello = reading.begin();
//! assert_eq!(hello[0]["method"], "initialize");
//! let answer = json!({ "jsonrpc": "2.0", "id": hello[0]["id"], "result": {
//!     "protocolVersion": "2025-11-25", "serverInfo": { "name": "x", "version": "1" }, "capabilities": { "tools": {} } } });
//! let asked = reading.push(&answer);
//! assert_eq!((&asked[0]["method"], &asked[1]["method"]), (&json!("notifications/initialized"), &json!("tools/list")));
//! let answer = json!({ "jsonrpc": "2.0", "id": asked[1]["id"], "result": { "tools": [] } });
//! assert!(reading.push(&answer).is_empty() && reading.has_settled());
//! let surface = reading.result().unwrap().unwrap();
//! assert_eq!(surface.tools().len(), 0);
//! ```

use model::profile::{Ability, Profile};
use serde_json::{Map, Value, json};

use crate::surface::{Kind, Surface, SurfaceError};
use crate::visible::excerpt;

mod hello;
mod lists;

use hello::Hello;
use lists::{Lists, Next};

/// The revision of the protocol that is asked for.
pub const REVISION: &str = "2025-11-25";
/// Revisions that a server may answer with.
pub const REVISIONS: [&str; 4] = [REVISION, "2025-06-18", "2025-03-26", "2024-11-05"];
/// So many readings in a row may be overtaken by changes of the lists before the server counts as restless.
pub const MAX_READINGS: usize = 32;

/// A reading of one server's surface, from `initialize` on.
///
/// Give it messages read by [`crate::json::parse`]: another reader may take the wrong one of two equal keys.
#[derive(Debug)]
pub struct Introspection {
    profile: Profile,
    /// What the client says it can do, where that is not what its profile has.
    capabilities: Option<Value>,
    prefix: String,
    next: u64,
    stage: Stage,
    /// The last reading that no change of the lists overtook, or the error that ended it all.
    result: Option<Result<Surface, SurfaceError>>,
    /// Readings in a row that were overtaken.
    overtaken: usize,
}

#[derive(Debug)]
enum Stage {
    New,
    Greeted { id: String },
    Reading { hello: Hello, lists: Box<Lists>, stale: bool },
    Read { hello: Hello, stale: bool },
    Failed,
}

impl Introspection {
    /// A reading as this client. `ids` begins the id of each request, so it must be one that nobody else's requests
    /// to the server begin with, such as `fumehood-1f3a-`.
    pub fn new(profile: &Profile, ids: &str) -> Self {
        Self {
            profile: profile.clone(),
            capabilities: None,
            prefix: ids.to_owned(),
            next: 0,
            stage: Stage::New,
            result: None,
            overtaken: 0,
        }
    }

    /// Says in `initialize` that the client can do this, instead of what its profile has.
    #[must_use]
    pub fn able(mut self, capabilities: Value) -> Self {
        self.capabilities = Some(capabilities);
        self
    }

    /// The first message, `initialize`; nothing when it was handed out already.
    pub fn begin(&mut self) -> Vec<Value> {
        if !matches!(self.stage, Stage::New) {
            return Vec::new();
        }
        let of_profile =
            || self.profile.abilities().map(|ability| (ability.as_str().to_owned(), json!({}))).collect();
        let capabilities = self.capabilities.clone().unwrap_or_else(|| Value::Object(of_profile()));
        let params = json!({
            "protocolVersion": REVISION,
            "capabilities": capabilities,
            "clientInfo": { "name": "fumehood", "version": "1" },
        });
        let (id, message) = self.request("initialize", &params);
        self.stage = Stage::Greeted { id };
        vec![message]
    }

    /// Takes any message of the server, and says what to send next. Answers to others' requests, and notifications
    /// other than that a list has changed, are of no account.
    ///
    /// A request of the server is answered: `ping`; with the roots, which are none, and a cancelled elicitation where
    /// the profile has these; else with error -32601.
    pub fn push(&mut self, message: &Value) -> Vec<Value> {
        match (message.get("method").and_then(Value::as_str), message.get("id")) {
            (Some(method), Some(id)) => self.answer(method, id).into_iter().collect(),
            (Some(method), None) => {
                self.hear(method);
                Vec::new()
            }
            (None, Some(Value::String(id))) => match self.take(id, message) {
                Ok(next) => next,
                Err(error) => self.fail(error),
            },
            (None, _) => Vec::new(),
        }
    }

    /// Whether a message is the answer to a request of this reading, late ones among them.
    pub fn is_ours(&self, message: &Value) -> bool {
        let number = message.get("id").and_then(Value::as_str).and_then(|id| id.strip_prefix(&self.prefix));
        message.get("method").is_none()
            && number.is_some_and(|text| {
                text.parse().is_ok_and(|number: u64| number < self.next && number.to_string() == text)
            })
    }

    /// Whether every list was read to its end and none has changed since it was asked for, or an error has ended the
    /// reading for good.
    pub fn has_settled(&self) -> bool {
        matches!(self.stage, Stage::Read { stale: false, .. } | Stage::Failed)
    }

    /// Whether every list was read to its end, but one has changed since: it is time for [`Introspection::again`].
    pub fn wants_again(&self) -> bool {
        matches!(self.stage, Stage::Read { stale: true, .. })
    }

    /// The surface as of the last reading that no change overtook, or why there is none and will be none. While a
    /// newer reading is under way or due (see [`Introspection::has_settled`]) it is still the older one.
    pub fn result(&self) -> Option<Result<Surface, SurfaceError>> {
        self.result.clone()
    }

    /// Reads every list anew. Nothing before the server has answered `initialize`, and nothing after an error.
    pub fn again(&mut self) -> Vec<Value> {
        let (Stage::Reading { hello, .. } | Stage::Read { hello, .. }) = &self.stage else {
            return Vec::new();
        };
        let hello = hello.clone();
        if self.overtaken >= MAX_READINGS {
            return self.fail(SurfaceError::Unsettled(self.overtaken));
        }
        self.read(hello)
    }

    fn read(&mut self, hello: Hello) -> Vec<Value> {
        let mut lists = Lists::default();
        let mut messages = Vec::new();
        for kind in Kind::ALL.into_iter().filter(|kind| hello.has(*kind)) {
            let (id, message) = self.request(kind.method(), &json!({}));
            lists.ask(kind, id);
            messages.push(message);
        }
        self.stage = Stage::Reading { hello, lists: Box::new(lists), stale: false };
        match self.finish() {
            Ok(()) => messages,
            Err(error) => self.fail(error),
        }
    }

    fn take(&mut self, id: &str, message: &Value) -> Result<Vec<Value>, SurfaceError> {
        match &mut self.stage {
            Stage::Greeted { id: greeting } if greeting == id => {
                let hello = Hello::of(outcome("initialize", message)?)?;
                let mut messages = vec![json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })];
                messages.extend(self.read(hello));
                Ok(messages)
            }
            Stage::Reading { lists, .. } => {
                let next = lists.take(id, |method| outcome(method, message))?;
                let Some(Next { kind, cursor }) = next else {
                    self.finish()?;
                    return Ok(Vec::new());
                };
                let (id, message) = self.request(kind.method(), &json!({ "cursor": cursor }));
                if let Stage::Reading { lists, .. } = &mut self.stage {
                    lists.ask(kind, id);
                }
                Ok(vec![message])
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Makes a surface of the lists when the last one is there.
    fn finish(&mut self) -> Result<(), SurfaceError> {
        let Stage::Reading { hello, lists, stale } = &mut self.stage else { return Ok(()) };
        if !lists.are_complete() {
            return Ok(());
        }
        let (hello, lists, stale) = (hello.clone(), std::mem::take(&mut **lists), *stale);
        if stale {
            self.overtaken += 1;
        } else {
            self.overtaken = 0;
            self.result = Some(Ok(Surface::from_parts(lists.into_parts(&self.profile, &hello))?));
        }
        self.stage = Stage::Read { hello, stale };
        Ok(())
    }

    fn hear(&mut self, method: &str) {
        let (Stage::Reading { hello, stale, .. } | Stage::Read { hello, stale }) = &mut self.stage else {
            return;
        };
        let kind = match method {
            "notifications/tools/list_changed" => Kind::Tool,
            "notifications/prompts/list_changed" => Kind::Prompt,
            "notifications/resources/list_changed" => Kind::Resource,
            _ => return,
        };
        *stale |= hello.has(kind);
    }

    fn answer(&self, method: &str, id: &Value) -> Option<Value> {
        if !(id.is_string() || id.is_number()) {
            return None;
        }
        let result = match method {
            "ping" => json!({}),
            "roots/list" if self.profile.has(Ability::Roots) => json!({ "roots": [] }),
            "elicitation/create" if self.profile.has(Ability::Elicitation) => json!({ "action": "cancel" }),
            _ => {
                let error = json!({ "code": METHOD_NOT_FOUND, "message": "this client has no such method" });
                return Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }));
            }
        };
        Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
    }

    fn fail(&mut self, error: SurfaceError) -> Vec<Value> {
        self.stage = Stage::Failed;
        self.result = Some(Err(error));
        Vec::new()
    }

    fn request(&mut self, method: &str, params: &Value) -> (String, Value) {
        let id = format!("{}{}", self.prefix, self.next);
        self.next += 1;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        (id, message)
    }
}

/// JSON-RPC 2.0, section 5.1.
const METHOD_NOT_FOUND: i64 = -32601;

/// The result within an answer, or the error as one of ours.
fn outcome<'a>(method: &str, message: &'a Value) -> Result<&'a Map<String, Value>, SurfaceError> {
    // Some write a member that does not apply as `null`.
    if let Some(error) = message.get("error").filter(|error| !error.is_null()) {
        return Err(SurfaceError::Answer {
            method: method.to_owned(),
            code: error.get("code").and_then(Value::as_i64).unwrap_or_default(),
            message: excerpt(error.get("message").and_then(Value::as_str).unwrap_or("no message"), 300),
        });
    }
    let result = message.get("result").and_then(Value::as_object);
    result.ok_or_else(|| malformed(method, "it has no `result` that is an object"))
}

fn malformed(method: &str, why: &str) -> SurfaceError {
    SurfaceError::Malformed { method: method.to_owned(), why: why.to_owned() }
}

#[cfg(test)]
mod tests;
