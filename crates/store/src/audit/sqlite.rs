//! The database that rows lie in: SQLite, by `sqlx`. Only this file and those beneath it name either.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use model::digest::Digest;
use sqlx::{
    AssertSqlSafe, ConnectOptions, Connection, Row as _, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};
use uuid::Uuid;

use super::{
    AuditError, Event, bound,
    filter::Filter,
    own,
    row::{Head, STREAM, Sealed},
    sql::{self, Bound},
    step::{Step, reached},
    tree::Tree,
};

#[cfg(test)]
pub(super) mod altering;
mod reading;

pub(super) use reading::{Reader, Whole};

/// Name of the database file in the record's folder.
pub(super) const FILE: &str = "audit.db";
/// Name of the file whose lock is held while the database is made: switching to WAL does not wait for others by itself.
const LOCK: &str = "audit.lock";
/// How long a transaction waits for another process's.
const PATIENCE: Duration = Duration::from_secs(5);
/// How many hashes are read at once for a checkpoint, and how many checkpoints.
const PAGE: i64 = 4096;

/// Rows are added, and never changed or removed.
const TRIGGERS: [&str; 4] = [
    "CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
        BEGIN SELECT RAISE(ABORT, 'rows of the record are not changed'); END",
    "CREATE TRIGGER events_are_not_removed BEFORE DELETE ON events
        BEGIN SELECT RAISE(ABORT, 'rows of the record are not removed'); END",
    "CREATE TRIGGER checkpoints_are_not_changed BEFORE UPDATE ON checkpoints
        BEGIN SELECT RAISE(ABORT, 'checkpoints are not changed'); END",
    "CREATE TRIGGER checkpoints_are_not_removed BEFORE DELETE ON checkpoints
        BEGIN SELECT RAISE(ABORT, 'checkpoints are not removed'); END",
];

/// The database, open to be written by this process.
#[derive(Debug)]
pub(super) struct Database {
    connection: SqliteConnection,
    path: PathBuf,
    /// The file it is, should another be put in its place.
    inode: u64,
    id: String,
}

/// What came in from a spill file, counted in the same transaction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spilled<'a> {
    pub(super) id: &'a str,
    pub(super) done: u64,
}

impl Database {
    /// Opens it, and makes it where it is missing. `known` is what is known to have been written.
    pub(super) async fn open(folder: &Path, known: Option<Head>) -> Result<Self, AuditError> {
        let path = folder.join(FILE);
        let lock = own::open_or_make(&folder.join(LOCK))?;
        own::lock(&lock, &folder.join(LOCK))?;
        let found = own::look_at(&path)?;
        if let Some(known) = known.filter(|known| known.seq > 0 && found.is_none()) {
            return Err(AuditError::Truncated { path, found: 0, written: known.seq });
        }
        if found.is_none() {
            // SQLite gives its other files the rights of this one.
            drop(own::open_or_make(&path)?);
        }
        let inode = own::look_at(&path)?.unwrap_or_default();
        reached(Step::FileMade);
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(PATIENCE)
            .disable_statement_logging();
        let failed = failed(&path);
        let mut connection = options.connect().await.map_err(&failed)?;
        let id = prepare(&mut connection, &path).await?;
        drop(lock);
        let mut database = Self { connection, path, inode, id };
        database.head(known).await?;
        Ok(database)
    }

    /// The record's name: also the origin of its checkpoints.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// The last row, once it is sure that `known` is still there.
    pub(super) async fn head(&mut self, known: Option<Head>) -> Result<Head, AuditError> {
        head(&mut self.connection, &self.path, &self.id, known).await
    }

    /// Adds rows in one transaction, and returns once they are on the disk.
    pub(super) async fn append(
        &mut self,
        events: &[Event],
        known: Option<Head>,
        spilled: Option<Spilled<'_>>,
    ) -> Result<Vec<Head>, AuditError> {
        if own::look_at(&self.path)? != Some(self.inode) {
            return Err(AuditError::Kind { path: self.path.clone(), wanted: "the record that was opened" });
        }
        let failed = failed(&self.path);
        let mut turn = self.connection.begin_with("BEGIN IMMEDIATE").await.map_err(&failed)?;
        reached(Step::Begun);
        let mut last = head(&mut turn, &self.path, &self.id, known).await?;
        let mut rows = Vec::with_capacity(events.len());
        for event in events {
            let row = Sealed::new(last, event)?;
            last = row.head;
            rows.push(row);
        }
        insert(&mut turn, &rows).await.map_err(&failed)?;
        for (event, row) in events.iter().zip(&rows) {
            if let Some(body) = event.body.as_ref().and_then(bound::body) {
                let add = sqlx::query(sql::ADD_BODY).bind(STREAM).bind(signed(row.head.seq)).bind(body);
                add.execute(&mut *turn).await.map_err(&failed)?;
            }
        }
        if let Some(Spilled { id, done }) = spilled {
            let set = sqlx::query(sql::SET_SPILLED).bind(id).bind(signed(done));
            set.execute(&mut *turn).await.map_err(&failed)?;
        }
        reached(Step::Inserted);
        turn.commit().await.map_err(&failed)?;
        reached(Step::Committed);
        Ok(rows.into_iter().map(|row| row.head).collect())
    }

