//! `./x demo`: a real server through a real client, then the same attack outside and inside, and what that proved.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::setup::{self, For};
use crate::workspace::Workspace;

/// More than any cell may start, and harmless outside.
const PROCESSES: &str = "200";

/// Builds, shows, and fails when anything that must not work did.
pub fn run(workspace: &Workspace) -> Result<ExitCode> {
    setup::prepare(workspace, For::Demo)?;
    eprintln!("x: building");
    let product = workspace.build_product()?;
    let home = Home::new()?;
    println!("\nA server from npm, confined, through the official TypeScript client");
    let told = call_two_tools(workspace, &product, &home)?;
    println!("  {told}");

    println!("\nThe same attack, outside and inside");
    let outside = attack(Command::new("node"), &home)?;
    let mut confined = Command::new(&product);
    confined.args(["exec", "--", "node"]);
    let inside = attack(confined, &home)?;
    let mut held = true;
    for (what, inside) in &inside {
        let outside = outside.get(what).map_or("nothing", |attempt| attempt.detail.as_str());
        held &= !inside.worked;
        let verdict = if inside.worked { "IT WORKED" } else { "refused" };
        println!("  {what:<28} outside: {outside:<28} inside: {verdict} ({})", inside.detail);
    }
    if !held || inside.len() != outside.len() {
        println!("\nNot proved: something above worked inside.");
        return Ok(ExitCode::FAILURE);
    }
    println!("\nProved on this machine:");
    println!("  a client that knows nothing of Fumehood used a confined server as if it were bare;");
    println!("  code in a cell read no key of yours and no password file, reached no network,");
    println!("  and could not start more processes than its ceiling.");
    println!("What holds these walls here, layer by layer: fumehood doctor");
    Ok(ExitCode::SUCCESS)
}

/// A home folder with a private key in it, and folders for the state of this one demonstration.
struct Home {
    folder: TempDir,
}

impl Home {
    fn new() -> Result<Self> {
        let folder = TempDir::with_prefix("fumehood-demo-")?;
        fs::create_dir_all(folder.path().join("home/.ssh"))?;
        fs::create_dir(folder.path().join("state"))?;
        let home = Self { folder };
        fs::write(home.key(), "a private key that must not leave the host\n")?;
        Ok(home)
    }

    fn key(&self) -> PathBuf {
        self.path("home/.ssh/id_demo")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn environment(&self) -> BTreeMap<&'static str, PathBuf> {
        let state = self.path("state");
        let names = ["XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"];
        let mut all: BTreeMap<_, _> = names.into_iter().map(|name| (name, state.clone())).collect();
        all.insert("HOME", self.path("home"));
        all
    }
}

fn call_two_tools(workspace: &Workspace, product: &Path, home: &Home) -> Result<String> {
    let packages = workspace.cache.join("npm");
    let server = packages.join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    let received = home.path("received");
    let job = json!({
        "packages": packages,
        "command": [product, "run", "--name", "everything", "--mount", packages, "--", "node", server],
        "env": home.environment(),
        "sent": home.path("sent"),
        "received": received,
        "steps": [
            { "list": "tools" },
            { "call": "echo", "arguments": { "message": "What is inside stays inside." } },
            { "call": "get-sum", "arguments": { "a": 19, "b": 23 } },
        ],
    });
    fs::write(home.path("job.json"), job.to_string())?;
    let output = Command::new("node")
        .arg(workspace.root.join("crates/testkit/clients/record.mjs"))
        .arg(home.path("job.json"))
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("`node` could not be started")?;
    if !output.status.success() {
        bail!("the client could not work with the confined server");
    }
    let told: Value = serde_json::from_slice(&output.stdout).context("the client did not say how it went")?;
    if told.get("outcomes") != Some(&json!(["listed", "ok", "ok"])) {
        bail!("the client was answered otherwise than expected: {told}");
    }
    let lines = fs::read_to_string(received)?;
    let texts: Vec<String> = lines.lines().filter_map(answer_text).collect();
    Ok(format!("its tools were listed; echo and get-sum answered: {}", texts.join(" / ")))
}

/// The text of a tool's answer.
fn answer_text(line: &str) -> Option<String> {
    let message: Value = serde_json::from_str(line).ok()?;
    Some(message.pointer("/result/content/0/text")?.as_str()?.to_owned())
}

struct Attempt {
    worked: bool,
    detail: String,
}

fn attack(mut around: Command, home: &Home) -> Result<BTreeMap<String, Attempt>> {
    let output = around
        .args(["--input-type=module", "-e", include_str!("demo/attack.mjs"), "--"])
        .arg(home.key())
        .arg(PROCESSES)
        .envs(home.environment())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("the attack could not be started")?;
    let mut attempts = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let told: Value =
            serde_json::from_str(line).with_context(|| format!("the attack printed `{line}`"))?;
        let field = |name: &str| told.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let worked = told
            .get("worked")
            .and_then(Value::as_bool)
            .context("the attack did not say whether it worked")?;
        attempts.insert(field("what"), Attempt { worked, detail: field("detail") });
    }
    if attempts.len() < 4 {
        bail!("the attack told of {} attempts instead of 4 ({})", attempts.len(), output.status);
    }
    Ok(attempts)
}
