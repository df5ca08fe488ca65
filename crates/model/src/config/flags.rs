//! What the command line adds to a declared server, or says of an undeclared one.

use std::collections::BTreeMap;
use std::fmt;

use super::complaint::{Complaint, harmless};
use super::data;
use super::env::{self, EnvValue};
use super::limits::{SomeLimits, size_text};
use super::mounts::{self, Asker, Place};
use super::network::{self, NetworkCheck, ShapeOnly};
use super::secrets;
use crate::mount::Mount;
use crate::name::ServerName;
use crate::secret::SecretUse;

/// The values of the flags as they were typed.
#[derive(Debug, Clone, Copy, Default)]
pub struct FlagTexts<'a> {
    /// Of each `--mount`: `PATH`, `PATH:ro` or `PATH:rw`.
    pub mounts: &'a [String],
    /// Of each `--env`: `NAME=VALUE`, or `NAME` for the caller's own value.
    pub env: &'a [String],
    /// Of `--data`: `NAME` or `NAME:SIZE`.
    pub data: Option<&'a str>,
    /// Of each `--limit`: `NAME=VALUE`.
    pub limits: &'a [String],
    /// Of each `--host`: a host rule.
    pub hosts: &'a [String],
    /// Of each `--secret`: `NAME` or `NAME=VARIABLE`.
    pub secrets: &'a [String],
    /// Of each `--expose`: the same, for the real value.
    pub exposed: &'a [String],
}

/// The values of the flags, checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flags {
    mounts: Vec<Mount>,
    env: BTreeMap<String, EnvValue>,
    data: Option<DataFlag>,
    limits: SomeLimits,
    hosts: Vec<String>,
    secrets: Vec<SecretUse>,
}

/// `--data NAME[:SIZE]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFlag {
    /// Which folder.
    pub name: ServerName,
    /// Its quota in bytes, where one is said.
    pub size: Option<u64>,
}

impl Flags {
    /// Checks everything that was typed.
    ///
    /// # Errors
    ///
    /// [`FlagErrors`]: one for each value that is wrong, in the order mounts, environment, data, limits, hosts, secrets.
    pub fn parse(texts: &FlagTexts<'_>, place: &Place<'_>) -> Result<Self, FlagErrors> {
        Self::parse_with(texts, place, &ShapeOnly)
    }

    /// The same, with the host rules judged by whoever knows what they mean.
    ///
    /// # Errors
    ///
    /// As [`Flags::parse`].
    pub fn parse_with(
        texts: &FlagTexts<'_>,
        place: &Place<'_>,
        check: &dyn NetworkCheck,
    ) -> Result<Self, FlagErrors> {
        let mut flags = Self::default();
        let mut errors = Vec::new();
        let mut note = |flag, value: &str, result: Result<(), Complaint>| {
            if let Err(complaint) = result {
                errors.push(FlagError::new(flag, value, &complaint));
            }
        };
        for text in texts.mounts {
            note("--mount", text, flags.add_mount(text, place));
        }
        for text in texts.env {
            // The value may be a key: it is not repeated on the screen.
            let shown = text.split_once('=').map_or(text.clone(), |(name, _)| format!("{name}=…"));
            note("--env", &shown, flags.add_env(text));
        }
        if let Some(text) = texts.data {
            note("--data", text, data_flag(text).map(|data| flags.data = Some(data)));
        }
        for text in texts.limits {
            note("--limit", text, flags.limits.add_flag(text));
        }
        for text in texts.hosts {
            note("--host", text, network::host(text, check).map(|()| flags.hosts.push(text.clone())));
        }
        for (flag, expose, texts) in [("--secret", false, texts.secrets), ("--expose", true, texts.exposed)] {
            for text in texts {
                note(flag, text, flags.add_secret(text, expose));
            }
        }
        if errors.is_empty() { Ok(flags) } else { Err(FlagErrors(errors)) }
    }

    /// Mounts with absolute paths.
    pub fn mounts(&self) -> &[Mount] {
        &self.mounts
    }

    /// Variables by name.
    pub fn env(&self) -> &BTreeMap<String, EnvValue> {
        &self.env
    }

    /// The persistent folder.
    pub fn data(&self) -> Option<&DataFlag> {
        self.data.as_ref()
    }

    /// The limits.
    pub fn limits(&self) -> &SomeLimits {
        &self.limits
    }

    /// The host rules.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// Secrets, each in a variable of its own.
    pub fn secrets(&self) -> &[SecretUse] {
        &self.secrets
    }

    fn add_secret(&mut self, text: &str, expose: bool) -> Result<(), Complaint> {
        let one = secrets::flag(text, expose)?;
        if self.secrets.iter().any(|other| other.variable == one.variable) {
            return Err(Complaint::new(format!("`{}` is given twice", one.variable))
                .help("give each variable one secret, either by `--secret` or by `--expose`"));
        }
        if self.secrets.len() >= secrets::MOST_SECRETS {
            return Err(Complaint::new(format!("more than {} secrets", secrets::MOST_SECRETS)));
        }
        self.secrets.push(one);
        Ok(())
    }

    fn add_mount(&mut self, text: &str, place: &Place<'_>) -> Result<(), Complaint> {
        let mount = mounts::parse(text, Asker::CommandLine, place)?;
        self.mounts.push(mounts::without_twin(&self.mounts, mount)?);
        Ok(())
    }

    fn add_env(&mut self, text: &str) -> Result<(), Complaint> {
        let (name, value) = env::flag(text)?;
        if self.env.contains_key(&name) {
            return Err(Complaint::new(format!("`{name}` is given twice")).help("give each variable once"));
        }
        self.env.insert(name, value);
        Ok(())
    }
}

fn data_flag(text: &str) -> Result<DataFlag, Complaint> {
    let (name, size) = match text.split_once(':') {
        Some((name, size)) => (name, Some(data::check_size(size_text(size)?)?)),
        None => (text, None),
    };
    let name = ServerName::new(name).map_err(|_| {
        Complaint::new(format!("`{name}` is not a name of a data folder"))
            .help("use 1 to 64 letters, digits, `.`, `_` or `-`, beginning with a letter or digit: it is a name, not a path")
    })?;
    Ok(DataFlag { name, size })
}

/// A value of a flag that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{flag} {value}`: {message}")]
pub struct FlagError {
    flag: &'static str,
    value: String,
    message: String,
    help: Option<String>,
}

impl FlagError {
    fn new(flag: &'static str, value: &str, complaint: &Complaint) -> Self {
        Self {
            flag,
            value: harmless(value),
            message: harmless(&complaint.message),
            help: complaint.help.as_deref().map(harmless),
        }
    }

    /// The flag: `--mount`, `--env`, `--data`, `--limit`, `--host`, `--secret` or `--expose`.
    pub fn flag(&self) -> &'static str {
        self.flag
    }

    /// What was typed, without the value of a variable.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// What is wrong with it.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to type instead.
    pub fn hint(&self) -> Option<&str> {
        self.help.as_deref()
    }
}

/// Every wrong value of a command line. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlagErrors(Vec<FlagError>);

impl FlagErrors {
    /// The errors, in the order mounts, environment, data, limits, hosts, secrets.
    pub fn as_slice(&self) -> &[FlagError] {
        &self.0
    }
}

impl fmt::Display for FlagErrors {
    /// One a line, each with its hint on a line of its own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
            if let Some(hint) = error.hint() {
                write!(f, "\n  help: {hint}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for FlagErrors {}
