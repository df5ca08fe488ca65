//! `serve --check`: what a start would come to, without one.

use std::{net::SocketAddr, path::Path, process::ExitCode};

use cell::folders::Folders;
use serde::Serialize;

use crate::{
    serve::load::{self, Loaded, Served},
    stop::USAGE,
    terminal,
};

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    problems: &'a [String],
    warnings: &'a [String],
    servers: Vec<Row>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<String>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    ready: bool,
    tools: Option<usize>,
    cell: String,
    profile: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

/// Reads everything; exit code 2 where something is wrong.
pub(super) fn perform(
    folders: &Folders,
    folder: &Path,
    listen: Option<SocketAddr>,
    json: bool,
) -> anyhow::Result<ExitCode> {
    match load::load_for(folders, folder, listen) {
        Ok(loaded) if json => {
            let policy = Some(loaded.rules.version().to_string());
            print(&Report { problems: &[], warnings: &loaded.warnings, servers: rows(&loaded), policy })
                .map(|()| ExitCode::SUCCESS)
        }
        Ok(loaded) => {
            tell(&loaded, listen)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(problems) if json => {
            print(&Report { problems: &problems.0, warnings: &[], servers: Vec::new(), policy: None })
                .map(|()| USAGE.into())
        }
        Err(problems) => {
            terminal::say_whole(&problems.to_string());
            Ok(USAGE.into())
        }
    }
}

fn print(report: &Report<'_>) -> anyhow::Result<()> {
    terminal::print(&format!("{}\n", serde_json::to_string_pretty(report)?))
}

fn tell(loaded: &Loaded, listen: Option<SocketAddr>) -> anyhow::Result<()> {
    let rows = rows(loaded);
    if !rows.is_empty() {
        let mut table = vec![["NAME", "STANDING", "TOOLS", "CELL", "PROFILE"].map(str::to_owned).to_vec()];
        table.extend(rows.iter().map(|row| {
            let standing = if row.ready { "ready" } else { "withheld" };
            let tools = row.tools.map_or_else(|| "-".to_owned(), |tools| tools.to_string());
            vec![row.name.clone(), standing.to_owned(), tools, row.cell.clone(), row.profile.to_owned()]
        }));
        terminal::print(&terminal::table(&table))?;
    }
    for row in &rows {
        if let (Some(reason), Some(remedy)) = (&row.reason, &row.remedy) {
            terminal::say(&format!("{}: {reason}", row.name));
            terminal::say(&format!("help: `{remedy}`"));
        }
    }
    for warning in &loaded.warnings {
        terminal::say(&format!("warning: {}", tools::visible::visible(warning)));
    }
    let listen = listen.unwrap_or_else(|| loaded.operator.serve().listen());
    terminal::say(&format!("the configuration is right; it would be served at http://{listen}"));
    Ok(())
}

fn rows(loaded: &Loaded) -> Vec<Row> {
    let row = |(name, served): (&model::name::ServerName, &Served)| {
        let offer = loaded.offers.iter().find(|offer| offer.name() == name);
        let reason = served.reason();
        Row {
            name: name.to_string(),
            ready: reason.is_none(),
            tools: offer.and_then(|offer| offer.surface()).map(|surface| surface.tools().len()),
            cell: served.target.cell.to_string(),
            profile: if served.target.is_pass_through { "pass-through" } else { "guarded" },
            remedy: reason.as_ref().map(|_| served.remedy()),
            reason,
        }
    };
    loaded.servers.iter().map(row).collect()
}
