//! `fumehood list`: the servers, and where each stands.

use std::process::ExitCode;

use serde::Serialize;

use crate::{
    cli::lock::List,
    finding, places,
    server::{
        staged,
        standing::Standing,
        target::{Home, Source, Target},
    },
    terminal,
};

/// One server; what `--json` prints.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    source: String,
    declared_by: String,
    /// `ready`, `changed`, `new`, `differs`, `unaccepted`, `absent`, `untrusted` or `broken`.
    standing: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    short: Option<String>,
    tools: Option<usize>,
    update_waits: bool,
}

/// Prints them.
pub(crate) fn perform(asked: &List) -> anyhow::Result<ExitCode> {
    let folders = places::folders()?;
    let mut rows = Vec::new();
    for (name, target) in finding::all(&folders)? {
        let row = target.and_then(|target| {
            let standing = Standing::of(&target, &folders)?;
            let waits = staged::read(&target, &folders)?.is_some();
            Ok(row(&target, &standing, waits))
        });
        rows.push(row.unwrap_or_else(|error| Row {
            name: name.to_string(),
            source: String::new(),
            declared_by: String::new(),
            standing: "broken",
            reason: Some(format!("{error:#}")),
            remedy: error.downcast_ref::<crate::stop::Stop>().map(|stop| stop.hint().to_owned()),
            fingerprint: None,
            short: None,
            tools: None,
            update_waits: false,
        }));
    }
    if asked.json {
        terminal::print(&format!("{}\n", serde_json::to_string_pretty(&rows)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    if rows.is_empty() {
        terminal::say("no server is declared, and none was run");
        terminal::say("help: `fumehood add NAME npx:PACKAGE` declares one");
        return Ok(ExitCode::SUCCESS);
    }
    let mut table =
        vec![["NAME", "STANDING", "TOOLS", "SHORT", "SOURCE", "DECLARED BY"].map(str::to_owned).to_vec()];
    for row in &rows {
        let number = row.tools.map_or_else(|| "-".to_owned(), |tools| tools.to_string());
        let standing = if row.update_waits {
            format!("{}, update waits", row.standing)
        } else {
            row.standing.to_owned()
        };
        let short = row.short.clone().unwrap_or_else(|| "-".to_owned());
        table.push(vec![
            row.name.clone(),
            standing,
            number,
            short,
            row.source.clone(),
            row.declared_by.clone(),
        ]);
    }
    let table: Vec<Vec<String>> =
        table.into_iter().map(|row| row.iter().map(|cell| terminal::harmless(cell)).collect()).collect();
    terminal::print(&terminal::table(&table))?;
    for row in &rows {
        if let (Some(reason), Some(remedy)) = (&row.reason, &row.remedy) {
            terminal::say(&format!("{}: {reason}", row.name));
            terminal::say(&format!("help: {remedy}"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn row(target: &Target, standing: &Standing, update_waits: bool) -> Row {
    let (word, entry) = match standing {
        Standing::Untrusted { .. } => ("untrusted", None),
        Standing::Changed(_) => ("changed", None),
        Standing::New => ("new", None),
        Standing::Differs { entry, .. } => ("differs", Some(entry)),
        Standing::Unaccepted(entry) => ("unaccepted", Some(entry)),
        Standing::Absent(entry) => ("absent", Some(entry)),
        Standing::Ready(entry) => ("ready", Some(entry)),
    };
    let declared = match &target.source {
        Source::Remote { url, .. } => url.clone(),
        Source::Local | Source::Package(_) => target.spec.command.join(" "),
    };
    let pinned = entry.map(|entry| entry.pinned.source.clone()).filter(|source| source != "command");
    Row {
        name: target.name.to_string(),
        source: pinned.unwrap_or(declared),
        declared_by: match &target.home {
            Home::Project { folder, .. } => folder.display().to_string(),
            Home::Operator => "your configuration".to_owned(),
            Home::CommandLine => "the command line".to_owned(),
        },
        standing: word,
        reason: standing.reason(),
        remedy: standing.reason().map(|_| format!("`{}`", standing.remedy(target))),
        fingerprint: entry.map(|entry| entry.pinned.fingerprint.to_string()),
        short: entry.map(|entry| entry.pinned.short.clone()),
        tools: entry.map(|entry| entry.surface.tools().len()),
        update_waits,
    }
}
