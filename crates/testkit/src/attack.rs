//! What a hostile tool would try, to be run inside a cell: one attempt a case, one JSON line an attempt.
//!
//! Attempts are written so that they are harmless where they succeed: files of the kernel are opened and closed, loops
//! are bounded, and signals are only asked about.

use std::{io, process::Command};

use serde::{Deserialize, Serialize};

mod bombs;
mod core_dumps;
mod fds;
mod files;
mod host_files;
mod mounts;
mod neighbour;
mod other_cells;
mod privileges;
mod proc;
mod sockets;
mod sys;
mod syscalls;
mod terminals;
mod victims;

/// What one attempt came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// The label it was asked for by.
    pub case: String,
    /// Whether the attack worked.
    pub got_in: bool,
    /// `errno` of the call that failed, where one did.
    pub errno: Option<i32>,
    /// What was got, or what stood in the way.
    pub detail: String,
    /// The signal that ended the attempt, which no guard ever sends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub killed: Option<i32>,
}

/// What was got, or what held it off.
type Attempt = Result<String, Held>;

/// What the attempts of a family are called, and how each is made from its arguments.
type Attacks = &'static [(&'static str, fn(&[&str]) -> Attempt)];

/// What held an attempt off.
#[derive(Debug)]
struct Held {
    errno: Option<i32>,
    detail: String,
}

impl Held {
    fn because(detail: impl Into<String>) -> Self {
        Self { errno: None, detail: detail.into() }
    }

    fn errno(errno: i32) -> Self {
        Self::from(io::Error::from_raw_os_error(errno))
    }
}

impl From<io::Error> for Held {
    fn from(error: io::Error) -> Self {
        Self { errno: error.raw_os_error(), detail: error.to_string() }
    }
}

impl From<rustix::io::Errno> for Held {
    fn from(errno: rustix::io::Errno) -> Self {
        Self::errno(errno.raw_os_error())
    }
}

/// An attempt as it stands on the command line: `LABEL=ATTACK`, or `LABEL=ATTACK,ARGUMENT,…`.
#[derive(Debug, Clone, Copy)]
struct Asked<'a> {
    label: &'a str,
    attack: &'a str,
    text: &'a str,
}

/// The whole attack program: `FAMILY LABEL=ATTACK[,ARGUMENT]…` for any number of attempts, each made in a process of
/// its own. `--alone` before them: in this one. `--beside NAME,PORT,KEY`: in the company of a [victim](neighbour).
/// `--victim NAME [PORT KEY]`: be one.
pub fn main() -> i32 {
    let arguments: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [_, "--alone", family, attempts @ ..] => {
            // Where a control took the PID namespace away, nobody else ends what is left.
            sys::end_with_parent();
            attempts.iter().filter_map(|text| read(text)).for_each(|asked| tell(&alone(family, asked)));
            0
        }
        [_, victims::FLAG, named @ ..] => neighbour::live(named),
        [program, "--beside", named, rest @ ..] => beside(program, named, rest),
        [program, family, attempts @ ..] if !attempts.is_empty() => {
            attempts.iter().filter_map(|text| read(text)).for_each(|asked| apart(program, family, asked));
            0
        }
        _ => {
            eprintln!(
                "usage: fumehood-attacker [--alone | --beside VICTIM,ARGUMENT…] FAMILY LABEL=ATTACK[,ARGUMENT]…"
            );
            eprintln!("       fumehood-attacker --victim NAME [PORT KEY]");
            2
        }
    }
}

/// Starts a victim first, then makes the attempts as its neighbour without a wall between them.
fn beside(program: &str, named: &str, rest: &[&str]) -> i32 {
    use std::process::Stdio;
    let mut victim = Command::new(program);
    victim.arg(victims::FLAG).args(named.split(',')).stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut victim) = victim.spawn() else { return 1 };
    let mut ready = [0_u8; 1];
    let heard =
        victim.stdout.as_mut().is_some_and(|said| io::Read::read(said, &mut ready).is_ok_and(|n| n > 0));
    let ended = heard && Command::new(program).args(rest).status().is_ok_and(|status| status.success());
    drop(victim.stdin.take());
    // It ends by itself once its stdin is closed.
    victim.wait().ok();
    i32::from(!ended)
}

fn read(text: &str) -> Option<Asked<'_>> {
    let (label, attack) = text.split_once('=')?;
    Some(Asked { label, attack, text })
}

fn apart(program: &str, family: &str, asked: Asked<'_>) {
    use std::os::unix::process::ExitStatusExt as _;
    let ended = Command::new(program).args(["--alone", family, asked.text]).status();
    let detail = match &ended {
        Ok(status) if status.success() => return,
        Ok(status) => format!("the attempt ended by {status}"),
        Err(error) => format!("the attempt could not be started: {error}"),
    };
    let killed = ended.ok().and_then(|status| status.signal());
    tell(&Finding { case: asked.label.into(), got_in: false, errno: None, detail, killed });
}

fn alone(family: &str, asked: Asked<'_>) -> Finding {
    let mut words = asked.attack.split(',');
    let name = words.next().unwrap_or_default();
    let arguments: Vec<&str> = words.collect();
    let attempt = match find(family, name) {
        Some(attack) => attack(&arguments),
        None => Err(Held::because(format!("no attack `{name}` in the family `{family}`"))),
    };
    let case = asked.label.to_owned();
    match attempt {
        Ok(detail) => Finding { case, got_in: true, errno: None, detail, killed: None },
        Err(held) => Finding { case, got_in: false, errno: held.errno, detail: held.detail, killed: None },
    }
}

fn find(family: &str, name: &str) -> Option<fn(&[&str]) -> Attempt> {
    let own: Attacks = match family {
        "host_files" => host_files::ATTACKS,
        "proc" => proc::ATTACKS,
        "other_cells" => other_cells::ATTACKS,
        "syscalls" => syscalls::ATTACKS,
        "privileges" => privileges::ATTACKS,
        "terminals" => terminals::ATTACKS,
        "fds" => fds::ATTACKS,
        "sockets" => sockets::ATTACKS,
        "mounts" => mounts::ATTACKS,
        "bombs" => bombs::ATTACKS,
        "core_dumps" => core_dumps::ATTACKS,
        _ => return None,
    };
    own.iter().chain(files::ATTACKS).find(|(known, _)| *known == name).map(|(_, attack)| *attack)
}

/// One line, written at once: several attempts may share the pipe.
fn tell(finding: &Finding) {
    use std::io::Write as _;
    if let Ok(mut line) = serde_json::to_vec(finding) {
        line.push(b'\n');
        // Whoever does not read it takes it as an attempt that never came back.
        io::stdout().lock().write_all(&line).ok();
    }
}

/// The argument at `index`, empty where it is missing.
fn argument<'a>(arguments: &[&'a str], index: usize) -> &'a str {
    arguments.get(index).copied().unwrap_or_default()
}

/// The number at `index`, 0 where it is none.
fn number(arguments: &[&str], index: usize) -> u64 {
    argument(arguments, index).parse().unwrap_or(0)
}