    /// Removes bodies of rows that fit; how many. What they were is overwritten in the file.
    pub(super) async fn erase(&mut self, filter: &Filter) -> Result<u64, AuditError> {
        let failed = failed(&self.path);
        let (text, bound) = sql::erase(filter, STREAM);
        sqlx::query("PRAGMA secure_delete = ON").execute(&mut self.connection).await.map_err(&failed)?;
        let mut query = sqlx::query(AssertSqlSafe(text));
        for value in bound {
            query = match value {
                Bound::Text(text) => query.bind(text),
                Bound::Number(number) => query.bind(number),
            };
        }
        let erased = query.execute(&mut self.connection).await.map_err(&failed)?.rows_affected();
        // Until then the log of the database has them.
        sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)")
            .execute(&mut self.connection)
            .await
            .map_err(&failed)?;
        Ok(erased)
    }

    /// How many lines of a spill file have come in.
    pub(super) async fn spilled(&mut self, id: &str) -> Result<u64, AuditError> {
        let failed = failed(&self.path);
        let found = sqlx::query(sql::SPILLED).bind(id).fetch_optional(&mut self.connection).await;
        let done: Option<i64> =
            found.map_err(&failed)?.map(|row| row.try_get(0)).transpose().map_err(&failed)?;
        Ok(u64::try_from(done.unwrap_or_default()).unwrap_or_default())
    }

    /// The spill file is gone.
    pub(super) async fn forget_spill(&mut self, id: &str) -> Result<(), AuditError> {
        let done = sqlx::query(sql::FORGET_SPILL).bind(id).execute(&mut self.connection).await;
        done.map(drop).map_err(failed(&self.path))
    }

    /// Adds a checkpoint over all rows, unless there is one; whether it did.
    pub(super) async fn checkpoint<S>(&mut self, sign: S) -> Result<bool, AuditError>
    where
        S: Fn(u64, &Digest) -> Result<String, AuditError>,
    {
        let failed = failed(&self.path);
        let mut tree = last_tree(&mut self.connection, &self.path).await?;
        let before = tree.size();
        loop {
            let query = sqlx::query(sql::HASHES).bind(STREAM).bind(signed(tree.size())).bind(PAGE);
            let page = query.fetch_all(&mut self.connection).await.map_err(&failed)?;
            if page.is_empty() {
                break;
            }
            for row in page {
                let seq = tree.size() + 1;
                let hash = Digest::from_hex(row.try_get(0).map_err(&failed)?);
                tree.push(&hash.map_err(|error| AuditError::Form { seq, reason: error.to_string() })?);
            }
        }
        if tree.size() == before {
            return Ok(false);
        }
        let note = sign(tree.size(), &tree.root())?;
        let mut turn = self.connection.begin_with("BEGIN IMMEDIATE").await.map_err(&failed)?;
        // Another process may have been quicker.
        if last_tree(&mut turn, &self.path).await?.size() >= tree.size() {
            return Ok(false);
        }
        let add = sqlx::query(sql::ADD_CHECKPOINT).bind(STREAM).bind(signed(tree.size()));
        add.bind(tree.nodes()).bind(note).execute(&mut *turn).await.map_err(&failed)?;
        turn.commit().await.map_err(&failed)?;
        reached(Step::CheckpointInserted);
        Ok(true)
    }

    /// The next checkpoints after this size, as they were signed.
    pub(super) async fn checkpoints_after(&mut self, size: u64) -> Result<Vec<String>, AuditError> {
        let query = sqlx::query(sql::CHECKPOINTS).bind(STREAM).bind(signed(size)).bind(PAGE);
        let rows = query.fetch_all(&mut self.connection).await.map_err(failed(&self.path))?;
        rows.into_iter().map(|row| row.try_get(0)).collect::<Result<_, _>>().map_err(failed(&self.path))
    }

    /// Puts everything into the database file itself.
    pub(super) async fn close(self) -> Result<(), AuditError> {
        self.connection.close().await.map_err(failed(&self.path))
    }
}

/// Makes an error of the database's.
fn failed(path: &Path) -> impl Fn(sqlx::Error) -> AuditError + use<> {
    let path = path.to_owned();
    move |error| AuditError::Database { path: path.clone(), reason: error.to_string() }
}

