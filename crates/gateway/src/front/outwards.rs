//! What the server says.

use model::profile::Ability;
use serde_json::{Value, json};
use tools::{json, surface::Surface};

use super::{
    Front, Notice, Order, Phase,
    catalog::Catalog,
    message::{self, Head, Id, METHOD_NOT_FOUND},
};

/// Notifications that are for the client, with the capability under which they come.
const PASSED: &[&str] = &[
    "notifications/message",
    "notifications/progress",
    "notifications/cancelled",
    "notifications/resources/updated",
    "notifications/tasks/status",
    "notifications/elicitation/complete",
];

impl Front {
    /// One line of the server.
    pub fn server(&mut self, line: &[u8]) {
        let head = match Head::read(line) {
            Ok(head) => head,
            Err(error) => return self.log(format!("a line of the server was not passed on: {error}")),
        };
        if matches!(self.phase, Phase::Comparing { .. }) || self.is_for_us(&head) {
            return self.heed(line);
        }
        if !matches!(self.phase, Phase::Open { .. }) {
            return;
        }
        match (head.method.as_deref(), head.id.as_ref().map(Id::of), head.is_answer) {
            (None, Some(Some(id)), true) => {
                if self.in_flight.remove(&id).is_some() {
                    self.out.push_back(Order::ToClient(line.to_vec()));
                } else {
                    self.log(format!("an answer to {}, which nobody asked, was not passed on", id.value()));
                }
            }
            (Some(method), Some(Some(id)), false) => self.asked_by_server(method, id, line),
            (Some(method), None, false) => {
                if PASSED.contains(&method) && self.client.said_hello {
                    self.out.push_back(Order::ToClient(line.to_vec()));
                } else if !PASSED.contains(&method) {
                    self.log(format!(
                        "the server's notification `{}` was not passed on",
                        method.escape_debug()
                    ));
                }
            }
            _ => self.log(
                "a line of the server that is neither request, answer nor notification was not passed on",
            ),
        }
    }

    /// Whether it answers us, or says that a list has changed.
    fn is_for_us(&self, head: &Head) -> bool {
        let ours = head.is_answer
            && head.id.as_ref().and_then(Value::as_str).is_some_and(|id| id.starts_with(&self.prefix));
        let lists = head
            .method
            .as_deref()
            .is_some_and(|method| method.starts_with("notifications/") && method.ends_with("/list_changed"));
        matches!(self.phase, Phase::Open { .. }) && (ours || (lists && head.id.is_none()))
    }

    /// Hands a message to the reading of the lists, and looks whether there is anything new.
    fn heed(&mut self, line: &[u8]) {
        let parsed = json::parse(line);
        let (Phase::Comparing { introspection, .. } | Phase::Open { introspection, .. }) = &mut self.phase
        else {
            return;
        };
        let message = match parsed {
            Ok(message) => message,
            Err(error) => {
                // What cannot be read without doubt cannot be compared.
                return if is_an_answer(line) {
                    self.refuse(Err(error.to_string()))
                } else {
                    self.log(error.to_string())
                };
            }
        };
        let mut lines = introspection.push(&message);
        if introspection.wants_again() {
            lines.extend(introspection.again());
        }
        self.to_server(&lines);
        self.compare();
    }

    /// Looks at a reading that has ended.
    fn compare(&mut self) {
        let (Phase::Comparing { introspection, .. } | Phase::Open { introspection, .. }) = &self.phase else {
            return;
        };
        if !introspection.has_settled() {
            return;
        }
        let Some(read) = introspection.result() else { return };
        let accepted = self.catalog.surface().map(Surface::fingerprint).copied();
        match read {
            Ok(surface) if Some(*surface.fingerprint()) == accepted => self.open(),
            // At the start a server may still be adding to its lists.
            Ok(_) if matches!(self.phase, Phase::Comparing { .. }) => self.out.push_back(Order::Settle),
            Ok(surface) => self.hold(surface),
            Err(error) => self.refuse(Err(error.to_string())),
        }
    }

