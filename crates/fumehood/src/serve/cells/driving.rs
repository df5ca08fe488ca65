//! Cells driven by lines of JSON on stdin, and everything they say on stdout: for tests of them alone, in the test-only
//! build. `fumehood-guard-off drive-cells`.

use std::{
    collections::BTreeMap,
    io::{self, BufRead as _, Write as _},
    process::ExitCode,
    sync::Arc,
};

use access::principal::{Known, Principal};
use gateway::pool::{CellKey, Cells as _, Control, Heard, Holder, Running, StartError};
use model::name::ServerName;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};

use super::{LiveCells, Screening};
use crate::{configuration::Configuration, places};

/// One line.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "do")]
enum Wish {
    /// Starts a cell, and calls it `of`.
    Start { of: String, server: ServerName, user: Option<String>, group: Option<String> },
    /// Says a line to it.
    Say { of: String, line: Value },
    /// Stops it.
    Freeze { of: String },
    /// Continues it.
    Thaw { of: String },
    /// Ends it, and waits for that.
    End { of: String },
    /// Listens to it no longer, and holds it.
    Deafen { of: String },
    /// Lets go of it.
    Drop { of: String },
    /// Asks for needles.
    Screening,
    /// Looks for secrets in a value.
    Find { value: Value },
}

struct Cell {
    say: mpsc::Sender<Vec<u8>>,
    control: Arc<dyn Control>,
    listening: tokio::task::JoinHandle<()>,
    deaf: Arc<Notify>,
}

/// Does what is wished until nothing more is.
pub(crate) fn perform() -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let code = runtime.block_on(drive());
    runtime.shutdown_background();
    code
}

async fn drive() -> anyhow::Result<ExitCode> {
    let folders = places::folders()?;
    let configuration = Configuration::read(&folders, &crate::cli::Given::default())?;
    let declared = configuration.declared_servers(&folders)?;
    let declared = declared.into_iter().map(|(name, target)| Ok((name, target?)));
    let cells = Arc::new(LiveCells::begin(folders.clone(), declared.collect::<anyhow::Result<_>>()?)?);
    let (wishes, mut wished) = mpsc::channel(16);
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if wishes.blocking_send(line).is_err() {
                return;
            }
        }
    });
    let (came, mut coming) = mpsc::channel(16);
    let mut running: BTreeMap<String, Cell> = BTreeMap::new();
    let (mut screening, mut held) = (None, Value::Null);
    loop {
        // Whoever has been told that one runs may speak to it.
        let line = tokio::select! {
            biased;
            Some((of, cell)) = coming.recv() => {
                running.insert(of, cell);
                continue;
            }
            line = wished.recv() => line,
        };
        let Some(line) = line else { break };
        match serde_json::from_str(&line)? {
            Wish::Start { of, server, user, group } => {
                let user = user.map(|subject| Known { subject, ..Known::default() });
                let who = user.map(|known| Arc::new(Principal::of_key("driver", known, None)));
                let whose = match (&who, group) {
                    (Some(who), _) => Holder::User(who.key()),
                    (None, Some(group)) => Holder::Group(group),
                    (None, None) => Holder::Server,
                };
                let starting = cells.start(CellKey { server, whose }, who);
                tokio::spawn(start(of, starting, came.clone()));
            }
            Wish::Screening => {
                let begun = Screening::begin(folders.clone()).await?;
                tokio::spawn(begun.clone().follow(|_| tell(&json!({ "screen": "renewed" }))));
                screening = Some(begun);
                tell(&json!({ "screen": "begun" }));
            }
            Wish::Find { value } => {
                let found = screening.as_ref().and_then(|screening| screening.screen().find(&value));
                tell(&json!({ "found": found.map(|found| json!([found.path, found.what])) }));
                // Whoever looks into our memory finds what was said last.
                held.clone_from(&value);
            }
            of_one => attend(of_one, &mut running).await,
        }
    }
    drop((running, held));
    cells.close().await;
    Ok(ExitCode::SUCCESS)
}

/// Does what is wished of one cell.
async fn attend(wish: Wish, running: &mut BTreeMap<String, Cell>) {
    match wish {
        Wish::Say { of, line } => {
            if let Some(cell) = running.get(&of) {
                cell.say.send(format!("{line}\n").into_bytes()).await.ok();
            }
        }
        Wish::Freeze { of } => {
            if let Some(cell) = running.get(&of) {
                tell(&json!({ "of": of, "frozen": cell.control.freeze().await.err() }));
            }
        }
        Wish::Thaw { of } => {
            if let Some(cell) = running.get(&of) {
                tell(&json!({ "of": of, "thawed": cell.control.thaw().await.err() }));
            }
        }
        Wish::End { of } => {
            if let Some(cell) = running.remove(&of) {
                cell.control.end().await;
                tell(&json!({ "of": of, "gone": true }));
            }
        }
        Wish::Deafen { of } => {
            if let Some(cell) = running.get(&of) {
                cell.deaf.notify_one();
            }
        }
        Wish::Drop { of } => {
            if let Some(cell) = running.remove(&of) {
                cell.listening.abort();
            }
        }
        Wish::Start { .. } | Wish::Screening | Wish::Find { .. } => {}
    }
}

/// Tells what comes of a start, and keeps what was started.
async fn start(
    of: String,
    starting: impl Future<Output = Result<Running, StartError>>,
    came: mpsc::Sender<(String, Cell)>,
) {
    match starting.await {
        Ok(Running { say, hear, control, speaks_http, roots }) => {
            let deaf = Arc::new(Notify::new());
            let listening = tokio::spawn(listen(of.clone(), hear, Arc::clone(&deaf)));
            came.send((of.clone(), Cell { say, control, listening, deaf })).await.ok();
            tell(&json!({ "of": of, "started": true, "speaks_http": speaks_http, "roots": roots }));
        }
        Err(StartError { code, reason, is_final }) => {
            tell(&json!({ "of": of, "refused": code, "reason": reason, "final": is_final }));
        }
    }
}

async fn listen(of: String, mut hear: mpsc::Receiver<Heard>, deaf: Arc<Notify>) {
    loop {
        let heard = tokio::select! {
            heard = hear.recv() => heard,
            () = deaf.notified() => std::future::pending().await,
        };
        let Some(heard) = heard else { break };
        tell(&match heard {
            Heard::Line(line) => json!({ "of": of, "line": serde_json::from_slice::<Value>(&line).ok() }),
            Heard::Log(text) => json!({ "of": of, "log": text }),
            Heard::Network(entry) => json!({ "of": of, "network": entry }),
            Heard::Ended(why) => json!({ "of": of, "ended": why }),
        });
    }
    tell(&json!({ "of": of, "closed": true }));
}

fn tell(said: &Value) {
    let mut out = io::stdout().lock();
    // Whoever does not listen any more does not want to know.
    writeln!(out, "{said}").and_then(|()| out.flush()).ok();
}
