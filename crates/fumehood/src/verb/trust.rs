//! `fumehood trust`: a project's file is a request until a person has read it.

use std::{
    fs,
    io::{self, BufRead, IsTerminal},
    path::{Path, PathBuf},
    process::ExitCode,
};

use cell::folders::Folders;
use egress::refusal::remedy::shell_word;
use model::{
    config::{EnvValue, Place, Project, Server, Start, ToolRule, Whose},
    digest::Digest,
    secret::Per,
    size,
};
use serde::Serialize;
use store::Trust;

use crate::{
    cli::{self, Given},
    configuration::Configuration,
    hosts::Rules,
    places, reading,
    server::{
        standing::{told, trust},
        target::Home,
    },
    stop::{FAILURE, NOT_ACCEPTED, REFUSED, Stop, USAGE},
    terminal,
};

/// What a project asks for; what `--json` prints.
#[derive(Debug, Serialize)]
struct Request {
    folder: PathBuf,
    digest: Digest,
    trusted: bool,
    asks_for: Vec<String>,
}

/// Shows it, and asks.
pub(crate) fn perform(asked: &cli::lock::Trust) -> anyhow::Result<ExitCode> {
    let folders = places::folders()?;
    let (project, digest) = project(&folders, asked.folder.as_deref())?;
    let folder = project.folder();
    let trust = trust(&folders);
    if asked.withdraw {
        let was = trust.distrust(folder).map_err(told)?;
        let said = if was { "is trusted no longer" } else { "was not trusted" };
        terminal::say(&format!("`{}` {said}", folder.display()));
        return Ok(ExitCode::SUCCESS);
    }
    let trusted = trust.project_trusted(folder).map_err(told)? == Some(digest);
    let asks_for = requests(&project);
    if asked.json {
        let request = Request { folder: folder.to_owned(), digest, trusted, asks_for };
        terminal::print(&format!("{}\n", serde_json::to_string_pretty(&request)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    terminal::say(&format!("`{}` asks for", folder.join(Project::FILE_NAME).display()));
    for line in &asks_for {
        // What a stranger's file says is told on its own line, and looks like nothing of ours.
        terminal::say(&format!("  {}", tools::visible::visible(line)));
    }
    terminal::say(&format!("its digest is {digest}"));
    if trusted {
        terminal::say("it is trusted");
        return Ok(ExitCode::SUCCESS);
    }
    match &asked.accept {
        Some(text) => {
            if text.parse() != Ok(digest) {
                let message = format!("`{text}` is not the digest of this file");
                let hint = "read what it asks for, and give the digest above";
                return Err(Stop::new(REFUSED, message, hint).into());
            }
        }
        None => ask()?,
    }
    trust.trust_project(folder, digest).map_err(told)?;
    terminal::say(&format!(
        "`{}` is trusted as it is now; each of its servers is reviewed apart",
        folder.display()
    ));
    terminal::say("help: `fumehood review` shows them");
    Ok(ExitCode::SUCCESS)
}

/// The project of a folder, or the nearest one.
fn project(folders: &Folders, folder: Option<&Path>) -> anyhow::Result<(Project, Digest)> {
    let Some(folder) = folder else {
        let configuration = Configuration::read(folders, &Given::default())?;
        return configuration.nearest_project()?.ok_or_else(|| {
            let hint = "name the folder of one: `fumehood trust FOLDER`";
            Stop::new(USAGE, "there is no fumehood.toml here or above", hint).into()
        });
    };
    let folder = fs::canonicalize(folder)
        .map_err(|error| Stop::new(USAGE, format!("`{}`: {error}", folder.display()), ""))?;
    let file = folder.join(Project::FILE_NAME);
    let bytes = reading::file(&file, reading::CONFIGURATION)
        .map_err(|error| Stop::new(USAGE, format!("`{}`: {error}", file.display()), ""))?;
    let place = Place { folder: &folder, home: None };
    let project = Project::resolve_with(&file.display().to_string(), &bytes, &place, &Rules)
        .map_err(|problems| Stop::new(USAGE, format!("{problems}\n"), ""))?;
    Ok((project, Digest::of(&bytes)))
}

fn ask() -> anyhow::Result<()> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        let message = "a project is trusted by a person at a terminal";
        let hint = "run it at a terminal, or give `--accept DIGEST` if a person has read it";
        return Err(Stop::new(NOT_ACCEPTED, message, hint).into());
    }
    terminal::ask("let its servers be used, each after its own review? [y/N] ");
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(Stop::new(FAILURE, "nothing was changed", "").into()),
    }
}

