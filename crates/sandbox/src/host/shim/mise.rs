//! mise: configuration files from the working folder upwards and the global one say which version of each tool counts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Shim, ShimError, installed};
use crate::host::ground::Ground;

const TOOL: &str = "mise";
/// A folder's own files, the strongest first.
const FILES: &[&str] = &[
    "mise.local.toml",
    ".mise.local.toml",
    "mise.toml",
    ".mise.toml",
    "mise/config.toml",
    ".mise/config.toml",
    ".config/mise.toml",
    ".config/mise/config.toml",
    ".tool-versions",
];
/// Folders of an installation in which programs lie.
const BIN: &[&str] = &["bin", "", ".npm/bin"];

/// Whether the program is one of mise's shims: they are links to mise itself.
pub(super) fn is_shim(ground: &Ground<'_>, root: &Path, at: &Path) -> bool {
    root.file_name().is_some_and(|name| name == "mise")
        || ground.host.folder("MISE_DATA_DIR").is_some_and(|set| ground.same(&set, root))
        || ground.view.link(at).is_some_and(|target| target.file_name().is_some_and(|name| name == "mise"))
}

pub(super) fn choose(ground: &Ground<'_>, root: &Path, program: &str) -> Result<Shim, ShimError> {
    let mut chosen: BTreeMap<String, (Vec<String>, String)> = BTreeMap::new();
    for file in files(ground) {
        let Some(text) = ground.view.text(&file) else { continue };
        let tools =
            if file.ends_with(".tool-versions") { plain(&text) } else { tables(&text, &file, program)? };
        for (tool, versions) in tools {
            chosen.entry(folder_of(&tool)).or_insert((versions, file.display().to_string()));
        }
    }
    for (tool, (versions, by)) in &mut chosen {
        let variable = format!("MISE_{}_VERSION", tool.to_ascii_uppercase().replace('-', "_"));
        if let Some(value) = ground.host.text(&variable) {
            (*versions, *by) = (value.split_whitespace().map(str::to_owned).collect(), variable);
        }
    }
    let mut system = false;
    let mut missed = Vec::new();
    for (tool, (versions, by)) in &chosen {
        for version in versions {
            system |= version == "system" && tool.as_str() == tool_named(program);
            let path = installed(&ground.view, &root.join("installs").join(tool), version).and_then(|tree| {
                BIN.iter()
                    .map(|folder| tree.join(folder).join(program))
                    .find(|path| ground.view.is_program(path))
            });
            if let Some(path) = path {
                return Ok(Shim::Program { path, beside: Vec::new() });
            }
            if tool.as_str() == tool_named(program) {
                missed.push((format!("{tool} {version}"), by.clone()));
            }
        }
    }
    if system {
        return Ok(Shim::Later);
    }
    Err(match missed.into_iter().next() {
        Some((version, by)) => {
            ShimError::NotInstalled { tool: TOOL, program: program.to_owned(), version, by }
        }
        None => {
            ShimError::NoVersion { tool: TOOL, program: program.to_owned(), cwd: ground.host.cwd.clone() }
        }
    })
}

/// Files that count, the strongest first.
fn files(ground: &Ground<'_>) -> Vec<PathBuf> {
    let host = ground.host;
    let local = host.cwd.ancestors().flat_map(|folder| FILES.iter().map(|name| folder.join(name)));
    let settings = host.folder("MISE_CONFIG_DIR").or_else(|| {
        let base = host.folder("XDG_CONFIG_HOME").or_else(|| Some(host.home.as_ref()?.join(".config")));
        Some(base?.join("mise"))
    });
    let global = host
        .folder("MISE_GLOBAL_CONFIG_FILE")
        .or_else(|| Some(settings.as_ref()?.join("config.toml")))
        .into_iter();
    let parts = settings
        .iter()
        .map(|settings| settings.join("conf.d"))
        .flat_map(|folder| ground.view.names(&folder).into_iter().map(move |name| folder.join(name)));
    let parts = parts.filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
    let home = host.home.iter().map(|home| home.join(".tool-versions"));
    local.chain(global).chain(parts).chain(home).collect()
}

type Tools = Vec<(String, Vec<String>)>;

fn plain(text: &str) -> Tools {
    let lines = text.lines().filter_map(|line| {
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        Some((words.next()?.to_owned(), words.map(str::to_owned).collect()))
    });
    lines.collect()
}

/// `[tools]`: a version, a list of versions, or tables with a `version`.
fn tables(text: &str, file: &Path, program: &str) -> Result<Tools, ShimError> {
    let table: toml::Table = toml::from_str(text).map_err(|error| ShimError::Unreadable {
        tool: TOOL,
        program: program.to_owned(),
        file: file.to_owned(),
        cause: error.message().to_owned(),
    })?;
    let Some(toml::Value::Table(tools)) = table.get("tools") else { return Ok(Vec::new()) };
    let one = |value: &toml::Value| match value {
        toml::Value::Table(table) => table.get("version").and_then(toml::Value::as_str).map(str::to_owned),
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Float(number) => Some(number.to_string()),
        _ => None,
    };
    let tools = tools.iter().map(|(tool, value)| match value {
        toml::Value::Array(values) => (tool.clone(), values.iter().filter_map(one).collect()),
        value => (tool.clone(), one(value).into_iter().collect()),
    });
    Ok(tools.collect())
}

/// The folder below `installs` of a tool as named in a configuration (`npm:@acme/x` → `npm-acme-x`).
fn folder_of(tool: &str) -> String {
    match tool.strip_prefix("core:").unwrap_or(tool) {
        "nodejs" => "node".to_owned(),
        "golang" => "go".to_owned(),
        other => other.replace('@', "").replace([':', '/'], "-"),
    }
}

/// The tool to which a well-known program belongs, for a message that names the version which is missing.
fn tool_named(program: &str) -> &str {
    match program {
        "npm" | "npx" | "corepack" => "node",
        "bunx" => "bun",
        "python3" | "pip" | "pip3" => "python",
        other => other,
    }
}
