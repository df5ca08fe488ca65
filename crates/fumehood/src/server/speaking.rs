//! How a server in a cell is spoken to: by the stdio of its main process, or by HTTP on a port inside. Either way it is
//! lines in and lines out.

use std::{io, time::Duration};

use cell_api::{
    client::ClientError,
    error::{ErrorBody, ErrorCode},
    order::{EndOrder, StderrMode},
};
use model::{
    config::Transport,
    stdio::{Frame, Framer, Stray},
};
use tokio::{
    sync::{
        mpsc::{self, Receiver, Sender},
        oneshot,
    },
    time::Instant,
};

use super::attachment::{Attachment, Heard, Said};
use crate::{
    attend,
    bridge::{Dial, Inside, carry_inside},
    session::{Reach, Session},
    stop::{FAILURE, Stop},
};

/// How long a server may take from its start until it listens.
const LISTENING: Duration = Duration::from_mins(1);
/// How long a server that listens has from the end of its stdin to `SIGTERM`, ms.
const LISTENERS_GRACE_MS: u64 = 100;
/// How long is waited before it is tried again, at first and at most.
const PAUSE: Duration = Duration::from_millis(20);
const MAX_PAUSE: Duration = Duration::from_millis(500);
/// Frames and lines that may wait.
const WAITING: usize = 64;

/// Begins to speak to the main process of a cell that has just been started. Within a `LocalSet`. Where it is by HTTP,
/// [`Said::End`] ends the session, and nothing can be said once that is done.
///
/// # Errors
/// If it ends before it listens, or does not listen in time.
pub(crate) async fn begin(
    session: &Session,
    transport: Transport,
    stderr: StderrMode,
) -> anyhow::Result<Attachment> {
    let own = Attachment::begin(session.attach(stderr).await?);
    match transport {
        Transport::Stdio => Ok(own),
        Transport::Http { port } => by_http(session.reach(), own, port.get()).await,
    }
}

/// How it is ended, where `order` is meant for one that reads its stdin: to a server that listens the end of that says
/// nothing, and it is not waited for.
pub(crate) fn ending(transport: Transport, order: EndOrder) -> EndOrder {
    match transport {
        Transport::Stdio => order,
        Transport::Http { .. } => EndOrder { grace_ms: order.grace_ms.min(LISTENERS_GRACE_MS), ..order },
    }
}

async fn by_http(reach: Reach, mut own: Attachment, port: u16) -> anyhow::Result<Attachment> {
    let (strays, to_log) = mpsc::channel(WAITING);
    let logged = reach.clone();
    tokio::task::spawn_local(async move { attend::log(&logged, to_log).await });
    let mut prints = Prints { framer: Framer::default(), strays: strays.clone() };
    let mut said_early = Vec::new();
    wait(&reach, &mut own.heard, port, &mut prints, &mut said_early).await?;
    let inside = carry_inside(
        port,
        dial(reach, port),
        Box::new(move |text| {
            strays.try_send(text.to_owned()).ok();
        }),
    );
    let (tell, heard) = mpsc::channel(WAITING);
    let (say, said) = mpsc::channel(WAITING);
    let Inside { say: to_server, hear, lost, left } = inside;
    tokio::task::spawn_local(speak(said, to_server, left, own.say.clone()));
    tokio::task::spawn_local(async move {
        for bytes in said_early {
            tell.send(Heard::Stderr(bytes)).await.ok();
        }
        listen(own.heard, hear, lost, prints, tell).await;
        // The process's own connection ends with the last who could say something.
        drop(own.say);
    });
    Ok(Attachment { heard, say })
}

