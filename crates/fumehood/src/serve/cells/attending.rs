//! A cell that runs: what it says on its way to the pool, what the pool says on its way in, and its end.

use std::{future::Future, sync::Arc, time::Duration};

use cell_api::{order::EndOrder, spec::CellSpec};
use futures_util::future::BoxFuture;
use gateway::pool::{Control, Heard, Running};
use model::{
    mount::Data,
    stdio::{Frame, Framer, Stray},
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use super::starting::Started;
use crate::{
    attend,
    server::attachment::{Attachment, Heard as Bytes, Said},
    session::Reach,
};

/// How long the end of a session may take before its server is ended.
const LEAVING: Duration = Duration::from_secs(1);
/// Messages that may wait, in each direction.
const WAITING: usize = 64;

/// Begins to attend a cell. What is handed out ends it where it is dropped; the future is done when nothing of it is left.
pub(super) fn begin(started: Started) -> (Running, impl Future<Output = ()>) {
    let Started { session, attachment, package, end: order, has_session, speaks_http, spec } = started;
    let Attachment { heard, say: to_server } = attachment;
    let (say, said) = mpsc::channel(WAITING);
    let (tell, hear) = mpsc::channel(WAITING);
    let (end, ending) = watch::channel(false);
    let (gone, done) = watch::channel(());
    let control = Hold { reach: session.reach(), end: Arc::new(end), done };
    let running = Running { say, hear, control: Arc::new(control), speaks_http, roots: roots(&spec) };
    let attended = async move {
        let reach = session.reach();
        let (strays, to_log) = mpsc::channel(WAITING);
        let logged = reach.clone();
        tokio::task::spawn_local(async move { attend::log(&logged, to_log).await });
        let speaking = tokio::task::spawn_local(speak(said, to_server.clone(), tell.clone()));
        let watching = tokio::task::spawn_local(watch_network(reach.clone(), tell.clone()));
        let framer = Framer::default();
        let is_ending = false;
        let attending =
            Attending { reach, tell, strays, to_server, watching, order, has_session, is_ending, framer };
        attending.run(heard, ending).await;
        speaking.abort();
        session.finish().await;
        drop(package);
        drop(gone);
    };
    (running, attended)
}

/// What can be done to a cell from any thread.
struct Hold {
    reach: Reach,
    end: Arc<watch::Sender<bool>>,
    /// Closed when nothing of it is left.
    done: watch::Receiver<()>,
}

impl Control for Hold {
    fn freeze(&self) -> BoxFuture<'static, Result<(), String>> {
        let reach = self.reach.clone();
        Box::pin(async move {
            let mut client = reach.another().await.map_err(|error| format!("{error:#}"))?;
            client.freeze().await.map(drop).map_err(|error| error.to_string())
        })
    }

    fn thaw(&self) -> BoxFuture<'static, Result<(), String>> {
        let reach = self.reach.clone();
        Box::pin(async move {
            let mut client = reach.another().await.map_err(|error| format!("{error:#}"))?;
            client.thaw().await.map(drop).map_err(|error| error.to_string())
        })
    }

    fn end(&self) -> BoxFuture<'static, ()> {
        self.end.send_replace(true);
        let mut done = self.done.clone();
        Box::pin(async move { while done.changed().await.is_ok() {} })
    }
}

struct Attending {
    reach: Reach,
    tell: mpsc::Sender<Heard>,
    strays: mpsc::Sender<String>,
    to_server: mpsc::Sender<Said>,
    watching: tokio::task::JoinHandle<()>,
    order: EndOrder,
    has_session: bool,
    is_ending: bool,
    framer: Framer,
}

impl Attending {
    async fn run(mut self, mut heard: mpsc::Receiver<Bytes>, mut ending: watch::Receiver<bool>) {
        let (listening, to_server) = (self.tell.clone(), self.to_server.clone());
        // Why it counts as ended though something of it still runs.
        let mut broken: Option<String> = None;
        let why = loop {
            let next = tokio::select! {
                next = heard.recv() => next,
                () = wished(&mut ending), if !self.is_ending => {
                    self.order_end(self.order);
                    continue;
                }
                // Nobody speaks to it any more, which the end of its stdin does not say to one that listens.
                () = to_server.closed(), if self.has_session && !self.is_ending => {
                    self.order_end(self.order);
                    continue;
                }
                () = listening.closed(), if !self.is_ending => {
                    self.order_end(attend::HURRIED);
                    continue;
                }
            };
            match next.unwrap_or(Bytes::Lost) {
                Bytes::Stdout(bytes) => self.hear(&bytes, &mut ending).await,
                // It is in the cell's log.
                Bytes::Stderr(_) => {}
                Bytes::Broken(why) => {
                    broken = Some(why);
                    if !self.is_ending {
                        self.order_end(attend::HURRIED);
                    }
                }
                Bytes::Ended(end) => break end.detail,
                Bytes::Lost => break "its supervisor died".to_owned(),
            }
        };
        // What happened at its edge last is told before its end.
        tokio::time::timeout(attend::LAST_WORDS, &mut self.watching).await.ok();
        self.watching.abort();
        // Whoever has ended it may not listen any more.
        let last = self.tell.send(Heard::Ended(broken.unwrap_or(why)));
        tokio::time::timeout(attend::LAST_WORDS, last).await.ok();
    }

