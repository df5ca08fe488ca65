//! Which file of a package is its program, and what runs it.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Read,
    path::{Component, Path},
};

use serde_json::Value;

use super::spec;
use crate::{
    start::{Start, StartError},
    words::{Asked, Client},
};

/// How much of a program is looked at for its first line, in bytes (Linux reads 256, execve(2)).
const FIRST_LINE: u64 = 256;
/// How an executable file begins (elf(5)).
const ELF: &[u8] = b"\x7fELF";

/// How the program that is asked for is started.
pub(super) fn start(tree: &Path, asked: &Asked) -> Result<Start, StartError> {
    let main = asked.main.as_deref().map(spec::name).ok_or(StartError::Unnamed)?;
    let (package, program, path) = match &asked.bin {
        None => {
            let programs = programs(tree, main)?;
            let (program, path) = obvious(main, &programs)?;
            (main, program, path)
        }
        Some(wanted) => named(tree, asked, main, wanted)?,
    };
    let inside = format!("node_modules/{package}/{}", path.trim_start_matches("./"));
    check(tree, package, &program, &path, &inside)?;
    let mut command = interpreter(&tree.join(&inside), &program)?;
    command.push(format!("{}/{inside}", Start::INSIDE));
    command.extend(asked.arguments.iter().cloned());
    Ok(Start { command, env: BTreeMap::new(), folder: tree.to_owned() })
}

/// The programs of a package: names with the paths in it, by its `package.json`.
fn programs(tree: &Path, package: &str) -> Result<BTreeMap<String, String>, StartError> {
    let missing = || StartError::NoPackage { package: package.to_owned() };
    let bytes =
        fs::read(tree.join("node_modules").join(package).join("package.json")).map_err(|_| missing())?;
    let manifest: Value = serde_json::from_slice(&bytes).map_err(|_| missing())?;
    Ok(match manifest.get("bin") {
        Some(Value::String(path)) => BTreeMap::from([(spec::unscoped(package).to_owned(), path.clone())]),
        Some(Value::Object(programs)) => programs
            .iter()
            .filter_map(|(name, path)| Some((name.clone(), path.as_str()?.to_owned())))
            .collect(),
        _ => BTreeMap::new(),
    })
}

/// The one that `npx` would take: all lead to one file, or one is named like the package.
fn obvious(package: &str, programs: &BTreeMap<String, String>) -> Result<(String, String), StartError> {
    let has = || programs.keys().cloned().collect::<Vec<_>>();
    let own = spec::unscoped(package);
    let Some((first, path)) = programs.first_key_value() else {
        return Err(StartError::NoProgram {
            client: Client::Npm,
            package: package.to_owned(),
            wanted: own.to_owned(),
            has: Vec::new(),
        });
    };
    if programs.values().all(|other| other == path) {
        return Ok((first.clone(), path.clone()));
    }
    match programs.get_key_value(own) {
        Some((name, path)) => Ok((name.clone(), path.clone())),
        None => Err(StartError::Ambiguous { client: Client::Npm, package: package.to_owned(), has: has() }),
    }
}

/// A program of this name, of one of the packages that were asked for.
fn named<'a>(
    tree: &Path,
    asked: &'a Asked,
    main: &'a str,
    wanted: &str,
) -> Result<(&'a str, String, String), StartError> {
    let mut has = Vec::new();
    for package in asked.packages.iter().map(|package| spec::name(package)) {
        let mut programs = programs(tree, package)?;
        if let Some(path) = programs.remove(wanted) {
            return Ok((package, wanted.to_owned(), path));
        }
        has.extend(programs.into_keys());
    }
    let (package, wanted) = (main.to_owned(), wanted.to_owned());
    Err(StartError::NoProgram { client: Client::Npm, package, wanted, has })
}

/// The file must lie in its package, by its letters and in fact.
fn check(tree: &Path, package: &str, program: &str, path: &str, inside: &str) -> Result<(), StartError> {
    let outside = || StartError::Outside {
        package: package.to_owned(),
        program: program.to_owned(),
        path: path.to_owned(),
    };
    let stays =
        Path::new(path).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let is_name = Path::new(package).components().all(|part| matches!(part, Component::Normal(_)));
    if !stays || !is_name {
        return Err(outside());
    }
    let absent = |why: String| StartError::Unrunnable { program: program.to_owned(), why };
    let real = fs::canonicalize(tree.join(inside)).map_err(|error| absent(format!("`{inside}`: {error}")))?;
    let own = fs::canonicalize(tree.join("node_modules").join(package))
        .map_err(|error| absent(format!("`{package}`: {error}")))?;
    if !real.starts_with(own) {
        return Err(outside());
    }
    if real.is_file() { Ok(()) } else { Err(absent(format!("`{inside}` is not a file"))) }
}

/// What runs the file, with its arguments: as its first line says, else by its kind.
fn interpreter(file: &Path, program: &str) -> Result<Vec<String>, StartError> {
    let unrunnable = |why: String| StartError::Unrunnable { program: program.to_owned(), why };
    let mut beginning = Vec::new();
    File::open(file)
        .and_then(|open| open.take(FIRST_LINE).read_to_end(&mut beginning))
        .map_err(|error| unrunnable(error.to_string()))?;
    let Some(line) = beginning.strip_prefix(b"#!") else {
        let script =
            file.extension().is_some_and(|kind| ["js", "mjs", "cjs"].iter().any(|known| kind == *known));
        return match (beginning.starts_with(ELF), script) {
            (true, _) => Ok(Vec::new()),
            (false, true) => Ok(vec!["node".to_owned()]),
            (false, false) => Err(unrunnable("its first line names no interpreter".to_owned())),
        };
    };
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line).trim().to_owned();
    let mut words = line.split_ascii_whitespace();
    let first = words.next().ok_or_else(|| unrunnable("its first line is empty".to_owned()))?;
    let by_name = |path: &str| Path::new(path).file_name().and_then(|name| name.to_str()).map(str::to_owned);
    let mut command = Vec::new();
    if by_name(first).as_deref() == Some("env") {
        // `env -S` takes the line apart, which has been done.
        let rest = words.skip_while(|word| *word == "-S" || *word == "--split-string");
        command.extend(rest.map(str::to_owned));
        if command.first().is_none_or(|word| word.starts_with('-') || word.contains('=')) {
            return Err(unrunnable(format!("`{line}` is more than a name of an interpreter")));
        }
    } else {
        // By its name: where it lies on the machine of its author says nothing about this one.
        command.extend(by_name(first));
        command.extend(words.map(str::to_owned));
    }
    Ok(command)
}

#[cfg(test)]
mod tests;