/// Waits until something takes connections on this port.
async fn wait(
    reach: &Reach,
    heard: &mut Receiver<Heard>,
    port: u16,
    prints: &mut Prints,
    stderr: &mut Vec<Vec<u8>>,
) -> anyhow::Result<()> {
    let end = Instant::now() + LISTENING;
    let mut pause = PAUSE;
    loop {
        let trying = async {
            tokio::time::sleep(pause).await;
            let inside = reach.another().await?.connect_inside(port).await;
            anyhow::Ok(match inside {
                Ok(_) => true,
                Err(ClientError::Refused(ErrorBody { code: ErrorCode::Port, .. })) => false,
                Err(error) => return Err(Stop::from(error).into()),
            })
        };
        tokio::select! {
            listens = trying => if listens? { return Ok(()) },
            heard = heard.recv() => {
                let how = match heard {
                    Some(Heard::Stdout(bytes)) => {
                        prints.log(&bytes);
                        continue;
                    }
                    Some(Heard::Stderr(bytes)) => {
                        stderr.push(bytes);
                        if stderr.len() > WAITING {
                            stderr.remove(0);
                        }
                        continue;
                    }
                    Some(Heard::Ended(end)) => end.detail,
                    Some(Heard::Broken(why)) => why,
                    Some(Heard::Lost) | None => "its supervisor died".to_owned(),
                };
                let message = format!("it ended before it took connections on port {port}: {how}");
                return Err(Stop::new(FAILURE, message, hint(&reach.name)).into());
            }
        }
        if Instant::now() > end {
            let message =
                format!("it took no connection on port {port} within {} s of its start", LISTENING.as_secs());
            return Err(Stop::new(FAILURE, message, hint(&reach.name)).into());
        }
        pause = pause.saturating_mul(2).min(MAX_PAUSE);
    }
}

fn hint(name: &str) -> String {
    format!(
        "`fumehood logs {name}` shows what it said; `port` is where it listens on loopback inside the cell"
    )
}

fn dial(reach: Reach, port: u16) -> Dial {
    Box::new(move || {
        let reach = reach.clone();
        Box::pin(async move {
            let client = reach.another().await.map_err(|error| io::Error::other(format!("{error:#}")))?;
            client.connect_inside(port).await.map_err(io::Error::other)
        })
    })
}

async fn speak(
    mut said: Receiver<Said>,
    to_server: Sender<Vec<u8>>,
    left: oneshot::Receiver<()>,
    own: Sender<Said>,
) {
    while let Some(Said::Bytes(line)) = said.recv().await {
        if to_server.send(line).await.is_err() {
            return;
        }
    }
    // Its session ends with the last sender; a process that reads its stdin as well hears of it there.
    drop(to_server);
    left.await.ok();
    own.send(Said::End).await.ok();
}

async fn listen(
    mut own: Receiver<Heard>,
    mut hear: Receiver<Vec<u8>>,
    mut lost: oneshot::Receiver<String>,
    mut prints: Prints,
    tell: Sender<Heard>,
) {
    let (mut speaks, mut carries) = (true, true);
    loop {
        let heard = tokio::select! {
            heard = own.recv() => match heard.unwrap_or(Heard::Lost) {
                Heard::Stdout(bytes) => {
                    prints.log(&bytes);
                    continue;
                }
                heard => heard,
            },
            line = hear.recv(), if speaks => {
                let Some(line) = line else {
                    speaks = false;
                    continue;
                };
                Heard::Stdout(line)
            }
            // What came before it is told before it.
            why = &mut lost, if carries && !speaks => {
                carries = false;
                match why {
                    Ok(why) => Heard::Broken(why),
                    Err(_left) => continue,
                }
            }
        };
        let is_last = matches!(heard, Heard::Ended(_) | Heard::Lost);
        if is_last {
            while let Ok(line) = hear.try_recv() {
                tell.send(Heard::Stdout(line)).await.ok();
            }
        }
        if tell.send(heard).await.is_err() || is_last {
            return;
        }
    }
}

/// What a server that speaks by HTTP prints.
struct Prints {
    framer: Framer,
    strays: Sender<String>,
}

impl Prints {
    fn log(&mut self, bytes: &[u8]) {
        let frames: Vec<Frame> = if bytes.is_empty() {
            self.framer.finish().into_iter().collect()
        } else {
            self.framer.push(bytes)
        };
        for frame in frames {
            let line = match frame {
                Frame::Message(line) => String::from_utf8_lossy(line.trim_ascii_end()).into_owned(),
                Frame::Stray(Stray { text, .. }) => String::from_utf8_lossy(&text).into_owned(),
                Frame::Oversized(message) => format!("a line of {} bytes", message.len),
            };
            // Where nobody can take it, it is dropped.
            self.strays.try_send(line).ok();
        }
    }
}
