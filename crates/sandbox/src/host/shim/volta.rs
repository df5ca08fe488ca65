//! Volta: `tools/user/platform.json` is the default, `volta` in a `package.json` above the working folder a project's pin,
//! `tools/user/bins/NAME.json` says which package a program came with.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Shim, ShimError};
use crate::host::ground::Ground;

const TOOL: &str = "Volta";
/// `extends` chains followed.
const MAX_EXTENDS: usize = 8;

/// Whether `root/bin/program` is a shim of Volta's.
pub(super) fn is_shim(ground: &Ground<'_>, root: &Path, program: &str) -> bool {
    let named = root.file_name().is_some_and(|name| name == ".volta")
        || ground.host.folder("VOLTA_HOME").is_some_and(|set| ground.same(&set, root));
    named
        && !matches!(program, "volta" | "volta-shim" | "volta-migrate")
        && ground.view.is_dir(&root.join("tools"))
}

pub(super) fn choose(ground: &Ground<'_>, root: &Path, program: &str) -> Result<Shim, ShimError> {
    let image = root.join("tools/image");
    match program {
        "node" | "npm" | "npx" | "corepack" => {
            let node = version(ground, root, "node", program)?;
            let own = matches!(program, "npm" | "npx")
                .then(|| version(ground, root, "npm", program).ok())
                .flatten();
            let own = own.map(|(npm, _)| image.join("npm").join(npm).join("bin").join(program));
            let with_node = image.join("node").join(&node.0).join("bin");
            let beside = vec![with_node.clone()];
            found(ground, program, own.unwrap_or_else(|| with_node.join(program)), beside, node)
        }
        "yarn" | "yarnpkg" | "pnpm" | "pnpx" => {
            let tool = if program.starts_with("yarn") { "yarn" } else { "pnpm" };
            let chosen = version(ground, root, tool, program)?;
            let path = image.join(tool).join(&chosen.0).join("bin").join(program);
            let beside =
                node_folder(&image, version(ground, root, "node", program).ok().map(|(node, _)| node));
            found(ground, program, path, beside, chosen)
        }
        _ => {
            let file = root.join("tools/user/bins").join(format!("{program}.json"));
            let record = json(ground, &file, program)?;
            let Some(package) =
                record.get("package").and_then(Value::as_str).filter(|name| !name.contains(".."))
            else {
                return Err(no_version(ground, program));
            };
            let path = image.join("packages").join(package).join("bin").join(program);
            let node = record
                .pointer("/platform/node")
                .and_then(|node| node.as_str().or_else(|| node.get("runtime")?.as_str()));
            let beside = node_folder(&image, node.map(str::to_owned));
            found(ground, program, path, beside, (package.to_owned(), file.display().to_string()))
        }
    }
}

fn found(
    ground: &Ground<'_>,
    program: &str,
    path: PathBuf,
    beside: Vec<PathBuf>,
    (version, by): (String, String),
) -> Result<Shim, ShimError> {
    if ground.view.is_program(&path) {
        return Ok(Shim::Program { path, beside });
    }
    Err(ShimError::NotInstalled { tool: TOOL, program: program.to_owned(), version, by })
}

fn node_folder(image: &Path, node: Option<String>) -> Vec<PathBuf> {
    node.filter(|node| is_plain(node))
        .map(|node| image.join("node").join(node).join("bin"))
        .into_iter()
        .collect()
}

/// The version of `tool`, a project's before the default, and who says so.
fn version(
    ground: &Ground<'_>,
    root: &Path,
    tool: &str,
    program: &str,
) -> Result<(String, String), ShimError> {
    if let Some(found) = pinned(ground, tool) {
        return Ok(found);
    }
    let file = root.join("tools/user/platform.json");
    let platform = json(ground, &file, program)?;
    let pointer = match tool {
        "node" => "/node/runtime",
        "npm" => "/node/npm",
        "yarn" => "/yarn",
        _ => "/pnpm",
    };
    let version = platform.pointer(pointer).and_then(Value::as_str).filter(|version| is_plain(version));
    version
        .map(|version| (version.to_owned(), file.display().to_string()))
        .ok_or_else(|| no_version(ground, program))
}

/// A project's pin: the nearest `package.json` with a `volta` table, and what that extends.
fn pinned(ground: &Ground<'_>, tool: &str) -> Option<(String, String)> {
    let mut file = ground
        .host
        .cwd
        .ancestors()
        .map(|folder| folder.join("package.json"))
        .find(|file| read(ground, file).is_some_and(|package| package.get("volta").is_some()))?;
    for _ in 0..MAX_EXTENDS {
        let package = read(ground, &file)?;
        let pin = package.get("volta")?;
        if let Some(version) = pin.get(tool).and_then(Value::as_str).filter(|version| is_plain(version)) {
            return Some((version.to_owned(), file.display().to_string()));
        }
        file = file.parent()?.join(pin.get("extends")?.as_str()?);
    }
    None
}

fn read(ground: &Ground<'_>, file: &Path) -> Option<Value> {
    serde_json::from_str(&ground.view.text(file)?).ok()
}

fn json(ground: &Ground<'_>, file: &Path, program: &str) -> Result<Value, ShimError> {
    let text = ground.view.text(file).ok_or_else(|| no_version(ground, program))?;
    serde_json::from_str(&text).map_err(|error| ShimError::Unreadable {
        tool: TOOL,
        program: program.to_owned(),
        file: file.to_owned(),
        cause: error.to_string(),
    })
}

fn no_version(ground: &Ground<'_>, program: &str) -> ShimError {
    ShimError::NoVersion { tool: TOOL, program: program.to_owned(), cwd: ground.host.cwd.clone() }
}

fn is_plain(version: &str) -> bool {
    !version.is_empty() && !version.contains('/') && !version.contains("..")
}
