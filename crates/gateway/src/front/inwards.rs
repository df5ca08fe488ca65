//! What the client says.

use serde_json::{Map, Value, json};
use tools::{json, surface::Kind};

use super::{
    Front, Held, Order, Phase, Waiting,
    catalog::{OUR_TOOL, asked_by},
    message::{self, INVALID_PARAMS, INVALID_REQUEST, Id, METHOD_NOT_FOUND, PARSE_ERROR},
};

/// Requests that are the server's to answer, whatever it offers otherwise, with the capability it must have for them.
const FORWARDED: &[(&str, &str)] = &[
    ("completion/complete", "completions"),
    ("logging/setLevel", "logging"),
    ("resources/read", "resources"),
    ("resources/subscribe", "resources"),
    ("resources/unsubscribe", "resources"),
    ("tasks/get", "tasks"),
    ("tasks/list", "tasks"),
    ("tasks/cancel", "tasks"),
    ("tasks/result", "tasks"),
];

impl Front {
    /// One line of the client.
    pub fn client(&mut self, line: &[u8]) {
        let message = match json::parse(line) {
            Ok(Value::Object(message)) => message,
            Ok(_) => {
                let said = "one message a line: batches went out of the protocol in 2025-06-18";
                return self.answer(message::error(None, INVALID_REQUEST, said));
            }
            Err(error) => {
                let code =
                    if serde_json::from_slice::<Value>(line).is_ok() { INVALID_REQUEST } else { PARSE_ERROR };
                return self.answer(message::error(None, code, &error.to_string()));
            }
        };
        let id = message.get("id").map(Id::of);
        match (message.get("method"), id) {
            (Some(Value::String(method)), Some(Some(id))) => self.request(method, id, &message, line),
            (Some(Value::String(method)), None) => self.notification(method, &message, line),
            (None, Some(Some(id))) => {
                // Nobody answers what was not asked.
                if self.asked_of_client.remove(&id) {
                    self.out.push_back(Order::ToServer(with_end(line)));
                }
            }
            (_, Some(None)) => {
                self.answer(message::error(None, INVALID_REQUEST, "an `id` is a string or a number"));
            }
            _ => {
                self.answer(message::error(None, INVALID_REQUEST, "a message has a `method` or is an answer"))
            }
        }
    }

    fn request(&mut self, method: &str, id: Id, message: &Map<String, Value>, line: &[u8]) {
        let params = message.get("params");
        if id.value().as_str().is_some_and(|id| id.starts_with(&self.prefix)) {
            return self.answer(message::error(Some(&id), INVALID_REQUEST, "this id cannot be used"));
        }
        match method {
            "ping" => return self.answer(message::result(&id, &json!({}))),
            "initialize" => return self.hello(&id, params),
            _ if !self.client.said_hello => {
                let said = "a session begins with `initialize`";
                return self.answer(message::error(Some(&id), INVALID_REQUEST, said));
            }
            _ => {}
        }
        if let Some(list) = asked_by(method) {
            return self.list(&id, list, params);
        }
        let name = |member: &str| params.and_then(|params| params.get(member)).and_then(Value::as_str);
        match method {
            "tools/call" => {
                let Some(name) = name("name") else {
                    return self.answer(message::error(
                        Some(&id),
                        INVALID_PARAMS,
                        "`params.name` is missing",
                    ));
                };
                if let Err(line) = self.may_call(&id, name) {
                    return self.answer(line);
                }
            }
            "prompts/get" => {
                let name = name("name").unwrap_or_default();
                if let Err(line) = self.may_get(&id, Kind::Prompt, name) {
                    return self.answer(line);
                }
            }
            "resources/read" | "resources/subscribe"
                if self.catalog.is_held(Kind::Resource, name("uri").unwrap_or_default()) =>
            {
                let said = changed(&format!("the resource {:?}", name("uri").unwrap_or_default()));
                return self.answer(message::error(Some(&id), message::INTERNAL_ERROR, &said));
            }
            _ => {
                let capability =
                    FORWARDED.iter().find(|(known, _)| *known == method).map(|(_, needs)| *needs);
                let there = capability.is_some_and(|needs| {
                    self.catalog.surface().is_some_and(|surface| surface.capabilities().get(needs).is_some())
                });
                if !there {
                    return self.answer(message::error(Some(&id), METHOD_NOT_FOUND, "Method not found"));
                }
            }
        }
        self.pass(Waiting { id: Some(id), method: method.to_owned(), line: with_end(line) });
    }

    fn hello(&mut self, id: &Id, params: Option<&Value>) {
        if self.client.said_hello {
            return self.answer(message::error(Some(id), INVALID_REQUEST, "the session was begun already"));
        }
        self.client.said_hello = true;
        self.client.capabilities = params.and_then(|params| params.get("capabilities")).cloned();
        let hello = self.catalog.hello(params);
        self.answer(message::result(id, &hello));
    }

    fn list(&mut self, id: &Id, list: Kind, params: Option<&Value>) {
        if params.and_then(|params| params.get("cursor")).is_some_and(|cursor| !cursor.is_null()) {
            return self.answer(message::error(
                Some(id),
                INVALID_PARAMS,
                "there is one page, without a cursor",
            ));
        }
        let line = match self.catalog.list(list) {
            Some(entries) => message::result(id, &entries),
            None => message::error(Some(id), METHOD_NOT_FOUND, "Method not found"),
        };
        self.answer(line);
    }

