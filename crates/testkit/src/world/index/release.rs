//! A file of an index.

/// One file that an index offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// The project, in its normal form.
    pub project: String,
    /// Which version.
    pub version: String,
    /// The name of the file.
    pub file: String,
    /// Its content.
    pub bytes: Vec<u8>,
    /// Why it was withdrawn, where it was.
    pub yanked: Option<String>,
    /// When it came (RFC 3339).
    pub uploaded: String,
}

impl Release {
    /// One that has been there for years.
    pub(super) fn new(project: &str, version: &str, file: String, bytes: Vec<u8>) -> Self {
        Self {
            project: project.to_owned(),
            version: version.to_owned(),
            file,
            bytes,
            yanked: None,
            uploaded: "2024-01-02T03:04:05Z".to_owned(),
        }
    }

    /// The same, withdrawn.
    #[must_use]
    pub fn yanked(mut self, reason: &str) -> Self {
        self.yanked = Some(reason.to_owned());
        self
    }

    /// The same, come at that time.
    #[must_use]
    pub fn uploaded(mut self, time: &str) -> Self {
        time.clone_into(&mut self.uploaded);
        self
    }
}
