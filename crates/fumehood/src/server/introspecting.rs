//! Reading what a server offers, in a cell without network and keys: before anybody has accepted it.

use std::{collections::BTreeMap, time::Duration};

use cell::folders::Folders;
use cell_api::{
    info::End,
    network::NetworkSpec,
    order::{EndOrder, StderrMode},
    spec::CellSpec,
};
use model::{
    config::Transport,
    mount::Data,
    name::ServerName,
    profile::Profile,
    stdio::{Frame, Framer},
};
use serde_json::Value;
use tools::{
    introspect::Introspection,
    surface::{Surface, SurfaceError},
};

use super::{
    attachment::{Attachment, Heard, Said},
    random, speaking,
};
use crate::{
    session::Session,
    stop::{FAILURE, Stop},
};

/// How long a server may take to say what it offers.
const PATIENCE: Duration = Duration::from_secs(90);
/// How long it must have said nothing before its lists count as settled.
const QUIET: Duration = Duration::from_millis(400);
/// The last lines of its stderr that are shown where it failed.
const LAST_LINES: usize = 8;
/// What a cell that is to have no keys finds in their place: long enough for whoever checks the length.
const NO_KEY: &str = "fumehood-has-no-key-for-this-reading-0000";

/// A cell as it will be, less what a server that nobody has accepted gets: it reaches nothing, has no key, writes nowhere.
/// With `keys`, hosts and keys stay.
pub(crate) fn poor(mut spec: CellSpec, keys: bool) -> anyhow::Result<CellSpec> {
    for mount in &mut spec.mounts {
        mount.write = false;
    }
    if let Some(data) = &mut spec.data {
        data.name = ServerName::new(format!("reading-{}", random::hex(8)?))?;
        data.size = data.size.min(Data::DEFAULT_SIZE);
    }
    if !keys {
        spec.network = NetworkSpec::default();
        let made_up: BTreeMap<String, String> =
            spec.secrets.drain(..).map(|one| (one.variable, NO_KEY.to_owned())).collect();
        spec.env.extend(made_up);
    }
    Ok(spec)
}

/// Starts a cell, reads all that the server offers, and ends it. `spec` is a poor one.
pub(crate) async fn read(
    folders: &Folders,
    spec: &CellSpec,
    transport: Transport,
    profile: &Profile,
) -> anyhow::Result<Surface> {
    let throw_away = spec.data.as_ref().filter(|data| data.name.as_str().starts_with("reading-"));
    let session = Session::begin(folders.clone(), spec).await?;
    let outcome = async {
        let attachment = speaking::begin(&session, transport, StderrMode::Lossy).await?;
        let mut last_lines = LastLines::default();
        let reading = converse(attachment, profile, spec.name.as_str(), &mut last_lines);
        let outcome = tokio::time::timeout(PATIENCE, reading).await;
        outcome.unwrap_or_else(|_| {
            let seconds = PATIENCE.as_secs();
            let message = format!("it did not say what it offers within {seconds} s{}", last_lines.shown());
            Err(Stop::new(FAILURE, message, lacking(spec.name.as_str())).into())
        })
    };
    let outcome = outcome.await;
    if let Ok(mut client) = session.another().await {
        client.end(EndOrder { grace_ms: 200, term_ms: 500, ..EndOrder::default() }).await.ok();
    }
    session.finish().await;
    if let Some(data) = throw_away {
        std::fs::remove_dir_all(folders.data(&data.name)).ok();
    }
    outcome
}

