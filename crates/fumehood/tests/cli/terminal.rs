//! A terminal, and somebody who types at it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::{
    io::{Read, Write},
    process::{Command, Stdio},
};

use super::world::World;

/// What a person sees who types `typed` at a terminal, and the exit code.
pub(crate) fn at_a_terminal(world: &World, arguments: &[&str], typed: &str) -> (String, i32) {
    shell_at_a_terminal(world, &format!("exec \"$PROGRAM\" {}", arguments.join(" ")), typed)
}

/// The same of a shell's script; the program is `$PROGRAM`.
pub(crate) fn shell_at_a_terminal(world: &World, text: &str, typed: &str) -> (String, i32) {
    let program = world.command(&[]);
    let mut script = Command::new("script");
    script.args(["-q", "-e", "-c", text, "/dev/null"]).env_clear().current_dir(world.project());
    script.env("PROGRAM", program.get_program());
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
