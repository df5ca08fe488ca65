//! The record as its writers see it.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use model::digest::Digest;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use super::{
    AuditError, Event, own,
    writer::{Reply, Told, Writer},
};

/// How many notes may wait to be written, and how many commits.
const WAITING: usize = 4096;

/// Where a record lies, and how it is written.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Its folder, made for its owner alone where it is missing.
    pub folder: PathBuf,
    /// A second place for checkpoints: a file on another volume.
    pub checkpoints: Option<PathBuf>,
    /// How long notes that nobody waits for may be gathered before they are written together. A commit never waits for it.
    pub group: Duration,
    /// Whether bodies of events are kept, apart from their rows.
    pub bodies: bool,
}

/// The record. Clones write the same one, by one thread, so that it is written whatever becomes of a caller's runtime.
#[derive(Debug, Clone)]
pub struct Audit {
    say: mpsc::UnboundedSender<Told>,
    bodies: bool,
    notes: Arc<Semaphore>,
    commits: Arc<Semaphore>,
    health: Arc<Mutex<Health>>,
}

/// Where an event was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Number of its row, from 1.
    pub seq: u64,
    /// The row's hash, which the next row holds.
    pub hash: Digest,
}

/// Whether the record is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// It is.
    Ok,
    /// The database does not take rows; notes go to a file beside it, and commits are refused.
    Spilling {
        /// Why.
        reason: String,
    },
    /// Nothing can be written; notes wait, and commits are refused.
    Failed {
        /// Why.
        reason: String,
    },
}

impl Settings {
    /// In this folder, with notes gathered for 5 ms.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, checkpoints: None, group: Duration::from_millis(5), bodies: false }
    }
}

impl Audit {
    /// Opens the record, and makes it where it is missing. What an earlier process left in spill files is written first.
    ///
    /// # Errors
    ///
    /// [`AuditError`]: a folder that is another's or open to others, a record that ends before what is known to have been
    /// written, a database that cannot be opened.
    pub async fn open(settings: Settings) -> Result<Self, AuditError> {
        let (say, heard) = mpsc::unbounded_channel();
        let health = Arc::new(Mutex::new(Health::Ok));
        let (opened, open) = oneshot::channel();
        let (folder, shown, bodies) = (settings.folder.clone(), Arc::clone(&health), settings.bodies);
        let thread = std::thread::Builder::new().name("audit".to_owned());
        let thread = thread.spawn(move || {
            let runtime = match tokio::runtime::Builder::new_current_thread().enable_time().build() {
                Ok(runtime) => runtime,
                Err(error) => {
                    opened.send(Err(own::failed("starting a writer for", &settings.folder)(error))).ok();
                    return;
                }
            };
            runtime.block_on(async move {
                match Writer::open(settings, heard, shown).await {
                    Ok(writer) => {
                        if opened.send(Ok(())).is_ok() {
                            writer.work().await;
                        }
                    }
                    Err(error) => drop(opened.send(Err(error))),
                }
            });
        });
        thread.map_err(own::failed("starting a writer for", &folder))?;
        open.await.map_err(|_| AuditError::Closed)??;
        let queue = || Arc::new(Semaphore::new(WAITING));
        Ok(Self { say, bodies, notes: queue(), commits: queue(), health })
    }

    /// Records it, and returns once it is on the disk.
    ///
    /// # Errors
    ///
    /// [`AuditError`]: it is not written, so what it is about must not be done.
    pub async fn commit(&self, event: Event) -> Result<Receipt, AuditError> {
        self.tell_and_wait(event, None).await
    }

    /// As [`Audit::commit`]; where its future is dropped while the event is on its way, `left` is recorded behind it: what it
    /// is about was not begun.
    ///
    /// # Errors
    ///
    /// As [`Audit::commit`].
    pub async fn commit_or_leave(&self, event: Event, left: Event) -> Result<Receipt, AuditError> {
        self.tell_and_wait(event, Some(left)).await
    }

    async fn tell_and_wait(&self, event: Event, left: Option<Event>) -> Result<Receipt, AuditError> {
        let place = Arc::clone(&self.commits).acquire_owned().await.map_err(|_| AuditError::Closed)?;
        let (reply, answer) = oneshot::channel();
        self.tell(event, Some(reply), Some(place));
        let mut note = Note { audit: self, event: left };
        let answer = answer.await;
        note.event = None;
        answer.map_err(|_| AuditError::Closed)?
    }

    /// Records it soon; waits while too much is waiting. An event whose future is dropped meanwhile is recorded all the same.
    pub async fn note(&self, event: Event) {
        let mut note = Note { audit: self, event: Some(event) };
        if let Ok(place) = Arc::clone(&self.notes).acquire_owned().await
            && let Some(event) = note.event.take()
        {
            self.tell(event, None, Some(place));
        }
    }

    /// As [`Audit::note`], where nothing can wait: in `Drop`, for the end of a call that was committed before.
    pub fn note_now(&self, event: Event) {
        self.tell(event, None, None);
    }

    /// Whether bodies are kept: whoever has one need not copy it where they are not.
    pub fn keeps_bodies(&self) -> bool {
        self.bodies
    }

    /// Whether it is written.
    pub fn health(&self) -> Health {
        if self.say.is_closed() {
            return Health::Failed { reason: AuditError::Closed.to_string() };
        }
        self.health.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes what is waiting and a checkpoint, and ends the writer. Commits that come later are errors, and notes are lost.
    pub async fn close(&self) {
        let (done, closed) = oneshot::channel();
        if self.say.send(Told::Close(done)).is_ok() {
            closed.await.ok();
        }
    }

    fn tell(&self, event: Event, reply: Option<Reply>, place: Option<OwnedSemaphorePermit>) {
        // After the end nobody listens; whoever waits for a reply hears that.
        self.say.send(Told::Event { event: Box::new(event), reply, place }).ok();
    }
}

/// A note that is recorded where this is dropped with it.
struct Note<'a> {
    audit: &'a Audit,
    event: Option<Event>,
}

impl Drop for Note<'_> {
    fn drop(&mut self) {
        if let Some(event) = self.event.take() {
            self.audit.note_now(event);
        }
    }
}
