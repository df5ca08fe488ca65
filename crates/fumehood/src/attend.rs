//! Attending a process from its start to its end: what `run` and `exec` share.

use std::{net::SocketAddr, os::unix::net::UnixStream, process::ExitCode, time::Duration};

use cell_api::{
    client::{Attached, Client},
    info::{CellInfo, End},
    order::{EndOrder, LogMark, LogOrder, StderrMode},
    spec::CellSpec,
};
use model::layer::{LayerName, LayerState};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::Notify,
};

use crate::{
    ending, places,
    published::{self, Publish, Published},
    relay::{self, Dialect, Told},
    session::{Reach, Session},
    stop::FAILURE,
    terminal,
};

/// How a process is attended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    /// What passes.
    pub(crate) dialect: Dialect,
    /// What becomes of its stderr.
    pub(crate) stderr: StderrMode,
    /// The order that follows the end of our stdin; none where that is the process's own business.
    pub(crate) after_stdin: Option<EndOrder>,
    /// Tell what was done for the cell.
    pub(crate) verbose: bool,
}

pub(crate) mod telling;

/// What is ordered when we are told to end: the same steps, faster.
pub(crate) const HURRIED: EndOrder = EndOrder { grace_ms: 500, term_ms: 1_000, stdin_ends_itself: false };
/// How long the events of an ended cell are waited for.
pub(crate) const LAST_WORDS: Duration = Duration::from_millis(500);
/// The signals that tell us to end.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Signals {
    pub(crate) fn listen() -> anyhow::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// The number of the next one.
    pub(crate) async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.hangup.recv() => 1,
            _ = self.interrupt.recv() => 2,
            _ = self.terminate.recv() => 15,
        }
    }
}

/// Builds a cell, attends its main process, and lets nothing of it stay.
pub(crate) async fn cell(spec: &CellSpec, manner: Manner, publish: &[Publish]) -> anyhow::Result<ExitCode> {
    warn_of_secrets(spec);
    let mut signals = Signals::listen()?;
    let folders = places::folders()?;
    places::sweep(&folders, manner.verbose);
    let session = tokio::select! {
        session = Session::begin(folders, spec) => session?,
        number = signals.next() => return Ok((128 + number).into()),
    };
    tell_start(&session.info, manner.verbose);
    let outcome = async {
        let (_published, places) = Published::open(&session.folder(), publish).await?;
        let attached = session.attach(manner.stderr).await?;
        attend(&session, attached, manner, &places, &mut signals).await
    };
    let outcome = outcome.await;
    let name = session.info.name.to_string();
    let status = session.finish().await;
    Ok(match outcome? {
        Outcome::Ended(end) => {
            if let Some(words) = ending::in_words(&name, &end, manner.dialect == Dialect::JsonRpc) {
                terminal::say(&words);
                if manner.stderr == StderrMode::False {
                    terminal::say(&format!("help: `fumehood logs {name}` shows what it said"));
                }
            }
            ending::code(&end).into()
        }
        Outcome::Signalled(number) => (128 + number).into(),
        Outcome::ReaderGone => (128 + SIGPIPE).into(),
        Outcome::Lost => {
            let how = status.map_or_else(|| "it does not answer".to_owned(), |status| status.to_string());
            terminal::say(&format!("{name} ended: its supervisor died ({how}), and the cell with it"));
            FAILURE.into()
        }
    })
}

/// signal(7).
const SIGPIPE: u8 = 13;

enum Outcome {
    Ended(End),
    Signalled(u8),
    ReaderGone,
    Lost,
}

