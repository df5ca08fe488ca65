//! `fumehood outdated`: which packages have newer versions.

use std::{process::ExitCode, time::SystemTime};

use serde::Serialize;

use super::{
    runtime,
    update::{days, version},
};
use crate::{
    cli::{Given, lock::Outdated},
    configuration::Configuration,
    finding, places,
    server::{standing::Standing, target::Source},
    terminal,
};

/// One server; what `--json` prints.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    pinned: String,
    newest: String,
    is_outdated: bool,
    /// In seconds, where the registry says it.
    age: Option<u64>,
    is_young: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    withdrawn: Option<String>,
    /// The same of the pinned version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pinned_withdrawn: Option<String>,
}

/// Asks the registries, and prints what there is. Nothing is changed.
pub(crate) fn perform(asked: &Outdated) -> anyhow::Result<ExitCode> {
    let folders = places::folders()?;
    let min_age = Configuration::read(&folders, &Given::default())?.min_age();
    let runtime = runtime()?;
    let mut rows = Vec::new();
    for (name, target) in finding::all(&folders)? {
        let Ok(target) = target else { continue };
        let Source::Package(package) = &target.source else { continue };
        let pinned = match Standing::of(&target, &folders) {
            Ok(Standing::Ready(entry) | Standing::Absent(entry) | Standing::Unaccepted(entry)) => {
                entry.pinned.source
            }
            _ => continue,
        };
        let newest = match runtime.block_on(packages::newest(package, &version(&pinned))) {
            Ok(newest) => newest,
            Err(error) => {
                terminal::say(&format!("{name}: {error}"));
                continue;
            }
        };
        let age = newest.released.and_then(|released| SystemTime::now().duration_since(released).ok());
        rows.push(Row {
            is_outdated: version(&pinned) != newest.version,
            name: name.to_string(),
            pinned,
            newest: newest.version,
            age: age.map(|age| age.as_secs()),
            is_young: age.is_some_and(|age| age < min_age),
            withdrawn: newest.withdrawn,
            pinned_withdrawn: newest.current_withdrawn,
        });
    }
    if asked.json {
        terminal::print(&format!("{}\n", serde_json::to_string_pretty(&rows)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = vec![["NAME", "PINNED", "NEWEST", "RELEASED", ""].map(str::to_owned).to_vec()];
    for row in &rows {
        if let Some(why) = &row.pinned_withdrawn {
            terminal::say(&format!("{}: its author has withdrawn {}: {why}", row.name, row.pinned));
        }
    }
    let any = rows.iter().any(|row| row.is_outdated);
    for row in rows.into_iter().filter(|row| row.is_outdated) {
        let released = row.age.map_or_else(|| "-".to_owned(), |age| format!("{} ago", days(age)));
        let remark = match row.withdrawn {
            Some(why) => format!("withdrawn: {why}"),
            None if row.is_young => "young".to_owned(),
            None => String::new(),
        };
        table.push(vec![row.name, row.pinned, row.newest, released, terminal::harmless(&remark)]);
    }
    if any {
        terminal::print(&terminal::table(&table))?;
        terminal::say(
            "help: `fumehood update NAME` installs the newer one beside it and shows what would change",
        );
    } else {
        terminal::say("every package is the newest there is");
    }
    Ok(ExitCode::SUCCESS)
}
