//! How much memory a supervisor takes that looks into connections.

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::load::Order;
use super::peer::{Client, Target};
use super::supervisor::Supervisor;

/// Its proportional set size without a connection, with one, and with a hundred, each of which has answered once.
pub(super) fn measure(supervisor: &Supervisor, client: &mut Client, target: &Target) -> Result<Value> {
    let mut sizes = Map::from_iter([("0".to_owned(), json!(supervisor.memory()?))]);
    for (more, open) in [(1, "1"), (99, "100")] {
        client.order(target, Order::Hold(more))?;
        sizes.insert(open.to_owned(), json!(supervisor.memory()?));
    }
    client.order(target, Order::Release)?;
    let words: Vec<String> = sizes.iter().map(|(open, size)| format!("{size} KiB at {open}")).collect();
    println!("  supervisor, intercepted connections: {}", words.join(", "));
    Ok(json!({ "supervisor_pss_kib": sizes }))
}
