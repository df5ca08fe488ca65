//! What the client says.

use model::profile::Ability;
use serde_json::{Map, Value, json};
use tools::{json, surface::Kind, visible::excerpt};

use super::{
    Front, Order, Over,
    call::{Call, Subject},
    catalog::asked_by,
    message::{
        self, INVALID_PARAMS, INVALID_REQUEST, Id, METHOD_NOT_FOUND, PARSE_ERROR, Shape, member, with_end,
    },
    modern::{self, DISCOVER},
};
use crate::guard;

/// Requests that are the server's to answer, whatever it offers otherwise, with the capability it must have for them.
/// `tools/call` and `prompts/get` depend on what was accepted alone.
const FORWARDED: &[(&str, &str)] = &[
    ("completion/complete", "completions"),
    ("logging/setLevel", "logging"),
    ("resources/read", "resources"),
    ("resources/subscribe", "resources"),
    ("resources/unsubscribe", "resources"),
    ("tasks/get", TASKS),
    ("tasks/list", TASKS),
    ("tasks/cancel", TASKS),
    ("tasks/result", TASKS),
];
/// Calls that go on after their answer.
const TASKS: &str = "tasks";

/// As many withdrawn requests are remembered, so that their late answers are told from those that nobody asked.
const MOST_WITHDRAWN: usize = 256;

impl Front {
    /// One line of the client.
    pub fn client(&mut self, line: &[u8]) {
        let shape = match Shape::of(line) {
            Ok(shape) => shape,
            Err(malformed) if malformed.is_answer => {
                return self.log(format!("an answer of the client was not passed on: {}", malformed.why));
            }
            Err(malformed) => {
                return self.answer(message::error(malformed.id.as_ref(), malformed.code, &malformed.why));
            }
        };
        let message = match parse(line) {
            Ok(message) => message,
            Err((code, why)) => {
                return match shape {
                    Shape::Request { id, .. } => self.answer(message::error(Some(&id), code, &why)),
                    Shape::Notification { .. } | Shape::Answer { .. } => {
                        self.log(format!("a line of the client was not passed on: {why}"));
                    }
                };
            }
        };
        match shape {
            Shape::Request { id, method } => self.request(&method, id, message.get("params"), line),
            Shape::Notification { method } => self.notification(&method, message.get("params"), line),
            Shape::Answer { id } => {
                // Nobody answers what was not asked.
                if self.asked_of_client.remove(&id) || guard::off("front-unasked-of-client") {
                    self.out.push_back(Order::ToServer(with_end(line)));
                } else {
                    self.log(format!(
                        "an answer of the client to {id}, which nobody asked, was not passed on"
                    ));
                }
            }
        }
    }

    /// A request of ours for one of many callers: `line` is the whole message, with its end. Its answer comes as
    /// [`Order::ToClient`], unless it gets [`Order::Refused`].
    pub fn ask(&mut self, id: &str, method: &str, params: &Value, line: Vec<u8>) {
        let id = Id::of_text(id);
        if let Some(said) = self.objection_to_id(&id) {
            return self.answer(message::error(Some(&id), INVALID_REQUEST, said));
        }
        match self.subject(method, Some(params)) {
            Ok(subject) => self.pass(Call { id, subject, line }),
            Err((code, said)) => self.answer(message::error(Some(&id), code, &said)),
        }
    }

