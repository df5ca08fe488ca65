//! The texts that a database is asked with. SQLite and PostgreSQL take the same ones; what they do not share is in `sqlite.rs`:
//! how a transaction that writes begins (there: `BEGIN IMMEDIATE`; PostgreSQL: `BEGIN` and `pg_advisory_xact_lock`), how rows
//! are kept from being changed (triggers, whose bodies differ, and in PostgreSQL a role without the right), and pragmas.

use std::{
    fmt::Write,
    sync::{Arc, LazyLock},
};

use super::filter::Filter;

/// The form of the tables; a later form is a later number, with the steps from each to the next in [`STEPS`].
pub(super) const VERSION: i64 = 2;

/// What makes each form out of the one before; the first out of nothing.
pub(super) const STEPS: [&[&str]; 2] = [
    &[
        "CREATE TABLE about (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)",
        "CREATE TABLE events (
        stream TEXT NOT NULL,
        seq BIGINT NOT NULL,
        at_us BIGINT NOT NULL,
        kind TEXT NOT NULL,
        call_id TEXT,
        server TEXT,
        name TEXT,
        subject TEXT,
        tenant TEXT,
        code TEXT,
        hash TEXT NOT NULL,
        record TEXT NOT NULL,
        PRIMARY KEY (stream, seq))",
        "CREATE INDEX events_of_call ON events (call_id, seq) WHERE call_id IS NOT NULL",
        "CREATE INDEX events_by_time ON events (at_us)",
        "CREATE TABLE checkpoints (
        stream TEXT NOT NULL,
        size BIGINT NOT NULL,
        nodes TEXT NOT NULL,
        note TEXT NOT NULL,
        PRIMARY KEY (stream, size))",
        "CREATE TABLE spills (id TEXT NOT NULL PRIMARY KEY, done BIGINT NOT NULL)",
    ],
    &[
        "CREATE TABLE bodies (stream TEXT NOT NULL, seq BIGINT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (stream, seq))",
    ],
];

pub(super) const SET_ABOUT: &str = "INSERT INTO about (name, value) VALUES ($1, $2)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value";
pub(super) const ABOUT: &str = "SELECT value FROM about WHERE name = $1";
pub(super) const HEAD: &str = "SELECT seq, hash FROM events WHERE stream = $1 ORDER BY seq DESC LIMIT 1";
pub(super) const ROW_HASH: &str = "SELECT hash FROM events WHERE stream = $1 AND seq = $2";
pub(super) const HASHES: &str =
    "SELECT hash FROM events WHERE stream = $1 AND seq > $2 ORDER BY seq LIMIT $3";
pub(super) const LAST_CHECKPOINT: &str =
    "SELECT size, nodes FROM checkpoints WHERE stream = $1 ORDER BY size DESC LIMIT 1";
pub(super) const ADD_CHECKPOINT: &str =
    "INSERT INTO checkpoints (stream, size, nodes, note) VALUES ($1, $2, $3, $4)";
pub(super) const CHECKPOINTS: &str =
    "SELECT note FROM checkpoints WHERE stream = $1 AND size > $2 ORDER BY size LIMIT $3";
pub(super) const SET_SPILLED: &str = "INSERT INTO spills (id, done) VALUES ($1, $2)
    ON CONFLICT (id) DO UPDATE SET done = excluded.done";
pub(super) const SPILLED: &str = "SELECT done FROM spills WHERE id = $1";
pub(super) const FORGET_SPILL: &str = "DELETE FROM spills WHERE id = $1";

pub(super) const ADD_BODY: &str = "INSERT INTO bodies (stream, seq, body) VALUES ($1, $2, $3)";
pub(super) const BODIES: &str =
    "SELECT seq, body FROM bodies WHERE stream = $1 AND seq > $2 AND seq <= $3 ORDER BY seq";

/// How many columns [`inserts`] has values for.
const COLUMNS: usize = 12;

