//! Hosts by name: one that is allowed, one that is not, and both changed while the server runs.

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::Act;
use super::confined::Confined;
use super::home::Home;
use super::origin::Origins;

/// The server's name, by which the commands know it.
const SERVER: &str = "weather";
/// The host it is started with.
const GIVEN: &str = "forecast.example";
/// The host it wants too.
const WANTED: &str = "maps.example";

/// Reaches, refuses, allows, cuts.
pub(super) fn show(home: &Home) -> Result<Act> {
    let origins = Origins::start(home, &[GIVEN, WANTED])?;
    home.configure(&origins.upstreams())?;
    println!(
        "\nHosts by name: a server is given one, asks for another, and its list is changed while it runs"
    );
    println!("  (Both hosts are played by web servers with TLS on this machine: nothing here leaves it.)");
    println!(
        "  $ fumehood run --unreviewed --name {SERVER} --host {GIVEN} --mount … --env … -- node fetcher.mjs"
    );
    let mut stage = Stage { server: start(home, &origins)?, held: true };

    stage.get(GIVEN, Some("Hello from"))?;
    stage.get(WANTED, None)?;
    println!("    and on your terminal it says:");
    let said = stage.server.says_until("help: `fumehood allow")?;
    for line in &said {
        println!("      {line}");
    }
    let remedy = said.last().and_then(|line| line.split('`').nth(1)).context("the refusal has no remedy")?;

    // At a terminal a person would be asked; `--yes` says that one has decided.
    change(home, &format!("{remedy} --yes"))?;
    stage.get(WANTED, Some("Hello from"))?;
    let live = format!("https://{WANTED}/live");
    let first = text(&stage.server.ask("open", &json!({ "url": live }))?);
    let open = origins.connections(WANTED)?;
    let what = format!("\"{first}\", and it goes on; connections to the host: {open}");
    stage.line(&live, &what, open > 0 && first == "tick");

    change(home, &format!("fumehood deny {SERVER} {WANTED}"))?;
    // Looked at as soon as the command has returned: nothing is left to wait for.
    let left = origins.connections(WANTED)?;
    let how = stage.end_of(&live)?;
    let what = format!("cut ({how}); connections to the host when the command had returned: {left}");
    stage.line(&live, &what, left == 0 && how != "open");
    stage.get(WANTED, None)?;
    stage.get(GIVEN, Some("Hello from"))?;
    Ok(Act {
        held: stage.held,
        proved: &[
            "a server reached the host it was given and no other; the line that was shown let it reach one more,",
            "and when that was taken away, what was open was cut before the command returned",
        ],
    })
}

/// What is seen from inside.
struct Stage {
    server: Confined,
    held: bool,
}

impl Stage {
    /// Fetches the first page of a host; it must be one that holds `expected`, or without it, none.
    fn get(&mut self, host: &str, expected: Option<&str>) -> Result<()> {
        let url = format!("https://{host}/");
        let answer = self.server.ask("get", &json!({ "url": url }))?;
        let text = text(&answer);
        match (answer.get("error").and_then(Value::as_str), expected) {
            (None, Some(part)) => self.line(&url, &format!("\"{text}\""), text.contains(part)),
            (Some("ENOTFOUND"), expected) => {
                self.line(&url, "refused: there is no such name inside (ENOTFOUND)", expected.is_none());
            }
            (Some(error), _) => self.line(&url, &format!("failed ({error})"), false),
            (None, None) => self.line(&url, &format!("\"{text}\""), false),
        }
        Ok(())
    }

    /// How a page that does not end ended, once the server has noticed; else that it is open.
    fn end_of(&mut self, url: &str) -> Result<String> {
        let mut state = String::new();
        for _ in 0..100 {
            state = text(&self.server.ask("state", &json!({ "url": url }))?);
            if state != "open" {
                break;
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(state)
    }

    fn line(&mut self, url: &str, what: &str, right: bool) {
        self.held &= right;
        let wrong = if right { "" } else { "   THAT MUST NOT BE" };
        println!("    inside: {url:<28} {what}{wrong}");
    }
}

fn start(home: &Home, origins: &Origins) -> Result<Confined> {
    let program = home.tool("fetcher.mjs")?;
    let trust = format!("NODE_EXTRA_CA_CERTS={}", origins.certificate().display());
    let mut command = home.fumehood();
    command.args(["run", "--unreviewed", "--name", SERVER, "--host", GIVEN, "--env", &trust, "--mount"]);
    command.arg(home.path("tool")).arg("--").arg("node").arg(program);
    Confined::start(&mut command)
}

/// Runs a line that begins with `fumehood`, and shows it and what it says.
fn change(home: &Home, line: &str) -> Result<()> {
    println!("  $ {line}");
    let output = home.fumehood().args(line.split(' ').skip(1)).stdin(Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&output.stderr).replace(&home.path("home").display().to_string(), "~");
    for line in said.lines() {
        println!("    {line}");
    }
    if !output.status.success() {
        bail!("`{line}` failed ({})", output.status);
    }
    Ok(())
}

fn text(answer: &Value) -> String {
    answer.get("text").and_then(Value::as_str).unwrap_or_default().to_owned()
}
