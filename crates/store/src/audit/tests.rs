use std::path::{Path, PathBuf};

use model::digest::Digest;
use serde_json::json;
use tempfile::TempDir;

use super::*;

mod bodies;
mod flood;
mod full;
pub(super) mod kill;
mod rows;
mod tampered;
mod together;

/// A folder for records, and what is done with them.
struct World {
    folder: TempDir,
}

impl World {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn folder(&self) -> PathBuf {
        self.folder.path().join("audit")
    }

    fn settings(&self) -> Settings {
        Settings { checkpoints: Some(self.folder.path().join("elsewhere")), ..Settings::new(self.folder()) }
    }

    async fn open(&self) -> Audit {
        Audit::open(self.settings()).await.unwrap()
    }

    /// A closed record with so many calls, of two rows each.
    async fn of_calls(calls: usize) -> Self {
        let world = Self::new();
        let audit = world.open().await;
        for n in 0..calls {
            let call = CallId::new();
            audit.commit(intent(&call, n)).await.unwrap();
            audit.note(outcome(&call)).await;
        }
        audit.close().await;
        world
    }

    async fn verify(&self) -> Report {
        verify(&self.verification()).await.unwrap()
    }

    fn verification(&self) -> Verification {
        Verification { folder: self.folder(), key: None, checkpoints: Vec::new() }
    }

    async fn rows(&self) -> Vec<Row> {
        all_rows(&self.folder()).await
    }
}

async fn all_rows(folder: &Path) -> Vec<Row> {
    let mut log = Log::open(folder).await.unwrap();
    let mut all: Vec<Row> = Vec::new();
    loop {
        let page = log.after(all.last().map_or(0, |row| row.seq), &Filter::default()).await.unwrap();
        if page.is_empty() {
            log.close().await.unwrap();
            return all;
        }
        all.extend(page);
    }
}

fn intent(call: &CallId, n: usize) -> Event {
    let who = Who {
        issuer: "https://idp.example.com".to_owned(),
        subject: "alice".to_owned(),
        tenant: Some("acme".to_owned()),
        how: "token".to_owned(),
        ..Who::default()
    };
    Event {
        call: Some(call.clone()),
        face: Some("mcp".to_owned()),
        principal: Some(who),
        server: Some("orders".to_owned()),
        verb: Some("call_tool".to_owned()),
        name: Some("cancel_order".to_owned()),
        tier: Some(2),
        arguments: Some(Digest::of(&n.to_be_bytes())),
        bound: vec!["user_id".to_owned()],
        ..Event::new(Kind::Intent)
    }
}

fn outcome(call: &CallId) -> Event {
    Event {
        call: Some(call.clone()),
        outcome: Some(Outcome::Ok),
        duration_us: Some(1500),
        details: serde_json::Map::from_iter([("n".to_owned(), json!(1.5))]),
        ..Event::new(Kind::Outcome)
    }
}