    /// The server has said nothing for a while: what it offers now is what it offers.
    pub fn settled(&mut self) {
        let Phase::Comparing { introspection, .. } = &self.phase else { return };
        // Else it is read again just now.
        if introspection.has_settled()
            && let Some(read) = introspection.result()
        {
            self.refuse(read.map_err(|error| error.to_string()));
        }
    }

    /// The running server is the accepted one.
    fn open(&mut self) {
        let phase = std::mem::replace(&mut self.phase, Phase::Gone);
        match phase {
            Phase::Comparing { held, introspection } => {
                self.phase = Phase::Open { introspection, seen: None };
                self.out.push_back(Order::Same);
                for waiting in held.lines {
                    self.pass(waiting);
                }
            }
            other => self.phase = other,
        }
    }

    /// Mid-session: what has changed is held, and stays held.
    fn hold(&mut self, now: Surface) {
        let Phase::Open { seen, .. } = &mut self.phase else { return };
        if seen.replace(*now.fingerprint()) == Some(*now.fingerprint()) {
            return;
        }
        let touched = self.catalog.hold(&now);
        if self.client.is_ready {
            for line in Catalog::tell_changed(touched) {
                self.out.push_back(Order::ToClient(line));
            }
        }
        self.out.push_back(Order::Changed { now: Box::new(Ok(now)), whole: false });
    }

    /// Nothing of this server may be used.
    fn refuse(&mut self, now: Result<Surface, String>) {
        let held = match std::mem::replace(&mut self.phase, Phase::Closed) {
            Phase::Comparing { held, .. } => held,
            _ => super::Held::default(),
        };
        let reason = match &now {
            Ok(_) => "what it offers is not what was accepted any more".to_owned(),
            Err(error) => format!("what it offers cannot be compared with what was accepted ({error})"),
        };
        let notice = Notice { server: self.name(), reason, remedy: "fumehood review".to_owned() };
        let said = notice.refusal();
        self.catalog.notice = Some(notice);
        let waiting = held.lines.into_iter().filter_map(|waiting| waiting.id);
        let waiting: Vec<Id> = waiting.chain(std::mem::take(&mut self.in_flight).into_keys()).collect();
        for id in waiting {
            self.answer(message::error(Some(&id), message::INTERNAL_ERROR, &said));
        }
        self.tell_lists_changed();
        self.out.push_back(Order::Changed { now: Box::new(now), whole: true });
    }

    /// As the server calls itself.
    fn name(&self) -> String {
        let named = self.catalog.surface().and_then(|surface| surface.server_info().get("name"));
        named.and_then(Value::as_str).unwrap_or("this server").to_owned()
    }

    /// A request of the server's: only what its profile lets it count on reaches the client.
    fn asked_by_server(&mut self, method: &str, id: Id, line: &[u8]) {
        let ability = match method {
            "ping" => {
                return self.to_server(&[json!({ "jsonrpc": "2.0", "id": id.value(), "result": {} })]);
            }
            "roots/list" => Some(Ability::Roots),
            "elicitation/create" => Some(Ability::Elicitation),
            _ => None,
        };
        let Some(ability) = ability.filter(|ability| self.profile.has(*ability)) else {
            self.log(format!("the server's request `{}` was refused", method.escape_debug()));
            let error = json!({ "code": METHOD_NOT_FOUND, "message": "Method not found" });
            return self.to_server(&[json!({ "jsonrpc": "2.0", "id": id.value(), "error": error })]);
        };
        let can = self.client.capabilities.as_ref().is_some_and(|can| can.get(ability.as_str()).is_some());
        if can {
            self.asked_of_client.insert(id);
            return self.out.push_back(Order::ToClient(line.to_vec()));
        }
        // The profile promised it; the client behind has nobody to ask.
        let result = match ability {
            Ability::Roots => json!({ "roots": [] }),
            Ability::Elicitation => json!({ "action": "cancel" }),
        };
        self.to_server(&[json!({ "jsonrpc": "2.0", "id": id.value(), "result": result })]);
    }
}

fn is_an_answer(line: &[u8]) -> bool {
    Head::read(line).is_ok_and(|head| head.is_answer)
}
