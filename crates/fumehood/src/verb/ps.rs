//! `fumehood ps`: the running cells.

use std::{path::PathBuf, process::ExitCode, time::SystemTime};

use cell::folders::Folders;
use cell_api::{
    client::Client,
    info::{CellInfo, SecretInfo, SecretState},
    network::NetworkInfo,
};
use serde::Serialize;

use super::runtime;
use crate::{
    attend::{PATIENCE, weak},
    cli::Ps,
    places,
    stop::{FAILURE, Stop, USAGE},
    terminal,
};

/// Lists them.
pub(crate) fn perform(asked: &Ps) -> anyhow::Result<ExitCode> {
    let folders = places::folders()?;
    places::sweep(&folders, false);
    let runtime = runtime()?;
    let cells = runtime.block_on(cells(&folders))?;
    let listed = if asked.json || asked.verbose {
        runtime.block_on(with_network(&folders, cells))
    } else {
        cells.into_iter().map(|info| Listed { info, network: None }).collect()
    };
    if asked.json {
        terminal::print(&format!("{}\n", serde_json::to_string_pretty(&listed)?))?;
    } else if listed.is_empty() {
        terminal::say("no cell runs");
    } else {
        terminal::print(&terminal::table(&rows(&listed, asked.verbose)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A cell as it is listed.
#[derive(Debug, Serialize)]
struct Listed {
    #[serde(flatten)]
    info: CellInfo,
    /// Where it was asked for and the cell runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<NetworkInfo>,
}

async fn with_network(folders: &Folders, cells: Vec<CellInfo>) -> Vec<Listed> {
    let mut listed = Vec::new();
    for info in cells {
        let asked = async {
            let mut client = Client::connect(&folders.cell(&info.id)).await.ok()?;
            client.network().await.ok()
        };
        let network = tokio::time::timeout(PATIENCE, asked).await.ok().flatten();
        listed.push(Listed { info, network });
    }
    listed
}

/// The folder of the running cell of this id, or the only one of this name.
pub(crate) async fn find(folders: &Folders, whose: &str) -> anyhow::Result<PathBuf> {
    let cells = cells(folders).await?;
    let found: Vec<&CellInfo> = match cells.iter().find(|cell| cell.id == whose) {
        Some(cell) => vec![cell],
        None => cells.iter().filter(|cell| cell.is_called(whose)).collect(),
    };
    match found.as_slice() {
        [cell] => Ok(folders.cell(&cell.id)),
        [] => Err(Stop::new(
            FAILURE,
            format!("no running cell is called `{whose}`"),
            "`fumehood ps` lists them",
        )
        .into()),
        several => {
            let ids: Vec<&str> = several.iter().map(|cell| cell.id.as_str()).collect();
            let message = format!("{} running cells are called `{whose}`", several.len());
            Err(Stop::new(USAGE, message, format!("name one by its id: {}", ids.join(", "))).into())
        }
    }
}

/// What every supervisor that answers says about its cell.
pub(crate) async fn cells(folders: &Folders) -> anyhow::Result<Vec<CellInfo>> {
    let mut cells = Vec::new();
    for (id, _) in cell::sweep::living(folders)? {
        let asked = async {
            let mut client = Client::connect(&folders.cell(&id)).await.ok()?;
            client.info().await.ok()
        };
        // One that is just beginning or ending says nothing of use.
        if let Ok(Some(info)) = tokio::time::timeout(PATIENCE, asked).await {
            cells.push(info);
        }
    }
    cells.sort_by(|a, b| a.created.cmp(&b.created));
    Ok(cells)
}

fn rows(cells: &[Listed], verbose: bool) -> Vec<Vec<String>> {
    let heading = ["ID", "NAME", "STATE", "PID", "AGE", "NOT HELD", "SECRETS", "HOSTS", "OPEN", "COMMAND"];
    let shown = |row: Vec<String>| {
        let hidden = |index: usize| !verbose && (index == 7 || index == 8);
        row.into_iter().enumerate().filter(|(index, _)| !hidden(*index)).map(|(_, text)| text).collect()
    };
    let mut rows = vec![shown(heading.map(str::to_owned).to_vec())];
    for Listed { info: cell, network } in cells {
        let weak: Vec<String> = weak(cell).map(|(name, _)| name.to_string()).collect();
        let count =
            |number: Option<usize>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        rows.push(shown(vec![
            cell.id.clone(),
            cell.name.to_string(),
            cell.state.as_str().to_owned(),
            cell.jail.map_or_else(|| "-".to_owned(), |pid| pid.to_string()),
            age(&cell.created),
            if weak.is_empty() { "-".to_owned() } else { weak.join(",").replace(' ', "-") },
            secrets(cell),
            count(network.as_ref().map(|network| network.hosts.len())),
            count(network.as_ref().map(|network| network.flows)),
            terminal::harmless(&shortened(&cell.command.join(" "))),
        ]));
    }
    rows
}

/// The secrets of a cell; those that are no placeholders any more say so.
fn secrets(cell: &CellInfo) -> String {
    let told = |secret: &SecretInfo| match secret.state {
        SecretState::Placeholder => secret.name.to_string(),
        SecretState::Exposed => format!("{}(exposed)", secret.name),
        SecretState::Removed => format!("{}(removed)", secret.name),
    };
    let names: Vec<String> = cell.secrets.iter().map(told).collect();
    if names.is_empty() { "-".to_owned() } else { names.join(",") }
}

fn age(created: &str) -> String {
    let age =
        humantime::parse_rfc3339(created).ok().and_then(|then| SystemTime::now().duration_since(then).ok());
    age.map_or_else(
        || "-".to_owned(),
        |age| {
            let seconds = std::time::Duration::from_secs(age.as_secs());
            let text = humantime::format_duration(seconds).to_string();
            // The two largest units say enough.
            text.split(' ').take(2).collect::<Vec<_>>().join(" ")
        },
    )
}

fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    let short: String = text.chars().take(MOST).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}
