//! What npm says about its registries.

use std::{fs, path::Path, thread};

use serde_json::{Map, Value};

use crate::{
    ask::{AskError, ask},
    place::{self, Place},
    sources::{Registry, Sources, SourcesError},
    words::Asked,
};

/// Asks npm for its registries, and where the packages lie.
pub(crate) fn sources(asked: &Asked) -> Result<Sources, SourcesError> {
    let program = asked.program.as_str();
    // Each takes as long as npm takes to start.
    let (text, views) = thread::scope(|scope| {
        let view = |package: &'_ str| ask(program, &["view", "--json", "--", package, "dist.tarball"], "");
        let views: Vec<_> = asked.packages.iter().map(|package| scope.spawn(move || view(package))).collect();
        let text = ask(program, &["config", "list", "--json"], "");
        (text, views.into_iter().map(thread::ScopedJoinHandle::join).collect::<Vec<_>>())
    });
    let text = text?;
    let strange = |error: serde_json::Error| SourcesError::Strange {
        program: asked.program.clone(),
        why: error.to_string(),
    };
    let settings: Map<String, Value> = serde_json::from_str(&text).map_err(strange)?;
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
    for view in views {
        match view {
            Ok(Ok(text)) => sources.files.extend(addresses(&text)),
            // What is not found is not found by the installation either, which says so better.
            Ok(Err(AskError::Failed { .. })) | Err(_) => {}
            Ok(Err(error)) => return Err(error.into()),
        }
    }
    sources.files = place::origins(&sources.files);
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
