//! `package-lock.json` of npm 7 and later (`lockfileVersion` 3, docs.npmjs.com).

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{fault::InstallError, order::Dependency};

/// What is read of it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct LockFile {
    #[serde(rename = "lockfileVersion")]
    version: u32,
    packages: BTreeMap<String, Locked>,
}

/// One folder of the tree.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Locked {
    pub(super) version: String,
    pub(super) integrity: Option<String>,
    /// Why its author advises against it.
    pub(super) deprecated: Option<String>,
    name: Option<String>,
    resolved: Option<String>,
    has_install_script: bool,
    in_bundle: bool,
    link: bool,
    os: Vec<String>,
    cpu: Vec<String>,
    dependencies: BTreeMap<String, String>,
}

/// Where packages lie.
const FOLDER: &str = "node_modules/";

impl LockFile {
    /// Reads it. Everything in it must come from a registry with a hash, or inside of such a package.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, InstallError> {
        let bad = |why: String| InstallError::BadTreeFile { why };
        let lock: Self = serde_json::from_slice(bytes).map_err(|error| bad(error.to_string()))?;
        if lock.version != 3 {
            return Err(bad(format!("`lockfileVersion` is {}, not 3", lock.version)));
        }
        if !lock.packages.contains_key("") {
            return Err(bad("it has no root".to_owned()));
        }
        for (place, locked) in lock.packages.iter().filter(|(place, _)| !place.is_empty()) {
            let name = name(place);
            let leaves = place.split('/').any(|part| part == ".." || part == "." || part.is_empty());
            if !place.starts_with(FOLDER) || leaves {
                return Err(bad(format!("`{place}` is not below `{FOLDER}`")));
            }
            // npm, as it is run here, leaves this out of everything that comes by its name and version. With it, the file
            // of one package could be had under the name of another one, whose hash nobody asks for then.
            let elsewhere = locked.resolved.is_some();
            if locked.link || elsewhere || (locked.integrity.is_none() && !locked.in_bundle) {
                return Err(InstallError::NoRegistry { package: name.to_owned() });
            }
        }
        Ok(lock)
    }

    /// The package of this name at the top of the tree, which is no other one under its name.
    pub(super) fn installed(&self, name: &str) -> Result<&Locked, InstallError> {
        let bad = |why: String| InstallError::BadTreeFile { why };
        let found = self.packages.get(&format!("{FOLDER}{name}"));
        let found = found.ok_or_else(|| bad(format!("`{name}` is not in it")))?;
        match &found.name {
            Some(other) if other != name => Err(bad(format!("what it calls `{name}` is `{other}`"))),
            _ => Ok(found),
        }
    }

    /// The root's `package.json`, by which npm lets these packages run their scripts, if it is told to run any.
    pub(super) fn manifest(&self, scripts: &[String]) -> Value {
        let dependencies = self.packages.get("").map(|root| root.dependencies.clone()).unwrap_or_default();
        if scripts.is_empty() {
            return json!({ "private": true, "dependencies": dependencies });
        }
        let allowed: BTreeMap<&String, bool> = scripts.iter().map(|package| (package, true)).collect();
        json!({ "private": true, "dependencies": dependencies, "allowScripts": allowed })
    }

    /// How many files npm fetches for it here: not those that come inside of others, nor those of other platforms.
    pub(super) fn to_fetch(&self) -> usize {
        let here = |list: &[String], own: &str| {
            list.is_empty()
                || list.iter().any(|one| one == own)
                || list.iter().all(|one| one.strip_prefix('!').is_some_and(|other| other != own))
        };
        let platform = super::platform();
        let (os, cpu) = platform.split_once('-').unwrap_or_default();
        self.real().filter(|(_, one)| !one.in_bundle && here(&one.os, os) && here(&one.cpu, cpu)).count()
    }

    /// Packages that have install scripts, by name.
    pub(super) fn with_scripts(&self) -> BTreeSet<String> {
        self.real()
            .filter(|(_, locked)| locked.has_install_script)
            .map(|(place, locked)| locked.name.clone().unwrap_or_else(|| name(place).to_owned()))
            .collect()
    }

    /// Everything in it, each once.
    pub(super) fn dependencies(&self) -> Vec<Dependency> {
        let all: BTreeSet<Dependency> = self
            .real()
            .map(|(place, locked)| Dependency {
                name: locked.name.clone().unwrap_or_else(|| name(place).to_owned()),
                version: locked.version.clone(),
                integrity: locked.integrity.clone(),
            })
            .collect();
        all.into_iter().collect()
    }

    fn real(&self) -> impl Iterator<Item = (&String, &Locked)> {
        self.packages.iter().filter(|(place, _)| !place.is_empty())
    }
}

