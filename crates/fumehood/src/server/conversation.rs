//! One session of a client with a server, over our own stdin and stdout: the front decides, this carries out.

use std::{collections::VecDeque, process::ExitCode, thread, time::Duration};

use cell::folders::Folders;
use cell_api::order::{EndOrder, StderrMode};
use gateway::front::{Front, Order};
use model::{
    config::Transport,
    stdio::{Frame, Framer, Stray},
};
use tokio::sync::mpsc::{self, Receiver, Sender};

use super::{
    attachment::{Attachment, Heard, Said},
    preparing::Starting,
    target::Target,
};
use crate::{
    attend::{self, Signals},
    ending,
    relay::stdio::Stderr,
    stop::{CHANGED, FAILURE},
    terminal,
};

mod background;
mod deciding;
mod running;
mod streams;
mod walks;

pub(crate) use background::Background;
use running::{Outcome, Running};
use streams::{Ours, read_stdin, write_stdout};
use walks::{Step, Walks};

/// How long a server that differs must have said nothing before that is its last word.
const QUIET: Duration = Duration::from_millis(1_500);
/// How often it is looked whether a person has decided.
const LOOK: Duration = Duration::from_millis(400);
/// Frames that may wait for their turn, in each direction.
const WAITING: usize = 64;
/// Frames that a server may leave unread before it is not listened to any more: each may be our answer to one of its own.
const UNREAD: usize = 4_096;
/// signal(7).
const SIGPIPE: u8 = 13;

/// What a session is held with.
pub(crate) struct Conversation {
    /// The server.
    pub(crate) target: Target,
    /// Where everything lies.
    pub(crate) folders: Folders,
    /// Decides.
    pub(crate) front: Front,
    /// The cell to start at once, with its package.
    pub(crate) start: Option<Starting>,
    /// What is done meanwhile, where the server cannot be used yet.
    pub(crate) background: Option<Background>,
    /// How the cell is ended when the client leaves.
    pub(crate) end: EndOrder,
    /// Tell what was done for the cell, and pass its stderr on.
    pub(crate) verbose: bool,
}

impl Conversation {
    /// Holds it until the client leaves or the server ends.
    pub(crate) async fn hold(self) -> anyhow::Result<ExitCode> {
        let mut signals = Signals::listen()?;
        let (frames, said) = mpsc::channel(WAITING);
        let (lines, to_write) = mpsc::channel(WAITING);
        let (gone, reader_gone) = mpsc::channel(1);
        thread::Builder::new().name("stdin".into()).spawn(move || read_stdin(&frames))?;
        thread::Builder::new().name("stdout".into()).spawn(move || write_stdout(to_write, &gone))?;
        let walks = Walks::new(&self.target, &self.folders, self.front.surface());
        for fault in walks.faults() {
            terminal::say(&format!("{}: {fault}", self.target.name));
        }
        let mut front = self.front.walking();
        front.show(walks.shown());
        let mut talk = Talk {
            front,
            walks,
            target: self.target,
            folders: self.folders,
            background: self.background,
            end: self.end,
            verbose: self.verbose,
            to_client: VecDeque::new(),
            to_server: VecDeque::new(),
            running: None,
            settling: None,
            client_left: false,
            changed: false,
            framer: Framer::default(),
        };
        if let Some(start) = self.start {
            talk.begin(start);
        }
        talk.go_on(said, lines, reader_gone, &mut signals).await
    }
}

/// A session under way.
struct Talk {
    front: Front,
    walks: Walks,
    target: Target,
    folders: Folders,
    background: Option<Background>,
    end: EndOrder,
    verbose: bool,
    to_client: VecDeque<Vec<u8>>,
    to_server: VecDeque<Said>,
    running: Option<Running>,
    settling: Option<tokio::time::Instant>,
    client_left: bool,
    changed: bool,
    framer: Framer,
}

