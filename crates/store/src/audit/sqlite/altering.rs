//! What somebody does who has the file and wants it to say something else.

use std::path::Path;

use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row as _, sqlite::SqliteConnectOptions};

use super::FILE;

/// Takes the triggers away.
pub(in crate::audit) const UNGUARDED: [&str; 4] = [
    "DROP TRIGGER events_are_not_changed",
    "DROP TRIGGER events_are_not_removed",
    "DROP TRIGGER checkpoints_are_not_changed",
    "DROP TRIGGER checkpoints_are_not_removed",
];

/// Carries out statements; why the first of them fails that does.
pub(in crate::audit) async fn alter(folder: &Path, statements: &[String]) -> Result<(), String> {
    let options = SqliteConnectOptions::new().filename(folder.join(FILE)).disable_statement_logging();
    let mut connection = options.connect().await.map_err(|error| error.to_string())?;
    for text in statements {
        let done = sqlx::query(AssertSqlSafe(text.clone())).execute(&mut connection).await;
        done.map_err(|error| error.to_string())?;
    }
    connection.close().await.map_err(|error| error.to_string())
}

/// The number that a query yields.
pub(in crate::audit) async fn number(folder: &Path, query: &str) -> i64 {
    let options = SqliteConnectOptions::new().filename(folder.join(FILE)).disable_statement_logging();
    let mut connection = options.connect().await.unwrap();
    let number = sqlx::query(AssertSqlSafe(query)).fetch_one(&mut connection).await.unwrap().get(0);
    connection.close().await.unwrap();
    number
}
