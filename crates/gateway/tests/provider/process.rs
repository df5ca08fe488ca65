//! The provider's process.

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A provider on loopback; it ends with the value.
pub(crate) struct Provider {
    child: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    issuer: String,
}

impl Provider {
    /// One that signs with this algorithm; nothing where `./x` has not installed it.
    pub(crate) fn begin(algorithm: &str) -> Option<Self> {
        let cache = cache();
        let packages = cache.join("npm-identity");
        if !packages.join("node_modules/oidc-provider").is_dir() {
            skip("a real OpenID provider", "`oidc-provider` is not among the test packages");
            return None;
        }
        // Tests of another crate use it too.
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../gateway/tests/provider/provider.mjs");
        let mut child = Command::new(node(&cache))
            .arg(script)
            .arg(packages)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // It warns of a quick start, which this is.
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (orders, answers) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut provider = Self { child, orders, answers, issuer: String::new() };
        let begun = provider.told(&json!({ "order": "begin", "kid": "one", "alg": algorithm }));
        begun["issuer"].as_str().unwrap().clone_into(&mut provider.issuer);
        Some(provider)
    }

    pub(crate) fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Does what it is told; its answer.
    pub(crate) fn told(&mut self, order: &Value) -> Value {
        writeln!(self.orders.as_mut().unwrap(), "{order}").unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no answer: {line}"));
        assert!(answer["error"].is_null(), "{answer}");
        answer
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        drop(self.orders.take());
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Where `./x` installs packages for tests.
fn cache() -> PathBuf {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    checkout.join(env::var_os("FUMEHOOD_CACHE").map_or_else(|| PathBuf::from(".cache"), PathBuf::from))
}

/// The version that the provider is made for, if it is among the test packages; else the machine's.
fn node(cache: &Path) -> PathBuf {
    let architecture = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let newer = cache.join(format!("npm-runtimes/node_modules/node-linux-{architecture}/bin/node"));
    if newer.is_file() { newer } else { PathBuf::from("node") }
}

/// Says that something was not tried, where `./x` collects it.
fn skip(what: &str, why: &str) {
    eprintln!("skipped: {what}: {why}");
    let Some(list) = env::var_os("FUMEHOOD_SKIPS") else { return };
    let mut list = fs::OpenOptions::new().append(true).create(true).open(list).unwrap();
    writeln!(list, "{what}: {why}").unwrap();
}
