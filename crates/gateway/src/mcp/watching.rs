//! Streams of what is of no request: what a caller's lists have become, what has changed of what it follows.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use access::Verb;
use axum::response::Response;
use model::visible::excerpt;
use serde_json::{Map, Value, json};
use tokio::sync::{broadcast::error::RecvError, watch};
use tools::surface::Kind;

use super::{
    Caller, Client, Face,
    discovery::{self, SUBSCRIPTION},
    envelope::Said,
    lists::{self, Mark},
    rpc::{Fault, INVALID_PARAMS},
    sessions::{Listening, MOST_FOLLOWED, Session},
    stream::{self, ALIVE, Gone, Out},
    subject::Subject,
};
use crate::{
    call::{End, Scope},
    names,
    pool::{Holder, Level, Subscription, Told},
    results,
    view::View,
};

/// Changes that come within this time are one.
const SETTLE: Duration = Duration::from_millis(20);
/// Longest that a stream lives of a caller whose identity does not say when it ends.
const LIFE: Duration = Duration::from_hours(1);
/// Lists that have a notification, with the kinds that are in them.
const LISTS: [(&str, &str, &[Kind]); 3] = [
    ("tools", "toolsListChanged", &[Kind::Tool]),
    ("prompts", "promptsListChanged", &[Kind::Prompt]),
    ("resources", "resourcesListChanged", &[Kind::Resource, Kind::ResourceTemplate]),
];

/// Answers `subscriptions/listen` with a stream that lasts.
///
/// # Errors
///
/// [`INVALID_PARAMS`], where the filter is none.
pub(super) async fn listen(
    face: &Arc<Face>,
    caller: &Arc<Caller>,
    view: &View,
    id: &Value,
    said: &Said,
) -> Result<Response, Fault> {
    if !caller.streams {
        return Err(Fault::new(
            INVALID_PARAMS,
            "such an answer is `text/event-stream`, which is not accepted",
        ));
    }
    let changes = face.gateway.changes();
    let filter = said.params.get("notifications").and_then(Value::as_object);
    let filter =
        filter.ok_or_else(|| Fault::new(INVALID_PARAMS, "`notifications` are missing, or no object"))?;
    let capabilities = discovery::capabilities(view);
    let mut granted = Map::new();
    let wanted = LISTS.iter().filter(|(list, key, _)| {
        filter.get(*key) == Some(&Value::Bool(true)) && capabilities.contains_key(*list)
    });
    let lists: Vec<_> = wanted.map(|(list, key, kinds)| (*list, *key, *kinds)).collect();
    for (_, key, _) in &lists {
        granted.insert((*key).to_owned(), true.into());
    }
    let mut followed = BTreeMap::new();
    if let Some(uris) = filter.get("resourceSubscriptions") {
        let uris: Option<Vec<&str>> = uris.as_array().and_then(|all| all.iter().map(Value::as_str).collect());
        let uris = uris.filter(|uris| uris.len() <= MOST_FOLLOWED).ok_or_else(|| {
            Fault::new(INVALID_PARAMS, format!("`resourceSubscriptions` are at most {MOST_FOLLOWED} texts"))
        })?;
        for uri in uris {
            if let Ok(subscription) = may_follow(face, caller, uri, true).await {
                followed.insert(uri.to_owned(), subscription);
            }
        }
        let uris: Vec<_> = followed.keys().collect();
        granted.insert("resourceSubscriptions".to_owned(), json!(uris));
    }
    let (out, response) = stream::open();
    let watcher = Watcher {
        face: Arc::clone(face),
        caller: Arc::clone(caller),
        marks: lists.iter().map(|(list, _, kinds)| Marked::of(list, kinds, view)).collect(),
        followed: Followed::These(followed),
        subscription: Some(id.clone()),
        changes,
    };
    tokio::spawn(async move {
        let acknowledged = json!({ "notifications": granted });
        if watcher.say(&out, "notifications/subscriptions/acknowledged", acknowledged).await.is_ok() {
            watcher.run(out, None).await;
        }
    });
    Ok(response)
}

/// The stream of a session.
pub(super) fn of_session(face: &Arc<Face>, caller: &Arc<Caller>, session: &Arc<Session>) -> Response {
    let changes = face.gateway.changes();
    let view = face.gateway.view(&caller.principal, &caller.scope);
    let (out, response) = stream::open();
    let watcher = Watcher {
        face: Arc::clone(face),
        caller: Arc::clone(caller),
        marks: LISTS.iter().map(|(list, _, kinds)| Marked::of(list, kinds, &view)).collect(),
        followed: Followed::OfSession(Arc::clone(session)),
        subscription: None,
        changes,
    };
    let listening = session.stream();
    tokio::spawn(async move {
        // The headers go out with the first piece: a client waits for them.
        if out.keep_alive().await.is_ok() {
            watcher.run(out, Some(listening)).await;
        }
    });
    response
}