impl Talk {
    async fn go_on(
        &mut self,
        mut said: Receiver<Ours>,
        lines: Sender<Vec<u8>>,
        mut reader_gone: Receiver<()>,
        signals: &mut Signals,
    ) -> anyhow::Result<ExitCode> {
        let mut look = tokio::time::interval(LOOK);
        let mut signalled: Option<u8> = None;
        let mut failed = None;
        loop {
            self.carry_out()?;
            if let Some(error) = failed {
                // Whoever waits for an answer has been told.
                self.flush(&lines).await;
                drop(lines);
                streams::written(reader_gone).await;
                return Err(error);
            }
            self.let_go_of_refused().await;
            if let Some(code) = self.is_over() {
                self.flush(&lines).await;
                let code = self.finish(code, signalled).await;
                drop(lines);
                streams::written(reader_gone).await;
                return code;
            }
            let say = self.running.as_ref().and_then(Running::say);
            tokio::select! {
                frame = said.recv(), if !self.client_left && self.to_server.len() < WAITING => {
                    self.heard_client(frame.unwrap_or(Ours::Ended));
                }
                permit = lines.reserve(), if !self.to_client.is_empty() => {
                    if let (Ok(permit), Some(line)) = (permit, self.to_client.pop_front()) {
                        permit.send(line);
                    }
                }
                permit = running::reserve(say), if !self.to_server.is_empty() => {
                    let said = self.to_server.pop_front();
                    if let (Some(permit), Some(said)) = (permit, said) {
                        permit.send(said);
                    }
                }
                happened = running::next(&mut self.running),
                    if self.to_client.len() < WAITING && self.to_server.len() < UNREAD =>
                {
                    failed = self.happened(happened).await.err();
                }
                () = background::done(&mut self.background) => self.prepared(),
                step = self.walks.next() => self.goes_on(step),
                // What may run is started when it is needed.
                _ = look.tick(), if self.front.is_closed() && self.running.is_none() && !self.client_left => {
                    self.look();
                }
                () = settle(self.settling) => {
                    self.settling = None;
                    self.front.settled();
                }
                _ = reader_gone.recv(), if !self.client_left => {
                    self.client_left = true;
                    signalled = Some(SIGPIPE);
                    self.end_cell(attend::HURRIED);
                }
                number = signals.next() => {
                    if signalled.replace(number).is_some() {
                        // Told twice: no more waiting.
                        return self.finish(ExitCode::from(128 + number), signalled).await;
                    }
                    self.client_left = true;
                    self.end_cell(attend::HURRIED);
                }
            }
        }
    }

    fn begin(&mut self, (spec, package): Starting) {
        self.front.starting();
        let stderr = if self.verbose { StderrMode::Lossy } else { StderrMode::False };
        let transport = self.target.transport;
        let folders = self.folders.clone();
        self.running = Some(Running::begin(folders, spec, package, transport, stderr, self.verbose));
    }

    /// A call comes back from the road.
    fn goes_on(&mut self, step: Step) {
        match step {
            Step::Ask(ticket, line, underway) => {
                let was_asked = self.front.walked(&ticket, line);
                self.walks.begun(ticket, *underway, was_asked);
            }
            Step::Turned(ticket, line) => self.front.turned(&ticket, &line),
        }
    }

    fn heard_client(&mut self, ours: Ours) {
        match ours {
            Ours::Frame(Frame::Message(line)) => self.front.client(&line),
            Ours::Frame(Frame::Stray(Stray { text, .. })) => self.front.client(&text),
            Ours::Frame(Frame::Oversized(message)) => {
                self.to_client.extend(message.answer(self.framer.cap()));
                terminal::say(&format!("a message of {} bytes was not passed to the server", message.len));
            }
            Ours::Ended => self.client_left = true,
        }
    }

    async fn happened(&mut self, happened: running::Happened) -> anyhow::Result<()> {
        match happened {
            running::Happened::Up => self.front.up(),
            running::Happened::NotStarted(error) => {
                self.front.gone(&format!("it could not be started: {error:#}"));
                self.running = None;
                if self.client_left || !self.changed {
                    return Err(error);
                }
            }
            running::Happened::Heard(Heard::Stdout(bytes)) => {
                let frames: Vec<Frame> = if bytes.is_empty() {
                    self.framer.finish().into_iter().collect()
                } else {
                    self.framer.push(&bytes)
                };
                for frame in frames {
                    self.heard_server(frame);
                }
            }
            running::Happened::Heard(Heard::Stderr(bytes)) => {
                use std::io::Write;
                // Whoever does not read our stderr misses it.
                Stderr.write_all(&bytes).ok();
            }
            running::Happened::Heard(Heard::Broken(why)) => {
                self.front.gone(&why);
                self.end_cell(attend::HURRIED);
            }
            running::Happened::Heard(Heard::Ended(end)) => {
                self.front.gone(&end.detail);
                if let Some(running) = &mut self.running {
                    running.ended(Some(end)).await;
                }
            }
            running::Happened::Heard(Heard::Lost) => {
                self.front.gone("its supervisor died");
                if let Some(running) = &mut self.running {
                    running.ended(None).await;
                }
            }
        }
        Ok(())
    }

