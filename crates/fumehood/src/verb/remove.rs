//! `fumehood remove`: a server out of its file and its lock.

use std::process::ExitCode;

use model::config::Project;

use crate::{
    cli::lock::Remove,
    configuration::{Configuration, operators_file},
    edit, finding, places,
    server::{
        lock_file::replace,
        staged,
        standing::{told, trust},
        target::Home,
    },
    stop::{Stop, USAGE},
    terminal,
};

/// Removes it. What it has stored of its own stays.
pub(crate) fn perform(asked: &Remove) -> anyhow::Result<ExitCode> {
    let folders = places::folders()?;
    let target = finding::find(&folders, &asked.name)?;
    let trust = trust(&folders);
    let file = match &target.home {
        Home::Project { folder, .. } => Some((folder.join(Project::FILE_NAME), true)),
        Home::Operator => Some((operators_file(&folders), false)),
        Home::CommandLine => None,
    };
    if let Some((path, is_projects)) = file {
        let before = std::fs::read_to_string(&path)?;
        let after = edit::without_server(&before, target.name.as_str()).map_err(|error| {
            let message = format!("`{}` was not changed: {error}", path.display());
            Stop::new(USAGE, message, "take the table out by hand")
        })?;
        Configuration::check(&path, &after, is_projects)?;
        replace(&path, after.as_bytes())?;
        super::trust::carry_over(&trust, &target.home, &before, &after)?;
        terminal::say(&format!("`{}` no longer declares {}", path.display(), target.name));
    }
    if let Ok(lock) = target.lock.read()
        && let Some(pinned) = lock.get(&target.name)
    {
        trust.withdraw(&pinned.digest(&target.name)).map_err(told)?;
    }
    if target.lock.remove(&target.name)? {
        terminal::say(&format!("`{}` no longer pins it", target.lock.path().display()));
    }
    trust.clear_pending(&target.lock.key(&target.name)).map_err(told)?;
    staged::clear(&target, &folders)?;
    terminal::say("help: `fumehood store gc` removes packages that nothing uses any more");
    Ok(ExitCode::SUCCESS)
}
