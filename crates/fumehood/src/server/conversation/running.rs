//! The cell of a session: being built, running, ended.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use cell::folders::Folders;
use cell_api::{
    info::End,
    order::{EndOrder, StderrMode},
    spec::CellSpec,
};
use model::config::Transport;
use tokio::sync::{
    Notify,
    mpsc::{self, Receiver, Sender},
};

use super::{Attachment, Heard, Said, Target};
use crate::server::speaking;
use crate::{attend, ending, session::Session, terminal};

/// What comes of it.
pub(super) enum Happened {
    /// It runs, and can be spoken to.
    Up,
    /// It could not be built.
    NotStarted(anyhow::Error),
    /// It said something, or has ended.
    Heard(Heard),
}

type Building = Pin<Box<dyn Future<Output = anyhow::Result<(Session, Attachment)>>>>;

/// How a cell has ended.
pub(super) enum Outcome {
    /// As its supervisor says.
    Ended(End),
    /// With its supervisor, which said nothing.
    Lost,
}

/// One cell.
pub(super) struct Running {
    building: Option<Building>,
    /// No collection takes it away while this is held.
    _package: Option<Arc<packages::Package>>,
    up: Option<Up>,
    outcome: Option<Outcome>,
    has_left: bool,
    transport: Transport,
    verbose: bool,
    /// An end that was ordered before there was a cell.
    wish: Option<EndOrder>,
    strays: Sender<String>,
    to_log: Option<Receiver<String>>,
}

struct Up {
    session: Session,
    attachment: Attachment,
    last_words: std::rc::Rc<Notify>,
    telling: tokio::task::JoinHandle<()>,
}

impl Running {
    pub(super) fn begin(
        folders: Folders,
        spec: CellSpec,
        package: Option<Arc<packages::Package>>,
        transport: Transport,
        stderr: StderrMode,
        verbose: bool,
    ) -> Self {
        let (strays, to_log) = mpsc::channel(64);
        let looked_at = package.clone();
        let building = async move {
            crate::places::sweep(&folders, verbose);
            // While the supervisor gets ready, every file is looked at; nothing runs before that has gone well.
            let whole = looked_at.map(|package| {
                tokio::task::spawn_blocking(move || super::super::preparing::verify(&package))
            });
            let ready = async {
                match whole {
                    Some(whole) => whole.await?,
                    None => Ok(()),
                }
            };
            let session = Session::begin_when(folders, &spec, None, ready).await?;
            match speaking::begin(&session, transport, stderr).await {
                Ok(attachment) => Ok((session, attachment)),
                Err(error) => {
                    session.finish().await;
                    Err(error)
                }
            }
        };
        Self {
            building: Some(Box::pin(building)),
            _package: package,
            up: None,
            outcome: None,
            has_left: false,
            transport,
            verbose,
            wish: None,
            strays,
            to_log: Some(to_log),
        }
    }

    /// Where it is spoken to.
    pub(super) fn say(&self) -> Option<Sender<Said>> {
        self.up.as_ref().map(|up| up.attachment.say.clone())
    }

    /// How it has ended, where it has.
    pub(super) fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// Whether this is the moment at which the client's leaving is told; once.
    pub(super) fn leave(&mut self) -> bool {
        self.up.is_some() && self.outcome.is_none() && !std::mem::replace(&mut self.has_left, true)
    }

    /// Orders the end over a connection of its own; what comes of it is heard.
    pub(super) fn order_end(&mut self, order: EndOrder) {
        let Some(up) = &self.up else {
            self.wish = Some(order);
            return;
        };
        let (reach, transport) = (up.session.reach(), self.transport);
        let session = matches!(transport, Transport::Http { .. }).then(|| up.attachment.say.clone());
        tokio::task::spawn_local(async move {
            if let Some(session) = session {
                // What it was asked it may still answer.
                tokio::time::timeout(Duration::from_millis(order.grace_ms), session.closed()).await.ok();
            }
            let order = speaking::ending(transport, order);
            if let Ok(mut client) = reach.another().await {
                client.end(order).await.ok();
            }
        });
    }

    /// A line for the cell's log. Where nobody can take it, it is dropped.
    pub(super) fn log(&mut self, line: String) {
        self.strays.try_send(line).ok();
    }

    /// It has ended; what happened last is told.
    pub(super) async fn ended(&mut self, end: Option<End>) {
        if let Some(up) = &mut self.up {
            up.last_words.notify_one();
            // A supervisor that died tells nothing.
            tokio::time::timeout(attend::LAST_WORDS, &mut up.telling).await.ok();
        }
        self.outcome = Some(end.map_or(Outcome::Lost, Outcome::Ended));
    }

    fn came_up(&mut self, session: Session, attachment: Attachment) {
        attend::tell_start(&session.info, self.verbose);
        let reach = session.reach();
        let last_words = std::rc::Rc::new(Notify::new());
        let (told, now) = (reach.clone(), std::rc::Rc::clone(&last_words));
        let telling = tokio::task::spawn_local(async move { attend::telling::tell(&told, &now).await });
        if let Some(to_log) = self.to_log.take() {
            tokio::task::spawn_local(async move { attend::log(&reach, to_log).await });
        }
        self.up = Some(Up { session, attachment, last_words, telling });
        if let Some(order) = self.wish.take() {
            self.order_end(order);
        }
    }

    /// Lets go of the cell, and says how it ended where nobody knows yet.
    pub(super) async fn finish(self, target: &Target, verbose: bool, is_known: bool) {
        let Some(up) = self.up else { return };
        drop(up.attachment);
        drop(self.strays);
        up.telling.abort();
        let name = up.session.info.name.to_string();
        let end = match self.outcome {
            Some(Outcome::Ended(end)) => Some(end),
            Some(Outcome::Lost) | None => None,
        };
        let lost = end.is_none();
        let status = up.session.finish().await;
        match end {
            Some(end) if !is_known => {
                if let Some(words) = ending::in_words(&name, &end, true) {
                    terminal::say(&words);
                    if !verbose {
                        terminal::say(&format!("help: `fumehood logs {name}` shows what it said"));
                    }
                }
            }
            None if lost && self.has_left => {}
            None if !is_known => {
                let how = status.map_or_else(|| "it does not answer".to_owned(), |status| status.to_string());
                terminal::say(&format!(
                    "{} ended: its supervisor died ({how}), and the cell with it",
                    target.name
                ));
            }
            _ => {}
        }
    }
}

/// What happens next with it; never where there is none, or it has ended.
pub(super) async fn next(running: &mut Option<Running>) -> Happened {
    let Some(running) = running else { return std::future::pending().await };
    if running.outcome.is_some() {
        return std::future::pending().await;
    }
    if let Some(building) = &mut running.building {
        let built = building.await;
        running.building = None;
        return match built {
            Ok((session, attachment)) => {
                running.came_up(session, attachment);
                Happened::Up
            }
            Err(error) => Happened::NotStarted(error),
        };
    }
    match &mut running.up {
        Some(up) => Happened::Heard(up.attachment.heard.recv().await.unwrap_or(Heard::Lost)),
        None => std::future::pending().await,
    }
}

/// Room for one more thing to say.
pub(super) async fn reserve(say: Option<Sender<Said>>) -> Option<mpsc::OwnedPermit<Said>> {
    match say {
        // A process that is gone is told of by the other direction.
        Some(say) => match say.reserve_owned().await {
            Ok(permit) => Some(permit),
            Err(_) => std::future::pending().await,
        },
        None => std::future::pending().await,
    }
}
