//! Rows: one event each, sealed by a hash over its canonical JSON, which holds the hash of the row before.

use model::digest::Digest;
use serde::{Deserialize, Serialize};

use super::{AuditError, Event, moment};

/// The chain that all rows of a file belong to.
pub(super) const STREAM: &str = "calls";

/// Where a chain has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Number of the last row; 0 before the first.
    pub seq: u64,
    /// Its hash; before the first row that of the record's own name.
    pub hash: Digest,
}

/// A row that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its number, from 1.
    pub seq: u64,
    /// Its hash.
    pub hash: Digest,
    /// Hash of the row before.
    pub prev: Digest,
    /// The very JSON (RFC 8785) that the hash is of.
    pub record: String,
    /// What happened.
    pub event: Event,
}

/// What the hash is of.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Record<E> {
    pub(super) v: u64,
    pub(super) stream: String,
    pub(super) seq: u64,
    pub(super) prev: Digest,
    #[serde(flatten)]
    pub(super) event: E,
}

/// A row on its way into the database.
#[derive(Debug, Clone)]
pub(super) struct Sealed {
    pub(super) head: Head,
    pub(super) record: String,
    pub(super) columns: Columns,
}

/// What of a row stands in columns of its own, to be searched. All of it is in the record too, and `verify` compares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    /// Microseconds since 1970.
    pub(super) at: i64,
    pub(super) kind: String,
    pub(super) call: Option<String>,
    pub(super) server: Option<String>,
    pub(super) name: Option<String>,
    pub(super) subject: Option<String>,
    pub(super) tenant: Option<String>,
    pub(super) code: Option<String>,
}

/// Version of the form of records.
const VERSION: u64 = 1;

impl Head {
    /// Before the first row of the record with this name.
    pub(super) fn first(id: &str) -> Self {
        Self { seq: 0, hash: Digest::of(format!("fumehood-audit/1\n{id}\n").as_bytes()) }
    }
}

impl Sealed {
    /// The row after `prev`.
    pub(super) fn new(prev: Head, event: &Event) -> Result<Self, AuditError> {
        let columns = Columns::of(event);
        let seq = prev.seq + 1;
        let record = Record { v: VERSION, stream: STREAM.to_owned(), seq, prev: prev.hash, event };
        let form = |reason: String| AuditError::Form { seq, reason };
        let bytes = serde_json_canonicalizer::to_vec(&record).map_err(|error| form(error.to_string()))?;
        let head = Head { seq, hash: Digest::of(&bytes) };
        let record = String::from_utf8(bytes).map_err(|error| form(error.to_string()))?;
        Ok(Self { head, record, columns })
    }
}

impl Columns {
    /// Those of an event.
    pub(super) fn of(event: &Event) -> Self {
        // PostgreSQL keeps no NUL in a text.
        let text = |text: &String| text.replace('\0', "\u{fffd}");
        Self {
            at: i64::try_from(moment::micros(event.at)).unwrap_or(i64::MAX),
            kind: event.kind.as_str().to_owned(),
            call: event.call.as_ref().map(ToString::to_string),
            server: event.server.as_ref().map(text),
            name: event.name.as_ref().map(text),
            subject: event.principal.as_ref().map(|who| text(&who.subject)),
            tenant: event.principal.as_ref().and_then(|who| who.tenant.as_ref()).map(text),
            code: event.code.as_ref().map(text),
        }
    }
}

impl Row {
    /// From what the database has.
    pub(super) fn read(seq: u64, hash: &str, record: String) -> Result<Self, AuditError> {
        let form = |reason: String| AuditError::Form { seq, reason };
        let hash = Digest::from_hex(hash).map_err(|error| form(error.to_string()))?;
        let read: Record<Event> = serde_json::from_str(&record).map_err(|error| form(error.to_string()))?;
        Ok(Self { seq, hash, prev: read.prev, record, event: read.event })
    }

    /// When it happened, as text (RFC 3339).
    pub fn at(&self) -> String {
        moment::text(self.event.at)
    }

    /// Microseconds since 1970.
    pub fn at_us(&self) -> u64 {
        moment::micros(self.event.at)
    }
}
