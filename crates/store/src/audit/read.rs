//! The record as its readers see it.

use std::path::Path;

use super::{AuditError, CallId, filter::Filter, row::Row, sql::Range, sqlite::Reader};

/// A record, open to be read while others write it.
#[derive(Debug)]
pub struct Log {
    reader: Reader,
}

impl Log {
    /// The most rows that are read at once.
    pub const PAGE: usize = 1000;

    /// Opens the record in this folder.
    ///
    /// # Errors
    ///
    /// [`AuditError`]: there is none, it is another's, or it cannot be read.
    pub async fn open(folder: &Path) -> Result<Self, AuditError> {
        Ok(Self { reader: Reader::open(folder).await? })
    }

    /// The record's name.
    pub fn id(&self) -> &str {
        self.reader.id()
    }

    /// The next rows after row `seq` that fit, the oldest first: at most [`Log::PAGE`].
    ///
    /// # Errors
    ///
    /// [`AuditError`]: they cannot be read.
    pub async fn after(&mut self, seq: u64, filter: &Filter) -> Result<Vec<Row>, AuditError> {
        let seq = i64::try_from(seq).unwrap_or(i64::MAX);
        self.reader.search(filter, Range::After(seq), limit(Self::PAGE)).await
    }

    /// The last rows that fit, the oldest first: at most `most`.
    ///
    /// # Errors
    ///
    /// [`AuditError`]: they cannot be read.
    pub async fn last(&mut self, most: usize, filter: &Filter) -> Result<Vec<Row>, AuditError> {
        let mut rows = self.reader.search(filter, Range::Before(i64::MAX), limit(most)).await?;
        rows.reverse();
        Ok(rows)
    }

    /// Everything that belongs to a call, in the order in which it was recorded: decision, intent, requests, uses of keys,
    /// outcome.
    ///
    /// # Errors
    ///
    /// [`AuditError`]: it cannot be read.
    pub async fn call(&mut self, call: &CallId) -> Result<Vec<Row>, AuditError> {
        let filter = Filter { call: Some(call.clone()), ..Filter::default() };
        let mut all = self.after(0, &filter).await?;
        let mut page = all.len();
        while page == Self::PAGE {
            let last = all.last().map_or(0, |row| row.seq);
            let more = self.after(last, &filter).await?;
            page = more.len();
            all.extend(more);
        }
        Ok(all)
    }

    /// The body of a row as it was kept, in JSON (RFC 8785); nothing where none was kept, or it was erased.
    ///
    /// # Errors
    ///
    /// [`AuditError`]: it cannot be read.
    pub async fn body(&mut self, seq: u64) -> Result<Option<String>, AuditError> {
        let found = self.reader.bodies(seq.saturating_sub(1), seq).await?;
        Ok(found.into_iter().next().map(|(_, body)| body))
    }

    /// Ends reading.
    ///
    /// # Errors
    ///
    /// [`AuditError`]: the database says so.
    pub async fn close(self) -> Result<(), AuditError> {
        self.reader.close().await
    }
}

fn limit(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}
