//! From an I/O error to the typed failure the supervisor reads.

use std::io;

use crate::message::{Failure, Stage};

/// Names the stage and the step of an error, so that whoever reads it knows what was being done to what.
pub(crate) trait Step<T> {
    /// `step` is in words with its object: `mounting /usr`.
    fn step(self, layer: Stage, step: impl FnOnce() -> String) -> Result<T, Failure>;
}

impl<T> Step<T> for io::Result<T> {
    fn step(self, layer: Stage, step: impl FnOnce() -> String) -> Result<T, Failure> {
        self.map_err(|error| fail(layer, step(), &error))
    }
}

impl<T> Step<T> for rustix::io::Result<T> {
    fn step(self, layer: Stage, step: impl FnOnce() -> String) -> Result<T, Failure> {
        self.map_err(|error| fail(layer, step(), &error.into()))
    }
}

pub(crate) fn fail(layer: Stage, step: String, error: &io::Error) -> Failure {
    Failure { id: None, layer, step, errno: error.raw_os_error(), cause: error.to_string() }
}

pub(crate) fn refuse(layer: Stage, step: impl Into<String>, cause: impl Into<String>) -> Failure {
    Failure { id: None, layer, step: step.into(), errno: None, cause: cause.into() }
}
