//! A project's file, checked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::limits::SomeLimits;
use super::mounts::{self, Asker, Place};
use super::network::{NetworkCheck, ShapeOnly};
use super::problem::Problems;
use super::server::{self, Server};
use super::{read, written};
use crate::name::ServerName;

/// What a project's `fumehood.toml` asks for. It comes with somebody's repository, so it is a request: it mounts
/// nothing outside the project, and the operator's maximum holds for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    folder: PathBuf,
    servers: BTreeMap<ServerName, Server>,
    limits: SomeLimits,
}

impl Project {
    /// Its name in a project's folder.
    pub const FILE_NAME: &'static str = "fumehood.toml";

    /// Checks the bytes of a file. `file` is the name to show in problems; `place` holds the folder the file is in.
    ///
    /// Of host rules only the outer shape is judged.
    ///
    /// # Errors
    ///
    /// [`Problems`]: all of them, each with its place. With broken syntax only that is told.
    pub fn resolve(file: &str, bytes: &[u8], place: &Place<'_>) -> Result<Self, Problems> {
        Self::resolve_with(file, bytes, place, &ShapeOnly)
    }

    /// The same, with the host rules judged by whoever knows what they mean.
    ///
    /// # Errors
    ///
    /// As [`Project::resolve`].
    pub fn resolve_with(
        file: &str,
        bytes: &[u8],
        place: &Place<'_>,
        check: &dyn NetworkCheck,
    ) -> Result<Self, Problems> {
        read::file(file, bytes, |written: written::Project, source| Self {
            folder: mounts::normalised(place.folder).unwrap_or_else(|| place.folder.to_owned()),
            servers: server::resolve(&written.servers, Asker::Project, place, check, source),
            limits: SomeLimits::resolve(written.limits.as_ref(), source),
        })
    }

    /// The folder the file is in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The servers by name.
    pub fn servers(&self) -> &BTreeMap<ServerName, Server> {
        &self.servers
    }

    /// Limits of every server that says nothing else.
    pub fn limits(&self) -> &SomeLimits {
        &self.limits
    }
}
