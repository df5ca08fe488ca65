//! `fumehood allow` and `fumehood deny`: what a server may reach, now and from now on.

use std::{
    io::{self, BufRead, IsTerminal},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use cell::folders::Folders;
use cell_api::{
    client::{Client, ClientError},
    error::ErrorCode,
    info::{CellInfo, CellState},
    network::{NetworkChanged, NetworkOrder},
    spec::Kind,
};
use egress::{refusal::remedy::shell_word, rule::HostRule};
use model::name::ServerName;
use serde::Serialize;
use store::How;

use super::{ps, runtime};
use crate::{
    cli::{Change, Given},
    configuration::{Configuration, Declared, operators_file},
    edit::List,
    finding, hosts, places,
    server::{
        lock_file::Entry,
        pinning,
        standing::{Standing, trust},
        target::Home,
    },
    stop::{FAILURE, REFUSED, Stop, USAGE},
    terminal,
};

mod file;

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// More is let out.
    Allow,
    /// Less is.
    Deny,
}

/// What was done; what `--json` prints.
#[derive(Debug, Serialize)]
struct Done {
    /// The running cells that were changed.
    cells: Vec<CellDone>,
    /// The file that was changed.
    file: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct CellDone {
    id: String,
    #[serde(flatten)]
    changed: NetworkChanged,
}

/// How often a list is read again because somebody else changed it meanwhile.
const TRIES: usize = 50;
/// Between two of them while a cell is being built.
const STARTING: Duration = Duration::from_millis(100);

/// Changes both, the running cells before the file.
pub(crate) fn perform(asked: &Change, direction: Direction) -> anyhow::Result<ExitCode> {
    let rules = hosts::typed(&asked.rules)?;
    let server = ServerName::new(asked.server.clone())
        .map_err(|error| Stop::new(USAGE, error.to_string(), "`fumehood ps` lists the running cells"))?;
    let folders = places::folders()?;
    let runtime = runtime()?;
    let running: Vec<CellInfo> = runtime.block_on(ps::cells(&folders))?;
    let running: Vec<CellInfo> = running.into_iter().filter(|cell| cell.is_called(server.as_str())).collect();
    let plan = plan(&folders, asked, &server, &running, &rules, direction);
    // Nothing is widened that would not last; what is taken away is taken from the running cells in any case.
    let (plan, unwritten) = match (plan, direction) {
        (Ok(plan), _) => (plan, None),
        (Err(error), Direction::Deny) => (None, Some(error)),
        (Err(error), Direction::Allow) => return Err(error),
    };
    if direction == Direction::Allow {
        confirm(asked, &rules)?;
    }
    let mut done = Done { cells: Vec::new(), file: None };
    for cell in &running {
        if let Some(changed) = runtime.block_on(live(&folders.cell(&cell.id), &rules, direction))? {
            done.cells.push(CellDone { id: cell.id.clone(), changed });
        }
    }
    let unchanged = done.cells.is_empty() && plan.as_ref().is_none_or(|plan| plan.text.is_none());
    let only_code = plan.is_none() && unwritten.is_none() && !asked.once;
    if let Some(plan) = plan {
        let kept = Kept::before(&folders, &asked.server);
        done.file = plan.write()?;
        kept.after(&folders, &asked.server, asked.yes)?;
    }
    if asked.json {
        terminal::print(&format!("{}\n", serde_json::to_string_pretty(&done)?))?;
    } else {
        tell(&done, &rules, &server, direction, unchanged, only_code);
    }
    if let Some(error) = unwritten {
        return Err(error);
    }
    left(&folders, asked, &server, &rules, direction)?;
    if direction == Direction::Deny && unchanged {
        return Err(nothing_taken(&server, &rules));
    }
    Ok(ExitCode::SUCCESS)
}

/// What is to be written, where something is.
fn plan(
    folders: &Folders,
    asked: &Change,
    server: &ServerName,
    running: &[CellInfo],
    rules: &[HostRule],
    direction: Direction,
) -> anyhow::Result<Option<file::Plan>> {
    if asked.once {
        if running.is_empty() {
            let message = format!("no running cell is called `{server}`");
            return Err(Stop::new(FAILURE, message, "without `--once` its configuration is changed").into());
        }
        return Ok(None);
    }
    let configuration = Configuration::read(folders, &Given::default())?;
    let declared = configuration.declared(folders, server)?;
    let is_projects = matches!(declared, Declared::Project(_));
    let (path, list) = match declared {
        Declared::Project(path) | Declared::Operator(path) => (path, List::Server(server.as_str())),
        // The next throw-away cell of that name may be any other program.
        Declared::Nowhere if running.iter().any(|cell| cell.kind == Kind::Code) => return Ok(None),
        Declared::Nowhere => (operators_file(folders), List::Allow(server.as_str())),
    };
    let plan = file::Plan::new(path, list, rules, direction)?;
    if let Some(text) = &plan.text {
        Configuration::check(&plan.path, text, is_projects)?;
    }
    Ok(Some(plan))
}

/// What a person had said yes to before they changed the hosts, which is a yes to the hosts too.
#[derive(Default)]
struct Kept {
    /// Its project's file was trusted.
    trusted: Option<Home>,
    /// It was accepted as it was pinned.
    entry: Option<Box<Entry>>,
}

impl Kept {
    fn before(folders: &Folders, server: &str) -> Self {
        let Ok(target) = finding::find(folders, server) else { return Self::default() };
        let trusted = super::trust::is_trusted(&trust(folders), &target.home).unwrap_or(false);
        let entry = match Standing::of(&target, folders) {
            Ok(Standing::Ready(entry) | Standing::Absent(entry)) => Some(entry),
            _ => None,
        };
        Self { trusted: trusted.then_some(target.home), entry }
    }

