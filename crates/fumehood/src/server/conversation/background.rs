//! What is done while a client is told that a server is not ready: it is installed and read.

use std::{cell::RefCell, rc::Rc};

use tokio::task::JoinHandle;

use crate::server::{lock_file::Entry, preparing, standing::Standing, target::Target};

/// Something under way; dropping it ends it.
pub(crate) struct Background {
    task: JoinHandle<()>,
    outcome: Rc<RefCell<Result<(), String>>>,
}

impl Background {
    /// Makes the server ready for a review, as its standing demands; none where nothing is to be done.
    pub(crate) fn begin(
        target: &Target,
        folders: &cell::folders::Folders,
        standing: Standing,
    ) -> Option<Self> {
        let job = match standing {
            Standing::New => Job::Pin(None),
            Standing::Differs { entry, .. } => Job::Pin(Some(entry)),
            Standing::Absent(entry) => Job::Fetch(entry),
            Standing::Untrusted { .. }
            | Standing::Changed(_)
            | Standing::Unaccepted(_)
            | Standing::Ready(_) => {
                return None;
            }
        };
        let outcome = Rc::new(RefCell::new(Ok(())));
        let (target, folders, told) = (target.clone(), folders.clone(), Rc::clone(&outcome));
        let task = tokio::task::spawn_local(async move {
            if let Err(error) = job.perform(&target, &folders).await {
                *told.borrow_mut() = Err(format!("{error:#}"));
            }
        });
        Some(Self { task, outcome })
    }

    /// What came of it, once it is done.
    pub(super) fn outcome(&self) -> Result<(), String> {
        self.outcome.borrow().clone()
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Waits for its end; for ever where there is nothing.
pub(super) async fn done(background: &mut Option<Background>) {
    match background {
        Some(background) => {
            // A task that panicked has done nothing.
            (&mut background.task).await.ok();
        }
        None => std::future::pending().await,
    }
}

enum Job {
    /// Install, read, and write into the lock. What is pinned stays until a person has decided.
    Pin(Option<Box<Entry>>),
    /// Install what is pinned.
    Fetch(Box<Entry>),
}

impl Job {
    async fn perform(self, target: &Target, folders: &cell::folders::Folders) -> anyhow::Result<()> {
        match self {
            Self::Fetch(entry) => preparing::fetch(target, folders, &entry, &mut |_| {}).await.map(drop),
            Self::Pin(None) => {
                let prepared = preparing::prepare(target, folders, None, &mut |_| {}).await?;
                target.lock.write(&target.name, &prepared.entry)
            }
            // `fumehood review` pins it anew and shows the difference: here there is nobody to show it to.
            Self::Pin(Some(_)) => Ok(()),
        }
    }
}
