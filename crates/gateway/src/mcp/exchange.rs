//! One walk of the road that is under way, and what comes of it meanwhile.

use serde_json::{Map, Value};
use tokio::{sync::mpsc, task::JoinHandle};

use crate::{
    call::{Concluded, Received},
    pool::Question,
    service::Gateway,
};

/// Progress that waits for a slow reader.
const PROGRESS: usize = 16;
/// Questions of a server that wait for each other.
const QUESTIONS: usize = 8;

/// A walk that is under way. Dropping it takes it back.
#[derive(Debug)]
pub(super) struct Exchange {
    walk: JoinHandle<Concluded>,
    progress: Option<mpsc::Receiver<Value>>,
    questions: Option<mpsc::Receiver<Question>>,
    /// The value of the last progress that was passed on.
    reached: Option<f64>,
    token: Option<Value>,
    /// A capability that the client lacks and that a question needed.
    pub(super) missing: Option<Value>,
}

/// What comes of a walk.
#[derive(Debug)]
pub(super) enum Event {
    /// The parameters of a `notifications/progress`.
    Progress(Map<String, Value>),
    /// The server wants to know something.
    Question(Question),
    /// The end; none where the walk broke.
    Ended(Option<Concluded>),
}

impl Exchange {
    /// Sets out. With a `token`, the client is told of progress under it; where it `asks`, it can be asked.
    pub(super) fn begin(gateway: &Gateway, mut received: Received, token: Option<Value>, asks: bool) -> Self {
        let progress = token.is_some().then(|| {
            let (sender, receiver) = mpsc::channel(PROGRESS);
            received.progress = Some(sender);
            receiver
        });
        let questions = asks.then(|| {
            let (sender, receiver) = mpsc::channel(QUESTIONS);
            received.questions = Some(sender);
            receiver
        });
        let gateway = gateway.clone();
        let walk = tokio::spawn(async move { gateway.walk(received).await });
        Self { walk, progress, questions, reached: None, token, missing: None }
    }

    /// What comes next. Nothing is lost where this is dropped before it is done.
    pub(super) async fn next(&mut self) -> Event {
        loop {
            let event = tokio::select! {
                biased;
                params = next_of(&mut self.progress) => Event::Progress(self.progress(params)),
                question = next_of(&mut self.questions) => Event::Question(question),
                concluded = &mut self.walk => Event::Ended(concluded.ok()),
            };
            match event {
                Event::Progress(params) if params.is_empty() => {}
                event => return event,
            }
        }
    }

    /// Progress as the client is told: under its own token, and increasing (MCP, progress). Empty where it is to be left out.
    fn progress(&mut self, params: Value) -> Map<String, Value> {
        let Value::Object(mut params) = params else { return Map::new() };
        let Some(progress) = params.get("progress").and_then(Value::as_f64) else { return Map::new() };
        if self.reached.is_some_and(|reached| progress <= reached) {
            return Map::new();
        }
        self.reached = Some(progress);
        if let Some(token) = &self.token {
            params.insert("progressToken".to_owned(), token.clone());
        }
        params
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.walk.abort();
    }
}

/// The next of a channel; never where there is none, or none comes any more.
async fn next_of<T>(channel: &mut Option<mpsc::Receiver<T>>) -> T {
    loop {
        match channel {
            Some(open) => match open.recv().await {
                Some(item) => return item,
                None => *channel = None,
            },
            None => std::future::pending::<()>().await,
        }
    }
}
