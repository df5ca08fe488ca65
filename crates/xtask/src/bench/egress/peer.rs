//! The two ends: an origin, and clients that load it on order (the `bench_peer` example of `egress`).

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use super::load::Order;
use crate::bench::Pace;
use crate::bench::world::World;
use crate::workspace::{Workspace, must};

/// Builds the program of both; its path.
pub(super) fn build(workspace: &Workspace) -> Result<PathBuf> {
    let arguments = ["build", "-q", "--profile", "demo", "-p", "egress", "--example", "bench_peer"];
    must(&mut workspace.cargo(&arguments))?;
    Ok(workspace.target.join("demo/examples/bench_peer"))
}

/// What a client asks for.
#[derive(Debug, Clone)]
pub(super) struct Target(Map<String, Value>);

impl Target {
    /// `root` is the certificate to trust (DER, base64); none for HTTP in the clear.
    pub(super) fn new(name: &str, port: u16, root: Option<String>) -> Self {
        let mut fields = Map::from_iter([("name".to_owned(), json!(name)), ("port".to_owned(), json!(port))]);
        if let Some(root) = root {
            fields.insert("root".to_owned(), json!(root));
        }
        Self(fields)
    }

    /// Reached with the cell's own roots and the placeholder of a secret.
    pub(super) fn with_secret(name: &str, port: u16, secret: &str) -> Self {
        let mut target = Self::new(name, port, None);
        target.0.insert("roots".to_owned(), json!("SSL_CERT_FILE"));
        target.0.insert("token".to_owned(), json!(secret));
        target
    }

    /// Reached without asking for its name.
    pub(super) fn at_loopback(mut self) -> Self {
        self.0.insert("address".to_owned(), json!("127.0.0.1"));
        self
    }
}

/// A program that is spoken to by lines of JSON, and ends with its stdin.
#[derive(Debug)]
struct Program {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    /// Where its stderr goes; what is cut on purpose is told there a hundred times.
    log: Option<PathBuf>,
}

impl Program {
    fn start(command: &mut Command) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let stdin = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().context("no stdout")?).lines();
        Ok(Self { child, stdin, lines, log: None })
    }

    fn start_quietly(command: &mut Command, log: PathBuf) -> Result<Self> {
        let mut program = Self::start(command.stderr(File::create(&log)?))?;
        program.log = Some(log);
        Ok(program)
    }

    fn line(&mut self) -> Result<Value> {
        let Some(line) = self.lines.next().transpose()? else {
            let log = self.log.as_ref().and_then(|log| fs::read_to_string(log).ok()).unwrap_or_default();
            bail!("it ended before it answered; on stderr it said: {log}");
        };
        serde_json::from_str(&line).with_context(|| format!("it said `{line}`"))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.stdin = None;
        if self.child.wait().is_err() {
            eprintln!("x: process {} cannot be waited for", self.child.id());
        }
    }
}

/// The origin, on loopback.
#[derive(Debug)]
pub(super) struct Origin {
    program: Program,
    /// The port that speaks HTTP in the clear.
    pub(super) plain: u16,
    /// The port that speaks HTTPS.
    pub(super) tls: u16,
    /// Its certificate, for every name below `example.com` (DER, base64).
    pub(super) certificate: String,
    /// The key of that certificate, for those that stand before it (DER, base64).
    pub(super) key: String,
}

impl Origin {
    pub(super) fn start(program: &Path) -> Result<Self> {
        let mut program = Program::start(Command::new(program).arg("origin"))?;
        let told = program.line().context("the origin")?;
        let port = |name: &str| {
            told.get(name).and_then(Value::as_u64).and_then(|port| port.try_into().ok()).context("no port")
        };
        let text =
            |name: &str| told.get(name).and_then(Value::as_str).map(ToOwned::to_owned).context("no text");
        Ok(Self {
            plain: port("plain")?,
            tls: port("tls")?,
            certificate: text("certificate")?,
            key: text("key")?,
            program,
        })
    }

    /// Its certificate (PEM).
    pub(super) fn certificate_pem(&self) -> String {
        pem("CERTIFICATE", &self.certificate)
    }

    /// Its key (PEM).
    pub(super) fn key_pem(&self) -> String {
        pem("PRIVATE KEY", &self.key)
    }

    /// The credential it got with the last request that it was to tell back.
    pub(super) fn got(&mut self) -> Result<String> {
        let told = self.program.line().context("the origin")?;
        Ok(told.get("got").and_then(Value::as_str).context("the origin tells of no credential")?.to_owned())
    }
}

fn pem(label: &str, base64: &str) -> String {
    // RFC 7468 §2: lines of 64.
    let lines = base64.as_bytes().chunks(64).map(|line| String::from_utf8_lossy(line) + "\n");
    format!("-----BEGIN {label}-----\n{}-----END {label}-----\n", lines.collect::<String>())
}

/// A client, somewhere.
#[derive(Debug)]
pub(super) struct Client(Program, Pace);

impl Client {
    /// Beside the origin, with nothing between them.
    pub(super) fn outside(program: &Path, pace: Pace) -> Result<Self> {
        Ok(Self(Program::start(Command::new(program).arg("client"))?, pace))
    }

    /// In a cell that may reach these hosts and use this secret. Its ceilings are those of the machine, as they are for the one outside.
    pub(super) fn confined(
        world: &World,
        program: &Path,
        hosts: &[String],
        secret: &str,
        pace: Pace,
    ) -> Result<Self> {
        let processors = std::thread::available_parallelism()?;
        let mut command = world.fumehood(&["exec", "--name", "bench", "--limit", "open_files=8192"]);
        command.arg("--limit").arg(format!("cpu={processors}"));
        command.arg("--mount").arg(program).args(["--secret", secret]);
        for host in hosts {
            command.arg("--host").arg(host);
        }
        command.arg("--").arg(program).arg("client");
        Ok(Self(Program::start_quietly(&mut command, world.file("client.log"))?, pace))
    }

    /// Has it do something; what it tells of it.
    pub(super) fn order(&mut self, target: &Target, order: Order) -> Result<Value> {
        let mut message = order.json(self.1);
        if let Some(fields) = message.as_object_mut() {
            fields.insert("target".to_owned(), Value::Object(target.0.clone()));
        }
        writeln!(self.0.stdin.as_mut().context("stdin is closed")?, "{message}")?;
        let told = self.0.line().context("the client")?;
        match told.get("error") {
            Some(error) => bail!("the client could not: {error}"),
            None => Ok(told),
        }
    }
}
