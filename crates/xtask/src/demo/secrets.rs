//! A key that a server uses and never sees: a stand-in inside, the real one at its own host, and refusals elsewhere.

use std::io::Write as _;
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::Act;
use super::confined::Confined;
use super::home::Home;
use super::origin::Origins;

/// What the key is called.
const NAME: &str = "CODE_TOKEN";
/// What it is.
const VALUE: &str = "sk-THE-REAL-KEY-of-this-demonstration-2718";
/// The host it is for.
const OWN: &str = "code.example";
/// Another host that the server may speak to.
const OTHER: &str = "paste.example";

/// Keeps a key, uses it, and tries to misuse it.
pub(super) fn show(home: &Home) -> Result<Act> {
    let origins = Origins::start(home, &[OWN, OTHER])?;
    home.configure(&origins.upstreams())?;
    println!("\nA key: a server works with it, and never has it");
    println!("  (Its real value in this demonstration: {VALUE})");
    keep(home)?;
    println!(
        "  $ fumehood run --unreviewed --name reader --secret {NAME} --host '* {OTHER}' --mount … -- node fetcher.mjs"
    );
    let mut stage = Stage { server: start(home)?, origins, held: true };

    let inside = text(&stage.server.ask("variable", &json!({ "name": NAME }))?);
    let is_other = inside != VALUE && inside.len() == VALUE.len();
    stage.line(&format!("inside: ${NAME}"), &format!("{inside}   (a stand-in of the same form)"), is_other);
    stage.used(&inside)?;
    stage.refused("POST", OWN, "FH-REQUEST-METHOD", "the key is for GET only")?;
    stage.refused(
        "GET",
        OTHER,
        "FH-SECRET-PLACE",
        "this host may be spoken to, and the key is not for it",
    )?;
    Ok(Act {
        held: stage.held,
        proved: &[
            "a server used a key that never entered its cell: its own host got the real one, what that host repeated of it",
            "came back as the stand-in, and it went neither to another host nor into a request it is not for",
        ],
    })
}

/// What is seen from inside and at the hosts.
struct Stage {
    server: Confined,
    origins: Origins,
    held: bool,
}

impl Stage {
    /// A request that the key is for.
    fn used(&mut self, inside: &str) -> Result<()> {
        let (status, answer) = self.send("GET", OWN)?;
        let arrived = self.origins.arrived(OWN)?;
        let got = arrived.last().map_or("nothing", |arrival| arrival.authorization.as_str());
        let is_real = got == format!("Bearer {VALUE}");
        self.line(
            &format!("{OWN} got"),
            &format!("{got}   (the real one; it repeats it in its answer)"),
            is_real,
        );
        let is_clean = status == 200 && answer == format!("You showed me: Bearer {inside}");
        self.line(&format!("inside: GET https://{OWN}/me"), &format!("\"{answer}\""), is_clean);
        Ok(())
    }

    /// One that it is not for: refused with this code, and not arrived.
    fn refused(&mut self, method: &str, host: &str, code: &str, why: &str) -> Result<()> {
        let (status, answer) = self.send(method, host)?;
        let leaked = self.origins.arrived(host)?.iter().filter(|arrival| arrival.method == method).count();
        let is_refused = status == 403 && answer.contains(code) && leaked == 0;
        let what = if is_refused {
            format!("refused: {why} ({code}); nothing of it arrived")
        } else {
            format!("{status} \"{answer}\"; arrived: {leaked}")
        };
        self.line(&format!("inside: {method} https://{host}/me"), &what, is_refused);
        Ok(())
    }

    /// The status and the text of an answer to a request with what the variable holds.
    fn send(&mut self, method: &str, host: &str) -> Result<(u64, String)> {
        let request = json!({ "url": format!("https://{host}/me"), "method": method, "key": NAME });
        let answer = self.server.ask("send", &request)?;
        if let Some(error) = answer.get("error").and_then(Value::as_str) {
            bail!("{method} to {host} failed inside: {error}");
        }
        let status = answer.get("status").and_then(Value::as_u64).context("the answer has no status")?;
        Ok((status, text(&answer)))
    }

    fn line(&mut self, who: &str, what: &str, right: bool) {
        self.held &= right;
        let wrong = if right { "" } else { "   THAT MUST NOT BE" };
        println!("    {who:<38} {what}{wrong}");
    }
}

/// Puts the key into the vault as a person would; the value goes in by stdin, for want of a terminal.
fn keep(home: &Home) -> Result<()> {
    println!("  $ fumehood secret set {NAME} --host {OWN} --method GET");
    let mut command = home.fumehood();
    command.args(["secret", "set", NAME, "--host", OWN, "--method", "GET"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("`fumehood` could not be started")?;
    let mut stdin = child.stdin.take().context("it has no stdin")?;
    stdin.write_all(VALUE.as_bytes())?;
    drop(stdin);
    let output = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("the key was not kept: {said}");
    }
    if let Some(line) = said.lines().next() {
        println!("    {line}");
    }
    Ok(())
}

fn start(home: &Home) -> Result<Confined> {
    let program = home.tool("fetcher.mjs")?;
    let mut command = home.fumehood();
    command.args([
        "run",
        "--unreviewed",
        "--name",
        "reader",
        "--secret",
        NAME,
        "--host",
        &format!("* {OTHER}"),
        "--mount",
    ]);
    command.arg(home.path("tool")).arg("--").arg("node").arg(program);
    Confined::start(&mut command)
}

fn text(answer: &Value) -> String {
    answer.get("text").and_then(Value::as_str).unwrap_or_default().to_owned()
}
