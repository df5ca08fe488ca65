//! Wheels, honest ones and others (the binary distribution format of packaging.python.org).

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};

use super::{
    Release,
    zip::{self, File},
};

/// A wheel to be made: its files are written exactly as they are named.
#[derive(Debug, Clone)]
pub struct Wheel {
    name: String,
    version: String,
    files: Vec<File>,
    programs: Vec<(String, String)>,
    needs: Vec<String>,
    claims: Vec<String>,
    tag: String,
}

impl Wheel {
    /// An empty one, for every machine.
    pub fn new(name: &str, version: &str) -> Self {
        Self {
            name: name.to_owned(),
            version: version.to_owned(),
            files: Vec::new(),
            programs: Vec::new(),
            needs: Vec::new(),
            claims: Vec::new(),
            tag: "py3-none-any".to_owned(),
        }
    }

    /// With a file; the path is not looked at.
    #[must_use]
    pub fn file(mut self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.files.push(File { path: path.to_owned(), content: content.as_ref().to_vec(), mode: 0o644 });
        self
    }

    /// With a file that can be executed.
    #[must_use]
    pub fn executable(mut self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.files.push(File { path: path.to_owned(), content: content.as_ref().to_vec(), mode: 0o755 });
        self
    }

    /// The same in another version.
    #[must_use]
    pub fn version(mut self, version: &str) -> Self {
        version.clone_into(&mut self.version);
        self
    }

    /// With a program: `entry` is `module:function`.
    #[must_use]
    pub fn program(mut self, name: &str, entry: &str) -> Self {
        self.programs.push((name.to_owned(), entry.to_owned()));
        self
    }

    /// Needing another package.
    #[must_use]
    pub fn needs(mut self, requirement: &str) -> Self {
        self.needs.push(requirement.to_owned());
        self
    }

    /// Saying in its `RECORD` that it has a file of this path, which it has not.
    #[must_use]
    pub fn claims(mut self, path: &str) -> Self {
        self.claims.push(path.to_owned());
        self
    }

    /// For other machines.
    #[must_use]
    pub fn tag(mut self, tag: &str) -> Self {
        tag.clone_into(&mut self.tag);
        self
    }

    /// Makes it.
    pub fn build(self) -> Release {
        let Self { name, version, mut files, programs, needs, claims, tag } = self;
        let mut add = |path: String, content: String| {
            files.push(File { path, content: content.into_bytes(), mode: 0o644 });
        };
        let stem = name.replace('-', "_");
        let info = format!("{stem}-{version}.dist-info");
        let needs: Vec<String> = needs.iter().map(|need| format!("Requires-Dist: {need}\n")).collect();
        add(
            format!("{info}/METADATA"),
            format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{}", needs.concat()),
        );
        add(
            format!("{info}/WHEEL"),
            format!("Wheel-Version: 1.0\nGenerator: testkit\nRoot-Is-Purelib: true\nTag: {tag}\n"),
        );
        if !programs.is_empty() {
            let lines: Vec<String> =
                programs.iter().map(|(name, entry)| format!("{name} = {entry}\n")).collect();
            add(format!("{info}/entry_points.txt"), format!("[console_scripts]\n{}", lines.concat()));
        }
        let line = |file: &File| {
            let hash = URL_SAFE_NO_PAD.encode(Sha256::digest(&file.content));
            format!("{},sha256={hash},{}\n", file.path, file.content.len())
        };
        let lines: Vec<String> = files.iter().map(line).collect();
        let claims: Vec<String> = claims.iter().map(|path| format!("{path},,\n")).collect();
        let record = format!("{}{}{info}/RECORD,,\n", lines.concat(), claims.concat());
        files.push(File { path: format!("{info}/RECORD"), content: record.into_bytes(), mode: 0o644 });
        let file = format!("{stem}-{version}-{tag}.whl");
        Release::new(&name.to_ascii_lowercase(), &version, file, zip::pack(&files))
    }
}
