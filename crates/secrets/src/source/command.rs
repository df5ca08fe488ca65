//! A credential helper: a program whose stdout is the value.

use std::{
    io::{self, Read},
    os::{
        fd::AsFd,
        unix::process::{CommandExt, ExitStatusExt},
    },
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use model::config::SecretCommand;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, Signal, kill_process_group},
};

use super::{Cause, program};
use crate::{plaintext::Plaintext, value::MAX_VALUE};

/// How much of its stderr is shown, in bytes.
const SHOWN: usize = 2048;
/// How often its end is looked for.
const LOOK: Duration = Duration::from_millis(20);

/// Runs it to its end, with an environment that is empty but for what is named.
pub(super) fn run(asked: &SecretCommand) -> Result<Plaintext, Cause> {
    let (word, arguments) = asked.command.split_first().ok_or_else(|| Cause::NoProgram(String::new()))?;
    let name = word.clone();
    let failed = |source| Cause::Start { program: name.clone(), source };
    let named = asked.pass_env.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    let mut child = Command::new(program(word)?)
        .args(arguments)
        .env_clear()
        .envs(named)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // So that it and what it starts can be ended together.
        .process_group(0)
        .spawn()
        .map_err(failed)?;
    let after = Duration::from_secs(asked.timeout_s);
    let mut heard = Heard { value: Plaintext::room(MAX_VALUE + 2), have: 0, much: false, said: Vec::new() };
    let ended = attend(&mut child, &mut heard, Instant::now() + after);
    if !matches!(ended, Ok(Some(_))) {
        end(&mut child);
    }
    let said = heard.said();
    let program = name.clone();
    match ended.map_err(failed)? {
        None if heard.much => Err(Cause::Much(program)),
        None => Err(Cause::Late { program, after, said }),
        Some(status) if !status.success() => Err(Cause::Failed { program, how: how(status), said }),
        Some(_) if heard.much => Err(Cause::Much(program)),
        Some(_) => {
            heard.value.truncate(heard.have);
            Ok(Plaintext::copied(heard.value.expose()))
        }
    }
}

/// What it wrote.
struct Heard {
    value: Plaintext,
    have: usize,
    /// More than a value may have.
    much: bool,
    said: Vec<u8>,
}

impl Heard {
    /// Its last words for a person: not its stdout, which may hold a part of the value.
    fn said(&self) -> String {
        let text = String::from_utf8_lossy(&self.said);
        let text = text.trim();
        if text.is_empty() { String::new() } else { format!(": {}", text.replace('\n', "; ")) }
    }
}

/// Reads until it has ended; nothing where it took too long or wrote too much.
fn attend(child: &mut Child, heard: &mut Heard, until: Instant) -> io::Result<Option<ExitStatus>> {
    let (Some(mut out), Some(mut err)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    rustix::io::ioctl_fionbio(&out, true)?;
    rustix::io::ioctl_fionbio(&err, true)?;
    let (mut out_ended, mut err_ended) = (false, false);
    loop {
        // Before reading: what it wrote last is there once it has ended.
        let status = child.try_wait()?;
        if !out_ended {
            out_ended = hear_value(&mut out, heard)?;
        }
        if !err_ended {
            err_ended = hear_words(&mut err, heard)?;
        }
        if status.is_some() {
            return Ok(status);
        }
        if heard.much || Instant::now() >= until {
            return Ok(None);
        }
        let mut fds: Vec<PollFd<'_>> = Vec::new();
        fds.extend((!out_ended).then(|| PollFd::from_borrowed_fd(out.as_fd(), PollFlags::IN)));
        fds.extend((!err_ended).then(|| PollFd::from_borrowed_fd(err.as_fd(), PollFlags::IN)));
        let look = Timespec::try_from(LOOK).map_err(io::Error::other)?;
        match poll(&mut fds, Some(&look)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Takes what is there; whether that was the end.
fn hear_value(from: &mut impl Read, heard: &mut Heard) -> io::Result<bool> {
    loop {
        let room = heard.value.bytes_mut().get_mut(heard.have..).unwrap_or_default();
        if room.is_empty() {
            heard.much = true;
            return Ok(true);
        }
        match from.read(room) {
            Ok(0) => return Ok(true),
            Ok(more) => heard.have += more,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn hear_words(from: &mut impl Read, heard: &mut Heard) -> io::Result<bool> {
    let mut buffer = [0; 1024];
    // One that never stops is read no faster than its end is looked for.
    for _ in 0..64 {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(true),
            Ok(more) => {
                heard.said.extend(buffer.iter().take(more));
                let over = heard.said.len().saturating_sub(SHOWN);
                heard.said.drain(..over);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

/// Ends it with what it started.
fn end(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        kill_process_group(group, Signal::KILL).ok();
    }
    child.wait().ok();
}

fn how(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => status.to_string(),
    }
}
