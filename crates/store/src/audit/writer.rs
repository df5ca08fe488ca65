//! The one writer of a process: takes what is waiting, writes it together, and says so to whoever waits for it.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use model::digest::Digest;
use serde_json::Map;
use tokio::{
    sync::{OwnedSemaphorePermit, mpsc, oneshot},
    time::{sleep_until, timeout_at},
};

use super::{
    AuditError, Event, Health, Kind, Receipt, Settings,
    bound::{self, bounded},
    checkpoint::Signer,
    coalesce::Coalescer,
    head::HeadFile,
    own,
    place::{self, Place},
    row::Head,
    spill::Spill,
    sqlite::{Database, Spilled},
    step::{Step, reached},
};

mod recovery;

/// The most events in one transaction.
const MOST: usize = 512;
/// A checkpoint after so many rows,
const ROWS: u64 = 1000;
/// or after so long, if there are any.
const INTERVAL: Duration = Duration::from_mins(1);
/// How often a database that takes nothing is tried again.
const RETRY: Duration = Duration::from_millis(250);

/// Whoever waits for an event to be on the disk.
pub(super) type Reply = oneshot::Sender<Result<Receipt, AuditError>>;

/// What a writer is told.
#[derive(Debug)]
pub(super) enum Told {
    /// An event to write, and who waits for it.
    Event {
        event: Box<Event>,
        reply: Option<Reply>,
        /// Its place in the queue, given up once it is written.
        place: Option<OwnedSemaphorePermit>,
    },
    /// Nothing will come any more.
    Close(oneshot::Sender<()>),
}

/// A writer at work.
#[derive(Debug)]
pub(super) struct Writer {
    settings: Settings,
    heard: mpsc::UnboundedReceiver<Told>,
    health: Arc<Mutex<Health>>,
    database: Option<Database>,
    signer: Signer,
    head_file: HeadFile,
    known: Option<Head>,
    /// Always there, but while it is brought in.
    spill: Option<Spill>,
    coalescer: Coalescer,
    /// Notes that are nowhere yet, in order.
    held: VecDeque<(Event, Option<OwnedSemaphorePermit>)>,
    /// Since when the database takes nothing, and why.
    broken: Option<(Instant, String)>,
    tried: Instant,
    /// Rows since the last checkpoint of this process, and when that was.
    since_checkpoint: (u64, Instant),
    /// Why the last checkpoint is not where it should be.
    unsigned: Option<String>,
    closing: Vec<oneshot::Sender<()>>,
}

impl Writer {
    /// Opens everything.
    pub(super) async fn open(
        settings: Settings,
        heard: mpsc::UnboundedReceiver<Told>,
        health: Arc<Mutex<Health>>,
    ) -> Result<Self, AuditError> {
        own::make_folder(&settings.folder)?;
        let (head_file, known) = HeadFile::open(&settings.folder)?;
        let mut database = Database::open(&settings.folder, known).await?;
        let signer = Signer::open(&settings.folder, database.id())?;
        let spill = Spill::make(&settings.folder)?;
        let known = database.head(known).await?;
        let now = Instant::now();
        let mut writer = Self {
            settings,
            heard,
            health,
            database: Some(database),
            signer,
            head_file,
            known: Some(known),
            spill: Some(spill),
            coalescer: Coalescer::default(),
            held: VecDeque::new(),
            broken: None,
            tried: now,
            since_checkpoint: (0, now),
            unsigned: None,
            closing: Vec::new(),
        };
        for left in Spill::left_behind(&writer.settings.folder)? {
            writer.replay(&left, "its process ended").await?;
            let id = left.id().to_owned();
            left.remove()?;
            writer.forget(&id).await?;
        }
        Ok(writer)
    }

    /// Writes till it is closed, or nobody is left who could say anything.
    pub(super) async fn work(mut self) {
        loop {
            let batch = self.gather().await;
            let ends = |batch: &Vec<Told>| batch.iter().any(|told| matches!(told, Told::Close(_)));
            let is_over = batch.as_ref().is_none_or(ends);
            self.take(batch.unwrap_or_default(), is_over).await;
            if is_over {
                return self.end().await;
            }
        }
    }

