//! `fumehood fingerprint`: both forms, of a server or of a file with its tools.

use std::{
    fs,
    io::{self, Read},
    path::Path,
    process::ExitCode,
};

use anyhow::Context;
use model::profile::Profile;
use serde::Serialize;
use serde_json::Value;
use tokio::task::LocalSet;
use tools::{
    introspect::REVISION,
    surface::{Parts, Surface},
};

use super::runtime;
use crate::{
    cli::lock::Fingerprint,
    finding, places,
    server::{preparing, progress::Shown},
    stop::{Stop, USAGE},
    terminal,
};

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Row {
    full: String,
    short: String,
    of: &'static str,
    tools: usize,
    quarantined: Vec<String>,
}

/// Prints them.
pub(crate) fn perform(asked: &Fingerprint) -> anyhow::Result<ExitCode> {
    let (surface, of) = if asked.what == "-" || Path::new(&asked.what).is_file() {
        from_file(&asked.what)?
    } else {
        (from_server(&asked.what)?, "the whole server")
    };
    let quarantined: Vec<String> = surface
        .quarantined()
        .iter()
        .map(|one| format!("{} {}: {}", one.kind, one.name, one.reason))
        .collect();
    let row = Row {
        full: surface.fingerprint().to_string(),
        short: surface.short().to_owned(),
        of,
        tools: surface.tools().len(),
        quarantined,
    };
    if asked.json {
        terminal::print(&format!("{}\n", serde_json::to_string_pretty(&row)?))?;
    } else {
        terminal::print(&format!("full   {}\nshort  {}\n", row.full, row.short))?;
        let tools = if row.tools == 1 { "1 tool".to_owned() } else { format!("{} tools", row.tools) };
        terminal::say(&format!("of {of}, {tools}; only the full form is ever compared for a decision"));
        for line in &row.quarantined {
            terminal::say(&format!("not offered: {line}"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// As it is pinned, or as it is read now where it is not.
fn from_server(word: &str) -> anyhow::Result<Surface> {
    let folders = places::folders()?;
    let target = finding::find(&folders, word)?;
    if let Some(entry) = target.lock.entry(&target.name)? {
        return Ok(entry.surface);
    }
    let runtime = runtime()?;
    let mut shown = Shown::new(target.spec.name.as_str());
    let local = LocalSet::new();
    let prepared =
        runtime.block_on(
            local.run_until(preparing::prepare(&target, &folders, None, &mut |step| shown.step(&step))),
        );
    drop(local);
    runtime.shutdown_background();
    Ok(prepared?.entry.surface)
}

/// The result of `tools/list`, alone, in its answer, or its list alone; or a surface as it lies beside a lock.
fn from_file(word: &str) -> anyhow::Result<(Surface, &'static str)> {
    let mut bytes = Vec::new();
    if word == "-" {
        io::stdin().lock().read_to_end(&mut bytes).context("reading stdin")?;
    } else {
        bytes = fs::read(word).with_context(|| format!("reading `{word}`"))?;
    }
    let wrong = |message: String| Stop::new(USAGE, format!("`{word}`: {message}"), "");
    let value = tools::json::parse(&bytes).map_err(|error| wrong(error.to_string()))?;
    if value.get("projection").is_some() {
        let surface = Surface::from_stored(value).map_err(|error| wrong(error.to_string()))?;
        return Ok((surface, "the whole server"));
    }
    let list = [value.pointer("/result/tools"), value.get("tools"), Some(&value)];
    let Some(Value::Array(tools)) = list.into_iter().flatten().next() else {
        let hint = "give the result of `tools/list`, or the list of tools in it";
        return Err(Stop::new(USAGE, format!("`{word}` holds no list of tools"), hint).into());
    };
    if value.pointer("/result/nextCursor").or_else(|| value.get("nextCursor")).is_some() {
        let hint = "read the other pages too: a part of a list has no fingerprint";
        return Err(Stop::new(USAGE, format!("`{word}` holds one page of several"), hint).into());
    }
    let parts = Parts {
        profile: Profile::plain(),
        protocol_version: REVISION.to_owned(),
        server_info: serde_json::json!({}),
        capabilities: serde_json::json!({ "tools": {} }),
        tools: tools.clone(),
        ..Parts::default()
    };
    let surface = Surface::from_parts(parts).map_err(|error| wrong(error.to_string()))?;
    Ok((surface, "these tools alone"))
}