async fn converse(
    mut attachment: Attachment,
    profile: &Profile,
    name: &str,
    last_lines: &mut LastLines,
) -> anyhow::Result<Surface> {
    let mut introspection = Introspection::new(profile, &format!("fumehood-{}-", random::hex(8)?));
    let mut framer = Framer::default();
    let mut confirmed: Option<Surface> = None;
    say(&attachment, introspection.begin()).await;
    loop {
        let settled = introspection.has_settled() && introspection.result().is_some();
        let heard = if settled {
            match tokio::time::timeout(QUIET, attachment.heard.recv()).await {
                Ok(heard) => heard,
                Err(_) => match introspection.result() {
                    // Read twice: some servers add to their lists without saying so.
                    Some(Ok(surface)) => match &confirmed {
                        Some(before) if before.fingerprint() == surface.fingerprint() => return Ok(surface),
                        _ => {
                            confirmed = Some(surface);
                            say(&attachment, introspection.again()).await;
                            continue;
                        }
                    },
                    Some(Err(error)) => {
                        let hint = match error {
                            SurfaceError::Answer { .. } => lacking(name),
                            _ => error.hint(),
                        };
                        return Err(Stop::new(FAILURE, error.to_string(), hint).into());
                    }
                    None => continue,
                },
            }
        } else {
            attachment.heard.recv().await
        };
        let frames = match heard {
            Some(Heard::Stdout(bytes)) if bytes.is_empty() => framer.finish().into_iter().collect(),
            Some(Heard::Stdout(bytes)) => framer.push(&bytes),
            Some(Heard::Stderr(bytes)) => {
                last_lines.push(&bytes);
                continue;
            }
            Some(Heard::Broken(why)) => {
                let message = format!("{why}, while it was read{}", last_lines.shown());
                return Err(Stop::new(FAILURE, message, lacking(name)).into());
            }
            Some(Heard::Ended(end)) => return Err(ended(&end, last_lines).into()),
            Some(Heard::Lost) | None => {
                return Err(Stop::new(FAILURE, "its supervisor died while it was read", "").into());
            }
        };
        for frame in frames {
            if let Frame::Message(line) = frame {
                let message = match tools::json::parse(&line) {
                    Ok(message) => message,
                    Err(error) => {
                        let message = format!("it said something that cannot be read without doubt: {error}");
                        return Err(Stop::new(FAILURE, message, "").into());
                    }
                };
                let replies = introspection.push(&message);
                say(&attachment, replies).await;
            } else if let Frame::Oversized(message) = frame {
                let said = format!("a message of {} bytes is more than anybody reads", message.len);
                return Err(Stop::new(FAILURE, said, "").into());
            }
        }
        // A list may have changed while it was read.
        if introspection.wants_again() {
            say(&attachment, introspection.again()).await;
        }
    }
}

async fn say(attachment: &Attachment, messages: Vec<Value>) {
    for message in messages {
        let mut line = message.to_string().into_bytes();
        line.push(b'\n');
        // A process that is gone is told of by the other direction.
        attachment.say.send(Said::Bytes(line)).await.ok();
    }
}

/// What helps a server that runs, but tells nothing of what it offers.
fn lacking(name: &str) -> String {
    format!(
        "`fumehood logs {name}` shows what it said; if it has to reach something before it lists anything, give it \
         its hosts and keys (`--host`, `--secret`) and read it with them (`--read-with-keys`, or `lists = \"keys\"` \
         in the file)"
    )
}

fn ended(end: &End, last_lines: &LastLines) -> Stop {
    let message = format!("it ended before it said what it offers: {}{}", end.detail, last_lines.shown());
    Stop::new(
        FAILURE,
        message,
        "it may need an argument, a variable (`--env`), a folder (`--mount`), or its key (`--secret` with \
         `--read-with-keys`, or `lists = \"keys\"` in the file)",
    )
}

/// The end of what a server said on stderr.
#[derive(Debug, Default)]
struct LastLines {
    bytes: Vec<u8>,
}

impl LastLines {
    const MOST: usize = 16 << 10;

    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let over = self.bytes.len().saturating_sub(Self::MOST);
        self.bytes.drain(..over);
    }

    fn shown(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines.iter().skip(lines.len().saturating_sub(LAST_LINES));
        let mut shown = String::new();
        for line in last {
            shown.push_str("; it said: ");
            shown.push_str(line.trim());
        }
        shown
    }
}
