//! Terminals: the caller's, and those that a tool makes.

use std::process::Command;

use testkit::world::{Caller, World};

use crate::scene::Scene;
use crate::table::Control::{None, Off, OffUnless};
use crate::table::{Case, case, prove};

/// From Linux 6.2 on a host may have switched it off.
const PUSH: crate::table::Control = OffUnless("/proc/sys/dev/tty/legacy_tiocsti", "0", "seccomp-ioctl");
const CONSOLE: &str = "only a virtual console of the host answers it";

pub(crate) const CASES: &[Case] = &[
    case("the caller's terminal", "controlling", &[libc::ENXIO], Off("session")),
    case("TIOCSTI", "push", &[libc::EPERM], PUSH),
    case("TIOCSTI with high bits", "push,high-bits", &[libc::EPERM], PUSH),
    case("TIOCLINUX", "paste", &[libc::EPERM], None(CONSOLE)),
    case("TIOCLINUX with high bits", "paste,high-bits", &[libc::EPERM], None(CONSOLE)),
    case("TIOCSETD", "discipline", &[libc::EPERM], Off("seccomp-ioctl")),
    case("TIOCSETD with high bits", "discipline,high-bits", &[libc::EPERM], Off("seccomp-ioctl")),
];

fn stage(caller: Caller, _: Option<&str>) -> Scene {
    Scene::new(caller).wrapped(at_a_terminal)
}

/// Runs a command at a terminal of its own, as its controlling one; what it says comes back on stdout.
fn at_a_terminal(_: &World, command: &Command) -> Command {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let quoted = words.map(|word| format!("'{}'", word.to_str().unwrap().replace('\'', "'\\''")));
    let line = quoted.collect::<Vec<_>>().join(" ");
    let mut script = Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).env_clear();
    script.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    script
}

#[test]
fn no_terminal_is_typed_into() {
    prove("terminals", CASES, stage);
}
