//! The same server behind the service, where it has an address of its own.

use std::{
    fmt::Write as _,
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Stdio},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::machine::Machine;

/// The key of its one caller.
const KEY: &str = "fh_published";
/// How long one answer may take on a machine that is busy: the first one waits for a cell.
const PATIENCE: Duration = Duration::from_mins(1);

/// The running service.
pub(crate) struct Service {
    program: Child,
    address: String,
    /// Below it, the server alone.
    path: String,
}

impl Service {
    /// Starts it with what the user has added and accepted, and with one caller who may use everything.
    pub(crate) fn begin(machine: &Machine, server: &str) -> Self {
        let file = machine.world.path("config/fumehood/config.toml");
        let digest = Sha256::digest(KEY).iter().fold(String::new(), |mut digest, byte| {
            write!(digest, "{byte:02x}").unwrap();
            digest
        });
        let text = format!(
            "{}\n[roles.all]\ntools = [\"*\"]\n[keys.test]\nsha256 = \"{digest}\"\nsubject = \"test\"\nroles = [\"all\"]\n",
            fs::read_to_string(file).unwrap()
        );
        machine.world.make_file("config/fumehood/config.toml", &text, 0o600).unwrap();
        let mut command = machine.command();
        command.args(["serve", "--json", "--listen", "127.0.0.1:0"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut program = command.spawn().unwrap();
        let mut lines = BufReader::new(program.stderr.take().unwrap()).lines();
        let mut said = Vec::new();
        let address = loop {
            let Some(Ok(line)) = lines.next() else { panic!("it does not serve: {said:?}") };
            let told: Value = serde_json::from_str(&line).unwrap_or_default();
            if told["message"] == "serving" {
                break told["address"].as_str().unwrap().to_owned();
            }
            said.push(line);
        };
        // It is never held up by a reader who has gone.
        thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Self { program, address, path: format!("/servers/{server}/mcp") }
    }

    /// The tools, by name.
    pub(crate) fn tools(&self) -> Vec<Value> {
        let answer = self.ask("tools/list", None, json!({}));
        let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
        assert!(answer["result"].get("nextCursor").is_none(), "more than one page");
        let mut tools = tools.clone();
        tools.sort_by_key(|tool| tool["name"].as_str().map(str::to_owned));
        tools
    }

    /// The answer to a call.
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", Some(tool), json!({"name": tool, "arguments": arguments}))
    }

    /// One request that stands for itself.
    fn ask(&self, method: &str, name: Option<&str>, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let name = name.map(|name| format!("mcp-name: {name}\r\n")).unwrap_or_default();
        let mut connection = TcpStream::connect(&self.address).unwrap();
        connection.set_read_timeout(Some(PATIENCE)).unwrap();
        let request = format!(
            "POST {} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {KEY}\r\naccept: application/json\r\n\
             content-type: application/json\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n{name}\
             connection: close\r\ncontent-length: {}\r\n\r\n{body}",
            self.path,
            self.address,
            body.len()
        );
        connection.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{answer}"));
        serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}"))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // By the signal upon which it ends its cells. One that is gone is what is wanted.
        kill_process(Pid::from_child(&self.program), Signal::TERM).ok();
        self.program.wait().unwrap();
    }
}