    /// What is to be written next; nothing once nobody is left. It comes back empty when something else is due.
    async fn gather(&mut self) -> Option<Vec<Told>> {
        let mut batch = Vec::new();
        let first = match self.due() {
            Some(due) => match timeout_at(due.into(), self.heard.recv()).await {
                Ok(first) => first?,
                Err(_) => return Some(batch),
            },
            None => self.heard.recv().await?,
        };
        let mut awaited = is_awaited(&first);
        batch.push(first);
        let deadline = Instant::now() + self.settings.group;
        // Whoever waits is not kept waiting for more; while this is written, more will have come.
        while batch.len() < MOST {
            let next = match self.heard.try_recv() {
                Ok(next) => next,
                Err(_) if awaited => break,
                Err(_) => match timeout_at(deadline.into(), self.heard.recv()).await {
                    Ok(Some(next)) => next,
                    _ => break,
                },
            };
            awaited |= is_awaited(&next);
            batch.push(next);
        }
        Some(batch)
    }

    /// When something is due though nothing comes.
    fn due(&self) -> Option<Instant> {
        let (rows, last) = self.since_checkpoint;
        let checkpoint = (rows > 0).then_some(last + INTERVAL);
        let retry = (self.broken.is_some() || !self.held.is_empty()).then_some(self.tried + RETRY);
        [checkpoint, retry, self.coalescer.due()].into_iter().flatten().min()
    }

    async fn take(&mut self, batch: Vec<Told>, is_over: bool) {
        let now = Instant::now();
        let (mut events, mut replies) = (Vec::new(), Vec::new());
        for row in self.coalescer.take(now, is_over) {
            events.push(row);
            replies.push((None, None));
        }
        for told in batch {
            match told {
                Told::Close(done) => self.closing.push(done),
                Told::Event { event, reply, place } => {
                    let event = self.with_body(bounded(*event));
                    let event = if reply.is_some() { Some(event) } else { self.coalescer.admit(event, now) };
                    if let Some(event) = event {
                        events.push(event);
                        replies.push((reply, place));
                    }
                }
            }
        }
        if is_over {
            events.extend(self.coalescer.take(now, true));
            replies.resize_with(events.len(), || (None, None));
        }
        if (self.broken.is_some() || !self.held.is_empty()) && now >= self.tried + RETRY {
            self.recover().await;
        }
        if crate::audit::guard::off("audit-commit-first") {
            for reply in replies.iter_mut().filter_map(|(reply, _)| reply.take()) {
                reply.send(Ok(Receipt { seq: 0, hash: Digest::of(b"") })).ok();
            }
        }
        match &self.broken {
            None => match self.write(&events, None).await {
                Ok(heads) => {
                    for ((reply, _place), head) in replies.into_iter().zip(heads) {
                        // Whoever went away meanwhile does not perform anything.
                        reply.map(|reply| reply.send(Ok(Receipt { seq: head.seq, hash: head.hash })).ok());
                    }
                }
                Err(error) => {
                    self.broken = Some((now, error.to_string()));
                    self.tried = now;
                    // Whoever hears that it was refused finds the reason.
                    self.say_health(None);
                    self.refuse(events, replies, &error);
                }
            },
            Some((_, reason)) => {
                let path = self.settings.folder.clone();
                let error = AuditError::Database { path, reason: reason.clone() };
                self.refuse(events, replies, &error);
            }
        }
        self.spill_held();
        if self.broken.is_none() {
            let (rows, last) = self.since_checkpoint;
            if rows >= ROWS || rows > 0 && last.elapsed() >= INTERVAL {
                self.checkpoint().await;
            }
        }
    }

    /// With the digest of its body, if bodies are kept; else without it.
    fn with_body(&self, mut event: Event) -> Event {
        event.body = event.body.filter(|_| self.settings.bodies);
        event.body_digest = event.body.as_ref().and_then(bound::body).map(|text| Digest::of(text.as_bytes()));
        event
    }

