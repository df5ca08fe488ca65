//! What can be said about a request before anything is built: all of it at once.

use std::{collections::BTreeMap, path::Path};

use cell_api::{
    error::{ErrorBody, ErrorCode},
    spec::{CellSpec, ProcessSpec},
};
use model::{config::LimitName, mount::Data};

/// The kernel takes no longer argument or variable (`MAX_ARG_STRLEN`, execve(2)).
const LONGEST_TEXT: usize = 128 << 10;

/// Checks a cell's description.
pub(crate) fn cell(spec: &CellSpec) -> Result<(), ErrorBody> {
    let mut problems = Vec::new();
    command(&spec.command, &mut problems);
    environment(&spec.env, &mut problems);
    for mount in &spec.mounts {
        absolute("mount", &mount.path, &mut problems);
    }
    if let Some(cwd) = &spec.cwd {
        absolute("working folder", cwd, &mut problems);
    }
    if let Some(package) = &spec.package {
        absolute("package", package, &mut problems);
    }
    if let Some(Data { size: 0, .. }) = spec.data {
        problems.push("a data quota of 0 bytes holds nothing".to_owned());
    }
    secrets(spec, &mut problems);
    crate::network::check(&spec.network, &mut problems);
    let limits = spec.effective_limits();
    for name in LimitName::ALL {
        let (value, bounds) = (name.of(&limits), name.bounds());
        if !bounds.contains(&value) {
            let (least, most) = (name.show(*bounds.start()), name.show(*bounds.end()));
            problems
                .push(format!("the limit `{name}` is {}, not between {least} and {most}", name.show(value)));
        }
    }
    verdict(&problems)
}

/// Checks a further process.
pub(crate) fn process(spec: &ProcessSpec) -> Result<(), ErrorBody> {
    let mut problems = Vec::new();
    command(&spec.command, &mut problems);
    environment(&spec.env, &mut problems);
    if let Some(cwd) = &spec.cwd {
        absolute("working folder", cwd, &mut problems);
    }
    verdict(&problems)
}

fn verdict(problems: &[String]) -> Result<(), ErrorBody> {
    if problems.is_empty() { Ok(()) } else { Err(ErrorBody::new(ErrorCode::Spec, problems.join("; "))) }
}

fn command(words: &[String], problems: &mut Vec<String>) {
    if words.first().is_none_or(String::is_empty) {
        problems.push("the command is empty".to_owned());
    }
    for word in words {
        text("an argument", word, problems);
    }
}

fn environment(env: &BTreeMap<String, String>, problems: &mut Vec<String>) {
    for (name, value) in env {
        if name.is_empty() || name.contains('=') {
            problems.push(format!("`{name}` cannot be the name of an environment variable"));
        }
        text("the name of an environment variable", name, problems);
        text(&format!("the value of `{name}`"), value, problems);
    }
}

/// A variable has one meaning, and one that is looked for at the start of every program is no place for a key.
fn secrets(spec: &CellSpec, problems: &mut Vec<String>) {
    const STARTS: [&str; 5] = ["PATH", "HOME", "LANG", "TMPDIR", "LD_PRELOAD"];
    let mut seen = std::collections::BTreeSet::new();
    for used in &spec.secrets {
        let variable = &used.variable;
        if variable.is_empty() || variable.contains(['=', '\0']) || STARTS.contains(&variable.as_str()) {
            problems.push(format!("`{variable}` cannot be the variable of the secret `{}`", used.name));
        }
        if spec.env.contains_key(variable) {
            problems.push(format!(
                "`{variable}` is declared twice: with a value, and for the secret `{}`",
                used.name
            ));
        }
        if !seen.insert(variable) {
            problems.push(format!("`{variable}` is the variable of two secrets"));
        }
    }
}

fn text(what: &str, text: &str, problems: &mut Vec<String>) {
    if text.contains('\0') {
        problems.push(format!("{what} holds a byte 0"));
    }
    if text.len() >= LONGEST_TEXT {
        problems.push(format!("{what} is longer than {LONGEST_TEXT} bytes"));
    }
}

fn absolute(what: &str, path: &Path, problems: &mut Vec<String>) {
    if !path.is_absolute() {
        problems.push(format!("the {what} `{}` is not an absolute path", path.display()));
    }
    text(&format!("the {what}"), &path.to_string_lossy(), problems);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_wrong_is_said_at_once() {
        let spec: CellSpec = serde_json::from_value(serde_json::json!({
            "name": "x",
            "command": ["a\u{0}b"],
            "env": { "A=B": "1" },
            "mounts": [{ "path": "here" }],
            "limits": {
                "memory": 1, "cpu_milli": 1000, "processes": 10, "open_files": 100, "file_size": 1_048_576,
                "scratch": 1_048_576, "scratch_files": 100, "require": []
            }
        }))
        .unwrap();
        let refused = cell(&spec).unwrap_err();
        assert_eq!(refused.code, ErrorCode::Spec);
        for part in
            ["an argument holds a byte 0", "`A=B`", "`here` is not an absolute path", "the limit `memory`"]
        {
            assert!(refused.message.contains(part), "{part} is not in {}", refused.message);
        }
    }

    #[test]
    fn a_variable_of_a_secret_has_one_meaning() {
        let spec: CellSpec = serde_json::from_value(serde_json::json!({
            "name": "x",
            "command": ["a"],
            "env": { "TOKEN": "1" },
            "secrets": [
                { "name": "A", "variable": "TOKEN" },
                { "name": "B", "variable": "KEY" },
                { "name": "C", "variable": "KEY" },
                { "name": "D", "variable": "PATH" }
            ]
        }))
        .unwrap();
        let refused = cell(&spec).unwrap_err().message;
        for part in ["`TOKEN` is declared twice", "`KEY` is the variable of two secrets", "`PATH` cannot be"]
        {
            assert!(refused.contains(part), "{part} is not in {refused}");
        }
    }
}