async fn attend(
    session: &Session,
    attached: Attached,
    manner: Manner,
    places: &[(SocketAddr, Publish)],
    signals: &mut Signals,
) -> anyhow::Result<Outcome> {
    let stream = blocking(&attached)?;
    let breaker = stream.try_clone()?;
    let mut relay = relay::start(stream, attached.early.to_vec(), manner.dialect)?;
    drop(attached.stream);
    let reach = session.reach();
    let mut logging = std::pin::pin!(log(&reach, relay.strays));
    let mut logged = false;
    let last_words = Notify::new();
    let mut telling = std::pin::pin!(telling::tell(&reach, &last_words));
    let mut told_all = false;
    let mut coming_up = std::pin::pin!(say_when_up(session, places));
    let mut is_up = places.is_empty();
    let mut ending = std::pin::pin!(None);
    let mut outcome = None;
    loop {
        tokio::select! {
            told = relay.told.recv() => match told {
                Some(Told::Ended(end)) => {
                    if !logged {
                        logging.as_mut().await;
                    }
                    if !told_all {
                        // What happened last is told too.
                        last_words.notify_one();
                        tokio::time::timeout(LAST_WORDS, telling.as_mut()).await.ok();
                    }
                    return Ok(outcome.unwrap_or(Outcome::Ended(end)));
                }
                Some(Told::Lost) | None => return Ok(outcome.unwrap_or(Outcome::Lost)),
                Some(Told::StdinEnded) => {
                    if let (Some(order), None) = (manner.after_stdin, ending.as_ref().get_ref()) {
                        ending.set(Some(order_end(session, order)));
                    }
                }
                Some(Told::ReaderGone) => {
                    outcome = Some(Outcome::ReaderGone);
                    ending.set(Some(order_end(session, HURRIED)));
                }
            },
            number = signals.next() => {
                if outcome.is_some() {
                    // Told twice: no more waiting.
                    relay::break_off(&breaker);
                    return Ok(Outcome::Signalled(number));
                }
                outcome = Some(Outcome::Signalled(number));
                ending.set(Some(order_end(session, HURRIED)));
            }
            () = async {
                match ending.as_mut().as_pin_mut() {
                    Some(order) => order.await,
                    None => std::future::pending().await,
                }
            } => ending.set(None),
            () = logging.as_mut(), if !logged => logged = true,
            () = telling.as_mut(), if !told_all => told_all = true,
            () = coming_up.as_mut(), if !is_up => is_up = true,
        }
    }
}

/// Says where a published port is as soon as something inside listens on it.
async fn say_when_up(session: &Session, places: &[(SocketAddr, Publish)]) {
    for (here, publish) in places {
        published::until_up(&session.folder(), publish.inside).await;
        terminal::say(&format!(
            "{} is at http://{here} (port {} inside); every program of this machine can connect to it",
            session.info.name, publish.inside
        ));
    }
}

/// Orders the end over a connection of its own; what comes of it is told by the relay.
async fn order_end(session: &Session, order: EndOrder) {
    if let Ok(mut client) = session.another().await {
        client.end(order).await.ok();
    }
}

/// Logs stray lines until there are no more, over a connection made for the first one. Without it they are taken and
/// dropped, so that nobody waits.
pub(crate) async fn log(session: &Reach, mut strays: tokio::sync::mpsc::Receiver<String>) {
    /// A request's body may have 1 MiB; escapes can make a line six times as long.
    const BATCH: usize = 128 << 10;
    let mut connection: Option<Option<Client>> = None;
    while let Some(first) = strays.recv().await {
        let client = match &mut connection {
            Some(client) => client,
            None => connection.insert(session.another().await.ok()),
        };
        let mut size = first.len();
        let mut lines = cut(first);
        while size < BATCH {
            let Ok(more) = strays.try_recv() else { break };
            size += more.len();
            lines.extend(cut(more));
        }
        for batch in batches(lines, BATCH) {
            if let Some(to) = client.as_mut()
                && to.log(&LogOrder { mark: LogMark::StrayStdout, lines: batch }).await.is_err()
            {
                *client = None;
            }
        }
    }
}

/// A long line in pieces that fit a request.
fn cut(line: String) -> Vec<String> {
    const LONGEST: usize = 64 << 10;
    if line.len() <= LONGEST {
        return vec![line];
    }
    let mut pieces = Vec::new();
    let mut rest = line.as_str();
    while !rest.is_empty() {
        let (piece, later) = rest.split_at_checked(rest.floor_char_boundary(LONGEST)).unwrap_or((rest, ""));
        pieces.push(piece.to_owned());
        rest = later;
    }
    pieces
}

