//! Whether, and when, a request of the client goes to the server.

use serde_json::json;
use tools::visible::excerpt;

use super::{
    Front, Order, Phase,
    call::{Call, Subject},
    catalog::{OUR_TOOL, Verdict},
    message::{self, INTERNAL_ERROR, INVALID_PARAMS, Id},
};
use crate::guard;

/// As many requests may the server have that it has not answered; further ones are refused.
const MOST_IN_FLIGHT: usize = 4_096;

impl Front {
    /// To the server, at once or as soon as it has been compared.
    pub(super) fn pass(&mut self, call: Call) {
        if let Err(objection) = self.judge(&call) {
            return self.object(&call, objection);
        }
        let waits = match &self.phase {
            Phase::Closed | Phase::Gone => {
                let said = "FH-SERVER-ENDED: the server has ended";
                return self.refuse_call(&call.id, &call.subject, said);
            }
            Phase::Idle | Phase::Starting => true,
            Phase::Comparing { .. } => !guard::off("front-calls-wait"),
            // What may have changed meanwhile is what stands in lists.
            Phase::Open { reading } => {
                call.subject != Subject::Session
                    && !reading.introspection.has_settled()
                    && !guard::off("front-calls-wait-again")
            }
        };
        if !waits {
            return self.send(call);
        }
        if !self.waiting.has_room(&call) && !guard::off("front-bounds") {
            let said = "FH-SERVER-BUSY: too many calls wait already for the server to be ready";
            return self.refuse_call(&call.id, &call.subject, said);
        }
        self.waiting.push(call);
        if matches!(self.phase, Phase::Idle) {
            self.out.push_back(Order::Start);
            self.starting();
        }
        self.time();
    }

    /// What has waited goes on, as far as it still may.
    pub(super) fn release(&mut self) {
        for call in self.waiting.take() {
            match self.judge(&call) {
                Ok(()) => self.send(call),
                Err(objection) => self.object(&call, objection),
            }
        }
    }

    fn send(&mut self, call: Call) {
        if self.in_flight.len() >= MOST_IN_FLIGHT && !guard::off("front-bounds") {
            let said = "FH-SERVER-BUSY: the server has too many calls that it has not answered";
            return self.refuse_call(&call.id, &call.subject, said);
        }
        self.in_flight.insert(call.id.clone());
        self.hand_on(call);
    }

    /// Whether a call may still pass that did before; the answer in its place, else.
    pub(super) fn pass_again(&mut self, call: &Call) -> bool {
        match self.judge(call) {
            Ok(()) => true,
            Err(objection) => {
                self.object(call, objection);
                false
            }
        }
    }

    fn object(&mut self, call: &Call, objection: Objection) {
        match objection {
            Objection::Answer(line) => self.answer_to(&call.id, line),
            Objection::Refusal(said) => self.refuse_call(&call.id, &call.subject, &said),
        }
    }

    /// Says why a request is not passed on.
    pub(super) fn refuse_call(&mut self, id: &Id, subject: &Subject, said: &str) {
        if self.client.is_ours {
            self.out.push_back(Order::Refused { id: id.text(), said: said.to_owned() });
        } else {
            self.answer_to(id, refusal(id, subject, said));
        }
    }

    /// What is to be said in place of a call that may not pass.
    fn judge(&self, call: &Call) -> Result<(), Objection> {
        let Call { id, subject, .. } = call;
        let verdict = self.catalog.judge(subject);
        if let Some(notice) = self.catalog.notice() {
            let said = notice.refusal();
            return Err(match subject {
                Subject::Tool(name) if name == OUR_TOOL && !self.client.is_ours => {
                    Objection::Answer(tool_result(id, &said, false))
                }
                Subject::Tool(_) if verdict == Verdict::Unknown && !self.client.is_ours => {
                    Objection::Answer(unknown(id, subject))
                }
                _ => Objection::Refusal(said),
            });
        }
        match verdict {
            Verdict::Offered => Ok(()),
            Verdict::Unknown => Err(Objection::Answer(unknown(id, subject))),
            Verdict::Held => {
                let said = format!(
                    "FH-CHANGED: {} is not what was accepted any more. A person has to look at the change: `{}` in a \
                     terminal shows it.",
                    named(subject),
                    self.remedy()
                );
                Err(Objection::Refusal(said))
            }
        }
    }
}

/// Why a call may not pass.
enum Objection {
    /// A whole answer.
    Answer(Vec<u8>),
    /// A reason, which begins with a code.
    Refusal(String),
}

/// Says why a request was not passed on: of a tool to the model (MCP 2025-11-25, tools, error handling), of anything else
/// to the client.
fn refusal(id: &Id, subject: &Subject, said: &str) -> Vec<u8> {
    match subject {
        Subject::Tool(_) => tool_result(id, said, true),
        _ => message::error(Some(id), INTERNAL_ERROR, said),
    }
}

fn tool_result(id: &Id, said: &str, is_error: bool) -> Vec<u8> {
    message::result(id, &json!({ "content": [{ "type": "text", "text": said }], "isError": is_error }))
}

/// As the protocol has it for a tool or prompt that is not there (MCP 2025-11-25, tools and prompts, error handling).
fn unknown(id: &Id, subject: &Subject) -> Vec<u8> {
    let said = match subject {
        Subject::Tool(name) => format!("Unknown tool: {}", excerpt(name, 200)),
        Subject::Prompt(name) => format!("Unknown prompt: {}", excerpt(name, 200)),
        Subject::Resource(uri) | Subject::Reference(uri) => {
            format!("Unknown resource: {}", excerpt(uri, 200))
        }
        Subject::Session => "Unknown".to_owned(),
    };
    message::error(Some(id), INVALID_PARAMS, &said)
}

fn named(subject: &Subject) -> String {
    match subject {
        Subject::Tool(name) => format!("the tool `{}`", excerpt(name, 200)),
        Subject::Prompt(name) => format!("the prompt `{}`", excerpt(name, 200)),
        Subject::Resource(uri) | Subject::Reference(uri) => format!("the resource `{}`", excerpt(uri, 200)),
        Subject::Session => "the server".to_owned(),
    }
}
