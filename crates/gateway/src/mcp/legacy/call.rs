//! One request of a session that walks the road. What its server wants to know is asked on the stream of its answer.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use axum::response::Response;
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

use super::super::{
    Caller, Client, Face,
    concluding::{About, Told, told},
    exchange::{Event, Exchange},
    questions::{self, Declined},
    rpc::{self, CANCELLED, Fault, INTERNAL_ERROR, Outcome, REFUSED},
    sessions::{Asked, InFlight, Session},
    state::LIFE,
    stream::{self, ALIVE, Out},
    subject::Subject,
};
use crate::{call::Concluded, pool::Question};

/// After this time an answer is sent in pieces.
const QUIET: Duration = Duration::from_secs(10);
/// As often may one request of a server of the newer era come back with questions.
const ROUNDS: u32 = 8;

/// One request under way.
#[derive(Debug)]
pub(super) struct Call {
    face: Arc<Face>,
    caller: Arc<Caller>,
    session: Arc<Session>,
    _in_flight: InFlight,
    cancelled: oneshot::Receiver<()>,
    subject: Subject,
    exchange: Exchange,
    /// As it was asked for, to be asked anew with answers.
    params: Map<String, Value>,
    client: Client,
    /// Questions of this request that wait for the client.
    asked: Vec<Asked>,
    rounds: u32,
}

/// How far it got.
enum Ran {
    Done(Outcome),
    /// Something has to be said before it is done.
    Wants(Box<Call>, Option<Next>),
    Gone,
}

/// What comes next, on a stream.
enum Next {
    Event(Event),
    /// A server of the newer era wants answers.
    Round(Map<String, Value>),
}

impl Call {
    /// Sets out.
    pub(super) fn begin(
        face: Arc<Face>,
        caller: Arc<Caller>,
        session: Arc<Session>,
        (in_flight, cancelled): (InFlight, oneshot::Receiver<()>),
        subject: Subject,
        params: Map<String, Value>,
        client: Client,
    ) -> Self {
        let token = client.meta.get("progressToken").cloned().filter(|_| caller.streams);
        let received = caller.received(&subject, params.clone(), client.clone());
        let exchange = Exchange::begin(&face.gateway, received, token, caller.streams);
        Self {
            face,
            caller,
            session,
            _in_flight: in_flight,
            cancelled,
            subject,
            exchange,
            params,
            client,
            asked: Vec::new(),
            rounds: 0,
        }
    }

    /// Its answer: at once where that is all there is to say, else in pieces.
    pub(super) async fn respond(self, id: Value) -> Response {
        match self.run(None, None).await {
            Ran::Done(outcome) => rpc::response(&id, &outcome),
            Ran::Gone => Fault::new(INTERNAL_ERROR, "the request was given up").response(Some(&id)),
            Ran::Wants(call, first) => {
                let (out, response) = stream::open();
                tokio::spawn(async move {
                    if out.keep_alive().await.is_err() {
                        return;
                    }
                    if let Ran::Done(outcome) = call.run(Some(&out), first).await {
                        // Nobody is left to be told of a reader who has gone.
                        out.send(&rpc::message(&id, &outcome)).await.ok();
                    }
                });
                response
            }
        }
    }

    async fn run(mut self, out: Option<&Out>, mut first: Option<Next>) -> Ran {
        loop {
            let every = if out.is_some() { ALIVE } else { QUIET };
            let event = match first.take() {
                Some(Next::Event(event)) => Some(event),
                Some(Next::Round(result)) => match out {
                    Some(out) => match self.next_round(out, &result).await {
                        Ok(()) => continue,
                        Err(fault) => return Ran::Done(Err(fault)),
                    },
                    None => return Ran::Wants(Box::new(self), Some(Next::Round(result))),
                },
                None => tokio::select! {
                    biased;
                    () = gone(out) => return Ran::Gone,
                    // However it comes to an end: the client takes it back, or the session ends.
                    _ = &mut self.cancelled => return Ran::Done(Err(Fault::new(CANCELLED, "cancelled"))),
                    event = self.exchange.next() => Some(event),
                    () = tokio::time::sleep(every) => None,
                },
            };
            let said = match (event, out) {
                (None, Some(out)) => out.keep_alive().await,
                (None, None) if self.caller.streams => return Ran::Wants(Box::new(self), None),
                (None, None) => Ok(()),
                (Some(Event::Progress(params)), Some(out)) => {
                    let params = self.subject.shown(params);
                    let message =
                        json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
                    out.send(&message).await
                }
                (Some(Event::Question(question)), Some(out)) => match self.put(question) {
                    Some(message) => out.send(&message).await,
                    None => Ok(()),
                },
                (Some(event @ (Event::Progress(_) | Event::Question(_))), None) => {
                    return Ran::Wants(Box::new(self), Some(Next::Event(event)));
                }
                (Some(Event::Ended(concluded)), out) => match (self.told(concluded), out) {
                    (Told::Outcome(outcome), _) => return Ran::Done(outcome),
                    (Told::InputRequired(result), Some(out)) => match self.next_round(out, &result).await {
                        Ok(()) => Ok(()),
                        Err(fault) => return Ran::Done(Err(fault)),
                    },
                    (Told::InputRequired(result), None) if self.caller.streams => {
                        return Ran::Wants(Box::new(self), Some(Next::Round(result)));
                    }
                    (Told::InputRequired(_), None) => {
                        let why = "the server has questions, which need an answer of `text/event-stream`";
                        return Ran::Done(Err(Fault::new(INTERNAL_ERROR, why)));
                    }
                },
            };
            if said.is_err() {
                return Ran::Gone;
            }
        }
    }