/// The package that a folder is named after.
fn name(place: &str) -> &str {
    place.rsplit_once(FOLDER).map_or(place, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(packages: &Value) -> Result<LockFile, InstallError> {
        LockFile::read(json!({ "lockfileVersion": 3, "packages": packages }).to_string().as_bytes())
    }

    #[test]
    fn a_tree_file_tells_what_is_in_the_tree() {
        let lock = lock(&json!({
            "": { "dependencies": { "@a/x": "1.0.0" } },
            "node_modules/@a/x": { "version": "1.0.0", "integrity": "sha512-1", "hasInstallScript": true },
            "node_modules/@a/x/node_modules/y": { "version": "2.0.0", "inBundle": true },
            "node_modules/v": { "name": "u", "version": "5.0.0", "integrity": "sha512-5", "os": ["plan9"] },
            "node_modules/z": { "version": "3.0.0", "integrity": "sha512-3", "os": ["plan9"], "optional": true },
            "node_modules/w": { "version": "4.0.0", "integrity": "sha512-4", "os": ["!plan9"] }
        }))
        .unwrap();
        assert_eq!(lock.installed("@a/x").unwrap().version, "1.0.0");
        assert!(lock.installed("y").is_err() && lock.installed("v").is_err());
        assert_eq!(lock.to_fetch(), 2);
        assert_eq!(lock.with_scripts().into_iter().collect::<Vec<_>>(), ["@a/x"]);
        let names: Vec<_> = lock.dependencies().into_iter().map(|one| one.name).collect();
        assert_eq!(names, ["@a/x", "u", "w", "y", "z"]);
        assert_eq!(lock.manifest(&[]), json!({ "private": true, "dependencies": { "@a/x": "1.0.0" } }));
        assert_eq!(lock.manifest(&["@a/x".to_owned()])["allowScripts"], json!({ "@a/x": true }));
    }

    #[test]
    fn what_has_no_hash_of_a_registry_is_refused() {
        for (place, locked) in [
            ("node_modules/x", json!({ "version": "1.0.0" })),
            ("node_modules/x", json!({ "link": true, "resolved": "../x" })),
            (
                "node_modules/x",
                json!({ "version": "1.0.0", "integrity": "sha512-1", "resolved": "git+ssh://h/x" }),
            ),
            (
                "node_modules/x",
                json!({ "version": "1.0.0", "integrity": "sha512-1", "resolved": "https://h/y/-/y-1.0.0.tgz" }),
            ),
            ("node_modules/../../x", json!({ "version": "1.0.0", "integrity": "sha512-1" })),
            ("../x", json!({ "version": "1.0.0", "integrity": "sha512-1" })),
        ] {
            assert!(lock(&json!({ "": {}, place: locked })).is_err(), "{place} {locked}");
        }
        assert!(lock(&json!({})).is_err());
        assert!(LockFile::read(b"{\"lockfileVersion\": 2, \"packages\": {\"\": {}}}").is_err());
        assert!(LockFile::read(b"<<<<<<< ours").is_err());
    }
}
