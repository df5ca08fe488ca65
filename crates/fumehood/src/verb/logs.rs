//! `fumehood logs`: what a server wrote to stderr, and what of its stdout was not the protocol.

use std::{
    collections::VecDeque,
    ffi::OsString,
    fs::{self, File},
    io::{self, BufRead, BufReader, IsTerminal},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::Context;
use cell::folders::Folders;
use model::name::ServerName;

use crate::{
    cli::Logs,
    places,
    stop::{FAILURE, Stop},
    terminal,
};

/// How often a followed log is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// Shows it.
pub(crate) fn perform(asked: &Logs) -> anyhow::Result<ExitCode> {
    let folders = places::folders()?;
    let log = find(&folders, &asked.whose)?.ok_or_else(|| {
        let message = format!("there is no log of a cell called `{}`", asked.whose);
        Stop::new(FAILURE, message, format!("logs lie in `{}`", folders.state.join("logs").display()))
    })?;
    let printer = Printer { json: asked.json, escape: io::stdout().is_terminal() };
    let mut aside = OsString::from(&log);
    aside.push(".1");
    let mut last = VecDeque::new();
    let mut keep = |line: Vec<u8>| -> anyhow::Result<()> {
        match asked.lines {
            None => printer.print(&line)?,
            Some(most) => {
                last.push_back(line);
                if last.len() > most {
                    last.pop_front();
                }
            }
        }
        Ok(())
    };
    if let Ok(file) = File::open(PathBuf::from(aside)) {
        each_line(&mut BufReader::new(file), &mut keep)?;
    }
    let mut file = BufReader::new(File::open(&log).with_context(|| format!("opening `{}`", log.display()))?);
    each_line(&mut file, &mut keep)?;
    for line in last {
        printer.print(&line)?;
    }
    if asked.follow {
        follow(&log, file, &printer)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The newest log of a name, or the log of an id.
fn find(folders: &Folders, whose: &str) -> anyhow::Result<Option<PathBuf>> {
    if let Ok(name) = ServerName::new(whose)
        && let Some(log) = newest(&folders.logs(&name))?
    {
        return Ok(Some(log));
    }
    let ending = format!("-{whose}.log");
    let names = match fs::read_dir(folders.state.join("logs")) {
        Ok(names) => names,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    for folder in names {
        let logs = cell::logs_in(&folder?.path())?;
        if let Some(log) = logs.into_iter().find(|log| log.to_string_lossy().ends_with(&ending)) {
            return Ok(Some(log));
        }
    }
    Ok(None)
}

fn newest(folder: &Path) -> io::Result<Option<PathBuf>> {
    match cell::logs_in(folder) {
        Ok(logs) => Ok(logs.into_iter().next_back()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn each_line(
    file: &mut impl BufRead,
    take: &mut impl FnMut(Vec<u8>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    loop {
        let mut line = Vec::new();
        if file.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        take(line)?;
    }
}

/// Prints what is added, also when the file is put aside and a new one begun. Until we are interrupted.
fn follow(log: &Path, mut file: BufReader<File>, printer: &Printer) -> anyhow::Result<()> {
    loop {
        each_line(&mut file, &mut |line| printer.print(&line))?;
        let open = file.get_ref().metadata()?.ino();
        match fs::metadata(log) {
            Ok(now) if now.ino() != open => file = BufReader::new(File::open(log)?),
            // Removed: nothing will be added.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            _ => std::thread::sleep(LOOK),
        }
    }
}

struct Printer {
    json: bool,
    escape: bool,
}

impl Printer {
    fn print(&self, line: &[u8]) -> anyhow::Result<()> {
        let text = String::from_utf8_lossy(line);
        if self.json {
            let line = serde_json::json!({ "line": text.trim_end_matches('\n') });
            return terminal::print(&format!("{line}\n"));
        }
        terminal::print(&if self.escape { terminal::harmless(&text) } else { text.into_owned() })
    }
}
