//! A terminal, and somebody who types at it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::{
    io::{Read, Write},
    process::{Command, Stdio},
};

use super::world::World;

/// What a person sees who types `typed` at a terminal, and the exit code.
pub(crate) fn at_a_terminal(world: &World, arguments: &[&str], typed: &str) -> (String, i32) {
    let program = world.command(arguments);
    let mut words = vec![program.get_program().to_str().unwrap().to_owned()];
    words.extend(arguments.iter().map(|word| (*word).to_owned()));
    let mut script = Command::new("script");
    script.args(["-q", "-e", "-c", &words.join(" "), "/dev/null"]).env_clear().current_dir(world.project());
    for (name, value) in program.get_envs() {
        script.env(name, value.unwrap());
    }
    let mut child =
        script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut seen = Vec::new();
    // An answer is typed when its question is there: what was typed before is thrown away.
    for line in typed.split_inclusive('\n') {
        let asked = seen.len();
        loop {
            let mut bytes = [0; 256];
            let more = stdout.read(&mut bytes).unwrap();
            seen.extend(bytes.iter().take(more));
            if more == 0 || (seen.len() > asked && seen.ends_with(b": ")) {
                break;
            }
        }
        stdin.write_all(line.as_bytes()).unwrap();
    }
    stdout.read_to_end(&mut seen).unwrap();
    let code = child.wait().unwrap().code().unwrap();
    (String::from_utf8_lossy(&seen).replace('\r', ""), code)
}
