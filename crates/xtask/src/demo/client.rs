//! A server from npm, confined, through the official client.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::Act;
use super::home::Home;
use super::pinned::EVERYTHING;
use crate::workspace::Workspace;

/// Lists and calls tools.
pub(super) fn show(workspace: &Workspace, home: &Home) -> Result<Act> {
    println!("\nThe same server, through the official TypeScript client");
    let packages = workspace.cache.join("npm");
    let received = home.path("received");
    let job = json!({
        "packages": packages,
        "command": [home.product(), "run", EVERYTHING],
        "env": home.environment().into_iter().collect::<BTreeMap<_, _>>(),
        "sent": home.path("sent"),
        "received": received,
        "steps": [
            { "list": "tools" },
            { "call": "echo", "arguments": { "message": "What is inside stays inside." } },
            { "call": "get-sum", "arguments": { "a": 19, "b": 23 } },
        ],
    });
    fs::write(home.path("job.json"), job.to_string())?;
    let output = Command::new("node")
        .arg(workspace.root.join("crates/testkit/clients/record.mjs"))
        .arg(home.path("job.json"))
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("`node` could not be started")?;
    if !output.status.success() {
        bail!("the client could not work with the confined server");
    }
    let told: Value = serde_json::from_slice(&output.stdout).context("the client did not say how it went")?;
    if told.get("outcomes") != Some(&json!(["listed", "ok", "ok"])) {
        bail!("the client was answered otherwise than expected: {told}");
    }
    let lines = fs::read_to_string(received)?;
    let texts: Vec<String> = lines.lines().filter_map(answer_text).collect();
    println!("  its tools were listed; echo and get-sum answered: {}", texts.join(" / "));
    Ok(Act {
        held: true,
        proved: &["a client that knows nothing of Fumehood used a confined server as if it were bare"],
    })
}

/// The text of a tool's answer.
fn answer_text(line: &str) -> Option<String> {
    let message: Value = serde_json::from_str(line).ok()?;
    Some(message.pointer("/result/content/0/text")?.as_str()?.to_owned())
}
