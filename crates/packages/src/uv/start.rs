//! Starting a Python package from its tree: by the interpreter it was installed for, without that one's own packages.

use std::{
    collections::BTreeMap,
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use super::{
    report::{self, Report, SITE},
    requirement::Requirement,
};
use crate::{
    start::{Start, StartError},
    words::{Asked, Client},
};

/// The most that is read of what an installation told, in bytes.
const MOST: u64 = 16 << 20;
/// How much of a program tells what it is, in bytes (`BINPRM_BUF_SIZE` of the kernel).
const HEAD: u64 = 256;

/// How the program of a tree is started in a cell that has it at [`Start::INSIDE`].
pub(crate) fn start(tree: &Path, asked: &Asked) -> Result<Start, StartError> {
    let main = asked.main.as_deref().ok_or(StartError::Unnamed)?;
    let requirement =
        Requirement::read(main).ok_or_else(|| StartError::NoPackage { package: main.to_owned() })?;
    let report = told(tree).ok_or_else(|| StartError::NoPackage { package: main.to_owned() })?;
    let interpreter = interpreter(&report);
    let wanted = asked.bin.as_deref().unwrap_or(&requirement.written);
    let mut command = if asked.bin.is_some() && is_python(wanted) {
        vec![interpreter]
    } else {
        program(tree, &report, &requirement, wanted, asked.bin.is_some(), interpreter)?
    };
    command.extend(asked.arguments.iter().cloned());
    let variables = [
        ("PYTHONPATH", format!("{}/{SITE}", Start::INSIDE)),
        ("PYTHONDONTWRITEBYTECODE", "1".to_owned()),
        ("PYTHONNOUSERSITE", "1".to_owned()),
        // Some servers write sets of words into their descriptions: in another order at each start, which nobody has
        // accepted. What this opens is that who chooses keys for a server can make it slow.
        ("PYTHONHASHSEED", "0".to_owned()),
    ];
    let env: BTreeMap<String, String> = variables.map(|(name, value)| (name.to_owned(), value)).into();
    Ok(Start { command, env, folder: tree.to_owned() })
}

/// What the installation told of the tree.
fn told(tree: &Path) -> Option<Report> {
    let mut text = Vec::new();
    fs::File::open(tree.join(report::FILE)).ok()?.take(MOST).read_to_end(&mut text).ok()?;
    Report::parse(&text).ok()
}

/// The one of the installation. Where that is gone, one of the same version by its name: the same tree may have been
/// installed for another one first.
fn interpreter(report: &Report) -> String {
    let path = Path::new(&report.interpreter);
    if path.is_absolute() && path.is_file() {
        return report.interpreter.clone();
    }
    let mut parts = report.platform.rsplit('-');
    let version = parts.next().unwrap_or("3");
    let name = if parts.next() == Some("pypy") { "pypy" } else { "python" };
    format!("{name}{version}")
}

/// The program: of the package itself, or, where it is named, of what was installed beside it.
fn program(
    tree: &Path,
    report: &Report,
    requirement: &Requirement,
    wanted: &str,
    named: bool,
    interpreter: String,
) -> Result<Vec<String>, StartError> {
    let package = || requirement.name.clone();
    let own =
        report.distribution(&requirement.name).ok_or_else(|| StartError::NoPackage { package: package() })?;
    let has = |programs: &[String]| programs.iter().any(|program| program == wanted);
    let beside = || report.distributions.iter().any(|one| has(&one.programs));
    let is_there = has(&own.programs) || (named && beside());
    if !is_there {
        let (package, has) = (package(), own.programs.clone());
        return Err(if named {
            StartError::NoProgram { client: Client::Uv, package, wanted: wanted.to_owned(), has }
        } else {
            StartError::Ambiguous { client: Client::Uv, package, has }
        });
    }
    let inside = format!("{}/bin/{wanted}", Start::INSIDE);
    let outside =
        || StartError::Outside { package: package(), program: wanted.to_owned(), path: inside.clone() };
    let file: PathBuf = tree.join("bin").join(wanted);
    let is_file = fs::symlink_metadata(&file).is_ok_and(|facts| facts.is_file());
    if wanted.contains('/') || !is_file {
        return Err(outside());
    }
    let mut head = Vec::new();
    let read = fs::File::open(&file).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    read.map_err(|error| StartError::Unrunnable { program: wanted.to_owned(), why: error.to_string() })?;
    Ok(if is_script(&head) { vec![interpreter, inside] } else { vec![inside] })
}

/// Whether the finishing of the tree gave it its first line: it is then run by the interpreter of the tree.
fn is_script(head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let name = line.strip_prefix(b"#!/usr/bin/env ").and_then(|name| std::str::from_utf8(name).ok());
    name.is_some_and(is_python)
}

/// `python`, `python3`, `python3.12`, and the same of PyPy.
fn is_python(name: &str) -> bool {
    let version = name.strip_prefix("python").or_else(|| name.strip_prefix("pypy"));
    version.is_some_and(|version| {
        version.trim_end_matches('t').bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    })
}

#[cfg(test)]
mod tests;
