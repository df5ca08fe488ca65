//! What npm says about its registries.

use std::{fs, path::Path};

use anyhow::Context;
use serde_json::{Map, Value};

use super::{Registry, Sources, ask::ask, place::Place, words::Asked};
use crate::terminal;

/// Variables for npm inside.
pub(super) fn variables() -> Vec<(&'static str, String)> {
    let fixed = |name, value: &str| (name, value.to_owned());
    vec![
        fixed("npm_config_cache", "/data/npm"),
        fixed("npm_config_update_notifier", "false"),
        fixed("npm_config_audit", "false"),
        fixed("npm_config_fund", "false"),
        // Nobody could answer: stdin is the protocol's.
        fixed("npm_config_yes", "true"),
        // Download URLs that name the registry by another name lead to it all the same.
        fixed("npm_config_replace_registry_host", "always"),
    ]
}

/// Asks npm for its registries, and where the packages lie.
pub(super) fn sources(asked: &Asked) -> anyhow::Result<Sources> {
    let text = ask(&asked.program, &["config", "list", "--json"], "")?;
    let settings: Map<String, Value> =
        serde_json::from_str(&text).context("npm's configuration is not the JSON that was expected")?;
    let said = |name: &str| settings.get(name).and_then(Value::as_str);
    let scoped = settings.iter().filter(|(name, _)| name.starts_with('@') && name.ends_with(":registry"));
    let general = settings.get_key_value("registry");
    let mut sources = Sources { authorities: said("cafile").map(str::to_owned), ..Sources::default() };
    for (name, value) in general.into_iter().chain(scoped) {
        let Some(url) = value.as_str() else { continue };
        let place = Place::parse(url)?;
        if place.had_credentials
            || said("userconfig").is_some_and(|file| names_a_key(Path::new(file), &place.host))
        {
            sources.notes.push(format!(
                "npm has a key for {}; it stays outside, so packages that need it are not found inside",
                place.host
            ));
        }
        sources.registries.push(Registry { variable: format!("npm_config_{name}"), url: url.to_owned() });
    }
    for package in &asked.packages {
        if !is_of_a_registry(package) {
            sources.notes.push(format!(
                "`{package}` is of no registry: allow the host it is fetched from with `--host`"
            ));
            continue;
        }
        match ask(&asked.program, &["view", "--json", "--", package, "dist.tarball"], "") {
            Ok(text) => sources.files.extend(addresses(&text)),
            // The registry may be out of reach while all that is needed is in the cache.
            Err(error) => terminal::say(&format!("{error:#}")),
        }
    }
    sources.files = super::place::origins(&sources.files);
    Ok(sources)
}

/// The URLs in the answer: one text, or a list of one for each fitting version.
fn addresses(answer: &str) -> Vec<String> {
    let is_url = |text: &&str| text.starts_with("https://") || text.starts_with("http://");
    match serde_json::from_str(answer) {
        Ok(Value::String(url)) => Some(url.as_str()).filter(is_url).map(str::to_owned).into_iter().collect(),
        Ok(Value::Array(urls)) => {
            urls.iter().filter_map(Value::as_str).filter(is_url).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

/// `name`, `@scope/name`, each with or without `@version`: all else is a folder, a file, a repository or a URL.
fn is_of_a_registry(package: &str) -> bool {
    let unscoped = match package.strip_prefix('@') {
        Some(rest) => match rest.split_once('/') {
            Some((_, name)) => name,
            None => return false,
        },
        None => package,
    };
    !unscoped.is_empty() && !unscoped.starts_with(['.', '-', '~']) && !unscoped.contains(['/', ':'])
}

/// Whether the file has a key for the host. The key itself is not looked at.
fn names_a_key(file: &Path, host: &str) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().any(|line| {
        let line = line.trim_start();
        line.strip_prefix("//").is_some_and(|rest| rest.starts_with(host))
            && line.split('=').next().is_some_and(|name| name.contains(":_"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_a_registry_are_told_from_the_rest() {
        for package in ["x", "@acme/x", "x@1.2", "@acme/x@latest", "x@^1 || 2"] {
            assert!(is_of_a_registry(package), "{package}");
        }
        for package in
            ["./x", "~/x", "github:a/b", "a/b", "https://h.example/x.tgz", "x@npm:y", "@acme", "--x", ""]
        {
            assert!(!is_of_a_registry(package), "{package}");
        }
    }

    #[test]
    fn answers_of_every_shape_are_read() {
        assert_eq!(addresses("\"https://h.example/x.tgz\""), ["https://h.example/x.tgz"]);
        assert_eq!(addresses("[\"https://h.example/1\", \"http://h.example/2\"]").len(), 2);
        assert!(addresses("\"file:///etc/passwd\"").is_empty() && addresses("{}").is_empty());
    }

    #[test]
    fn a_key_is_noticed_by_its_host_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("npmrc");
        fs::write(&file, "fund=false\n//packages.example/:_authToken=abc\n").unwrap();
        assert!(names_a_key(&file, "packages.example"));
        assert!(!names_a_key(&file, "other.example"));
    }
}
