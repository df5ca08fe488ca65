//! File descriptors that the caller left open.

use std::process::Command;

use testkit::world::{Caller, World};

use crate::scene::{Scene, behind};
use crate::table::Control::Off;
use crate::table::{Case, case, prove};

pub(crate) const CASES: &[Case] = &[
    case("only 0 1 2", "any-leaked", &[], Off("close-fds")),
    case("a file", "leaked-content,{secret}", &[], Off("close-fds")),
    case("a folder", "leaked-names,secret", &[], Off("close-fds")),
];

fn stage(caller: Caller, _: Option<&str>) -> Scene {
    Scene::new(caller).secret("file", "secret", 0o600).wrapped(leaking)
}

/// Runs a command with fd 9 open on a secret and fd 10 on its folder.
fn leaking(world: &World, command: &Command) -> Command {
    let script = "exec 9<\"$1/secret\"; exec 10<\"$1\"; shift; exec \"$@\"";
    behind(Command::new("bash").args(["-c", script, "bash"]).arg(world.folder()), command)
}

#[test]
fn what_a_caller_left_open_is_closed_inside() {
    prove("fds", CASES, stage);
}
