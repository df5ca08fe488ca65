//! What a client said is remembered for a day: asking takes as long as a start.

use std::{
    env, fs,
    path::PathBuf,
    time::{Duration, SystemTime},
};

use cell::folders::{Folders, make_private};
use model::name::ServerName;

use super::{
    Sources,
    words::{Asked, Client},
};

/// How long an answer counts.
const GOOD_FOR: Duration = Duration::from_hours(24);

/// What was said, where nothing is known to have changed since.
pub(super) fn recall(folders: &Folders, asked: &Asked) -> Option<Sources> {
    let file = file(folders, asked)?;
    let written = fs::metadata(&file).ok()?.modified().ok()?;
    let age = SystemTime::now().duration_since(written).ok()?;
    let text = fs::read(&file).ok().filter(|_| age < GOOD_FOR)?;
    serde_json::from_slice(&text).ok()
}

/// Remembers it. What cannot be kept is asked again.
pub(super) fn keep(folders: &Folders, asked: &Asked, sources: &Sources) {
    let Some(file) = file(folders, asked) else { return };
    let Ok(text) = serde_json::to_vec(sources) else { return };
    if file.parent().is_some_and(|folder| make_private(folder).is_ok()) {
        fs::write(file, text).ok();
    }
}

/// Named after everything that decides the answer.
fn file(folders: &Folders, asked: &Asked) -> Option<PathBuf> {
    let mut scope = vec![asked.program.clone()];
    scope.extend(asked.packages.iter().cloned());
    let prefix = match asked.client {
        Client::Npm => "npm_config_",
        Client::Uv => "uv_",
    };
    let mut said: Vec<String> = env::vars_os()
        .filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            let matters = name.to_ascii_lowercase().starts_with(prefix) || name == "PATH" || name == "HOME";
            matters.then(|| format!("{name}={}", value.to_string_lossy()))
        })
        .collect();
    said.sort();
    scope.extend(said);
    let home = env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let config = env::var_os("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
    let files = match asked.client {
        Client::Npm => vec![home.join(".npmrc")],
        Client::Uv => vec![config.join("uv/uv.toml"), PathBuf::from("/etc/uv/uv.toml")],
    };
    let changed =
        files.iter().map(|file| format!("{:?}", fs::metadata(file).and_then(|facts| facts.modified()).ok()));
    scope.extend(changed);
    let name = ServerName::new(asked.client.name()).ok()?.scoped(scope.join("\0").as_bytes());
    Some(folders.state.join("registries").join(format!("{name}.json")))
}
