//! Real servers from npm and PyPI, with name and version: added and accepted without a terminal, then started with their
//! registry out of reach, compared with what they are without us, and called; then the same behind the service.

use std::time::Instant;

use serde_json::Value;
use testkit::world::{Caller, skip};

mod machine;
mod server;
mod service;
mod table;
mod talk;
mod unreachable;

use machine::Machine;
use server::Client;
use service::Service;
use table::SERVERS;
use talk::Talk;
use unreachable::Unreachable;

/// What `add` ends with where nobody could be asked.
const NOT_ACCEPTED: i32 = 11;
/// What `run` ends with where the server is not what was accepted.
const CHANGED: i32 = 10;
/// As whom the product presents itself to every server, whoever its client is.
const PRESENTED: &str = "fumehood";

fn used(name: &str, caller: Caller) {
    let server = SERVERS.iter().find(|server| server.name == name).unwrap();
    let Some(machine) = Machine::new(server, caller) else { return };

    let begun = Instant::now();
    let added = machine.add();
    let install = begun.elapsed();
    if added.code != Some(NOT_ACCEPTED) && machine.ask().code != Some(0) {
        skip(name, "its registry is out of reach");
        return;
    }
    assert_eq!(added.code, Some(NOT_ACCEPTED), "{added:?}");
    let unaccepted = machine.listed();
    assert_eq!(unaccepted["standing"], "unaccepted", "{unaccepted}");
    let fingerprint = unaccepted["fingerprint"].as_str().unwrap();
    assert!(added.stdout.contains(fingerprint) && added.stderr.contains(fingerprint), "{added:?}");
    let accepted = machine.product(&["review", name, "--accept", fingerprint]);
    assert_eq!(accepted.code, Some(0), "{accepted:?}");
    assert_eq!(machine.listed()["standing"], "ready");

    let mut bare = Talk::begin(&mut machine.bare_start(), PRESENTED);
    let bare_tools = machine.placed_inside(&bare.tools());
    bare.end();
    assert!(!bare_tools.is_empty());
    for tool in &bare_tools {
        let title = format!("== tool {} (", tool["name"].as_str().unwrap());
        assert!(added.stdout.contains(&title), "`{title}` was not shown: {}", added.stdout);
    }

    let registry = Unreachable::open().unwrap();
    machine.cut_off(&registry);
    let logs = machine.network_logs();
    let begun = Instant::now();
    let mut talk = Talk::begin(&mut machine.start(), "test");
    let tools = talk.tools();
    let listed = begun.elapsed();
    if server.tells_of_machine {
        assert_eq!(names(&tools), names(&bare_tools));
    } else {
        assert_eq!(tools, bare_tools);
    }
    let arguments = server.call.arguments(&machine.world.path("work").display().to_string());
    let answer = talk.call(server.call.tool, &arguments);
    assert!(is_its_own(&answer, server.call.says), "{}: {answer}", server.call.tool);
    let called = begun.elapsed();
    let running = machine.product(&["ps", "--json"]);
    let cells: Vec<Value> = serde_json::from_str(&running.stdout).unwrap();
    assert!(cells.len() == 1 && cells[0]["name"] == name, "{running:?}");
    // Of a running cell, its supervisor is asked.
    let log = machine.product(&["egress", "log", name, "--json"]);
    assert_eq!(log.code, Some(0), "{log:?}");
    let mut tried = refused(&log.stdout);
    let (code, said) = talk.end();
    // Servers end as they like when their client leaves.
    assert_ne!(code, Some(CHANGED), "{said}");
    // A cell that used the network, or tried to, has a log; of one that has ended, that is read.
    if machine.network_logs() == logs {
        assert!(tried.is_empty(), "{log:?}");
    } else {
        tried = refused(&machine.product(&["egress", "log", name, "--json"]).stdout);
    }
    assert_eq!(machine.listed()["standing"], "ready");

    let service = Service::begin(&machine, name);
    assert_eq!(service.tools(), tools);
    let behind = service.call(server.call.tool, &arguments);
    if server.remembers {
        assert!(is_its_own(&behind, ""), "{behind}");
    } else {
        assert_eq!(as_in_a_session(&behind), as_in_a_session(&answer));
    }
    drop(service);
    assert_eq!(registry.visits(), 0);
    assert_eq!(machine.listed()["standing"], "ready");
    // Control: the package client, configured as it is, goes there.
    let asked = machine.ask();
    assert!(asked.code != Some(0) && registry.visits() > 0, "{asked:?}");

    eprintln!(
        "| {} | {} | {} | `{}` | {:.1} s | {} ms | {} ms | {} | {} |",
        server.name,
        server.source,
        tools.len(),
        unaccepted["short"].as_str().unwrap(),
        install.as_secs_f32(),
        listed.as_millis(),
        called.as_millis(),
        server.call.tool,
        tried.join(", "),
    );
}

