//! Environment variables of a cell.

use std::collections::BTreeMap;
use std::fmt;

use super::complaint::Complaint;
use super::problem::Source;
use super::written::At;

/// What a variable is set to.
#[derive(Clone, PartialEq, Eq)]
pub enum EnvValue {
    /// To this text.
    Given(String),
    /// To what it is where the command line runs; the caller looks it up.
    FromCaller,
}

impl fmt::Debug for EnvValue {
    /// Without the value: it may be a key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given(value) => write!(f, "Given({} bytes)", value.len()),
            Self::FromCaller => f.write_str("FromCaller"),
        }
    }
}

/// Bytes of `NAME=VALUE` with its end that execve(2) takes on Linux (`MAX_ARG_STRLEN`, 32 pages).
const LONGEST: usize = 131_072;

pub(super) fn resolve(
    written: &BTreeMap<At<String>, At<String>>,
    source: &mut Source<'_>,
) -> BTreeMap<String, EnvValue> {
    let mut resolved = BTreeMap::new();
    for (name, value) in written {
        let checked_name = check_name(name.get());
        let checked_value = check_value(name.get(), value.get());
        if checked_name.is_ok() && checked_value.is_ok() {
            resolved.insert(name.get().clone(), EnvValue::Given(value.get().clone()));
        }
        if let Err(complaint) = checked_name {
            source.add(name.span(), &complaint);
        }
        if let Err(complaint) = checked_value {
            source.add(value.span(), &complaint);
        }
    }
    resolved
}

/// `NAME=VALUE`, or `NAME` alone for the caller's own.
pub(super) fn flag(text: &str) -> Result<(String, EnvValue), Complaint> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    check_name(name)?;
    match value {
        Some(value) => {
            check_value(name, value)?;
            Ok((name.to_owned(), EnvValue::Given(value.to_owned())))
        }
        None => Ok((name.to_owned(), EnvValue::FromCaller)),
    }
}

pub(super) fn check_name(name: &str) -> Result<(), Complaint> {
    check_variable(name)?;
    // A tool that looks for its home or its temporary folder elsewhere finds nothing there that it could write.
    match name {
        "HOME" => Err(fixed(name, "/home/tool")),
        "TMPDIR" => Err(fixed(name, "/tmp")),
        _ => Ok(()),
    }
}

/// A name of a variable, wherever it is set.
pub(super) fn check_variable(name: &str) -> Result<(), Complaint> {
    let first_ok = name.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    if !first_ok || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return Err(Complaint::new(format!("`{name}` is not a name of an environment variable"))
            .help("use letters, digits and `_`, not beginning with a digit"));
    }
    Ok(())
}

fn fixed(name: &str, value: &str) -> Complaint {
    Complaint::new(format!("`{name}` cannot be changed")).help(format!("it is always `{value}` inside"))
}

fn check_value(name: &str, value: &str) -> Result<(), Complaint> {
    if value.contains('\0') {
        return Err(Complaint::new(format!("the value of `{name}` holds a NUL character")).help("remove it"));
    }
    // One byte for `=`, one for the end.
    if name.len() + value.len() + 2 > LONGEST {
        return Err(Complaint::new(format!("the value of `{name}` is too long for the kernel"))
            .help("at most 128 KiB; put it into a file and mount that"));
    }
    Ok(())
}

/// The checks of a command, wherever it was written.
pub(super) fn check_command(command: &[String]) -> Result<(), Complaint> {
    if command.first().is_none_or(String::is_empty) {
        return Err(Complaint::new("the command has no program")
            .help("name one, for example `[\"node\", \"server.js\"]`"));
    }
    command.iter().try_for_each(|argument| check_argument(argument))
}

/// One argument of a command.
pub(super) fn check_argument(argument: &str) -> Result<(), Complaint> {
    if argument.contains('\0') {
        return Err(Complaint::new("an argument cannot hold a NUL character").help("remove it"));
    }
    if argument.len() + 1 > LONGEST {
        return Err(Complaint::new("this argument is too long for the kernel").help("at most 128 KiB"));
    }
    Ok(())
}
