//! What the server says.

use model::profile::Ability;
use serde_json::{Value, json};
use tools::{json, visible::excerpt};

use super::{
    Front, Order, Over, Phase,
    call::Subject,
    message::{
        self, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, Id, METHOD_NOT_FOUND, Shape, look_alike,
    },
};
use crate::guard;

/// Notifications that are for the client. Those of lists are not: what has changed is found out here.
const PASSED: &[&str] = &[
    "notifications/message",
    "notifications/progress",
    "notifications/resources/updated",
    "notifications/tasks/status",
];

/// As many questions may a client have before it that it has not answered; further ones are refused.
const MOST_ASKED: usize = 64;

impl Front {
    /// One line of the server.
    pub fn server(&mut self, line: &[u8]) {
        let is_comparing = match &self.phase {
            Phase::Comparing { .. } => true,
            Phase::Open { .. } => false,
            Phase::Closed | Phase::Idle | Phase::Starting | Phase::Gone => return,
        };
        match Shape::of(line) {
            Ok(shape) if is_comparing => self.heard_early(&shape, line),
            Ok(shape) => self.heard(shape, line),
            Err(malformed) => {
                self.log(format!("a line of the server was not passed on: {}", malformed.why));
                let Some(id) = malformed.id.filter(|_| malformed.is_answer) else { return };
                if id.starts_with(&self.prefix) {
                    self.heed(line, true);
                } else if self.in_flight.remove(&id) {
                    let said =
                        format!("FH-MALFORMED: the server's answer cannot be passed on: {}", malformed.why);
                    self.refuse_call(&id, &Subject::Session, &said);
                    self.over(&id, Over::Unanswered);
                }
            }
        }
    }

    /// Whether the server has a request that was withdrawn, and may not have noticed yet.
    pub fn is_any_withdrawn(&self) -> bool {
        !self.withdrawn.is_empty()
    }

    /// A line of a server that is being compared: nothing of it is for the client.
    fn heard_early(&mut self, shape: &Shape, line: &[u8]) {
        match shape {
            Shape::Answer { id } if id.starts_with(&self.prefix) => self.heed(line, true),
            Shape::Request { .. } => self.heed(line, false),
            Shape::Notification { method } if method.ends_with("/list_changed") => self.heed(line, false),
            Shape::Answer { .. } | Shape::Notification { .. } => {}
        }
    }

    /// A line of the server that was accepted.
    fn heard(&mut self, shape: Shape, line: &[u8]) {
        match shape {
            Shape::Answer { id } if id.starts_with(&self.prefix) => self.heed(line, true),
            Shape::Answer { id } => {
                if self.in_flight.remove(&id) || guard::off("front-unasked-answers") {
                    self.answered(id, line);
                } else if let Some(late) = self.withdrawn.iter().position(|withdrawn| *withdrawn == id) {
                    self.withdrawn.remove(late);
                } else {
                    self.log(format!(
                        "an answer of the server to {id}, which nobody asked, was not passed on"
                    ));
                }
            }
            Shape::Request { id, method } => {
                if let Some((code, said)) = self.ask_client(&id, &method, line) {
                    self.log(format!("the server's request `{}` was refused: {said}", excerpt(&method, 100)));
                    let error = json!({ "code": code, "message": said });
                    self.tell_server(&[json!({ "jsonrpc": "2.0", "id": id.value(), "error": error })]);
                }
            }
            Shape::Notification { method } => self.told_by_server(&method, line),
        }
    }