/// Texts that insert so many rows at once, the greatest number first. Larger ones are slower: SQLite looks for the name of each
/// parameter among those of all.
pub(super) fn inserts() -> &'static [(usize, Arc<str>)] {
    static TEXTS: LazyLock<Vec<(usize, Arc<str>)>> =
        LazyLock::new(|| [24, 6, 1].map(|rows| (rows, insert(rows).into())).to_vec());
    &TEXTS
}

fn insert(rows: usize) -> String {
    let mut text =
        "INSERT INTO events (stream, seq, at_us, kind, call_id, server, name, subject, tenant, code, hash, \
                    record) VALUES "
            .to_owned();
    for row in 0..rows {
        let places: Vec<String> =
            (1..=COLUMNS).map(|column| format!("${}", row * COLUMNS + column)).collect();
        text += if row == 0 { "(" } else { ", (" };
        text += &places.join(", ");
        text += ")";
    }
    text
}

/// What is bound to a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Bound {
    Text(String),
    Number(i64),
}

/// The text of a search, and what is bound to it: rows that fit, from where and in which direction, at most `limit`.
pub(super) fn search(filter: &Filter, stream: &str, range: Range, limit: i64) -> (String, Vec<Bound>) {
    let (condition, mut bound) = fitting(filter, stream);
    let (comparison, seq, order) = match range {
        Range::After(seq) => (">", seq, "ASC"),
        Range::Before(seq) => ("<", seq, "DESC"),
    };
    bound.extend([Bound::Number(seq), Bound::Number(limit)]);
    let (last, limit) = (bound.len() - 1, bound.len());
    let text = format!(
        "SELECT seq, hash, record FROM events WHERE {condition} AND seq {comparison} ${last} ORDER BY seq {order} LIMIT ${limit}"
    );
    (text, bound)
}

/// The text that removes the bodies of rows that fit, and what is bound to it.
pub(super) fn erase(filter: &Filter, stream: &str) -> (String, Vec<Bound>) {
    let (condition, bound) = fitting(filter, stream);
    // `$1` is the stream in both.
    (
        format!("DELETE FROM bodies WHERE stream = $1 AND seq IN (SELECT seq FROM events WHERE {condition})"),
        bound,
    )
}

/// The condition that rows fit, and what is bound to it.
fn fitting(filter: &Filter, stream: &str) -> (String, Vec<Bound>) {
    let mut text = "stream = $1".to_owned();
    let mut bound = vec![Bound::Text(stream.to_owned())];
    let mut add = |condition: &str, value: Bound| {
        bound.push(value);
        // Writing to a text does not fail.
        write!(text, " AND {condition} ${}", bound.len()).ok();
    };
    for (condition, value) in [
        ("server =", &filter.server),
        ("name =", &filter.name),
        ("subject =", &filter.subject),
        ("tenant =", &filter.tenant),
        ("code =", &filter.code),
    ] {
        if let Some(value) = value {
            add(condition, Bound::Text(value.clone()));
        }
    }
    if let Some(kind) = filter.kind {
        add("kind =", Bound::Text(kind.as_str().to_owned()));
    }
    if let Some(call) = &filter.call {
        add("call_id =", Bound::Text(call.to_string()));
    }
    let micros = |at| Bound::Number(i64::try_from(super::moment::micros(at)).unwrap_or(i64::MAX));
    if let Some(since) = filter.since {
        add("at_us >=", micros(since));
    }
    if let Some(until) = filter.until {
        add("at_us <", micros(until));
    }
    (text, bound)
}

/// From which row on, and in which direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Range {
    /// The oldest first.
    After(i64),
    /// The newest first.
    Before(i64),
}

/// All of a row, for `verify`.
pub(super) const WHOLE_ROWS: &str =
    "SELECT seq, at_us, kind, call_id, server, name, subject, tenant, code, hash, record
    FROM events WHERE stream = $1 AND seq > $2 ORDER BY seq LIMIT $3";
/// All rows there are, of whatever chain.
pub(super) const COUNT: &str = "SELECT COUNT(*) FROM events";