/// Whether a caller may follow an address: that is for the road to say.
///
/// # Errors
///
/// What the client is told instead.
pub(super) async fn may_follow(
    face: &Face,
    caller: &Caller,
    uri: &str,
    modern: bool,
) -> Result<Option<Subscription>, Fault> {
    let params = Map::from_iter([("uri".to_owned(), Value::from(uri))]);
    let subject = Subject::of(Verb::Subscribe, &params, &face.gateway, &caller.principal, &caller.scope)?;
    let client = Client { meta: Map::new(), name: None, modern };
    let received = caller.received(&subject, params, client);
    let about = super::concluding::About {
        verb: subject.verb,
        name: &subject.name,
        scope: &caller.scope,
        server: subject.server(),
        pass_through: subject.is_pass_through(),
        modern,
    };
    let concluded = face.gateway.walk(received).await;
    match &concluded.end {
        End::Done(_) => Ok(concluded.subscription),
        _ => match super::concluding::told(&about, Some(concluded)) {
            super::concluding::Told::Outcome(Err(fault)) => Err(fault),
            _ => Err(Fault::new(super::rpc::INTERNAL_ERROR, "the address cannot be followed")),
        },
    }
}

/// A list as it was told of last.
struct Marked {
    list: &'static str,
    kinds: &'static [Kind],
    marks: Vec<Mark>,
}

impl Marked {
    fn of(list: &'static str, kinds: &'static [Kind], view: &View) -> Self {
        Self { list, kinds, marks: marks(kinds, view) }
    }
}

fn marks(kinds: &[Kind], view: &View) -> Vec<Mark> {
    kinds.iter().map(|kind| lists::mark(view.list(*kind))).collect()
}

enum Followed {
    These(BTreeMap<String, Option<Subscription>>),
    OfSession(Arc<Session>),
}

/// What one stream tells.
struct Watcher {
    face: Arc<Face>,
    caller: Arc<Caller>,
    marks: Vec<Marked>,
    followed: Followed,
    /// The id of the request that opened it, in the newer era.
    subscription: Option<Value>,
    changes: watch::Receiver<u64>,
}

