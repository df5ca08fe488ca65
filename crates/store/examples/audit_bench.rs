//! How many rows a second are recorded and verified. Prints one JSON object: rows a second, and microseconds.
//!
//! `cargo run --example audit_bench -p store --profile demo -- [FOLDER] [ROWS]`; the folder decides which disk it is.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement says its result and ends at the first error"
)]

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use model::digest::Digest;
use serde_json::{Map, json};
use store::audit::{Audit, CallId, Event, Kind, Outcome, Settings, Verification, Who, verify};
use tokio::sync::Barrier;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let rows: u64 = arguments.next().map_or(50_000, |text| text.parse().unwrap());
    let folder = folder.join(format!("audit-bench-{}", CallId::new()));
    let mut result = Map::new();
    for callers in [1, 16, 64] {
        let audit = Audit::open(Settings::new(folder.join(format!("commit-{callers}")))).await.unwrap();
        let (seconds, median) = commits(&audit, callers, rows / 20 * callers.min(20) / 20).await;
        audit.close().await;
        result.insert(format!("commit_{callers}_rows_per_second"), json!(seconds.round()));
        result.insert(format!("commit_{callers}_median_us"), json!(median));
    }
    let notes = folder.join("note");
    let audit = Audit::open(Settings::new(notes.clone())).await.unwrap();
    let begin = Instant::now();
    for n in 0..rows {
        audit.note(event(Kind::Call, n)).await;
    }
    audit.close().await;
    result.insert("note_rows_per_second".to_owned(), json!(rate(rows, begin.elapsed())));
    let begin = Instant::now();
    let asked = Verification { folder: notes, key: None, checkpoints: Vec::new() };
    let report = verify(&asked).await.unwrap();
    assert!(report.is_whole() && report.last.seq == rows, "{report:?}");
    result.insert("verify_rows_per_second".to_owned(), json!(rate(rows, begin.elapsed())));
    let bytes = std::fs::metadata(asked.folder.join("audit.db")).unwrap().len();
    result.insert("bytes_per_row".to_owned(), json!(bytes / rows));
    println!("{}", serde_json::Value::Object(result));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Rows a second of so many callers at once, each of which waits for its row, and the median of how long in microseconds.
async fn commits(audit: &Audit, callers: u64, rows: u64) -> (f64, u128) {
    let each = (rows / callers).max(50);
    let start = Arc::new(Barrier::new(usize::try_from(callers).unwrap() + 1));
    let mut tasks = Vec::new();
    for caller in 0..callers {
        let (audit, start) = (audit.clone(), Arc::clone(&start));
        tasks.push(tokio::spawn(async move {
            start.wait().await;
            let mut times = Vec::new();
            for n in 0..each {
                let begin = Instant::now();
                audit.commit(event(Kind::Intent, caller * each + n)).await.unwrap();
                times.push(begin.elapsed().as_micros());
            }
            times
        }));
    }
    start.wait().await;
    let begin = Instant::now();
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await.unwrap());
    }
    let took = begin.elapsed();
    times.sort_unstable();
    (rate(callers * each, took), times.get(times.len() / 2).copied().unwrap_or_default())
}

fn rate(rows: u64, took: Duration) -> f64 {
    let rows = u32::try_from(rows).unwrap();
    (f64::from(rows) / took.as_secs_f64()).round()
}

/// What a call of a tool leaves behind.
fn event(kind: Kind, n: u64) -> Event {
    let who = Who {
        issuer: "https://idp.example.com".to_owned(),
        subject: "alice".to_owned(),
        tenant: Some("acme".to_owned()),
        how: "token".to_owned(),
        client: Some("bench/1.0".to_owned()),
        ..Who::default()
    };
    Event {
        call: Some(CallId::new()),
        face: Some("mcp".to_owned()),
        principal: Some(who),
        server: Some("orders".to_owned()),
        verb: Some("call_tool".to_owned()),
        name: Some("get_order".to_owned()),
        tier: Some(2),
        arguments: Some(Digest::of(&n.to_be_bytes())),
        bound: vec!["user_id".to_owned()],
        rule: Some("role support".to_owned()),
        policy: Some(Digest::of(b"policy")),
        outcome: (kind == Kind::Call).then_some(Outcome::Ok),
        duration_us: (kind == Kind::Call).then_some(1500),
        ..Event::new(kind)
    }
}