    fn told(&self, concluded: Option<Concluded>) -> Told {
        let about = About {
            verb: self.subject.verb,
            name: &self.subject.name,
            scope: &self.caller.scope,
            server: self.subject.server(),
            pass_through: self.subject.is_pass_through(),
            modern: false,
        };
        told(&about, concluded)
    }

    /// A question as the client gets it; where it does not, its server is told why.
    fn put(&mut self, question: Question) -> Option<Value> {
        let Question { method, params, answer } = question;
        let put = self.allowed(&method, &params);
        match put {
            Ok(params) => match self.session.ask(&method, &params, answer) {
                Ok((asked, message)) => {
                    self.asked.push(asked);
                    Some(message)
                }
                Err(answer) => {
                    answer.send(Declined::Unknown.error()).ok();
                    None
                }
            },
            Err(declined) => {
                // Whoever asked may have gone.
                answer.send(declined.error()).ok();
                None
            }
        }
    }

    fn allowed(&self, method: &str, params: &Value) -> Result<Value, Declined> {
        let asker = self.subject.asker().ok_or(Declined::Unknown)?;
        questions::put(asker, &self.session.capabilities, method, params)
    }

    /// Asks what a server of the newer era wants to know, and asks that server anew with the answers.
    async fn next_round(&mut self, out: &Out, result: &Map<String, Value>) -> Result<(), Fault> {
        self.rounds += 1;
        if self.rounds > ROUNDS {
            return Err(Fault::new(INTERNAL_ERROR, "the server asks again and again"));
        }
        let asked = result.get("inputRequests").and_then(Value::as_object);
        let mut waiting = Vec::new();
        for (key, request) in asked.into_iter().flatten() {
            let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
            let params = request.get("params").unwrap_or(&Value::Null);
            let params =
                self.allowed(method, params).map_err(|declined| Fault::new(REFUSED, declined.to_string()))?;
            let (sender, receiver) = oneshot::channel();
            let (asked, message) = self
                .session
                .ask(method, &params, sender)
                .map_err(|_| Fault::new(REFUSED, "too many questions wait for this client"))?;
            out.send(&message).await.map_err(|_| gave_up())?;
            waiting.push((key.clone(), asked, receiver));
        }
        let mut responses = Map::new();
        for (key, _asked, mut receiver) in waiting {
            let answer = tokio::select! {
                () = out.gone() => return Err(gave_up()),
                _ = &mut self.cancelled => return Err(Fault::new(CANCELLED, "cancelled")),
                answer = tokio::time::timeout(LIFE, &mut receiver) => answer,
            };
            match answer {
                Ok(Ok(answer)) if answer.get("error").is_none() => drop(responses.insert(key, answer)),
                _ => return Err(Fault::new(REFUSED, "the client did not answer what the server asked")),
            }
        }
        let mut params = self.params.clone();
        params.insert("inputResponses".to_owned(), Value::Object(responses));
        if let Some(state) = result.get("requestState") {
            params.insert("requestState".to_owned(), state.clone());
        }
        // Looked at anew: what was allowed then may not be so any more.
        let (who, scope) = (&self.caller.principal, &self.caller.scope);
        if who.expires().is_some_and(|end| end <= SystemTime::now()) || !self.caller.is_known() {
            return Err(Fault::new(REFUSED, "the caller is not let in any more: begin again"));
        }
        let subject = Subject::of(self.subject.verb, &params, &self.face.gateway, who, scope)?;
        if subject.server() != self.subject.server() {
            return Err(Fault::new(REFUSED, "another server has the name now: begin again"));
        }
        self.subject = subject;
        let token = self.client.meta.get("progressToken").cloned();
        let received = self.caller.received(&self.subject, params, self.client.clone());
        self.exchange = Exchange::begin(&self.face.gateway, received, token, true);
        Ok(())
    }
}

fn gave_up() -> Fault {
    Fault::new(INTERNAL_ERROR, "the request was given up")
}

async fn gone(out: Option<&Out>) {
    match out {
        Some(out) => out.gone().await,
        None => std::future::pending().await,
    }
}
