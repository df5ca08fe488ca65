//! The service while it runs: what a reload changes, and what its log holds.

use std::{
    fs,
    io::Read,
    path::PathBuf,
    process::{Child, Command},
    time::Duration,
};

use rustix::process::Signal;
use serde_json::Value;

use super::accepted;
use crate::cli::world::{World, signal, within};

/// A service of this world on loopback, with a key, and its log.
pub(super) struct Served {
    service: Child,
    address: String,
    log: PathBuf,
}

impl Served {
    pub(super) fn start(world: &World, more: &[&str]) -> Self {
        let log = world.write("log", "");
        let words = [&["serve", "--listen", "127.0.0.1:0"], more].concat();
        let mut service = world.command(&words);
        let service =
            service.env("FUMEHOOD_LOG", "trace").stderr(fs::File::create(&log).unwrap()).spawn().unwrap();
        let mut served = Self { service, address: String::new(), log };
        assert!(within(Duration::from_secs(30), || served.line("serving").is_some()), "{}", served.text());
        let address =
            served.line("serving").unwrap().get("address").and_then(Value::as_str).unwrap().to_owned();
        served.address = address;
        served
    }

    pub(super) fn text(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// The last line of the log with this message.
    fn line(&self, message: &str) -> Option<Value> {
        let text = self.text();
        let lines = text.lines().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.into_iter().find(|line| line.get("message").and_then(Value::as_str) == Some(message))
    }

    pub(super) fn ask(&self, path: &str, more: &[&str]) -> String {
        let url = format!("http://{}{path}", self.address);
        let mut command = Command::new("curl");
        let output = command.args(["-sS", "--max-time", "30"]).args(more).arg(url).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn reload(&self) {
        signal(i32::try_from(self.service.id()).unwrap(), Signal::HUP);
    }

    /// Ends it by a signal; what it left on stdout.
    pub(super) fn end(mut self) -> String {
        signal(i32::try_from(self.service.id()).unwrap(), Signal::TERM);
        assert!(self.service.wait().unwrap().success(), "{}", self.text());
        let mut said = String::new();
        self.service.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        said
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // One that has ended needs no ending.
        self.service.kill().ok();
        self.service.wait().ok();
    }
}

const KEY: &str = "fh_keyOfATest";

fn keyed(roles: &str) -> String {
    let digest = model::digest::Digest::of(KEY.as_bytes()).hex();
    format!("[keys.ci]\nsha256 = '{digest}'\nroles = ['support']\n{roles}")
}

#[test]
fn a_reload_takes_over_everything_or_nothing() {
    let rest = keyed("[roles.support]\ntools = ['orders/get_order']\n");
    let world = accepted(&rest);
    let file = world.write("config/fumehood/beside", "").with_file_name("config.toml");
    let before = fs::read_to_string(&file).unwrap();
    let served = Served::start(&world, &[]);
    let bearer = format!("authorization: Bearer {KEY}");
    let names = || {
        let told: Value = serde_json::from_str(&served.ask("/v1/tools", &["-H", &bearer])).unwrap();
        let tools = told.get("tools").and_then(Value::as_array).unwrap();
        tools
            .iter()
            .map(|tool| tool.get("name").and_then(Value::as_str).unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(), ["orders__get_order"]);

    // One mistake anywhere, and not even what is right is taken over.
    fs::write(&file, before.replace("orders/get_order", "orders/*") + "[roles.other]\ntool = ['*']\n")
        .unwrap();
    served.reload();
    let message = "the configuration is wrong; what was in force stays so";
    assert!(within(Duration::from_secs(30), || served.line(message).is_some()), "{}", served.text());
    let problem = served.line(message).unwrap();
    assert!(
        problem.get("problem").and_then(Value::as_str).unwrap().contains("unknown key `tool`"),
        "{problem}"
    );
    assert_eq!(names(), ["orders__get_order"]);

    fs::write(&file, before.replace("orders/get_order", "orders/*")).unwrap();
    served.reload();
    assert!(within(Duration::from_secs(30), || served.line("reloaded").is_some()), "{}", served.text());
    assert_eq!(names(), ["orders__cancel", "orders__get_order"]);

    // A key that is taken out is nobody's from then on.
    let without = before.split_once("[keys.ci]").unwrap().0.to_owned();
    fs::write(&file, without).unwrap();
    served.reload();
    let refused =
        || served.ask("/v1/tools", &["-H", &bearer, "-o", "/dev/null", "-w", "%{http_code}"]) == "401";
    assert!(within(Duration::from_secs(30), refused), "{}", served.text());
    assert_eq!(served.end(), "", "stdout is nobody's");
}

#[test]
fn the_log_holds_neither_keys_nor_arguments() {
    let world = accepted(&keyed("[roles.support]\ntools = ['orders/*']\n"));
    let served = Served::start(&world, &[]);
    let bearer = format!("authorization: Bearer {KEY}");
    let block = r#"{"type":"tool_use","id":"t1","name":"orders__get_order","input":{"id":"canary-argument","user_id":"u"}}"#;
    let answer =
        served.ask("/v1/tool-calls", &["-H", &bearer, "-H", "content-type: application/json", "-d", block]);
    assert!(answer.contains("order of u"), "{answer}\n{}", served.text());
    served.ask("/v1/tools", &["-H", "authorization: Bearer fh_wrong-canary"]);
    served.ask("/v1/tools", &["-H", "authorization: Bearer eyJ0eXAiOiJKV1QifQ.Y2FuYXJ5.c2ln"]);
    let log = served.text();
    // It does tell that somebody came who is not known.
    assert!(log.contains("not recognised"), "{log}");
    for secret in [KEY, "canary-argument", "wrong-canary", "Y2FuYXJ5", "order of u"] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
    for line in log.lines() {
        assert!(serde_json::from_str::<Value>(line).is_ok(), "{line}");
    }
    served.end();
}
