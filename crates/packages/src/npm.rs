//! Packages of npm: chosen and installed by npm itself, in a cell, without their scripts.

use std::{fs, path::Path};

use serde_json::json;

use crate::{
    fault::InstallError,
    progress::Progress,
    shop::{Built, Said, Shop},
    start::{Start, StartError},
    words::Asked,
    workshop::Workshop,
};

mod compiled;
mod configured;
mod lock_file;
mod newest;
mod program;
mod spec;

use self::lock_file::LockFile;
pub(crate) use self::{compiled::compile, configured::sources, newest::newest};

/// The folder below `/data` that becomes the package. npm writes its name into the tree file.
const TREE: &str = "tree";
/// How the tree file is called.
const TREE_FILE: &str = "package-lock.json";
/// Flags that decide what is installed, and are given on.
const GIVEN_ON: &[&str] = &[
    "--before",
    "--tag",
    "--omit",
    "--include",
    "--min-release-age",
    "--legacy-peer-deps",
    "--strict-peer-deps",
    "--force",
];
/// Flags that cannot be kept: they lead to other files and other registries than the user's own configuration does, or run
/// something else than a program of the package.
const REFUSED: &[&str] = &[
    "-c",
    "--call",
    "--registry",
    "-w",
    "--workspace",
    "--workspaces",
    "--userconfig",
    "--globalconfig",
    "--prefix",
    "--node-options",
    "--script-shell",
    "--shell",
    "--git",
];
/// The most lines of what npm says at a failure that are told.
const MOST_TOLD: usize = 2;

/// Whether this can be installed at all. Nobody has been asked about it yet.
pub(crate) fn check(asked: &Asked) -> Result<(), InstallError> {
    let runner = asked.client.runner();
    if let Some(flag) = asked.flags.iter().find(|flag| REFUSED.contains(&flag.name.as_str())) {
        return Err(InstallError::Flag { runner, flag: flag.name.clone() });
    }
    if asked.main.is_none() {
        return Err(InstallError::Unnamed { runner });
    }
    match asked.packages.iter().find(|package| !spec::is_of_a_registry(package)) {
        Some(package) => Err(InstallError::NoRegistry { package: package.clone() }),
        None => Ok(()),
    }
}

/// How the program that is asked for is started, with what was compiled of it.
pub(crate) fn start(tree: &Path, asked: &Asked) -> Result<Start, StartError> {
    let mut start = program::start(tree, asked)?;
    start.env.extend(compiled::variable(tree));
    Ok(start)
}

/// Chooses versions where none are pinned, fetches them, runs the scripts that are allowed.
pub(crate) async fn build<W: Workshop>(shop: &mut Shop<'_, W>) -> Result<Built, InstallError> {
    let asked = shop.order.asked;
    for (name, value) in [
        ("npm_config_cache", "/data/npm"),
        ("npm_config_update_notifier", "false"),
        ("npm_config_audit", "false"),
        ("npm_config_fund", "false"),
        ("npm_config_yes", "true"),
        ("npm_config_color", "false"),
        ("npm_config_loglevel", "http"),
        ("npm_config_ignore_scripts", "true"),
        // What depends on it says nothing about who serves it: the same tree from every mirror.
        ("npm_config_omit_lockfile_registry_resolved", "true"),
        // Download URLs that name the registry by another name lead to it all the same.
        ("npm_config_replace_registry_host", "always"),
        // Where npm knows these: nothing else than a registry is a source.
        ("npm_config_allow_git", "none"),
        ("npm_config_allow_remote", "none"),
        ("npm_config_allow_file", "none"),
        ("npm_config_allow_directory", "none"),
    ] {
        shop.set(name, value);
    }
    let tree = shop.folder().join(TREE);
    let write = |name: &str, bytes: &[u8]| {
        fs::write(tree.join(name), bytes).map_err(crate::store::StoreError::io("writing", &tree.join(name)))
    };
    fs::create_dir(&tree).map_err(crate::store::StoreError::io("making", &tree))?;
    let bytes = if let Some(pin) = shop.order.pinned {
        pin.tree_file.to_vec()
    } else {
        shop.tell(Progress::Resolving);
        write("package.json", json!({ "private": true }).to_string().as_bytes())?;
        resolve(shop).await?;
        let path = tree.join(TREE_FILE);
        fs::read(&path).map_err(crate::store::StoreError::io("reading", &path))?
    };
    let lock = LockFile::read(&bytes)?;
    let main = asked.main.as_deref().map(spec::name).unwrap_or_default();
    let root = lock.installed(main)?.clone();
    if let Some(why) = &root.deprecated {
        shop.notes.push(format!("the author of `{main}@{}` advises against it: {why}", root.version));
    }
    // Made from the tree file, so that one tree file has one outcome.
    write("package.json", lock.manifest(shop.order.scripts).to_string().as_bytes())?;
    write(TREE_FILE, &bytes)?;
    fetch(shop, &lock).await?;
    let scripts = scripts(shop, &lock).await?;
    for left in [TREE_FILE, "node_modules/.package-lock.json"] {
        // npm's own notes, which nothing reads any more.
        fs::remove_file(tree.join(left)).ok();
    }
    Ok(Built {
        tree,
        source: format!("npx:{main}@{}", root.version),
        version: root.version,
        integrity: root.integrity,
        tree_file: bytes,
        tree_name: TREE_FILE,
        platform: platform(),
        scripts_not_run: scripts,
        dependencies: lock.dependencies(),
    })
}