    fn after(self, folders: &Folders, server: &str, yes: bool) -> anyhow::Result<()> {
        if let Some(home) = &self.trusted {
            super::trust::again(&trust(folders), home)?;
        }
        let Some(mut entry) = self.entry else { return Ok(()) };
        let target = finding::find(folders, server)?;
        let mut hosts = entry.pinned.clone();
        hosts.hosts.clone_from(&target.hosts);
        // Only the hosts are what this is about.
        if hosts != entry.pinned && target.differences(&hosts).is_empty() {
            entry.pinned = hosts;
            pinning::accept(&target, folders, &entry, if yes { How::CommandLine } else { How::Terminal })?;
        }
        Ok(())
    }
}

/// A guard against slips, not a boundary: an agent with a shell is the user.
fn confirm(asked: &Change, rules: &[HostRule]) -> anyhow::Result<()> {
    if asked.yes {
        return Ok(());
    }
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        let message = "a server is allowed a host by a person at a terminal";
        let hint = "run it at a terminal, or give `--yes` if a person has decided it";
        return Err(Stop::new(REFUSED, message, hint).into());
    }
    let names: Vec<String> = rules.iter().map(ToString::to_string).collect();
    terminal::ask(&format!("let {} reach {}? [y/N] ", asked.server, names.join(", ")));
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(Stop::new(REFUSED, "nothing was changed", "").into()),
    }
}

/// Changes one running cell; nothing where its list says so already, or it has ended.
async fn live(
    cell: &Path,
    rules: &[HostRule],
    direction: Direction,
) -> anyhow::Result<Option<NetworkChanged>> {
    let Ok(mut client) = Client::connect(cell).await else { return Ok(None) };
    for _ in 0..TRIES {
        let info = match client.network().await {
            Ok(info) => info,
            Err(ClientError::Refused(body)) if body.code == ErrorCode::State => {
                let state = client.info().await.map(|info| info.state);
                if !matches!(state, Ok(CellState::Created | CellState::Starting)) {
                    return Ok(None);
                }
                // It begins with the list as it was: it is changed as soon as there is one.
                tokio::time::sleep(STARTING).await;
                continue;
            }
            Err(error) => return Err(Stop::from(error).into()),
        };
        let same = |text: &String, rule: &HostRule| HostRule::parse(text).is_ok_and(|there| there == *rule);
        let mut wanted = info.hosts.clone();
        match direction {
            Direction::Allow => {
                let missing = rules.iter().filter(|rule| !info.hosts.iter().any(|text| same(text, rule)));
                wanted.extend(missing.map(ToString::to_string));
            }
            Direction::Deny => wanted = wanted.iter().filter_map(|text| left_of(text, rules)).collect(),
        }
        if wanted == info.hosts {
            return Ok(None);
        }
        let order = NetworkOrder { hosts: wanted, if_generation: Some(info.generation) };
        match client.set_network(&order).await {
            Ok(changed) => return Ok(Some(changed)),
            Err(ClientError::Refused(body)) if body.code == ErrorCode::State => {}
            Err(error) => return Err(Stop::from(error).into()),
        }
    }
    let hint = "somebody else goes on changing it";
    Err(Stop::new(FAILURE, "the list of the running cell was not changed", hint).into())
}

