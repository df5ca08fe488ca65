//! Errors that end the program: an exit code, what happened, what to do.

use std::{fmt, process::ExitCode};

use cell_api::{
    client::ClientError,
    error::{ErrorBody, ErrorCode},
};
use secrets::vault::VaultError;

/// Something failed.
pub(crate) const FAILURE: u8 = 1;
/// The command line or the configuration cannot be.
pub(crate) const USAGE: u8 = 2;
/// Something has changed since it was accepted.
pub(crate) const CHANGED: u8 = 10;
/// Nobody has accepted it.
pub(crate) const NOT_ACCEPTED: u8 = 11;
/// Refused by policy.
pub(crate) const REFUSED: u8 = 12;
/// The host cannot hold the wall, or a layer that was made a condition.
pub(crate) const NO_WALL: u8 = 13;

/// A reason to stop with a code of its own.
#[derive(Debug)]
pub(crate) struct Stop {
    code: u8,
    message: String,
    hint: String,
    refusal: Option<Box<ErrorBody>>,
}

impl Stop {
    /// With the advice, which may be empty.
    pub(crate) fn new(code: u8, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: hint.into(), refusal: None }
    }

    /// The advice; empty where there is none.
    pub(crate) fn hint(&self) -> &str {
        &self.hint
    }

    /// A refusal of a supervisor.
    pub(crate) fn refused(body: &ErrorBody) -> Self {
        let code = match body.code {
            ErrorCode::Mount => REFUSED,
            ErrorCode::Wall | ErrorCode::Required => NO_WALL,
            ErrorCode::Spec | ErrorCode::Command => USAGE,
            _ => FAILURE,
        };
        let layer = body.layer.as_ref().map(|layer| format!(" (layer: {layer})")).unwrap_or_default();
        let message = format!("{} [{}]{layer}", body.message, body.code.as_str());
        Self { refusal: Some(Box::new(body.clone())), ..Self::new(code, message, body.hint.clone()) }
    }

    /// The supervisor's refusal this came from.
    pub(crate) fn into_refusal(self) -> Result<ErrorBody, Self> {
        match self.refusal {
            Some(refusal) => Ok(*refusal),
            None => Err(self),
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Stop {}

impl From<ClientError> for Stop {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Refused(body) => Self::refused(&body),
            other => Self::new(FAILURE, chain(&other), ""),
        }
    }
}

impl From<VaultError> for Stop {
    fn from(error: VaultError) -> Self {
        let code = match error {
            VaultError::Value(_) | VaultError::Recipients => USAGE,
            VaultError::InUse(_) => REFUSED,
            _ => FAILURE,
        };
        Self::new(code, error.to_string(), error.hint())
    }
}

/// An error and its causes on one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// Tells the error on stderr; its exit code.
pub(crate) fn tell(error: &anyhow::Error) -> ExitCode {
    let Some(stop) = error.downcast_ref::<Stop>() else {
        crate::terminal::say(&format!("{error:#}"));
        return FAILURE.into();
    };
    // Several problems of a file are a text of their own.
    if stop.message.contains('\n') {
        crate::terminal::say_whole(&stop.message);
    } else {
        crate::terminal::say(&stop.message);
    }
    if !stop.hint.is_empty() {
        crate::terminal::say(&format!("help: {}", stop.hint));
    }
    stop.code.into()
}