    async fn hear(&mut self, bytes: &[u8], ending: &mut watch::Receiver<bool>) {
        let frames: Vec<Frame> = if bytes.is_empty() {
            self.framer.finish().into_iter().collect()
        } else {
            self.framer.push(bytes)
        };
        for frame in frames {
            let line = match frame {
                Frame::Message(line) => Some(line),
                Frame::Stray(Stray { text, len }) => {
                    let shown = String::from_utf8_lossy(&text);
                    let is_whole = u64::try_from(text.len()) == Ok(len);
                    self.log(if is_whole { shown.into_owned() } else { format!("{shown}… ({len} bytes)") });
                    None
                }
                Frame::Oversized(message) => {
                    self.log(format!("a message of {} bytes was not passed to the client", message.len));
                    message.replacement(self.framer.cap())
                }
            };
            if let Some(line) = line {
                let line = Heard::Line(without_end(line));
                if self.is_ending {
                    // Nobody has to listen to one that was told to end.
                    self.tell.try_send(line).ok();
                    continue;
                }
                tokio::select! {
                    // Where nobody listens any more it is ended.
                    _sent = self.tell.send(line) => {}
                    () = wished(ending) => self.order_end(self.order),
                }
            }
        }
    }

    /// Where nobody can take it, it is dropped.
    fn log(&self, line: String) {
        self.strays.try_send(line).ok();
    }

    /// Orders the end over a connection of its own; what comes of it is heard.
    fn order_end(&mut self, order: EndOrder) {
        self.is_ending = true;
        let (reach, to_server, has_session) = (self.reach.clone(), self.to_server.clone(), self.has_session);
        tokio::task::spawn_local(async move {
            // A server that does not read its stdin is not waited for.
            if to_server.try_send(Said::End).is_ok() && has_session {
                tokio::time::timeout(LEAVING, to_server.closed()).await.ok();
            }
            if let Ok(mut client) = reach.another().await {
                client.end(order).await.ok();
            }
        });
    }
}

/// Waits until somebody wishes that it ends.
async fn wished(ending: &mut watch::Receiver<bool>) {
    // Whoever could wish it holds the cell; without one it ends by being let go of.
    if ending.wait_for(|wish| *wish).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Passes on what is said, each message whole. One that is too long is answered, and not passed on.
async fn speak(mut said: mpsc::Receiver<Vec<u8>>, to_server: mpsc::Sender<Said>, tell: mpsc::Sender<Heard>) {
    let mut framer = Framer::default();
    while let Some(line) = said.recv().await {
        for frame in framer.push(&line) {
            match frame {
                Frame::Message(line) => {
                    if to_server.send(Said::Bytes(line)).await.is_err() {
                        return;
                    }
                }
                Frame::Oversized(message) => {
                    if let Some(answer) = message.answer(framer.cap()) {
                        tell.send(Heard::Line(without_end(answer))).await.ok();
                    }
                    let text = format!("a message of {} bytes was not passed to the server", message.len);
                    tell.send(Heard::Log(text)).await.ok();
                }
                Frame::Stray(_) => {
                    let text = "something that is no message was not passed to the server".to_owned();
                    tell.send(Heard::Log(text)).await.ok();
                }
            }
        }
    }
    to_server.send(Said::End).await.ok();
}

/// Passes on what happens at the edge of the cell, uses of keys among it.
async fn watch_network(reach: Reach, tell: mpsc::Sender<Heard>) {
    let Ok(client) = reach.another().await else { return };
    let Ok(mut entries) = client.follow_network().await else { return };
    while let Ok(Some(entry)) = entries.next().await {
        if tell.send(Heard::Network(entry)).await.is_err() {
            return;
        }
    }
}

fn without_end(mut line: Vec<u8>) -> Vec<u8> {
    while matches!(line.last(), Some(b'\n' | b'\r')) {
        line.pop();
    }
    line
}

/// What of the host the cell sees, as the protocol writes roots.
fn roots(spec: &CellSpec) -> Vec<Value> {
    /// What a path keeps in a URL (RFC 3986, section 3.3).
    const KEPT: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    let mounts = spec.mounts.iter().map(|mount| mount.path.to_string_lossy().into_owned());
    let data = spec.data.iter().map(|_| Data::INSIDE.to_owned());
    mounts
        .chain(data)
        .map(|path| json!({ "uri": format!("file://{}", utf8_percent_encode(&path, KEPT)), "name": path }))
        .collect()
}