impl Watcher {
    async fn run(mut self, out: Out, listening: Option<Listening>) {
        let mut notices = self.face.gateway.notices();
        let mut changes = self.changes.clone();
        let mut stopping = self.face.stopping.clone();
        let end = self.end();
        let mut policy = self.face.gateway.policy().version;
        loop {
            let said = tokio::select! {
                biased;
                () = out.gone() => return,
                () = tokio::time::sleep_until(end.into()) => return,
                () = stopped(&mut stopping) => return,
                () = self.session_ended() => return,
                changed = changes.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    tokio::time::sleep(SETTLE).await;
                    changes.mark_unchanged();
                    if !self.caller.is_known() {
                        return;
                    }
                    let now = self.face.gateway.policy().version;
                    if now != policy {
                        policy = now;
                        self.recheck().await;
                    }
                    let speaks = listening.as_ref().is_none_or(Listening::speaks);
                    self.lists_changed(&out, speaks).await
                }
                notice = notices.recv() => match notice {
                    Ok(told) if listening.as_ref().is_none_or(Listening::speaks) => self.told(&out, &told).await,
                    Err(RecvError::Closed) => return,
                    // What was missed is not made up for: a notification is a hint to look.
                    Ok(_) | Err(RecvError::Lagged(_)) => Ok(()),
                },
                () = tokio::time::sleep(ALIVE) => out.keep_alive().await,
            };
            if said.is_err() {
                return;
            }
        }
    }

    /// A stream lasts no longer than the word of whoever it was opened for.
    fn end(&self) -> Instant {
        let now = SystemTime::now();
        let left = self.caller.principal.expires().map(|end| end.duration_since(now).unwrap_or_default());
        Instant::now() + left.map_or(LIFE, |left| left.min(LIFE))
    }

    async fn session_ended(&self) {
        match &self.followed {
            Followed::OfSession(session) => session.ended().await,
            Followed::These(_) => std::future::pending().await,
        }
    }

    async fn say(&self, out: &Out, method: &str, mut params: Value) -> Result<(), Gone> {
        if let (Some(id), Some(members)) = (&self.subscription, params.as_object_mut()) {
            members.insert("_meta".to_owned(), json!({ SUBSCRIPTION: id }));
        }
        out.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params })).await
    }

    /// Tells of the lists that have become other ones for this very caller.
    async fn lists_changed(&mut self, out: &Out, speaks: bool) -> Result<(), Gone> {
        let view = self.face.gateway.view(&self.caller.principal, &self.caller.scope);
        let mut changed = Vec::new();
        for marked in &mut self.marks {
            let now = marks(marked.kinds, &view);
            if now != marked.marks {
                marked.marks = now;
                changed.push(marked.list);
            }
        }
        drop(view);
        for list in changed.into_iter().filter(|_| speaks) {
            self.say(out, &format!("notifications/{list}/list_changed"), json!({})).await?;
        }
        Ok(())
    }

    /// After the rules have changed: what the caller may not read any more it does not follow.
    async fn recheck(&mut self) {
        let followed = match &self.followed {
            Followed::These(followed) => followed.keys().cloned().collect(),
            Followed::OfSession(session) => session.followed(),
        };
        for uri in followed {
            if may_follow(&self.face, &self.caller, &uri, self.subscription.is_some()).await.is_ok() {
                continue;
            }
            match &mut self.followed {
                Followed::These(followed) => drop(followed.remove(&uri)),
                Followed::OfSession(session) => session.leave(&uri),
            }
        }
    }

    /// Passes on what a server said, where it is for this caller.
    async fn told(&self, out: &Out, told: &Told) -> Result<(), Gone> {
        let is_in_scope = match &self.caller.scope {
            Scope::All => true,
            Scope::Server(server) => *server == told.server,
        };
        let holder = || self.face.gateway.holder(&self.caller.principal, &told.server);
        if !is_in_scope || holder().is_none_or(|key| key.whose != told.holder) {
            return Ok(());
        }
        let params = told.notification.get("params");
        match told.notification.get("method").and_then(Value::as_str) {
            Some("notifications/resources/updated") => {
                let Some(uri) = params.and_then(|params| params.get("uri")).and_then(Value::as_str) else {
                    return Ok(());
                };
                let uri = match self.caller.scope {
                    Scope::All => names::uri(&told.server, uri),
                    Scope::Server(_) => uri.to_owned(),
                };
                let is_followed = match &self.followed {
                    Followed::These(followed) => followed.contains_key(&uri),
                    Followed::OfSession(session) => session.follows(&uri),
                };
                if is_followed {
                    return self.say(out, "notifications/resources/updated", json!({ "uri": uri })).await;
                }
                Ok(())
            }
            Some("notifications/message") => self.logged(out, told, params).await,
            _ => Ok(()),
        }
    }

    /// A server's log is for whoever has its cell alone: in one that several use, it may be of another one's call.
    async fn logged(&self, out: &Out, told: &Told, params: Option<&Value>) -> Result<(), Gone> {
        let Followed::OfSession(session) = &self.followed else { return Ok(()) };
        let view = self.face.gateway.view(&self.caller.principal, &self.caller.scope);
        let offer = view.offers().iter().find(|offer| *offer.name() == told.server);
        let Some(offer) = offer else { return Ok(()) };
        let is_own = matches!(told.holder, Holder::User(_)) || offer.terms().pass_through;
        let level = params.and_then(|params| params.get("level")).and_then(Value::as_str);
        let level: Option<Level> = level.and_then(|level| level.parse().ok());
        let (Some(level), Some(wanted), true) = (level, session.level(), is_own) else { return Ok(()) };
        if level < wanted {
            return Ok(());
        }
        let mut params = params.cloned().unwrap_or_default();
        if !offer.terms().pass_through {
            params = results::shown(params);
        }
        if let (Scope::All, Some(members)) = (&self.caller.scope, params.as_object_mut()) {
            let logger = members.get("logger").and_then(Value::as_str).map(|logger| excerpt(logger, 100));
            let logger =
                logger.map_or_else(|| told.server.to_string(), |logger| format!("{}/{logger}", told.server));
            members.insert("logger".to_owned(), logger.into());
        }
        drop(view);
        self.say(out, "notifications/message", params).await
    }
}

/// Done when the service is about to end.
async fn stopped(stopping: &mut watch::Receiver<bool>) {
    stopping.wait_for(|stopping| *stopping).await.ok();
}
