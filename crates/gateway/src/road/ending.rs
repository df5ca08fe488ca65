//! A call that is being performed, and how it ends: always with a row, also where the caller goes away.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use access::{Object, Verb, limits::Turn, principal::Principal};
use model::{config::Whose, digest::Digest, json};
use serde_json::{Map, Value, json};
use store::audit::{Audit, CallId, Event, Outcome};
use tokio::sync::mpsc;

use super::about::About;
use crate::{
    call::{Concluded, End},
    metering,
    pool::{Answer, Ask, AskError, CellKey, Holder, Pool, Question, Subscription},
    results,
    shelf::Offer,
};

/// As long a call may take that has no time of its own.
const TIME: Duration = Duration::from_mins(5);

/// What the server is to be asked.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) principal: Arc<Principal>,
    pub(super) object: Object,
    pub(super) method: &'static str,
    pub(super) params: Map<String, Value>,
    pub(super) meta: Map<String, Value>,
    pub(super) progress: Option<mpsc::Sender<Value>>,
    pub(super) questions: Option<mpsc::Sender<Question>>,
    pub(super) modern: bool,
    pub(super) time: Option<Duration>,
    pub(super) offer: Arc<Offer>,
}

/// A call that is being performed. However it ends, that is recorded.
#[derive(Debug)]
#[must_use = "it is performed by asking its server"]
pub struct Underway {
    about: Option<About>,
    _turn: Option<Turn>,
    has_intent: bool,
    began: Instant,
    asked: Option<Asked>,
    /// Where its end is recorded if nobody is there any more to say so.
    audit: Option<Audit>,
}

/// What came of it, before it is recorded.
#[derive(Debug)]
pub struct Performed {
    about: About,
    has_intent: bool,
    micros: u64,
    outcome: Outcome,
    result: Option<Digest>,
    end: End,
    subscription: Option<Subscription>,
}

impl Underway {
    pub(super) fn new(about: About, turn: Option<Turn>, has_intent: bool, asked: Asked) -> Self {
        let began = Instant::now();
        Self { about: Some(about), _turn: turn, has_intent, began, asked: Some(asked), audit: None }
    }

    /// Its name in the record.
    pub fn call(&self) -> Option<&CallId> {
        self.about.as_ref().map(|about| &about.call)
    }

    /// Where its end is recorded if this is dropped.
    pub fn recorded_by(mut self, audit: Audit) -> Self {
        self.audit = Some(audit);
        self
    }

    /// The parameters under which a server is asked that nobody else uses: without those of the caller's own connection.
    pub fn params(&self) -> Value {
        let asked = self.asked.as_ref();
        Value::Object(asked.map(|asked| asked.params.clone()).unwrap_or_default())
    }

    /// Has it done by the server's cell. Where this is dropped, the caller went away: the server is told, and the record
    /// says so.
    pub async fn perform(mut self, pool: &Pool, audit: &Audit) -> Option<Performed> {
        self.audit = Some(audit.clone());
        let asked = self.asked.take()?;
        let whose = match &asked.offer.terms().cell {
            Whose::Server => Holder::Server,
            Whose::User => Holder::User(asked.principal.key()),
            Whose::Group(name) => Holder::Group(name.to_string()),
        };
        let is_pass_through = asked.offer.terms().pass_through;
        let key = CellKey { server: asked.object.server.clone(), whose };
        let call = self.about.as_ref()?.call.clone();
        let ask = Ask {
            call,
            method: asked.method.to_owned(),
            params: Value::Object(asked.params),
            modern: asked.modern.then_some(Value::Object(asked.meta)),
            progress: asked.progress,
            questions: asked.questions,
            deadline: asked.time.unwrap_or(TIME),
        };
        let who = Some(asked.principal);
        let mut subscription = None;
        let answer = if asked.object.verb == Verb::Subscribe {
            pool.subscribe(&key, who, ask).await.map(|(answer, held)| {
                subscription = held;
                answer
            })
        } else {
            pool.ask(&key, who, ask).await
        };
        let answer = match answer {
            Ok(Answer::Result(result)) if !is_pass_through => {
                Ok(Answer::Result(results::guard(result, &results::Bounds::default())))
            }
            Ok(Answer::Error(error)) if !is_pass_through => {
                Ok(Answer::Error(results::error(error, &results::Bounds::default())))
            }
            other => other,
        };
        let performed = self.ended(answer)?;
        Some(Performed { subscription, ..performed })
    }

    /// What its server has answered, where somebody else has asked it. None where that was said before.
    pub fn ended(mut self, answer: Result<Answer, AskError>) -> Option<Performed> {
        let about = self.about.take()?;
        let micros = self.micros();
        let (outcome, result, end) = match answer {
            Ok(Answer::Result(result)) => {
                let is_error = result.get("isError") == Some(&Value::Bool(true));
                let outcome = if is_error { Outcome::ToolError } else { Outcome::Ok };
                (outcome, digest(&result), End::Done(result))
            }
            Ok(Answer::Error(error)) => (Outcome::Failed, digest(&error), End::Failed(error)),
            Err(error) => {
                let outcome = if error.may_be_done() { Outcome::Unknown } else { Outcome::Failed };
                (outcome, None, End::Refused(Box::new(error.refusal())))
            }
        };
        Some(Performed {
            about,
            has_intent: self.has_intent,
            micros,
            outcome,
            result,
            end,
            subscription: None,
        })
    }

    fn micros(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        if let (Some(about), Some(audit)) = (self.about.take(), self.audit.take()) {
            let event = about.ended(self.has_intent, Outcome::Cancelled, self.micros());
            metering::recorded(&event);
            audit.note_now(event);
        }
    }
}

impl Performed {
    /// Records how it ended.
    pub async fn conclude(self, audit: &Audit) -> Concluded {
        let event =
            Event { result: self.result, ..self.about.ended(self.has_intent, self.outcome, self.micros) };
        let event = match &self.end {
            End::Refused(refusal) => Event { code: Some(refusal.code.to_string()), ..event },
            End::Done(_) | End::Failed(_) => event,
        };
        let event = if audit.keeps_bodies() { self.with_result(event) } else { event };
        metering::recorded(&event);
        audit.note(event).await;
        Concluded { call: self.about.call, end: self.end, subscription: self.subscription }
    }

    fn with_result(&self, mut event: Event) -> Event {
        if let End::Done(result) | End::Failed(result) = &self.end {
            let mut body = event.body.take().unwrap_or_else(|| json!({}));
            if let Some(body) = body.as_object_mut() {
                body.insert("result".to_owned(), result.clone());
            }
            event.body = Some(body);
        }
        event
    }

    /// How it ended.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }
}

/// Of what can be written in one way only.
fn digest(value: &Value) -> Option<Digest> {
    json::canonical(value).ok().map(|bytes| Digest::of(&bytes))
}