    fn heard_server(&mut self, frame: Frame) {
        match frame {
            Frame::Message(line) => self.front.server(&line),
            Frame::Stray(Stray { text, len }) => {
                let shown = String::from_utf8_lossy(&text);
                let is_whole = u64::try_from(text.len()) == Ok(len);
                self.log(if is_whole { shown.into_owned() } else { format!("{shown}… ({len} bytes)") });
            }
            Frame::Oversized(message) => {
                self.log(format!("a message of {} bytes was not passed to the client", message.len));
                if let Some(line) = message.replacement(self.framer.cap()) {
                    self.front.server(&line);
                }
            }
        }
    }

    fn log(&mut self, line: String) {
        if let Some(running) = &mut self.running {
            running.log(line);
        }
    }

    /// Does what the front has decided.
    fn carry_out(&mut self) -> anyhow::Result<()> {
        while let Some(order) = self.front.next_order() {
            match order {
                Order::ToClient(line) => self.to_client.push_back(line),
                Order::ToServer(line) => self.to_server.push_back(Said::Bytes(line)),
                Order::Start => self.look(),
                Order::Settle => {
                    self.settling.get_or_insert_with(|| tokio::time::Instant::now() + QUIET);
                }
                // Only a client that speaks for many is told of refusals apart from answers.
                Order::Same | Order::Refused { .. } => {}
                Order::Log(line) => self.log(line),
                Order::Changed { now, whole } => self.changed(*now, whole)?,
                Order::Walk { ticket, line } => self.walks.walk(ticket, &line, self.front.client_name()),
                Order::Answered { ticket, line } => {
                    let line = self.walks.answered(&ticket, line);
                    self.to_client.push_back(line);
                }
                Order::Over { ticket, over } => self.walks.over(&ticket, over),
            }
        }
        // The client has left, and nobody waits for an answer that a start would bring.
        if self.client_left
            && !self.front.is_waiting()
            && !self.walks.is_walking()
            && self.to_server.is_empty()
            && let Some(running) = &mut self.running
            && running.leave()
        {
            self.to_server.push_back(Said::End);
            running.order_end(EndOrder { stdin_ends_itself: true, ..self.end });
        }
        Ok(())
    }

    fn end_cell(&mut self, order: EndOrder) {
        if let Some(running) = &mut self.running {
            running.order_end(order);
        }
    }

    /// Lets go of a cell that was refused as a whole: its client stays, and may be given another one.
    async fn let_go_of_refused(&mut self) {
        let has_ended = self.running.as_ref().is_some_and(|running| running.outcome().is_some());
        if has_ended
            && self.changed
            && self.front.is_closed()
            && !self.client_left
            && let Some(running) = self.running.take()
        {
            running.finish(&self.target, self.verbose, true).await;
        }
    }

    /// The exit code, where there is nothing left to do.
    fn is_over(&self) -> Option<ExitCode> {
        if let Some(running) = &self.running {
            let end = running.outcome()?;
            return Some(match end {
                _ if self.changed => CHANGED.into(),
                Outcome::Ended(_) if self.ends_by_signal() => ExitCode::SUCCESS,
                Outcome::Ended(end) => ending::code(end).into(),
                Outcome::Lost => FAILURE.into(),
            });
        }
        let waits = self.front.is_waiting() || self.walks.is_walking();
        (self.client_left && !waits).then(|| if self.changed { CHANGED.into() } else { ExitCode::SUCCESS })
    }

    /// Whether a signal is how it ends once its client has left: to a server that listens no stdin says so.
    fn ends_by_signal(&self) -> bool {
        self.client_left && matches!(self.target.transport, Transport::Http { .. })
    }

    /// What is left for the client is written, where it still reads.
    async fn flush(&mut self, lines: &Sender<Vec<u8>>) {
        while let Some(line) = self.to_client.pop_front() {
            if lines.send(line).await.is_err() {
                return;
            }
        }
    }

    async fn finish(&mut self, code: ExitCode, signalled: Option<u8>) -> anyhow::Result<ExitCode> {
        self.walks.finish().await;
        if let Some(running) = self.running.take() {
            // Whoever has ended us by a signal knows why it ended.
            let is_known =
                self.changed || self.ends_by_signal() || signalled.is_some_and(|number| number != SIGPIPE);
            running.finish(&self.target, self.verbose, is_known).await;
        }
        Ok(signalled.map_or(code, |number| (128 + number).into()))
    }
}

async fn settle(at: Option<tokio::time::Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
