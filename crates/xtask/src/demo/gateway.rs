//! Two users behind one address: what each sees, what each may do, as whom it is done, and the record of it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::Act;
use super::home::Home;
use super::pinned;

/// The server of the shop.
const ORDERS: &str = "orders";

/// A service that ends with the act.
struct Service {
    child: Child,
    address: String,
}

impl Drop for Service {
    fn drop(&mut self) {
        // So that it ends its cells; one that is gone is what is wanted.
        Command::new("kill").arg(self.child.id().to_string()).status().ok();
        self.child.wait().ok();
    }
}

/// Shows it.
pub(super) fn show(home: &Home) -> Result<Act> {
    println!("\nTwo users, one address: alice is a customer, bob works in support");
    let script = home.tool("orders.mjs")?;
    let folder = script.parent().and_then(Path::to_str).context("no folder")?;
    let script = script.to_str().context("no path")?;
    pinned::add(home, ORDERS, &["--mount", folder, "--", "node", script])?;
    let (alice, bob) = (key(home)?, key(home)?);
    let before = fs::read_to_string(home.path("home/.config/fumehood/config.toml"))?;
    home.configure(&format!("{before}{}", configuration(&alice.1, &bob.1)))?;
    // Its tiers and bound parameters are part of what is accepted.
    let fingerprint = pinned::add_again(home, ORDERS)?;
    pinned::accept(home, ORDERS, &fingerprint)?;

    println!("  $ fumehood serve");
    let service = serve(home)?;
    let (alice, bob) =
        (Caller { service: &service, key: &alice.0 }, Caller { service: &service, key: &bob.0 });
    let (of_alice, of_bob) = (alice.tools()?, bob.tools()?);
    println!("  alice's model is offered: {}", names(&of_alice).join(", "));
    println!("  bob's model is offered:   {}", names(&of_bob).join(", "));
    let are_different =
        !of_alice.to_string().contains("issue_refund") && of_bob.to_string().contains("issue_refund");
    let is_hidden = !of_alice.to_string().contains("user_id");

    let own = alice.call("orders__list_orders", &json!({}))?;
    println!("  alice: list_orders()                        {own}");
    let spoofed = alice.call("orders__list_orders", &json!({ "user_id": "bob" }))?;
    println!("  alice: list_orders(user_id: \"bob\")          {spoofed}");
    let foreign = alice.call("orders__get_order", &json!({ "order_id": "ORD-100002" }))?;
    println!("  alice: get_order(bob's order)               {foreign}");
    let malformed = alice.call("orders__get_order", &json!({ "order_id": "1 OR 1=1" }))?;
    println!("  alice: get_order(\"1 OR 1=1\")                {malformed}");
    let admin = alice.call("orders__issue_refund", &json!({ "order_id": "ORD-100001" }))?;
    println!("  alice: issue_refund(her order)              {admin}");
    let nothing = alice.call("orders__no_such_tool", &json!({}))?;
    let permitted = bob.call("orders__issue_refund", &json!({ "order_id": "ORD-100001" }))?;
    println!("  bob:   issue_refund(alice's order)          {permitted}");
    drop(service);

    println!("  $ fumehood audit search --server orders");
    let found = home.fumehood().args(["audit", "search", "--server", ORDERS]).output()?;
    for line in String::from_utf8_lossy(&found.stdout).lines() {
        println!("    {line}");
    }
    println!("  $ fumehood audit verify");
    let verified = home.fumehood().args(["audit", "verify"]).output()?;
    for line in [&verified.stdout, &verified.stderr].iter().flat_map(|bytes| bytes.split(|b| *b == b'\n')) {
        println!("    {}", String::from_utf8_lossy(line));
    }
    let held = are_different
        && is_hidden
        && own.contains("kettle")
        && !own.contains("lamp")
        && spoofed.contains("FH-BINDING-CONFLICT")
        && !foreign.contains("lamp")
        && malformed.contains("FH-ARGUMENTS-SCHEMA")
        && admin.replace("issue_refund", "no_such_tool") == nothing
        && permitted.contains("refunded")
        && found.status.success()
        && verified.status.success();
    Ok(Act {
        held,
        proved: &[
            "two users of one address saw different tools, each acted as nobody but itself whatever its model said,",
            "  a tool that one may not use was not there for it, and the record of all that is whole",
        ],
    })
}

fn configuration(alice: &str, bob: &str) -> String {
    format!(
        r#"
[servers.{ORDERS}.tools.list_orders]
tier = 1
bind.user_id = "subject"
[servers.{ORDERS}.tools.get_order]
tier = 1
bind.user_id = "subject"
[roles.customer]
tools = ["{ORDERS}/list_orders", "{ORDERS}/get_order"]
[roles.support]
tools = ["{ORDERS}/*"]
[keys.alice]
sha256 = "{alice}"
subject = "alice"
roles = ["customer"]
[keys.bob]
sha256 = "{bob}"
subject = "bob"
roles = ["support"]
"#
    )
}

/// A key, and its digest.
fn key(home: &Home) -> Result<(String, String)> {
    let made = home.fumehood().args(["serve", "--new-key", "demo", "--json"]).output()?;
    let made: Value = serde_json::from_slice(&made.stdout).context("`fumehood serve --new-key`")?;
    let text = |name: &str| made.get(name).and_then(Value::as_str).map(str::to_owned).context("no key");
    Ok((text("key")?, text("sha256")?))
}

fn serve(home: &Home) -> Result<Service> {
    let mut command = home.fumehood();
    command.args(["serve", "--listen", "127.0.0.1:0", "--json"]).stdin(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let mut stderr = BufReader::new(child.stderr.take().context("no stderr")?);
    let mut said = String::new();
    loop {
        let mut line = String::new();
        if stderr.read_line(&mut line)? == 0 {
            child.wait()?;
            bail!("the service did not start: {said}");
        }
        let told: Value = serde_json::from_str(&line).unwrap_or_default();
        if told.get("message").and_then(Value::as_str) == Some("serving") {
            let address = told.get("address").and_then(Value::as_str).context("no address")?.to_owned();
            // What it says further on must not hold it up.
            thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
            return Ok(Service { child, address });
        }
        said.push_str(&line);
    }
}

/// An application that works for one user.
struct Caller<'a> {
    service: &'a Service,
    key: &'a str,
}

impl Caller<'_> {
    fn tools(&self) -> Result<Value> {
        self.ask("GET", "/v1/tools?server=orders", "")
    }

    /// What the model reads as the result of its `tool_use`.
    fn call(&self, name: &str, input: &Value) -> Result<String> {
        let asked = json!({ "type": "tool_use", "id": "toolu_1", "name": name, "input": input });
        let turn = self.ask("POST", "/v1/tool-calls", &asked.to_string())?;
        let text = turn.pointer("/content/0/content/0/text").or_else(|| turn.pointer("/content/0/content"));
        let text = text.and_then(Value::as_str).with_context(|| turn.to_string())?;
        Ok(text.lines().next().unwrap_or_default().to_owned())
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> Result<Value> {
        let Self { service: Service { address, .. }, key } = self;
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_mins(1)))?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").context("no answer")?;
        serde_json::from_str(body).with_context(|| format!("{head}: {body}"))
    }
}

fn names(tools: &Value) -> Vec<&str> {
    let tools = tools.get("tools").and_then(Value::as_array).into_iter().flatten();
    tools.filter_map(|tool| tool.get("name").and_then(Value::as_str)).collect()
}