    /// Adds rows, and writes the head after them.
    async fn write(
        &mut self,
        events: &[Event],
        spilled: Option<Spilled<'_>>,
    ) -> Result<Vec<Head>, AuditError> {
        if events.is_empty() {
            return Ok(Vec::new());
        }
        let database = self.database.as_mut().ok_or(AuditError::Closed)?;
        let heads = database.append(events, self.known, spilled).await?;
        if let Some(head) = heads.last() {
            self.known = Some(*head);
            // Rows are on the disk: a head that cannot be written is behind, which is no harm.
            self.head_file.write(*head).ok();
            reached(Step::HeadWritten);
        }
        self.since_checkpoint.0 += heads.len() as u64;
        Ok(heads)
    }

    /// Refuses what somebody waits for; the rest is held.
    fn refuse(
        &mut self,
        events: Vec<Event>,
        replies: Vec<(Option<Reply>, Option<OwnedSemaphorePermit>)>,
        why: &AuditError,
    ) {
        for (event, (reply, place)) in events.into_iter().zip(replies) {
            match reply {
                Some(reply) => drop(reply.send(Err(why.clone()))),
                None => self.held.push_back((event, place)),
            }
        }
    }

    fn say_health(&self, failure: Option<String>) {
        let health = match (&self.broken, failure) {
            (None, None) => Health::Ok,
            (Some((_, reason)), None) => Health::Spilling { reason: reason.clone() },
            (Some((_, reason)), Some(failure)) => Health::Failed { reason: format!("{reason}; {failure}") },
            (None, Some(failure)) => Health::Failed { reason: failure },
        };
        *self.health.lock().unwrap_or_else(PoisonError::into_inner) = health;
    }

    /// Signs where the rows have come to. One that cannot be signed or written now is made up for by the next.
    async fn checkpoint(&mut self) {
        let failure = self.sign().await.err().map(|error| error.to_string());
        // Tried again when it would be time for the next.
        self.since_checkpoint = (u64::from(failure.is_some()), Instant::now());
        if failure == self.unsigned {
            return;
        }
        // Whoever watches the record reads it there, once.
        let what = if failure.is_some() { "checkpoint_failed" } else { "checkpoint_works_again" };
        let mut details = Map::from_iter([("what".to_owned(), what.into())]);
        details.extend(failure.clone().map(|reason| ("reason".to_owned(), reason.into())));
        self.unsigned = failure;
        let event = bounded(Event { details, ..Event::new(Kind::Service) });
        if self.write(std::slice::from_ref(&event), None).await.is_err() {
            self.held.push_back((event, None));
        }
    }

    async fn sign(&mut self) -> Result<(), AuditError> {
        let database = self.database.as_mut().ok_or(AuditError::Closed)?;
        database.checkpoint(|size, root| self.signer.sign(size, root)).await?;
        self.head_file.sync()?;
        let places = [Some(self.settings.folder.join(place::FILE)), self.settings.checkpoints.clone()];
        let mut all = Ok(());
        for path in places.into_iter().flatten() {
            let place = Place::new(path);
            loop {
                let mut count = 0;
                let brought = place.bring_up_to_date(async |size| {
                    let notes = database.checkpoints_after(size).await?;
                    count = notes.len();
                    Ok(notes)
                });
                let brought = brought.await;
                if brought.is_err() || count == 0 {
                    all = all.and(brought);
                    break;
                }
            }
        }
        all
    }

    async fn end(mut self) {
        self.heard.close();
        while let Ok(told) = self.heard.try_recv() {
            self.take(vec![told], true).await;
        }
        if self.broken.is_some() || !self.held.is_empty() {
            sleep_until((self.tried + RETRY).into()).await;
            self.recover().await;
            self.spill_held();
        }
        // Also over rows that others wrote who were killed.
        if self.broken.is_none() {
            self.checkpoint().await;
        }
        if let Some(spill) = self.spill.take_if(|spill| spill.is_empty()) {
            spill.remove().ok();
        }
        if let Some(database) = self.database.take() {
            database.close().await.ok();
        }
        for done in self.closing {
            done.send(()).ok();
        }
    }
}

fn is_awaited(told: &Told) -> bool {
    matches!(told, Told::Event { reply: Some(_), .. } | Told::Close(_))
}
