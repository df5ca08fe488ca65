//! asdf: the shim itself says in comments which plugins have the program; `.tool-versions` chooses.

use std::path::{Path, PathBuf};

use super::{Shim, ShimError};
use crate::host::ground::Ground;

const TOOL: &str = "asdf";
/// Folders of an installation in which plugins keep programs (their `list-bin-paths`, which is never run).
const BIN: &[&str] = &["bin", ".npm/bin", "go/bin", "packages/bin", "sbin", ""];

pub(super) fn choose(ground: &Ground<'_>, root: &Path, at: &Path, program: &str) -> Result<Shim, ShimError> {
    let text = ground.view.text(at).unwrap_or_default();
    let mut plugins: Vec<&str> = Vec::new();
    for line in text.lines().filter_map(|line| line.trim().strip_prefix("# asdf-plugin:")) {
        let plugin = line.split_whitespace().next().unwrap_or_default();
        if !plugin.is_empty() && !plugin.contains('/') && !plugins.contains(&plugin) {
            plugins.push(plugin);
        }
    }
    if plugins.is_empty() {
        return Ok(Shim::No);
    }
    let mut missed = None;
    for plugin in plugins {
        let Some((versions, by)) = chosen(ground, plugin) else { continue };
        for version in &versions {
            if version == "system" {
                return Ok(Shim::Later);
            }
            if let Some(path) = program_of(ground, root, plugin, version, program) {
                return Ok(Shim::Program { path, beside: Vec::new() });
            }
        }
        missed = missed.or(Some((format!("{plugin} {}", versions.join(" ")), by)));
    }
    Err(match missed {
        Some((version, by)) => {
            ShimError::NotInstalled { tool: TOOL, program: program.to_owned(), version, by }
        }
        None => {
            ShimError::NoVersion { tool: TOOL, program: program.to_owned(), cwd: ground.host.cwd.clone() }
        }
    })
}

fn program_of(
    ground: &Ground<'_>,
    root: &Path,
    plugin: &str,
    version: &str,
    program: &str,
) -> Option<PathBuf> {
    let tree = match version.split_once(':') {
        Some(("path", path)) => PathBuf::from(path),
        Some(("ref", reference)) => root.join("installs").join(plugin).join(format!("ref-{reference}")),
        _ => root.join("installs").join(plugin).join(version),
    };
    if !tree.is_absolute() || version.contains("..") {
        return None;
    }
    BIN.iter().map(|folder| tree.join(folder).join(program)).find(|path| ground.view.is_program(path))
}

/// Versions of a plugin, and who says so.
fn chosen(ground: &Ground<'_>, plugin: &str) -> Option<(Vec<String>, String)> {
    let variable = format!("ASDF_{}_VERSION", plugin.to_ascii_uppercase().replace('-', "_"));
    if let Some(value) = ground.host.text(&variable) {
        return Some((value.split_whitespace().map(str::to_owned).collect(), variable));
    }
    let name = ground.host.text("ASDF_DEFAULT_TOOL_VERSIONS_FILENAME").unwrap_or(".tool-versions");
    let folders = ground.host.cwd.ancestors().chain(ground.host.home.as_deref());
    folders.map(|folder| folder.join(name)).find_map(|file| {
        let versions = versions_in(&ground.view.text(&file)?, plugin)?;
        Some((versions, file.display().to_string()))
    })
}

/// The versions a `.tool-versions` file gives for a tool.
pub(super) fn versions_in(text: &str, tool: &str) -> Option<Vec<String>> {
    text.lines().find_map(|line| {
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        (words.next()? == tool).then(|| words.map(str::to_owned).collect())
    })
}