    fn told_by_server(&mut self, method: &str, line: &[u8]) {
        let is_passed = match method {
            "notifications/tools/list_changed"
            | "notifications/prompts/list_changed"
            | "notifications/resources/list_changed" => return self.heed(line, false),
            // Of no request but the server's own.
            "notifications/cancelled" => {
                let message = json::parse(line).unwrap_or_default();
                let id = message.get("params").and_then(|params| params.get("requestId")).and_then(Id::of);
                id.is_some_and(|id| self.asked_of_client.remove(&id))
            }
            "notifications/elicitation/complete" => {
                self.profile.has(Ability::Elicitation) || self.passes_through
            }
            _ => PASSED.contains(&method),
        };
        let is_heard = self.client.said_hello() || self.is_progress_of_modern(method, line);
        if (is_passed || guard::off("front-notifications")) && is_heard {
            self.out.push_back(Order::ToClient(message::with_end(line)));
        } else if !is_passed {
            self.log(format!("the server's notification `{}` was not passed on", excerpt(method, 100)));
        }
    }

    /// A request of the server's: only what its profile lets it count on reaches the client. Why it does not, else.
    fn ask_client(&mut self, id: &Id, method: &str, line: &[u8]) -> Option<(i64, &'static str)> {
        if method == "ping" {
            return self.answer_server(id, &json!({}));
        }
        if self.passes_through && matches!(method, "elicitation/create" | "sampling/createMessage") {
            return self.put_to_client(id, line);
        }
        let ability = match method {
            "roots/list" => Some(Ability::Roots),
            "elicitation/create" => Some(Ability::Elicitation),
            _ => None,
        };
        let is_guarded = !guard::off("front-server-requests");
        if is_guarded
            && !ability.is_some_and(|ability| {
                self.profile.has(ability) || ability == Ability::Roots && self.passes_through
            })
        {
            return Some((METHOD_NOT_FOUND, "Method not found"));
        }
        if let Some(ability) = ability {
            // The profile promised it; the client behind may have nobody to ask.
            if !self.can_be_asked(ability) {
                return self.answer_server(
                    id,
                    &match ability {
                        Ability::Roots => json!({ "roots": [] }),
                        Ability::Elicitation => json!({ "action": "cancel" }),
                    },
                );
            }
            let Ok(message) = json::parse(line) else { return Some((INVALID_REQUEST, "it is ambiguous")) };
            if ability == Ability::Elicitation && !is_form(message.get("params")) {
                return Some((INVALID_PARAMS, "a client of this profile is asked by forms alone"));
            }
        }
        self.put_to_client(id, line)
    }

    fn put_to_client(&mut self, id: &Id, line: &[u8]) -> Option<(i64, &'static str)> {
        if self.asked_of_client.len() >= MOST_ASKED && !guard::off("front-bounds") {
            return Some((INTERNAL_ERROR, "too many questions are unanswered"));
        }
        if !self.asked_of_client.insert(id.clone()) {
            return Some((INVALID_REQUEST, "this `id` is that of a request which has no answer yet"));
        }
        self.out.push_back(Order::ToClient(message::with_end(line)));
        None
    }

    fn answer_server(&mut self, id: &Id, result: &Value) -> Option<(i64, &'static str)> {
        self.out.push_back(Order::ToServer(message::result(id, result)));
        None
    }

    /// Whether the client can do this, and may be spoken to (MCP 2025-11-25, lifecycle and elicitation, capabilities).
    pub(super) fn can_be_asked(&self, ability: Ability) -> bool {
        let capability = self.client.capabilities.as_ref().and_then(|all| all.get(ability.as_str()));
        let can = capability.and_then(Value::as_object).is_some_and(|can| match ability {
            Ability::Roots => true,
            // Of a client that names its ways of being asked, forms need not be one.
            Ability::Elicitation => can.contains_key("form") || !can.contains_key("url"),
        });
        can && self.client.is_ready && (self.profile.has(ability) || self.passes_through)
    }
}

/// Whether a question is put as a form. Another way was not promised: a link would lead a person to where the server
/// wants them.
fn is_form(params: Option<&Value>) -> bool {
    let Some(params) = params.and_then(Value::as_object) else { return false };
    let is_form = params.get("mode").is_none_or(|mode| mode == "form")
        && !params.keys().any(|key| look_alike(key, &["mode"]).is_some());
    is_form || guard::off("front-forms")
}
