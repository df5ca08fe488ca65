//! The operator's file, checked.

use std::collections::BTreeMap;
use std::path::Path;

use super::limits::SomeLimits;
use super::maximum::Maximum;
use super::mounts::{Asker, Place};
use super::problem::Problems;
use super::server::{self, Server};
use super::{read, written};
use crate::name::ServerName;

/// What whoever runs Fumehood laid down. The default is what holds without a file: nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Operator {
    servers: BTreeMap<ServerName, Server>,
    limits: SomeLimits,
    code_limits: SomeLimits,
    maximum: Maximum,
}

impl Operator {
    /// Its name in Fumehood's configuration folder.
    pub const FILE_NAME: &'static str = "config.toml";

    /// Checks the bytes of a file. `file` is the name to show in problems; `home` is what `~/` stands for.
    ///
    /// # Errors
    ///
    /// [`Problems`]: all of them, each with its place. With broken syntax only that is told.
    pub fn resolve(file: &str, bytes: &[u8], home: Option<&Path>) -> Result<Self, Problems> {
        let place = Place { folder: Path::new("/"), home };
        read::file(file, bytes, |written: written::Operator, source| {
            let code = written.code.unwrap_or_default().limits;
            let limits = SomeLimits::resolve(written.limits.as_ref(), source);
            let code_limits = SomeLimits::resolve(code.as_ref(), source);
            let maximum = Maximum::resolve(written.maximum.as_ref(), source);
            maximum.check_defaults(written.limits.as_ref(), &limits, source);
            maximum.check_defaults(code.as_ref(), &code_limits, source);
            let servers = server::resolve(&written.servers, Asker::Operator, &place, source);
            Self { servers, limits, code_limits, maximum }
        })
    }

    /// The operator's own servers by name.
    pub fn servers(&self) -> &BTreeMap<ServerName, Server> {
        &self.servers
    }

    /// Limits of every server that says nothing else.
    pub fn limits(&self) -> &SomeLimits {
        &self.limits
    }

    /// Limits of model-written code.
    pub fn code_limits(&self) -> &SomeLimits {
        &self.code_limits
    }

    /// What no project's file and no command line may exceed.
    pub fn maximum(&self) -> &Maximum {
        &self.maximum
    }
}
