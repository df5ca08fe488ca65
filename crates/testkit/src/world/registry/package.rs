//! A package that is made by a test.

use std::io;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha512};

use crate::world::index::tar;

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

    /// What a registry is given at a publication (npm's registry API, `PUT /NAME`), by which the file is fetched from
    /// `url`.
    pub(super) fn publication(&self, url: &str) -> io::Result<Value> {
        let manifest = Value::Object(self.manifest.clone()).to_string();
        let mut files = vec![("package.json", manifest.as_str())];
        files.extend(self.files.iter().map(|(path, content)| (path.as_str(), content.as_str())));
        let packed = tar::pack("package", &files)?;
        let file = format!("{}-{}.tgz", self.name, self.version);
        let integrity = format!("sha512-{}", STANDARD.encode(Sha512::digest(&packed)));
        let mut version = self.manifest.clone();
        let tarball = format!("{url}{}/-/{file}", self.name);
        version.insert("_id".to_owned(), json!(format!("{}@{}", self.name, self.version)));
        version.insert("dist".to_owned(), json!({ "integrity": integrity, "tarball": tarball }));
        // npm reads a program by its name only.
        if let Some(Value::String(path)) = self.manifest.get("bin") {
            version.insert("bin".to_owned(), json!({ self.name.clone(): path }));
        }
        Ok(json!({
            "_id": self.name,
            "name": self.name,
            "dist-tags": { "latest": self.version },
            "versions": { self.version.clone(): version },
            "_attachments": { file: {
                "content_type": "application/octet-stream",
                "data": STANDARD.encode(&packed),
                "length": packed.len(),
            } },
        }))
    }
}