/// Whether an answer holds this, and is none in the server's place.
fn is_its_own(answer: &Value, says: &str) -> bool {
    let text = answer.to_string();
    text.contains(says) && !text.contains("FH-")
}

/// What came of a call, less what a request that stands for itself is told besides.
fn as_in_a_session(answer: &Value) -> Value {
    let Some(error) = answer.get("error") else {
        let mut result = answer["result"].clone();
        result.as_object_mut().unwrap().remove("resultType");
        result["_meta"].as_object_mut().unwrap().remove("io.modelcontextprotocol/serverInfo");
        return result;
    };
    error.clone()
}

fn names(tools: &[Value]) -> Vec<&Value> {
    tools.iter().map(|tool| &tool["name"]).collect()
}

/// What a network's log says was refused; nothing else may be in it.
fn refused(log: &str) -> Vec<String> {
    let entries = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let refused = entries.map(|entry| {
        assert_eq!(entry["event"], "refused", "{entry}");
        entry["host"].as_str().unwrap_or_else(|| panic!("{entry}")).to_owned()
    });
    let mut hosts: Vec<String> = refused.collect();
    hosts.sort();
    hosts.dedup();
    hosts
}

/// One test a server and account, by the name of its module in the table.
macro_rules! servers {
    ($($test:ident = $server:literal as $caller:ident;)*) => {
        $(
            #[test]
            fn $test() {
                used($server, Caller::$caller);
            }
        )*
        /// The servers that have a test.
        const TRIED: &[&str] = &[$($server),*];
    };
}

servers! {
    slack = "slack" as Ordinary;
    github = "github" as Root;
    playwright = "playwright" as Ordinary;
    chrome_devtools = "chrome-devtools" as Root;
    time = "time" as Ordinary;
    calculator = "calculator" as Root;
    shell = "shell" as Ordinary;
    long_everything = "everything" as Root;
    long_filesystem = "filesystem" as Ordinary;
    long_sequential_thinking = "sequential-thinking" as Root;
    long_memory = "memory" as Ordinary;
    long_context7 = "context7" as Root;
    long_notion = "notion" as Ordinary;
    long_firecrawl = "firecrawl" as Root;
    long_tavily = "tavily" as Ordinary;
    long_exa = "exa" as Root;
    long_brave_search = "brave-search" as Ordinary;
    long_kubernetes = "kubernetes" as Root;
    long_sentry = "sentry" as Ordinary;
    long_mongodb = "mongodb" as Root;
    long_figma = "figma" as Ordinary;
    long_desktop_commander = "desktop-commander" as Root;
    long_commands = "commands" as Ordinary;
    long_git_cyanheads = "git-cyanheads" as Root;
    long_fetch_kazuph = "fetch-kazuph" as Ordinary;
    long_fetch_tokenizin = "fetch-tokenizin" as Root;
    long_hello_world = "hello-world" as Ordinary;
    long_elasticsearch = "elasticsearch" as Root;
    long_fetch = "fetch" as Ordinary;
    long_git = "git" as Root;
    long_sqlite = "sqlite" as Ordinary;
    long_duckduckgo = "duckduckgo" as Root;
    long_arxiv = "arxiv" as Ordinary;
    long_wikipedia = "wikipedia" as Root;
    long_excel = "excel" as Ordinary;
    long_word = "word" as Root;
    long_duckdb = "duckdb" as Ordinary;
    long_aws_documentation = "aws-documentation" as Root;
    long_atlassian = "atlassian" as Ordinary;
    long_blender = "blender" as Root;
}

#[test]
fn every_server_of_the_table_has_its_test() {
    let names: Vec<&str> = SERVERS.iter().map(|server| server.name).collect();
    assert_eq!(names, TRIED);
    let of_npm = SERVERS.iter().filter(|server| server.client() == Client::Npm).count();
    assert!(of_npm >= 13 && SERVERS.len() - of_npm >= 8, "{of_npm} of {}", SERVERS.len());
}
