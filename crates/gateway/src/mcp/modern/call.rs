//! One request that walks the road, and the answer it gets.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::response::Response;
use serde_json::{Map, Value, json};

use super::super::{
    Caller, Client, Face,
    concluding::{About, Told, complete, told},
    exchange::{Event, Exchange},
    held::{self, Waiting},
    questions,
    rpc::{self, Fault, MISSING_CAPABILITY, Outcome},
    stream::{self, ALIVE, Out},
    subject::Subject,
};
use crate::pool::Question;

/// After this time an answer is sent in pieces, so that nobody on the way takes a long call for a dead connection.
const QUIET: Duration = Duration::from_secs(10);

/// What is asked for, by whom.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) face: Arc<Face>,
    pub(super) caller: Arc<Caller>,
    pub(super) subject: Subject,
    /// What the client can do.
    pub(super) capabilities: Value,
    /// Stands for what is asked for, in all rounds.
    pub(super) digest: String,
    /// Who answers.
    pub(super) server_info: Value,
}

/// One request under way.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) asked: Asked,
    /// The id under which it is held.
    pub(super) id: String,
    exchange: Exchange,
    /// A question that is put again, because its answer was not among those given.
    again: Option<(Question, Value)>,
}

/// How far it got.
enum Ran {
    Done(Outcome),
    /// Something has to be said before it is done.
    Wants(Box<Call>, Option<Value>),
    Gone,
}

impl Call {
    /// Sets out.
    pub(super) fn begin(asked: Asked, params: Map<String, Value>, client: Client) -> Self {
        let token = client.meta.get("progressToken").cloned().filter(|_| asked.caller.streams);
        let received = asked.caller.received(&asked.subject, params, client);
        let id = received.call.to_string();
        let exchange = Exchange::begin(&asked.face.gateway, received, token, true);
        Self { asked, id, exchange, again: None }
    }

    /// Goes on from where it waited for an answer.
    pub(super) fn goes_on(
        asked: Asked,
        id: String,
        waiting: Waiting,
        responses: &Map<String, Value>,
    ) -> Self {
        let Waiting { exchange, question, put, .. } = waiting;
        let again = match responses.get(QUESTION) {
            Some(response) => {
                // Whoever asked may have gone; the call then says so.
                question.answer.send(response.clone()).ok();
                None
            }
            None => Some((question, put)),
        };
        Self { asked, id, exchange, again }
    }

    /// Its answer: at once where that is all there is to say, else in pieces.
    pub(super) async fn respond(self, id: Value) -> Response {
        match self.run(None).await {
            Ran::Done(outcome) => rpc::response(&id, &outcome),
            Ran::Gone => Fault::new(rpc::INTERNAL_ERROR, "the request was given up").response(Some(&id)),
            Ran::Wants(call, first) => {
                let (out, response) = stream::open();
                tokio::spawn(async move {
                    let said = match first {
                        Some(first) => out.send(&first).await,
                        None => out.keep_alive().await,
                    };
                    if said.is_err() {
                        return;
                    }
                    if let Ran::Done(outcome) = call.run(Some(&out)).await {
                        // Nobody is left to be told of a reader who has gone.
                        out.send(&rpc::message(&id, &outcome)).await.ok();
                    }
                });
                response
            }
        }
    }

    async fn run(mut self, out: Option<&Out>) -> Ran {
        if let Some((question, put)) = self.again.take() {
            return Ran::Done(self.hold(question, put));
        }
        loop {
            let every = if out.is_some() { ALIVE } else { QUIET };
            let event = tokio::select! {
                biased;
                () = gone(out) => return Ran::Gone,
                event = self.exchange.next() => Some(event),
                () = tokio::time::sleep(every) => None,
            };
            let said = match (event, out) {
                (None, Some(out)) => out.keep_alive().await,
                (None, None) if self.asked.caller.streams => return Ran::Wants(Box::new(self), None),
                (None, None) => Ok(()),
                (Some(Event::Progress(params)), out) => {
                    let params = self.asked.subject.shown(params);
                    let message =
                        json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
                    match out {
                        Some(out) => out.send(&message).await,
                        None => return Ran::Wants(Box::new(self), Some(message)),
                    }
                }
                (Some(Event::Question(question)), _) => match self.put(question) {
                    Some((question, put)) => return Ran::Done(self.hold(question, put)),
                    None => Ok(()),
                },
                (Some(Event::Ended(concluded)), _) => return Ran::Done(self.ended(concluded)),
            };
            if said.is_err() {
                return Ran::Gone;
            }
        }
    }

    /// The question as the client gets it; where it does not, its server is told why.
    fn put(&mut self, question: Question) -> Option<(Question, Value)> {
        let asker = self.asked.subject.asker();
        let put = asker.ok_or(questions::Declined::Unknown).and_then(|asker| {
            questions::put(asker, &self.asked.capabilities, &question.method, &question.params)
        });
        match put {
            Ok(params) => {
                let put = json!({ "method": question.method, "params": params });
                Some((question, put))
            }
            Err(declined) => {
                if let questions::Declined::Incapable(capability) = &declined {
                    self.exchange.missing = Some(capability.clone());
                }
                question.answer.send(declined.error()).ok();
                None
            }
        }
    }

    /// Waits for the client's next request with the answer.
    fn hold(self, question: Question, put: Value) -> Outcome {
        let now = Instant::now();
        let requests = Map::from_iter([(QUESTION.to_owned(), put.clone())]);
        let result = self.sealed_as_held(requests)?;
        let Self { asked: Asked { face, caller, .. }, id, exchange, .. } = self;
        let until = held::until(now);
        let waiting = Waiting { principal: caller.key.clone(), exchange, question, put, until };
        if face.held.keep(id, waiting, now).is_err() {
            return Err(Fault::new(
                rpc::REFUSED,
                "FH-SERVER-BUSY: too many calls wait for answers of people",
            )
            .data(json!({ "code": "FH-SERVER-BUSY" })));
        }
        let weak = Arc::downgrade(&face);
        tokio::spawn(async move {
            tokio::time::sleep_until(until.into()).await;
            if let Some(face) = weak.upgrade() {
                face.held.expire(Instant::now());
            }
        });
        Ok(result)
    }

    fn ended(self, concluded: Option<crate::call::Concluded>) -> Outcome {
        let about = About {
            verb: self.asked.subject.verb,
            name: &self.asked.subject.name,
            scope: &self.asked.caller.scope,
            server: self.asked.subject.server(),
            pass_through: self.asked.subject.is_pass_through(),
            modern: true,
        };
        let outcome = match told(&about, concluded) {
            Told::Outcome(outcome) => outcome,
            Told::InputRequired(result) => return self.input_required(&result),
        };
        let has_failed =
            outcome.as_ref().map_or(true, |result| result.get("isError") == Some(&Value::Bool(true)));
        match (&self.exchange.missing, outcome) {
            // The server could not do without what the client cannot do.
            (Some(capability), _) if has_failed => Err(missing(capability)),
            (_, Ok(mut result)) => {
                complete(&mut result, &self.asked.server_info);
                Ok(result)
            }
            (_, Err(fault)) => Err(fault),
        }
    }
}

/// The key of a held call's question, and of its answer.
pub(super) const QUESTION: &str = "question";

pub(super) fn missing(capability: &Value) -> Fault {
    Fault::bad(MISSING_CAPABILITY, "Missing required client capability")
        .data(json!({ "requiredCapabilities": capability }))
}

async fn gone(out: Option<&Out>) {
    match out {
        Some(out) => out.gone().await,
        None => std::future::pending().await,
    }
}