/// As SQL has numbers.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Makes what is missing of the tables; the record's name.
async fn prepare(connection: &mut SqliteConnection, path: &Path) -> Result<String, AuditError> {
    let failed = failed(path);
    let mut turn = connection.begin_with("BEGIN IMMEDIATE").await.map_err(&failed)?;
    let tables: i64 = sqlx::query("SELECT COUNT(*) FROM sqlite_master WHERE name = 'about'")
        .fetch_one(&mut *turn)
        .await
        .and_then(|row| row.try_get(0))
        .map_err(&failed)?;
    let mut about: Vec<Option<String>> = Vec::new();
    for name in ["version", "id"] {
        about.push(if tables == 0 {
            None
        } else {
            let found = sqlx::query(sql::ABOUT).bind(name).fetch_optional(&mut *turn).await;
            found.and_then(|row| row.map(|row| row.try_get(0)).transpose()).map_err(&failed)?
        });
    }
    let version: i64 = about.first().and_then(Option::as_ref).and_then(|text| text.parse().ok()).unwrap_or(0);
    if version > sql::VERSION {
        return Err(AuditError::Newer { path: path.to_owned(), version });
    }
    for step in sql::STEPS.iter().skip(usize::try_from(version).unwrap_or_default()) {
        for text in *step {
            sqlx::query(*text).execute(&mut *turn).await.map_err(&failed)?;
        }
    }
    if version == 0 {
        for trigger in TRIGGERS {
            sqlx::query(trigger).execute(&mut *turn).await.map_err(&failed)?;
        }
    }
    let id = about.pop().flatten().unwrap_or_else(|| format!("fumehood-audit/{}", Uuid::now_v7()));
    if version < sql::VERSION {
        for (name, value) in [("version", sql::VERSION.to_string()), ("id", id.clone())] {
            sqlx::query(sql::SET_ABOUT).bind(name).bind(value).execute(&mut *turn).await.map_err(&failed)?;
        }
    }
    reached(Step::TablesMade);
    turn.commit().await.map_err(&failed)?;
    Ok(id)
}

/// Nothing is written after rows that are not those that were there: that would hide that they are gone.
async fn head(
    connection: &mut SqliteConnection,
    path: &Path,
    id: &str,
    known: Option<Head>,
) -> Result<Head, AuditError> {
    let failed = failed(path);
    let found =
        sqlx::query(sql::HEAD).bind(STREAM).fetch_optional(&mut *connection).await.map_err(&failed)?;
    let head = match found {
        Some(row) => {
            let read = || Ok((row.try_get(0)?, row.try_get::<String, _>(1)?));
            let (seq, hash) = read().map_err(&failed)?;
            read_head(seq, &hash)?
        }
        None => Head::first(id),
    };
    let Some(known) = known else { return Ok(head) };
    if head.seq < known.seq {
        return Err(AuditError::Truncated { path: path.to_owned(), found: head.seq, written: known.seq });
    }
    let hash = if head.seq == known.seq {
        head.hash.hex()
    } else {
        let query = sqlx::query(sql::ROW_HASH).bind(STREAM).bind(signed(known.seq));
        let row = query.fetch_optional(&mut *connection).await.map_err(&failed)?;
        row.and_then(|row| row.try_get(0).ok()).unwrap_or_default()
    };
    if known.seq > 0 && hash != known.hash.hex() {
        return Err(AuditError::Replaced { path: path.to_owned(), seq: known.seq });
    }
    Ok(head)
}

fn read_head(seq: i64, hash: &str) -> Result<Head, AuditError> {
    let seq = u64::try_from(seq).unwrap_or_default();
    let hash = Digest::from_hex(hash);
    Ok(Head { seq, hash: hash.map_err(|error| AuditError::Form { seq, reason: error.to_string() })? })
}

async fn insert(connection: &mut SqliteConnection, rows: &[Sealed]) -> Result<(), sqlx::Error> {
    let mut rest = rows;
    for (most, text) in sql::inserts() {
        while let Some((some, others)) = rest.split_at_checked(*most) {
            let mut query = sqlx::query(AssertSqlSafe(text.clone()));
            for Sealed { head, record, columns } in some {
                query =
                    query.bind(STREAM).bind(signed(head.seq)).bind(columns.at).bind(columns.kind.as_str());
                for text in [
                    &columns.call,
                    &columns.server,
                    &columns.name,
                    &columns.subject,
                    &columns.tenant,
                    &columns.code,
                ] {
                    query = query.bind(text.as_deref());
                }
                query = query.bind(head.hash.hex()).bind(record.as_str());
            }
            query.execute(&mut *connection).await?;
            rest = others;
        }
    }
    Ok(())
}

/// The tree of the last checkpoint; an empty one before the first.
async fn last_tree(connection: &mut SqliteConnection, path: &Path) -> Result<Tree, AuditError> {
    let found = sqlx::query(sql::LAST_CHECKPOINT).bind(STREAM).fetch_optional(connection).await;
    let Some(row) = found.map_err(failed(path))? else { return Ok(Tree::default()) };
    let tree = || Tree::read(u64::try_from(row.try_get::<i64, _>(0).ok()?).ok()?, row.try_get(1).ok()?);
    let wrong = || AuditError::Kind { path: path.to_owned(), wanted: "a record with whole checkpoints" };
    tree().ok_or_else(wrong)
}