/// What is left of a rule in the words of a list, none where nothing is.
fn left_of(text: &str, gone: &[HostRule]) -> Option<String> {
    let Ok(rule) = HostRule::parse(text) else { return Some(text.to_owned()) };
    let left = gone.iter().try_fold(rule.clone(), |left, gone| left.without(gone))?;
    Some(if left == rule { text.to_owned() } else { left.to_string() })
}

fn tell(
    done: &Done,
    rules: &[HostRule],
    server: &ServerName,
    direction: Direction,
    unchanged: bool,
    only_code: bool,
) {
    for CellDone { id, changed } in &done.cells {
        let connections = |count: usize| if count == 1 { "connection" } else { "connections" };
        let NetworkChanged { cut, kept, unopened, .. } = changed;
        terminal::say(&format!("cell {id}: cut {cut} {}, {kept} go on", connections(*cut)));
        for port in unopened {
            terminal::say(&format!("cell {id}: not opened: {port}"));
        }
    }
    let names: Vec<String> = rules.iter().map(ToString::to_string).collect();
    let names = names.join(", ");
    if let Some(file) = &done.file {
        let how = if direction == Direction::Allow { "lets" } else { "no longer lets" };
        terminal::say(&format!("`{}` {how} {server} reach {names}", file.display()));
    } else if only_code && !done.cells.is_empty() {
        let options: Vec<String> =
            rules.iter().map(|rule| format!("`--host {}`", shell_word(&rule.to_string()))).collect();
        terminal::say(&format!(
            "a cell of `fumehood exec` keeps nothing: give the next one {}",
            options.join(" ")
        ));
    } else if unchanged && direction == Direction::Allow {
        terminal::say(&format!("{server} may reach {names} already"));
    }
}

/// Says what still leads to a host that was taken away, and fails where the very rule is still there.
fn left(
    folders: &Folders,
    asked: &Change,
    server: &ServerName,
    rules: &[HostRule],
    direction: Direction,
) -> anyhow::Result<()> {
    if direction == Direction::Allow || asked.once {
        return Ok(());
    }
    let network = Configuration::read(folders, &Given::default())?.network(server)?;
    let still: Vec<HostRule> = network.hosts.iter().filter_map(|text| HostRule::parse(text).ok()).collect();
    let is_left = |rule: &&HostRule| still.iter().any(|there| there.without(rule).as_ref() != Some(there));
    if let Some(rule) = rules.iter().find(is_left) {
        let message = format!("`{rule}` is still given to {server} by its configuration");
        return Err(Stop::new(FAILURE, message, "it follows from `ports`, or stands in another list").into());
    }
    for rule in rules {
        let egress::rule::Names::Exact(name) = rule.names() else { continue };
        for other in still.iter().filter(|other| other.covers(name)) {
            terminal::say(&format!("note: {server} still reaches {name} by `{other}`"));
        }
    }
    Ok(())
}

fn nothing_taken(server: &ServerName, rules: &[HostRule]) -> anyhow::Error {
    let names: Vec<String> = rules.iter().map(|rule| format!("`{rule}`")).collect();
    let hint = format!("`fumehood egress check {server} URL` says which rule lets a request through");
    Stop::new(FAILURE, format!("{server} has no rule {}", names.join(" or ")), hint).into()
}
