//! A package that is made by a test.

use std::{fs, io, path::Path};

use serde_json::{Map, Value, json};

/// One version of a package, with its files.
#[derive(Debug, Clone)]
pub struct Package {
    name: String,
    version: String,
    manifest: Map<String, Value>,
    files: Vec<(String, String)>,
}

impl Package {
    /// One without any file but its manifest.
    pub fn new(name: &str, version: &str) -> Self {
        let manifest =
            [("name", name), ("version", version)].map(|(key, value)| (key.to_owned(), json!(value)));
        Self {
            name: name.to_owned(),
            version: version.to_owned(),
            manifest: manifest.into_iter().collect(),
            files: Vec::new(),
        }
    }

    /// With a key of `package.json`.
    #[must_use]
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.manifest.insert(key.to_owned(), value);
        self
    }

    /// With a file.
    #[must_use]
    pub fn file(mut self, path: &str, content: impl Into<String>) -> Self {
        self.files.push((path.to_owned(), content.into()));
        self
    }

    /// Needing another one, of this range.
    #[must_use]
    pub fn needs(mut self, name: &str, range: &str) -> Self {
        let needs = self.manifest.entry("dependencies").or_insert_with(|| json!({}));
        if let Some(needs) = needs.as_object_mut() {
            needs.insert(name.to_owned(), json!(range));
        }
        self
    }

    /// With a script that is run when it is installed.
    #[must_use]
    pub fn postinstall(self, line: &str) -> Self {
        self.with("scripts", json!({ "postinstall": line }))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its version.
    pub fn version(&self) -> &str {
        &self.version
    }

    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        fs::write(folder.join("package.json"), Value::Object(self.manifest.clone()).to_string())?;
        for (path, content) in &self.files {
            let path = folder.join(path);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(path, content)?;
        }
        Ok(())
    }
}
