//! While the database takes no rows, and when it does again.

use std::time::Instant;

use serde_json::{Map, json};

use super::{MOST, Writer};
use crate::audit::{
    AuditError, Event, Kind,
    bound::bounded,
    spill::Spill,
    sqlite::{Database, Spilled},
    step::{Step, reached},
};

impl Writer {
    /// Puts what is held into the spill file, and says how things stand.
    pub(super) fn spill_held(&mut self) {
        let mut failure = None;
        while !self.held.is_empty() {
            let some: Vec<Event> = self.held.iter().take(MOST).map(|(event, _)| event.clone()).collect();
            match self.spill.as_mut().map_or(Err(AuditError::Closed), |spill| spill.append(&some)) {
                Ok(()) => drop(self.held.drain(..some.len())),
                Err(error) => {
                    failure = Some(error.to_string());
                    break;
                }
            }
        }
        self.say_health(failure);
    }

    /// Tries the database again, and brings in what was spilled and what is held, in this order.
    pub(super) async fn recover(&mut self) {
        self.tried = Instant::now();
        if let Err(error) = self.bring_in().await {
            let since = self.broken.as_ref().map_or(self.tried, |(since, _)| *since);
            self.broken = Some((since, error.to_string()));
        } else {
            self.broken = None;
        }
    }

    async fn bring_in(&mut self) -> Result<(), AuditError> {
        // After a failed write nothing is certain of a connection.
        if self.broken.is_some()
            && let Some(old) = self.database.take()
        {
            old.close().await.ok();
        }
        if self.database.is_none() {
            self.database = Some(Database::open(&self.settings.folder, self.known).await?);
        }
        if let Some(mut spill) = self.spill.take() {
            let why = self.broken.as_ref().map(|(_, reason)| reason.clone()).unwrap_or_default();
            let brought = if spill.is_empty() { Ok(()) } else { self.empty(&mut spill, &why).await };
            self.spill = Some(spill);
            brought?;
        }
        while !self.held.is_empty() {
            let some: Vec<Event> = self.held.iter().take(MOST).map(|(event, _)| event.clone()).collect();
            self.write(&some, None).await?;
            self.held.drain(..some.len());
        }
        Ok(())
    }

    async fn empty(&mut self, spill: &mut Spill, why: &str) -> Result<(), AuditError> {
        self.replay(spill, why).await?;
        let id = spill.id().to_owned();
        spill.renew(&self.settings.folder)?;
        self.forget(&id).await
    }

    /// Brings the lines of a spill file into the database: each once, whenever the process is killed.
    pub(super) async fn replay(&mut self, spill: &Spill, why: &str) -> Result<(), AuditError> {
        let database = self.database.as_mut().ok_or(AuditError::Closed)?;
        let mut done = database.spilled(spill.id()).await?;
        let mut lines = spill.lines()?;
        for _ in 0..done {
            lines.next()?;
        }
        loop {
            let mut events = Vec::with_capacity(MOST);
            while events.len() < MOST
                && let Some(event) = lines.next()?
            {
                events.push(event);
            }
            if events.is_empty() {
                return Ok(());
            }
            let count = events.len();
            done += count as u64;
            events.insert(0, brought_in(spill.id(), count, why));
            self.write(&events, Some(Spilled { id: spill.id(), done })).await?;
            reached(Step::Replayed);
        }
    }

    pub(super) async fn forget(&mut self, spill: &str) -> Result<(), AuditError> {
        self.database.as_mut().ok_or(AuditError::Closed)?.forget_spill(spill).await
    }
}

/// The row that stands before those that come from a spill file.
fn brought_in(id: &str, count: usize, why: &str) -> Event {
    let details =
        [("what", json!("brought_in")), ("rows", json!(count)), ("spill", json!(id)), ("reason", json!(why))];
    let details = Map::from_iter(details.map(|(name, value)| (name.to_owned(), value)));
    bounded(Event { details, ..Event::new(Kind::Service) })
}
