//! `fumehood egress log`.

use std::{collections::BTreeMap, fs, io, path::PathBuf, process::ExitCode};

use cell::folders::Folders;
use cell_api::{client::Client, info::CellInfo};
use model::name::ServerName;
use serde_json::Value;
use tokio::sync::mpsc;

use super::entry;
use crate::{
    cli::EgressLog,
    places,
    stop::{FAILURE, Stop},
    terminal,
    verb::{ps, runtime},
};

/// Shows what the supervisors know, else what the last one wrote.
pub(super) fn perform(asked: &EgressLog) -> anyhow::Result<ExitCode> {
    let folders = places::folders()?;
    let runtime = runtime()?;
    let mut running = runtime.block_on(ps::cells(&folders))?;
    if let Some(whose) = &asked.whose {
        running.retain(|cell| cell.id == *whose || cell.is_called(whose));
    }
    let printer = Printer { json: asked.json };
    if !running.is_empty() {
        runtime.block_on(living(&folders, &running, asked.follow, printer))?;
    } else if asked.follow {
        return Err(nobody(asked, "only a running cell can be followed"));
    } else {
        let mut logs = ended(&folders, asked.whose.as_deref())?;
        if logs.is_empty() {
            let hint = format!("logs lie in `{}`", folders.state.join("egress").display());
            return Err(nobody(asked, &hint));
        }
        logs.sort();
        for (name, file) in logs {
            for value in entries(&file)? {
                printer.print(&name, &value)?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn living(folders: &Folders, cells: &[CellInfo], follow: bool, printer: Printer) -> anyhow::Result<()> {
    if !follow {
        for cell in cells {
            let mut client = Client::connect(&folders.cell(&cell.id)).await.map_err(Stop::from)?;
            for value in client.network_log().await.map_err(Stop::from)? {
                printer.print(cell.name.as_str(), &value)?;
            }
        }
        return Ok(());
    }
    let (tell, mut told) = mpsc::channel(64);
    for cell in cells {
        let client = Client::connect(&folders.cell(&cell.id)).await.map_err(Stop::from)?;
        let mut entries = client.follow_network().await.map_err(Stop::from)?;
        let (name, tell) = (cell.name.to_string(), tell.clone());
        tokio::spawn(async move {
            // A supervisor that ends says no more.
            while let Ok(Some(value)) = entries.next().await {
                if tell.send((name.clone(), value)).await.is_err() {
                    return;
                }
            }
        });
    }
    drop(tell);
    while let Some((name, value)) = told.recv().await {
        printer.print(&name, &value)?;
    }
    Ok(())
}

/// The newest log of each name, or of the one name, or the one of this id.
fn ended(folders: &Folders, whose: Option<&str>) -> anyhow::Result<Vec<(String, PathBuf)>> {
    if let Some(name) = whose.and_then(|whose| ServerName::new(whose).ok()) {
        let logs = in_folder(&folders.egress_logs(&name))?;
        if let Some(newest) = logs.into_iter().next_back() {
            return Ok(vec![(name.to_string(), newest)]);
        }
    }
    let names = match fs::read_dir(folders.state.join("egress")) {
        Ok(names) => names,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let mut found = Vec::new();
    for folder in names {
        let folder = folder?;
        let name = folder.file_name().to_string_lossy().into_owned();
        let mut logs = in_folder(&folder.path())?;
        if let Some(id) = whose {
            let ending = format!("-{id}.log");
            logs.retain(|log| log.to_string_lossy().ends_with(&ending));
        }
        found.extend(logs.into_iter().next_back().map(|log| (name, log)));
    }
    Ok(found)
}

fn in_folder(folder: &std::path::Path) -> io::Result<Vec<PathBuf>> {
    match cell::logs_in(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        other => other,
    }
}

/// The entries of a file and of the one put aside before it; of one that was counted up, the last state.
fn entries(file: &std::path::Path) -> io::Result<Vec<Value>> {
    let mut aside = file.to_owned().into_os_string();
    aside.push(".1");
    let mut text = match fs::read_to_string(PathBuf::from(aside)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error),
    };
    text.push_str(&fs::read_to_string(file)?);
    let mut entries = BTreeMap::new();
    // A line that was cut in two by a full file is no JSON, nor is the remark that says so.
    for value in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        if let Some(number) = value.get("number").and_then(Value::as_u64) {
            entries.insert(number, value);
        }
    }
    Ok(entries.into_values().collect())
}

fn nobody(asked: &EgressLog, hint: &str) -> anyhow::Error {
    let message = match &asked.whose {
        Some(whose) => format!("nothing is known of the network of a cell called `{whose}`"),
        None => "nothing is known of the network of any cell".to_owned(),
    };
    Stop::new(FAILURE, message, hint).into()
}

#[derive(Debug, Clone, Copy)]
struct Printer {
    json: bool,
}

impl Printer {
    fn print(self, name: &str, value: &Value) -> anyhow::Result<()> {
        if self.json {
            let mut value = value.clone();
            if let Some(object) = value.as_object_mut() {
                object.insert("server".to_owned(), name.into());
            }
            return terminal::print(&format!("{value}\n"));
        }
        terminal::print(&format!("{}\n", entry::line(name, value)))
    }
}
