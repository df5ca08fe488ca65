//! Reading alone: the file is opened so that nothing can be written.

use std::path::{Path, PathBuf};

use sqlx::{
    AssertSqlSafe, ConnectOptions, Connection, Row as _, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteRow},
};

use super::{FILE, PATIENCE, failed, signed};
use crate::audit::{
    AuditError,
    filter::Filter,
    own,
    row::{Columns, Row, STREAM},
    sql::{self, Bound, Range},
};

/// The database, open to be read.
#[derive(Debug)]
pub(in crate::audit) struct Reader {
    connection: SqliteConnection,
    path: PathBuf,
    id: String,
    /// Of its form.
    version: i64,
}

/// A row as it stands, whether it is as it was written or not.
#[derive(Debug, Clone)]
pub(in crate::audit) struct Whole {
    pub(in crate::audit) seq: u64,
    /// Columns, hash and record; nothing where one of them is of another type.
    pub(in crate::audit) content: Option<(Columns, String, String)>,
}

impl Reader {
    /// Opens the database in this folder.
    pub(in crate::audit) async fn open(folder: &Path) -> Result<Self, AuditError> {
        own::check_folder(folder)?;
        let path = folder.join(FILE);
        if own::look_at(&path)?.is_none() {
            return Err(AuditError::Missing(folder.to_owned()));
        }
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .read_only(true)
            .busy_timeout(PATIENCE)
            .disable_statement_logging();
        let failed = failed(&path);
        let mut connection = options.connect().await.map_err(&failed)?;
        let mut about = Vec::new();
        for name in ["version", "id"] {
            let row =
                sqlx::query(sql::ABOUT).bind(name).fetch_optional(&mut connection).await.map_err(&failed)?;
            about.push(row.map(|row| row.try_get::<String, _>(0)).transpose().map_err(&failed)?);
        }
        let id = about.pop().flatten();
        let version: Option<i64> = about.pop().flatten().and_then(|text| text.parse().ok());
        match (version, id) {
            (Some(version), _) if version > sql::VERSION => Err(AuditError::Newer { path, version }),
            (Some(version), Some(id)) => Ok(Self { connection, path, id, version }),
            _ => Err(AuditError::Kind { path, wanted: "a record" }),
        }
    }

    /// The record's name.
    pub(in crate::audit) fn id(&self) -> &str {
        &self.id
    }

    /// From here on everything is read as it is now.
    pub(in crate::audit) async fn freeze(&mut self) -> Result<(), AuditError> {
        sqlx::query("BEGIN").execute(&mut self.connection).await.map(drop).map_err(failed(&self.path))
    }

    /// Rows that fit, at most `limit`.
    pub(in crate::audit) async fn search(
        &mut self,
        filter: &Filter,
        range: Range,
        limit: i64,
    ) -> Result<Vec<Row>, AuditError> {
        let (text, bound) = sql::search(filter, STREAM, range, limit);
        let mut query = sqlx::query(AssertSqlSafe(text));
        for value in bound {
            query = match value {
                Bound::Text(text) => query.bind(text),
                Bound::Number(number) => query.bind(number),
            };
        }
        let rows = query.fetch_all(&mut self.connection).await.map_err(failed(&self.path))?;
        let failed = failed(&self.path);
        rows.into_iter()
            .map(|row| {
                let read = || Ok((row.try_get(0)?, row.try_get::<String, _>(1)?, row.try_get(2)?));
                let (seq, hash, record) = read().map_err(&failed)?;
                Row::read(unsigned(seq), &hash, record)
            })
            .collect()
    }

    /// Rows after this one, as they stand.
    pub(in crate::audit) async fn whole_rows(
        &mut self,
        after: i64,
        limit: i64,
    ) -> Result<Vec<Whole>, AuditError> {
        let query = sqlx::query(sql::WHOLE_ROWS).bind(STREAM).bind(after).bind(limit);
        let rows = query.fetch_all(&mut self.connection).await.map_err(failed(&self.path))?;
        Ok(rows.iter().map(whole).collect())
    }

    /// The next checkpoints after this size, as they were signed.
    pub(in crate::audit) async fn checkpoints_after(
        &mut self,
        size: u64,
        limit: i64,
    ) -> Result<Vec<String>, AuditError> {
        let query = sqlx::query(sql::CHECKPOINTS).bind(STREAM).bind(signed(size)).bind(limit);
        let rows = query.fetch_all(&mut self.connection).await.map_err(failed(&self.path))?;
        rows.into_iter().map(|row| row.try_get(0)).collect::<Result<_, _>>().map_err(failed(&self.path))
    }

    /// The bodies that are still there of rows after the first number, up to the second.
    pub(in crate::audit) async fn bodies(
        &mut self,
        after: u64,
        to: u64,
    ) -> Result<Vec<(u64, String)>, AuditError> {
        // They came with the second form, which a record takes on when it is written next.
        if self.version < 2 {
            return Ok(Vec::new());
        }
        let query = sqlx::query(sql::BODIES).bind(STREAM).bind(signed(after)).bind(signed(to));
        let rows = query.fetch_all(&mut self.connection).await.map_err(failed(&self.path))?;
        let read = |row: SqliteRow| Ok((unsigned(row.try_get(0)?), row.try_get(1).unwrap_or_default()));
        rows.into_iter().map(read).collect::<Result<_, _>>().map_err(failed(&self.path))
    }

    /// How many rows there are, of whatever chain.
    pub(in crate::audit) async fn count(&mut self) -> Result<u64, AuditError> {
        let found = sqlx::query(sql::COUNT).fetch_one(&mut self.connection).await;
        found.and_then(|row| row.try_get(0)).map(unsigned).map_err(failed(&self.path))
    }

    /// Ends it.
    pub(in crate::audit) async fn close(self) -> Result<(), AuditError> {
        self.connection.close().await.map_err(failed(&self.path))
    }
}

/// Whoever edited the file may have put anything into a column.
fn whole(row: &SqliteRow) -> Whole {
    let read = || -> Result<_, sqlx::Error> {
        let columns = Columns {
            at: row.try_get(1)?,
            kind: row.try_get(2)?,
            call: row.try_get(3)?,
            server: row.try_get(4)?,
            name: row.try_get(5)?,
            subject: row.try_get(6)?,
            tenant: row.try_get(7)?,
            code: row.try_get(8)?,
        };
        Ok((columns, row.try_get(9)?, row.try_get(10)?))
    };
    Whole { seq: row.try_get(0).map(unsigned).unwrap_or_default(), content: read().ok() }
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