    /// The answer in place of a call that may not pass.
    fn may_call(&self, id: &Id, name: &str) -> Result<(), Vec<u8>> {
        if self.catalog.offers(Kind::Tool, name) {
            return Ok(());
        }
        if let Some(notice) = &self.catalog.notice {
            let known = name == OUR_TOOL || self.catalog.knows(Kind::Tool, name);
            return Err(if known {
                tool_refusal(id, &notice.refusal(), name != OUR_TOOL)
            } else {
                unknown(id, name)
            });
        }
        if self.catalog.is_held(Kind::Tool, name) {
            return Err(tool_refusal(id, &changed(&format!("the tool {name:?}")), true));
        }
        Err(unknown(id, name))
    }

    fn may_get(&self, id: &Id, list: Kind, name: &str) -> Result<(), Vec<u8>> {
        if self.catalog.offers(list, name) {
            return Ok(());
        }
        let said = match &self.catalog.notice {
            Some(notice) => notice.refusal(),
            None if self.catalog.is_held(list, name) => changed(&format!("the prompt {name:?}")),
            None => return Err(message::error(Some(id), INVALID_PARAMS, &format!("Unknown prompt: {name}"))),
        };
        Err(message::error(Some(id), message::INTERNAL_ERROR, &said))
    }

    /// To the server, at once or as soon as it has been compared.
    pub(super) fn pass(&mut self, waiting: Waiting) {
        let room = |held: &Held| held.has_room(waiting.line.len());
        match &mut self.phase {
            Phase::Open { .. } => {
                if let Some(id) = &waiting.id
                    && self.in_flight.insert(id.clone(), waiting.method).is_some()
                {
                    self.log(format!("the client used the id {} twice at a time", id.value()));
                }
                self.out.push_back(Order::ToServer(waiting.line));
            }
            Phase::Idle { held } | Phase::Starting { held } | Phase::Comparing { held, .. } if room(held) => {
                held.push(waiting);
                if matches!(self.phase, Phase::Idle { .. }) {
                    self.out.push_back(Order::Start);
                    self.starting();
                }
            }
            Phase::Idle { .. } | Phase::Starting { .. } | Phase::Comparing { .. } => {
                if let Some(id) = &waiting.id {
                    let said =
                        "FH-SERVER-BUSY: the server is still being started, and too many calls wait for it";
                    self.answer(message::error(Some(id), message::INTERNAL_ERROR, said));
                }
            }
            Phase::Closed | Phase::Gone => {
                if let Some(id) = &waiting.id {
                    let said = match &self.catalog.notice {
                        Some(notice) => notice.refusal(),
                        None => "FH-SERVER-ENDED: the server has ended".to_owned(),
                    };
                    self.answer(message::error(Some(id), message::INTERNAL_ERROR, &said));
                }
            }
        }
    }

    fn notification(&mut self, method: &str, message: &Map<String, Value>, line: &[u8]) {
        match method {
            // The server has had ours.
            "notifications/initialized" => self.client.is_ready = true,
            "notifications/cancelled" => {
                let id = message.get("params").and_then(|params| params.get("requestId")).and_then(Id::of);
                let Some(id) = id else { return };
                let waited = match &mut self.phase {
                    Phase::Idle { held } | Phase::Starting { held } | Phase::Comparing { held, .. } => {
                        held.drop_request(&id)
                    }
                    _ => false,
                };
                // It stays in flight: some servers answer all the same.
                if !waited && self.in_flight.contains_key(&id) {
                    self.out.push_back(Order::ToServer(with_end(line)));
                }
            }
            "notifications/progress" if !self.asked_of_client.is_empty() && self.is_open() => {
                self.out.push_back(Order::ToServer(with_end(line)));
            }
            "notifications/roots/list_changed"
                if self.profile.has(model::profile::Ability::Roots) && self.is_open() =>
            {
                self.out.push_back(Order::ToServer(with_end(line)));
            }
            _ => self.log(format!("the client's notification `{}` was not passed on", method.escape_debug())),
        }
    }
}

fn tool_refusal(id: &Id, said: &str, is_error: bool) -> Vec<u8> {
    message::result(id, &json!({ "content": [{ "type": "text", "text": said }], "isError": is_error }))
}

/// As the protocol has it for a tool that is not there (MCP 2025-11-25, tools, error handling).
fn unknown(id: &Id, name: &str) -> Vec<u8> {
    message::error(Some(id), INVALID_PARAMS, &format!("Unknown tool: {name}"))
}

/// Why something that was accepted is refused now.
pub(super) fn changed(what: &str) -> String {
    format!(
        "FH-CHANGED: {what} is not what was accepted any more. A person has to look at the change: `fumehood review` in a \
         terminal shows it."
    )
}

/// The line with its end.
fn with_end(line: &[u8]) -> Vec<u8> {
    let mut line = line.to_vec();
    if line.last() != Some(&b'\n') {
        line.push(b'\n');
    }
    line
}
