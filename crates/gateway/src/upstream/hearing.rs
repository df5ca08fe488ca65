//! What a cell and its server say.

use std::sync::Arc;

use model::visible::excerpt;
use serde_json::Value;
use tokio::sync::oneshot;

use super::{
    Heard, Holder, Question, Told, Upstream,
    call::Whose,
    post::Said,
    wire::{self, Body, Head},
};
use crate::guard;

/// A question of the server that a caller has.
#[derive(Debug)]
pub(super) struct Asked {
    id: Value,
    method: String,
    /// The call that it belongs to.
    number: u64,
}

impl Upstream {
    pub(super) fn heard(&mut self, heard: Heard) {
        match heard {
            Heard::Line(line) => {
                if let Some(front) = &mut self.front {
                    front.server(&line);
                }
                self.carry_out();
            }
            Heard::Log(said) => self.log(&said),
            Heard::Network(event) => {
                let running = self.calls.values().filter_map(|call| match &call.whose {
                    Whose::Caller { call: name, .. } => call.sent.map(|sent| (name, sent)),
                    Whose::Discovery | Whose::Quiet => None,
                });
                self.network.take(&self.key, event, running);
            }
            Heard::Ended(why) => self.ended(&why),
        }
    }

    /// A message that the front has let pass.
    pub(super) fn server_said(&mut self, line: Vec<u8>) {
        let Ok(Head { id, method }) = serde_json::from_slice(&line) else {
            return self.log("a line of the server was not passed on");
        };
        let Some(method) = method else {
            // Only what has been asked gets here.
            if let Some(number) = id.as_ref().and_then(Value::as_str).and_then(|id| self.ids.number(id)) {
                self.conclude(number, Ok(Said(line)));
            }
            return;
        };
        let Body { params } = match serde_json::from_slice(&line) {
            Ok(body) => body,
            Err(error) => {
                self.log(&format!(
                    "a line of the server was not passed on: {}",
                    excerpt(&error.to_string(), 200)
                ));
                // A question has to be answered all the same.
                return id.into_iter().for_each(|id| self.tell(&id, wire::unasked(&method)));
            }
        };
        match id {
            Some(id) => self.question(id, method, params),
            None => self.notified(&method, params),
        }
    }

    fn notified(&mut self, method: &str, params: Value) {
        match method {
            "notifications/progress" => self.progressed(params),
            "notifications/cancelled" => {
                let id = params.get("requestId");
                self.questions.retain(|_, asked| Some(&asked.id) != id);
            }
            _ => {
                let notification =
                    Arc::new(serde_json::json!({ "jsonrpc": "2.0", "method": method, "params": params }));
                let (server, holder) = (self.key.server.clone(), self.key.whose.clone());
                // Where nobody listens nobody is told.
                self.around.told.send(Told { server, holder, notification }).ok();
            }
        }
    }

    fn progressed(&mut self, params: Value) {
        let token = params.get("progressToken").and_then(Value::as_str);
        let Some(number) = token.and_then(|token| self.ids.number(token)) else {
            return self.log("progress of no call was not passed on");
        };
        let Some(call) = self.calls.get_mut(&number) else { return };
        let Some(progress) = &mut call.progress else { return };
        if progress.take(params) {
            let due = progress.due();
            call.goes_on();
            if let Some(due) = due {
                self.time_call(number, due);
            }
        }
    }

    /// A question goes to the caller of the one call that it can belong to, and to nobody else.
    fn question(&mut self, id: Value, method: String, params: Value) {
        if method == "roots/list" {
            let roots = self.cell.up().map(|up| up.roots.clone()).unwrap_or_default();
            return self.tell(&id, serde_json::json!({ "roots": roots }));
        }
        let asked = self.the_one_in_flight().and_then(|number| {
            let call = self.calls.get_mut(&number)?;
            let Whose::Caller { questions: Some(questions), .. } = &call.whose else { return None };
            let (answer, answered) = oneshot::channel();
            questions.try_send(Question { method: method.clone(), params, answer }).ok()?;
            call.open_questions += 1;
            call.goes_on();
            Some((number, answered))
        });
        let Some((number, answered)) = asked else {
            self.log(&format!("the server's question `{}` was put to nobody", excerpt(&method, 100)));
            return self.tell(&id, wire::unasked(&method));
        };
        let question = self.around.number();
        let nobody = wire::unasked(&method);
        self.questions.insert(question, Asked { id, method, number });
        self.answers.push(Box::pin(async move { (question, answered.await.unwrap_or(nobody)) }));
    }

    /// The call that a question of the server must be about. A server says nothing of that itself, so it is only certain
    /// where nothing else is at work in it, or everything is one person's.
    fn the_one_in_flight(&self) -> Option<u64> {
        let mut in_flight =
            self.calls.iter().filter(|(_, call)| call.is_callers() && call.sent.is_some()).map(|(n, _)| *n);
        if guard::off("pool-questions") {
            return in_flight.max();
        }
        let one = in_flight.next()?;
        let is_one_person = matches!(self.key.whose, Holder::User(_));
        let is_alone = in_flight.next().is_none() && (is_one_person || !self.is_any_unheeding());
        is_alone.then_some(one)
    }

    /// A caller has answered, or will not.
    pub(super) fn answered(&mut self, question: u64, answer: Value) {
        let Some(Asked { id, number, .. }) = self.questions.remove(&question) else { return };
        if let Some(call) = self.calls.get_mut(&number) {
            call.open_questions = call.open_questions.saturating_sub(1);
            call.goes_on();
            let deadline = call.deadline;
            self.time_call(number, deadline);
        }
        self.tell(&id, answer);
    }

    /// The call that they belong to has ended.
    pub(super) fn decline_questions_of(&mut self, number: u64) {
        let open: Vec<u64> =
            self.questions.iter().filter(|(_, asked)| asked.number == number).map(|(one, _)| *one).collect();
        for question in open {
            if let Some(asked) = self.questions.remove(&question) {
                self.tell(&asked.id, wire::unasked(&asked.method));
            }
        }
    }

    fn tell(&mut self, id: &Value, said: Value) {
        if let Some(front) = &mut self.front {
            front.client(&wire::answer(id, said));
        }
    }
}