fn batches(lines: Vec<String>, most: usize) -> Vec<Vec<String>> {
    let mut batches: Vec<Vec<String>> = Vec::new();
    let mut size = usize::MAX;
    for line in lines {
        size = size.saturating_add(line.len());
        match batches.last_mut() {
            Some(batch) if size <= most => batch.push(line),
            _ => {
                size = line.len();
                batches.push(vec![line]);
            }
        }
    }
    batches
}

pub(crate) fn blocking(attached: &Attached) -> anyhow::Result<UnixStream> {
    use std::os::fd::AsFd;
    let stream = UnixStream::from(attached.stream.as_fd().try_clone_to_owned()?);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

pub(crate) fn tell_start(info: &CellInfo, verbose: bool) {
    if verbose {
        for note in &info.notes {
            terminal::say(note);
        }
        terminal::say(&format!("cell {} runs; its log is `{}`", info.id, info.log.display()));
    }
    let weak: Vec<String> = weak(info).map(|(name, state)| format!("{name} ({state})")).collect();
    if !weak.is_empty() {
        terminal::say(&format!("not held on this host: {}; see `fumehood doctor`", weak.join(", ")));
    }
}

/// Layers of depth that are not enforced. The data quota is watched on every host, so that says nothing about this one.
pub(crate) fn weak(info: &CellInfo) -> impl Iterator<Item = (LayerName, LayerState)> {
    info.layers
        .iter()
        .filter(|layer| layer.state != LayerState::Enforced && layer.name != LayerName::DataQuota)
        .map(|layer| (layer.name, layer.state))
}

/// A key in the environment is the cell's to read and to give away.
pub(crate) fn warn_of_secrets(spec: &CellSpec) {
    let keys: Vec<&str> = spec
        .env
        .iter()
        .filter(|(name, value)| !value.is_empty() && is_key(name))
        .map(|(name, _)| name.as_str())
        .collect();
    if !keys.is_empty() {
        let hosts = &spec.network.hosts;
        let reach = if hosts.is_empty() {
            "it reaches no host, so mind what it writes".to_owned()
        } else {
            format!("it can send it to {}", hosts.join(", "))
        };
        terminal::say(&format!("warning: the cell can read the real value of {}; {reach}", keys.join(", ")));
        terminal::say(
            "help: `fumehood secret set NAME --host HOST` keeps it, and `--secret NAME` lets the cell use it unseen",
        );
    }
}

fn is_key(name: &str) -> bool {
    const WORDS: [&str; 8] = ["TOKEN", "KEY", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "APIKEY", "AUTH"];
    let name = name.to_ascii_uppercase();
    name.split('_')
        .any(|part| WORDS.iter().any(|word| part == *word || part.strip_suffix('S') == Some(*word)))
        || ["TOKEN", "SECRET", "PASSWORD", "APIKEY"].iter().any(|word| name.ends_with(word))
}

/// How long somebody who asks a supervisor a question waits for the answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_keys_are_known_and_others_are_not() {
        for name in
            ["GITHUB_TOKEN", "OPENAI_API_KEY", "db_password", "AWS_SECRET_ACCESS_KEY", "MYAPIKEY", "API_KEYS"]
        {
            assert!(is_key(name), "{name}");
        }
        for name in ["KEYBOARD", "TZ", "MONKEY", "AUTHOR", "LOG_LEVEL"] {
            assert!(!is_key(name), "{name}");
        }
    }

    #[test]
    fn a_long_line_is_cut_at_characters_and_every_batch_fits() {
        let line = "ö".repeat(100_000);
        let pieces = cut(line.clone());
        assert_eq!(pieces.concat(), line);
        let batches = batches(pieces, 128 << 10);
        assert!(batches.len() > 1 && batches.iter().all(|batch| batch.concat().len() <= 128 << 10));
    }
}