/// What each server of it would get, in words.
fn requests(project: &Project) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, server) in project.servers() {
        lines.push(format!("{name}: {}", started(server)));
        let mut also = |what: &str, of: Vec<String>| {
            if !of.is_empty() {
                lines.push(format!("  {what} {}", of.join(", ")));
            }
        };
        also("reaches", server.network().hosts().to_vec());
        also(
            "uses your secrets",
            server.secrets().iter().map(|one| format!("{} (as {})", one.name, one.variable)).collect(),
        );
        if server.reads_with_keys() {
            also(
                "is read for its review",
                vec!["with these secrets and hosts, before anybody has accepted it".to_owned()],
            );
        }
        let access = |write: bool| if write { " to read and write" } else { " to read" };
        also(
            "sees",
            server
                .mounts()
                .iter()
                .map(|one| format!("{}{}", one.path.display(), access(one.write)))
                .collect(),
        );
        also(
            "finds variables",
            server
                .env()
                .iter()
                .map(|(name, value)| match value {
                    EnvValue::Given(text) => format!("{name}={text}"),
                    EnvValue::FromCaller => format!("{name} with your own value"),
                })
                .collect(),
        );
        also("runs install scripts of", server.scripts().to_vec());
        also("keeps", server.data().iter().map(|_| "a folder of its own at /data".to_owned()).collect());
        let limits = server
            .limits()
            .iter()
            .map(|(limit, value)| format!("{} = {}", limit.as_str(), limit.show(value)));
        also("sets limits", limits.collect());
        also(
            "uses your secrets of each caller, not one for all:",
            server
                .secrets()
                .iter()
                .filter(|one| one.per == Per::User)
                .map(|one| one.name.to_string())
                .collect(),
        );
        if *server.cell() != Whose::default() {
            also("behind `fumehood serve` runs in the cell of", vec![server.cell().to_string()]);
        }
        for (tool, rule) in server.tools() {
            also(&format!("says of calls of its tool {tool}:"), rule_in_words(rule));
        }
    }
    let limits: Vec<String> = project
        .limits()
        .iter()
        .map(|(limit, value)| format!("{} = {}", limit.as_str(), limit.show(value)))
        .collect();
    if !limits.is_empty() {
        lines.push(format!("limits of all of them: {}", limits.join(", ")));
    }
    if lines.is_empty() {
        lines.push("nothing".to_owned());
    }
    lines
}

/// What a rule says, each part as it is written.
fn rule_in_words(rule: &ToolRule) -> Vec<String> {
    let mut words = vec![format!("tier {}", rule.tier())];
    words.extend(rule.bind().iter().map(|(name, from)| format!("{name} from {from}")));
    words
        .extend(rule.defaults().iter().map(|(name, value)| format!("{name} = {value} where it is left out")));
    words.extend(rule.max_bytes().map(|bytes| format!("at most {} of arguments", size::format(bytes))));
    words.extend(rule.concurrency().map(|count| format!("at most {count} at a time")));
    words.extend(rule.rate().map(|rate| format!("at most {rate}")));
    words.extend(rule.time().map(|time| format!("at most {}", humantime::format_duration(time))));
    words
}

fn started(server: &Server) -> String {
    match server.start() {
        Start::Remote { url, headers } if headers.is_empty() => format!("speaks to {url}"),
        Start::Remote { url, headers } => {
            let headers: Vec<String> =
                headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            format!("speaks to {url} with {}", headers.join(", "))
        }
        Start::Command(command) => {
            let words: Vec<String> = command.iter().map(|word| shell_word(word)).collect();
            format!("runs `{}` in a cell", words.join(" "))
        }
    }
}

/// Whether the project that declares a server is trusted as its file was before.
pub(crate) fn is_trusted(trust: &Trust, home: &Home) -> anyhow::Result<bool> {
    match home {
        Home::Project { folder, digest } => Ok(trust.project_trusted(folder).map_err(told)? == Some(*digest)),
        Home::Operator | Home::CommandLine => Ok(false),
    }
}

/// Our own hand has made another text of a project's file, at a person's word: where the text before was trusted, this one
/// is. Neither is read again, since a server that sees the project may change the file at any moment.
pub(crate) fn carry_over(trust: &Trust, home: &Home, before: &str, after: &str) -> anyhow::Result<()> {
    if let Home::Project { folder, .. } = home {
        // What a person adds to a new file is theirs; in a file that was there nothing else becomes trusted by it.
        let was_trusted = before.is_empty()
            || trust.project_trusted(folder).map_err(told)? == Some(Digest::of(before.as_bytes()));
        if was_trusted {
            trust.trust_project(folder, Digest::of(after.as_bytes())).map_err(told)?;
        }
    }
    Ok(())
}

/// A person has changed the file of a trusted project by our own hand: it stays trusted.
pub(crate) fn again(trust: &Trust, home: &Home) -> anyhow::Result<()> {
    if let Home::Project { folder, .. } = home {
        let bytes = fs::read(folder.join(Project::FILE_NAME))?;
        trust.trust_project(folder, Digest::of(&bytes)).map_err(told)?;
    }
    Ok(())
}
