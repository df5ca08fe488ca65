//! Streams of events: read to their end, and taken up again where they break off.

use std::time::Duration;

use http_body_util::BodyExt as _;

use super::{Asked, Carrier, ConnectionError, Events, ExchangeError, Manner, Message};
use crate::bridge::connection::Reply;

/// How long a stream may stay open after its answer before its connection is closed.
const FINISHING: Duration = Duration::from_secs(1);
/// How often in a row a stream is opened again that brings nothing new.
const MAX_TRIES: u32 = 6;
/// How long is waited before that where the stream did not say so, and at most.
const RETRY: Duration = Duration::from_secs(1);
const MAX_RETRY: Duration = Duration::from_mins(1);

/// How the reading of a stream ended.
enum End {
    /// What it was opened for has come.
    Answered,
    /// Whatever the reason: it may be taken up again.
    Broken,
    /// It said too much at once.
    TooLarge,
}

impl Carrier {
    /// Passes on what comes on a stream until the answer has come, and takes the stream up again where it breaks off.
    pub(super) async fn follow(&self, reply: Reply, asked: &Asked) -> Result<(), String> {
        let mut events = Events::default();
        let mut reply = Some(reply);
        let mut tries = 0;
        loop {
            if let Some(mut reply) = reply.take() {
                let before = events.last_id.clone();
                match self.hear_all(&mut reply, &mut events, Some(asked)).await {
                    End::Answered => {
                        finish(reply);
                        return Ok(());
                    }
                    End::TooLarge => return Err("the remote server sent more than 64 MiB at once".to_owned()),
                    End::Broken if before != events.last_id => tries = 0,
                    End::Broken => {}
                }
                events = events.resumed();
            }
            let resumes = !matches!(asked.manner, Manner::Alone(_));
            let Some(place) = events.last_id.clone().filter(|_| resumes) else {
                return Err("the connection to the remote server broke off before the answer".to_owned());
            };
            if tries == MAX_TRIES || self.given_up.borrow().contains(&asked.id.to_string()) {
                return Err("the remote server did not take up the broken connection again".to_owned());
            }
            pause(&events, tries).await;
            tries += 1;
            match self.peer.listen(Some(&place)).await {
                Ok(Some(again)) => reply = Some(again),
                Ok(None) => return Err("the remote server cannot take up a broken connection".to_owned()),
                Err(ExchangeError::Connection(ConnectionError::Certificates(why))) => return Err(why),
                Err(_) => {}
            }
        }
    }

    /// Passes on what the server sends by itself, as long as it offers that.
    pub(super) async fn listen(&self) {
        let mut events = Events::default();
        let mut tries = 0;
        while tries < MAX_TRIES {
            match self.peer.listen(events.last_id.as_deref()).await {
                Ok(Some(mut reply)) => {
                    let before = events.last_id.clone();
                    match self.hear_all(&mut reply, &mut events, None).await {
                        End::TooLarge => {
                            (self.notes)("the remote server sent more than 64 MiB at once");
                            return;
                        }
                        End::Answered | End::Broken if before != events.last_id => tries = 0,
                        End::Answered | End::Broken => {}
                    }
                    events = events.resumed();
                }
                Ok(None) => return,
                // It will say the same again.
                Err(ExchangeError::Refused { status, .. }) if status.is_client_error() => return,
                Err(_) => {}
            }
            pause(&events, tries).await;
            tries += 1;
        }
    }

    async fn hear_all(&self, reply: &mut Reply, events: &mut Events, asked: Option<&Asked>) -> End {
        while let Some(Ok(frame)) = reply.response.frame().await {
            let Ok(data) = frame.into_data() else { continue };
            let Ok(found) = events.push(&data) else { return End::TooLarge };
            for event in found {
                if event.data.is_empty() || event.kind.is_some_and(|kind| kind != "message") {
                    continue;
                }
                match Message::read(&event.data) {
                    Some(message) => {
                        if self.hear(message, asked).await {
                            return End::Answered;
                        }
                    }
                    None => (self.notes)("the remote server sent an event that is no message"),
                }
            }
        }
        End::Broken
    }
}

/// Waits a moment for the end of a stream whose answer has come: its connection is of use for the next request.
fn finish(reply: Reply) {
    tokio::task::spawn_local(async move { tokio::time::timeout(FINISHING, reply.whole()).await.ok() });
}

/// Waits as long as the stream said, or longer each time.
async fn pause(events: &Events, tries: u32) {
    let wait = match events.retry {
        Some(ms) => Duration::from_millis(ms),
        None => RETRY.saturating_mul(1 << tries.min(6)),
    };
    tokio::time::sleep(wait.min(MAX_RETRY)).await;
}
