//! A real server that speaks streamable HTTP on a port inside its cell, and the official clients that call it outside.

use std::{
    io::{BufRead as _, BufReader},
    net::TcpStream,
    process::{Child, ChildStderr, Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use testkit::world::{Caller, World, skip};

use crate::{
    client::{Client, everything, packages},
    origin::Origin,
    scene::world,
};

/// The port inside.
const INSIDE: &str = "3001";

/// A server that has come up.
struct Running {
    child: Child,
    stderr: BufReader<ChildStderr>,
    /// Address and port here.
    place: String,
}

impl Running {
    fn start(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        let place = loop {
            let begin = said.len();
            assert!(stderr.read_line(&mut said).unwrap() > 0, "it ended: {said}");
            if let Some((_, rest)) = said.split_at(begin).1.split_once("is at http://") {
                break rest.split(' ').next().unwrap().to_owned();
            }
        };
        Self { child, stderr, place }
    }

    /// Nothing listens for it any more once it has ended, by whatever `way`.
    fn end(mut self, way: impl FnOnce(&mut Child)) {
        way(&mut self.child);
        let status = self.child.wait().unwrap();
        let rest: Vec<String> = self.stderr.lines().map_while(Result::ok).collect();
        assert!(TcpStream::connect(&self.place).is_err(), "{status} {rest:?}");
    }
}

fn calls() -> Value {
    json!([{"name": "echo", "arguments": {"message": "over HTTP"}}])
}

/// What the server says over stdio with nothing around it.
fn bare(client: Client, script: &str) -> Value {
    let world = world(client.callers()[0], &Origin::web("127.0.0.1:0"));
    let session = client.speak(&world, Command::new("node").arg(script), &calls());
    assert_eq!(session.told["results"][0]["content"][0]["text"], "Echo: over HTTP");
    session.told
}

/// `start` runs the script (its second argument) in a cell of that world, and lets it be reached.
fn reached(client: Client, start: impl Fn(&World, &str) -> Running, way: impl Fn(&mut Child)) {
    let Some(script) = everything() else {
        return skip("a streamable HTTP server in a cell", "it is not among the test packages");
    };
    let script = script.display().to_string();
    let bare = bare(client, &script);
    let origin = Origin::web("127.0.0.1:0");
    for caller in client.callers() {
        let world = world(caller, &origin);
        let running = start(&world, &script);
        // One client after the other, as a server that stays up is used.
        for _ in 0..2 {
            let session = client.visit(&world, &format!("http://{}/mcp", running.place), &calls());
            assert_eq!(session.told, bare, "{caller:?} {}", session.stderr);
        }
        running.end(&way);
    }
}

fn by_flags(world: &World, script: &str) -> Running {
    let mut command = world.product(None);
    command.args(["run", "--unreviewed", "--publish", &format!("0:{INSIDE}")]);
    command.args(["--env", &format!("PORT={INSIDE}")]);
    command.arg("--mount").arg(packages().join("npm"));
    Running::start(command.args(["--", "node", script, "streamableHttp"]))
}

fn by_file(world: &World, script: &str) -> Running {
    let text = format!(
        "[servers.everything]\ncommand = [\"node\", \"{script}\", \"streamableHttp\"]\nenv = {{ PORT = \"{INSIDE}\" }}\n\
         transport = \"http\"\nport = {INSIDE}\nlimits.require = []\n"
    );
    world.make_file("fumehood.toml", &text, 0o644).unwrap();
    world.trust_project().unwrap();
    let mut command = world.product(None);
    // A project's file shows a cell nothing outside of the project: that takes a word of its user's.
    command.args(["run", "--unreviewed", "--mount"]).arg(packages().join("npm"));
    Running::start(command.arg("everything"))
}

fn terminate(child: &mut Child) {
    kill_process(Pid::from_child(child), Signal::TERM).unwrap();
}

fn close_stdin(child: &mut Child) {
    drop(child.stdin.take());
}

#[test]
fn a_streamable_http_server_of_the_projects_file_is_called_by_the_typescript_client() {
    reached(Client::TypeScript, by_file, terminate);
}

#[test]
fn a_streamable_http_server_of_the_projects_file_is_called_by_the_python_client() {
    reached(Client::Python, by_file, terminate);
}

#[test]
fn a_published_port_is_called_by_the_typescript_client() {
    reached(Client::TypeScript, by_flags, close_stdin);
}

#[test]
fn a_server_that_listens_does_not_end_with_its_stdin() {
    let Some(script) = everything() else {
        return skip("a streamable HTTP server without stdin", "it is not among the test packages");
    };
    let world = world(Caller::all()[0], &Origin::web("127.0.0.1:0"));
    let mut running = by_file(&world, &script.display().to_string());
    close_stdin(&mut running.child);
    let session = Client::TypeScript.visit(&world, &format!("http://{}/mcp", running.place), &calls());
    assert_eq!(session.told["results"][0]["content"][0]["text"], "Echo: over HTTP");
    running.end(terminate);
}
