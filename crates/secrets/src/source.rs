//! Where a value comes from that is not in the vault: a variable, a file, or a command, as the operator's file says.

use std::{
    env,
    ffi::OsStr,
    fs::File,
    io,
    os::unix::{ffi::OsStrExt, ffi::OsStringExt},
    path::{Path, PathBuf},
    time::Duration,
};

use model::{
    config::SecretSource,
    secret::{Binding, SecretName},
};

use crate::{
    plaintext::Plaintext,
    value::{self, MAX_VALUE, ValueError},
};

mod command;

/// A value that cannot be had.
#[derive(Debug, thiserror::Error)]
#[error("the secret `{name}` cannot be had: {cause}")]
pub struct SourceError {
    name: SecretName,
    #[source]
    cause: Cause,
}

#[derive(Debug, thiserror::Error)]
enum Cause {
    #[error("the variable `{0}` is not set")]
    Unset(String),
    #[error("reading `{path}` failed: {source}")]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("there is no program `{0}`")]
    NoProgram(String),
    #[error("starting `{program}` failed: {source}")]
    Start {
        program: String,
        #[source]
        source: io::Error,
    },
    #[error("`{program}` did not end within {} s{said}", .after.as_secs())]
    Late { program: String, after: Duration, said: String },
    #[error("`{program}` failed with {how}{said}")]
    Failed { program: String, how: String, said: String },
    #[error("`{0}` wrote more than {MAX_VALUE} bytes")]
    Much(String),
    #[error("{0}")]
    Value(#[source] ValueError),
}

impl SourceError {
    /// What to do about it; may be empty.
    pub fn hint(&self) -> String {
        let Self { name, cause } = self;
        match cause {
            Cause::Unset(variable) => format!(
                "set `{variable}` where Fumehood is started, or keep the value in the vault: `fumehood secret set {name} --host …`"
            ),
            Cause::File { .. } => {
                format!("`file` of `[secrets.{name}]` in the operator's file names it; it must be readable")
            }
            Cause::NoProgram(_) | Cause::Start { .. } => {
                format!(
                    "`command` of `[secrets.{name}]` in the operator's file names it; give its whole path"
                )
            }
            Cause::Late { .. } => format!("`timeout` of `[secrets.{name}]` gives it longer, up to 120 s"),
            Cause::Failed { .. } => {
                format!("its environment is empty but for what `pass_env` of `[secrets.{name}]` names")
            }
            Cause::Value(error) => error.hint().to_owned(),
            Cause::Much(_) => String::new(),
        }
    }
}

/// Fetches the value; one line end at its end is no part of it.
pub(crate) fn fetch(
    name: &SecretName,
    source: &SecretSource,
    binding: &Binding,
) -> Result<Plaintext, SourceError> {
    let fetched = match source {
        SecretSource::Env(variable) => variable_value(variable),
        SecretSource::File(path) => file_value(path),
        SecretSource::Command(asked) => command::run(asked),
    };
    fetched
        .map(without_line_end)
        .and_then(|value| value::check(&value, binding).map(|()| value).map_err(Cause::Value))
        .map_err(|cause| SourceError { name: name.clone(), cause })
}

/// Takes one line end away.
pub fn without_line_end(mut value: Plaintext) -> Plaintext {
    let bytes = value.expose();
    let kept = match bytes.strip_suffix(b"\n") {
        Some(rest) => rest.strip_suffix(b"\r").unwrap_or(rest).len(),
        None => bytes.len(),
    };
    value.truncate(kept);
    value
}

fn variable_value(variable: &str) -> Result<Plaintext, Cause> {
    let value = env::var_os(variable).ok_or_else(|| Cause::Unset(variable.to_owned()))?;
    Ok(Plaintext::new(value.into_vec()))
}

fn file_value(path: &Path) -> Result<Plaintext, Cause> {
    let failed = |source| Cause::File { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(failed)?;
    // A pipe or a device may never end.
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file")));
    }
    Plaintext::read(&mut file, MAX_VALUE + 2).map_err(failed)
}

/// Finds a program: a path as it is, a name in the folders of this process's own `PATH`.
fn program(word: &str) -> Result<PathBuf, Cause> {
    let missing = || Cause::NoProgram(word.to_owned());
    if word.contains('/') {
        return Path::new(word).is_absolute().then(|| PathBuf::from(word)).ok_or_else(missing);
    }
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(OsStr::from_bytes(word.as_bytes())))
        .find(|program| rustix::fs::access(program, rustix::fs::Access::EXEC_OK).is_ok() && program.is_file())
        .ok_or_else(missing)
}

#[cfg(test)]
mod tests;