    /// Takes back a request of ours; `why` is told to the server, where it has it.
    pub fn withdraw(&mut self, id: &str, why: &str) {
        let id = Id::of_text(id);
        if self.is_withdrawn(id.clone()) {
            let params = json!({ "requestId": id.value(), "reason": why });
            self.tell_server(&[
                json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }),
            ]);
        }
    }

    /// Takes back a request of ours that the server has not been handed.
    pub fn forget(&mut self, id: &str) {
        let id = Id::of_text(id);
        if !self.waiting.forget(&id) {
            self.in_flight.remove(&id);
        }
    }

    /// Forgets a request; whether the server has it.
    fn is_withdrawn(&mut self, id: Id) -> bool {
        self.modern.remove(&id);
        if self.waiting.forget(&id) || !self.in_flight.remove(&id) {
            return false;
        }
        let is_asked = !self.is_on_the_road(&id);
        self.over(&id, Over::Withdrawn);
        if !is_asked {
            return false;
        }
        if self.withdrawn.len() >= MOST_WITHDRAWN {
            self.withdrawn.pop_front();
        }
        self.withdrawn.push_back(id);
        true
    }

    fn request(&mut self, method: &str, id: Id, params: Option<&Value>, line: &[u8]) {
        if let Some(said) = self.objection_to_id(&id) {
            return self.answer(message::error(Some(&id), INVALID_REQUEST, said));
        }
        if modern::is_modern(method, params) {
            return self.stands_alone(method, &id, params);
        }
        match method {
            "ping" => return self.answer(message::result(&id, &json!({}))),
            "initialize" => return self.hello(&id, params),
            _ if !self.client.said_hello() => {
                let said = "a session begins with `initialize`";
                return self.answer(message::error(Some(&id), INVALID_REQUEST, said));
            }
            _ => {}
        }
        if let Some(list) = asked_by(method) {
            return self.list(&id, list, params);
        }
        match self.subject(method, params) {
            Ok(subject) => self.pass(Call { id, subject, line: with_end(line) }),
            Err((code, said)) => self.answer(message::error(Some(&id), code, &said)),
        }
    }

    /// Why a request cannot be made under an id.
    fn objection_to_id(&self, id: &Id) -> Option<&'static str> {
        if id.starts_with(&self.prefix) && !guard::off("front-our-ids") {
            // The server's answer would be taken for one to us.
            return Some("this `id` cannot be used");
        }
        let is_in_use = self.in_flight.contains(id) || self.waiting.has(id) || self.listening.has(id);
        is_in_use.then_some("this `id` is that of a request which has no answer yet")
    }

    pub(super) fn subject(&self, method: &str, params: Option<&Value>) -> Result<Subject, (i64, String)> {
        if !matches!(method, "tools/call" | "prompts/get") {
            let needs = FORWARDED.iter().find(|(known, _)| *known == method).map(|(_, needs)| *needs);
            // What came of a task would come by no road.
            let needs = needs.filter(|needs| *needs != TASKS || !self.walks);
            let is_there = needs
                .is_some_and(|needs| self.catalog.has(needs) || self.catalog.notice().is_some())
                || self.client.is_ours && method == DISCOVER;
            if !is_there {
                return Err((METHOD_NOT_FOUND, "Method not found".to_owned()));
            }
        }
        let text = |of: Option<&Value>, member: &str| text(of, member).map_err(|why| (INVALID_PARAMS, why));
        Ok(match method {
            "tools/call" => Subject::Tool(text(params, "name")?),
            "prompts/get" => Subject::Prompt(text(params, "name")?),
            "resources/read" | "resources/subscribe" => Subject::Resource(text(params, "uri")?),
            "completion/complete" => {
                let of = member(params, "ref").map_err(|why| (INVALID_PARAMS, why))?;
                match text(of, "type")?.as_str() {
                    "ref/prompt" => Subject::Prompt(text(of, "name")?),
                    "ref/resource" => Subject::Reference(text(of, "uri")?),
                    _ => return Err((INVALID_PARAMS, "`params.ref.type` is not known".to_owned())),
                }
            }
            _ => Subject::Session,
        })
    }

    fn hello(&mut self, id: &Id, params: Option<&Value>) {
        if self.client.said_hello() {
            return self.answer(message::error(Some(id), INVALID_REQUEST, "the session was begun already"));
        }
        let capabilities = params.and_then(|params| params.get("capabilities")).cloned();
        self.client.capabilities = Some(capabilities.unwrap_or_default());
        let name = params.and_then(|params| params.get("clientInfo")?.get("name")?.as_str());
        self.client.name = name.map(|name| excerpt(name, 100));
        self.client.announced = self.catalog.announced();
        let mut hello = self.catalog.hello(params);
        if let Some(Value::Object(capabilities)) = hello.get_mut("capabilities").filter(|_| self.walks) {
            capabilities.remove(TASKS);
        }
        self.answer(message::result(id, &hello));
    }

    fn list(&mut self, id: &Id, list: Kind, params: Option<&Value>) {
        self.answer(match self.entries(list, params) {
            Ok(entries) => message::result(id, &entries),
            Err((code, said)) => message::error(Some(id), code, &said),
        });
    }

    /// A list, in an object; or the code and text of an error.
    pub(super) fn entries(&self, list: Kind, params: Option<&Value>) -> Result<Value, (i64, String)> {
        if params.and_then(|params| params.get("cursor")).is_some_and(|cursor| !cursor.is_null()) {
            return Err((INVALID_PARAMS, "there is one page, without a cursor".to_owned()));
        }
        match self.catalog.list(list) {
            Some(entries) => Ok(entries),
            // It was told of such a list before there was a server without one.
            None if self.client.announced.contains(&list.capability()) => Ok(json!({ list.list(): [] })),
            None => Err((METHOD_NOT_FOUND, "Method not found".to_owned())),
        }
    }

    fn notification(&mut self, method: &str, params: Option<&Value>, line: &[u8]) {
        match method {
            // The server has had ours.
            "notifications/initialized" if self.client.said_hello() => {
                if !std::mem::replace(&mut self.client.is_ready, true) {
                    self.tell_roots();
                }
            }
            "notifications/cancelled" => {
                let Some(id) = params.and_then(|params| params.get("requestId")).and_then(Id::of) else {
                    return;
                };
                // A late answer is dropped, as its client would have to (MCP 2025-11-25, cancellation).
                if !self.listening.leave(&id) && self.is_withdrawn(id) {
                    self.out.push_back(Order::ToServer(modern::of_session(method, params, line)));
                }
            }
            "notifications/progress" if !self.asked_of_client.is_empty() && self.is_open() => {
                self.out.push_back(Order::ToServer(with_end(line)));
            }
            "notifications/roots/list_changed" if self.profile.has(Ability::Roots) && self.is_open() => {
                self.out.push_back(Order::ToServer(with_end(line)));
            }
            _ => self.log(format!("the client's notification `{}` was not passed on", excerpt(method, 100))),
        }
    }
}

/// The whole message, in which no key at any depth stands twice.
fn parse(line: &[u8]) -> Result<Map<String, Value>, (i64, String)> {
    if guard::off("front-duplicate-keys")
        && let Ok(Value::Object(message)) = serde_json::from_slice(line)
    {
        return Ok(message);
    }
    match json::parse(line) {
        Ok(Value::Object(message)) => Ok(message),
        Ok(_) => Err((INVALID_REQUEST, "a message is an object".to_owned())),
        Err(error @ json::JsonError::Syntax { .. }) => Err((PARSE_ERROR, error.to_string())),
        Err(error) => Err((INVALID_REQUEST, error.to_string())),
    }
}

fn text(of: Option<&Value>, name: &str) -> Result<String, String> {
    let text = member(of, name)?.and_then(Value::as_str);
    text.map(str::to_owned).ok_or_else(|| format!("`{name}` is missing, or no text"))
}
