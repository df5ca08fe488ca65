//! What is known of a call, for its rows in the record.

use std::sync::Arc;

use access::{
    principal::{Actor, How, Principal},
    refusal::Refusal,
    screen::Screen,
};
use model::{digest::Digest, tier::Tier};
use serde_json::{Value, json};
use store::audit::{CallId, Event, Kind, Outcome, Who};

use super::Turned;
use crate::call::Received;

/// It grows with each stage.
#[derive(Debug)]
pub(super) struct About {
    pub(super) call: CallId,
    face: &'static str,
    who: Arc<Principal>,
    client: Option<String>,
    verb: &'static str,
    pub(super) server: Option<String>,
    pub(super) name: String,
    pub(super) tier: Option<Tier>,
    pub(super) arguments: Option<Digest>,
    pub(super) bound: Vec<String>,
    pub(super) rule: Option<String>,
    policy: Option<Digest>,
    trace: Option<String>,
    /// What was asked for as it is, where the record keeps that.
    pub(super) body: Option<Value>,
}

impl About {
    pub(super) fn of(received: &Received, policy: Option<Digest>) -> Self {
        Self {
            call: received.call.clone(),
            face: received.face.as_str(),
            who: Arc::clone(&received.principal),
            client: received.client.clone(),
            verb: received.verb.as_str(),
            server: None,
            name: received.name.clone(),
            tier: None,
            arguments: None,
            bound: Vec::new(),
            rule: None,
            policy,
            trace: trace(received),
            body: None,
        }
    }

    /// Takes out what a caller wrote in the place of a name, where it holds what `screen` finds.
    pub(super) fn leave_out(&mut self, screen: &Screen) {
        for text in std::iter::once(&mut self.name).chain(&mut self.client) {
            if let Some(found) = screen.find(&Value::from(text.as_str())) {
                *text = format!("(left out: {})", found.what);
            }
        }
    }

    pub(super) fn turned(self, refusal: Refusal) -> Turned {
        Turned { about: Box::new(self), refusal: Box::new(refusal) }
    }

    pub(super) fn denied(&self, refusal: &Refusal) -> Event {
        Event {
            code: Some(refusal.code.to_string()),
            rule: refusal.rule.clone().or_else(|| self.rule.clone()),
            ..self.event(Kind::Denied)
        }
    }

    pub(super) fn intent(&self) -> Event {
        let body = self.body.as_ref().map(|arguments| json!({ "arguments": arguments }));
        Event { body, ..self.event(Kind::Intent) }
    }

    /// How it ended: in a row of its own, or the only one where no intent was written.
    pub(super) fn ended(&self, has_intent: bool, outcome: Outcome, micros: u64) -> Event {
        let kind = if has_intent { Kind::Outcome } else { Kind::Call };
        // Those of a call with an intent are there already.
        let body =
            self.body.as_ref().filter(|_| !has_intent).map(|arguments| json!({ "arguments": arguments }));
        Event { outcome: Some(outcome), duration_us: Some(micros), body, ..self.event(kind) }
    }

    fn event(&self, kind: Kind) -> Event {
        Event {
            call: Some(self.call.clone()),
            face: Some(self.face.to_owned()),
            principal: Some(who(&self.who, self.client.as_deref())),
            server: self.server.clone(),
            verb: Some(self.verb.to_owned()),
            name: Some(self.name.clone()),
            tier: self.tier.map(Tier::number),
            arguments: self.arguments,
            bound: self.bound.clone(),
            rule: self.rule.clone(),
            policy: self.policy,
            trace: self.trace.clone(),
            ..Event::new(kind)
        }
    }
}

/// Who asks, as the record has it.
pub(crate) fn who(principal: &Principal, client: Option<&str>) -> Who {
    Who {
        issuer: principal.issuer().to_owned(),
        subject: principal.subject().to_owned(),
        tenant: principal.tenant().map(str::to_owned),
        actors: principal.actors().iter().map(actor).collect(),
        how: match principal.how() {
            How::Token => "token".to_owned(),
            How::Key(name) => format!("key:{name}"),
            How::Peer { uid } => format!("peer:{uid}"),
            How::Local => "local".to_owned(),
        },
        client: client.map(str::to_owned),
    }
}

fn actor(actor: &Actor) -> String {
    match &actor.issuer {
        Some(issuer) => format!("{} of {issuer}", actor.subject),
        None => actor.subject.clone(),
    }
}

/// The trace id of W3C Trace Context in `_meta.traceparent`: 32 digits, not all zero.
fn trace(received: &Received) -> Option<String> {
    let parent = received.meta.get("traceparent").and_then(Value::as_str)?;
    let id = parent.split('-').nth(1)?;
    let is_id = id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit()) && id.bytes().any(|b| b != b'0');
    is_id.then(|| id.to_owned())
}