async fn resolve<W: Workshop>(shop: &mut Shop<'_, W>) -> Result<(), InstallError> {
    let asked = shop.order.asked;
    let mut command = vec!["npm", "install", "--package-lock-only", "--ignore-scripts", "--save-exact"];
    for flag in asked.flags.iter().filter(|flag| GIVEN_ON.contains(&flag.name.as_str())) {
        command.push(&flag.name);
        command.extend(flag.value.as_deref());
    }
    command.push("--");
    command.extend(asked.packages.iter().map(String::as_str));
    let said = shop.run(&command, TREE, &[], &mut |_, _| {}).await?;
    judge("npm install", said)
}

async fn fetch<W: Workshop>(shop: &mut Shop<'_, W>, lock: &LockFile) -> Result<(), InstallError> {
    let all = Some(lock.to_fetch());
    let mut done = 0;
    shop.tell(Progress::Fetching { done, all });
    let said = shop
        .run(&["npm", "ci", "--ignore-scripts"], TREE, &[], &mut |line, tell| {
            if line.contains("http fetch GET 200") && line.contains(".tgz") {
                done += 1;
                tell(Progress::Fetching { done, all });
            }
        })
        .await?;
    judge("npm ci", said)
}

/// Runs what is allowed, and says what was not.
async fn scripts<W: Workshop>(shop: &mut Shop<'_, W>, lock: &LockFile) -> Result<Vec<String>, InstallError> {
    let with_scripts = lock.with_scripts();
    for package in shop.order.scripts {
        if !with_scripts.contains(package) {
            return Err(InstallError::NoScript { package: package.clone() });
        }
        shop.tell(Progress::Script { package: package.clone() });
        let env = [("npm_config_ignore_scripts", "false")];
        let said = shop.run(&["npm", "rebuild", "--", package], TREE, &env, &mut |_, _| {}).await?;
        judge(&format!("npm rebuild {package}"), said)?;
    }
    Ok(with_scripts.into_iter().filter(|package| !shop.order.scripts.contains(package)).collect())
}

/// What a failure of npm means.
fn judge(line: &str, said: Said) -> Result<(), InstallError> {
    if said.is_good() {
        return Ok(());
    }
    let text = said.told();
    let errors: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("npm error ").or_else(|| line.strip_prefix("npm ERR! ")))
        .filter(|line| !line.starts_with("A complete log"))
        .collect();
    let code = errors.iter().find_map(|line| line.strip_prefix("code "));
    let told = if errors.is_empty() {
        let last: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        last.get(last.len().saturating_sub(MOST_TOLD)..).unwrap_or_default().join(" ")
    } else {
        words(&errors)
    };
    Err(match code {
        Some("EINTEGRITY") => InstallError::Integrity { told },
        Some("E404" | "ETARGET" | "ENOVERSIONS") => InstallError::NotFound { told },
        _ => InstallError::Client { line: line.to_owned(), end: said.end, told },
    })
}

/// The first lines, without the word that npm begins each of them with, a code in another spelling.
fn words(errors: &[&str]) -> String {
    let lines: Vec<&str> = errors.iter().copied().filter(|line| !line.starts_with("code ")).collect();
    let first = lines.first().and_then(|line| line.split(' ').next()).unwrap_or_default();
    let is_each = lines.len() > 1 && lines.iter().all(|line| line.split(' ').next() == Some(first));
    let told: Vec<&str> = lines
        .iter()
        .map(|line| if is_each { line.strip_prefix(first).unwrap_or(line) } else { line })
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .take(MOST_TOLD)
        .collect();
    told.join(" ")
}

/// As Node.js calls it: `process.platform` and `process.arch`.
fn platform() -> String {
    let arch = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{}-{arch}", std::env::consts::OS)
}

/// Everything that a `package-lock.json` pins; nothing where it is not understood.
pub(crate) fn listed(bytes: &[u8]) -> Vec<crate::order::Dependency> {
    LockFile::read(bytes).map(|lock| lock.dependencies()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
