//! The edge of cells: what it logs, what is changed there while a server runs, and what is reached through it. What has to
//! answer listens on loopback.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on should end")]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    time::Duration,
};

use cell_api::{
    client::{Client, ClientError},
    error::ErrorCode,
    network::NetworkOrder,
};
use insta::assert_snapshot;
use serde_json::Value;

use super::world::{World, signal, within};

#[test]
fn no_log_of_the_edge() {
    let world = World::new();
    assert_snapshot!(world.said(&["egress", "log", "weather"]), @r##"
    exit code 1
    --- stderr
    fumehood: nothing is known of the network of a cell called `weather`
    fumehood: help: logs lie in `ROOT/state/fumehood/egress`
    "##);
    assert_snapshot!(world.said(&["egress", "log", "--follow"]), @r##"
    exit code 1
    --- stderr
    fumehood: nothing is known of the network of any cell
    fumehood: help: only a running cell can be followed
    "##);
}

#[test]
fn a_log_of_the_edge_with_each_entry_once_and_in_its_last_state() {
    let world = World::new();
    let refused = |revision: u64, count: u64| {
        format!(
            "{{\"number\":0,\"revision\":{revision},\"count\":{count},\"first_ms\":0,\"last_ms\":{count}000,\"event\":\"refused\",\
             \"code\":\"FH-EGRESS-HOST\",\"message\":\"`a.example.com:443`: no\",\"host\":\"a.example.com\",\"port\":443,\
             \"rule\":null,\"remedy\":\"fumehood allow weather a.example.com\"}}\n"
        )
    };
    let closed = "{\"number\":1,\"revision\":2,\"count\":1,\"first_ms\":0,\"last_ms\":0,\"event\":\"closed\",\"flow\":1,\
                  \"host\":\"b.example.com\",\"port\":443,\"sent\":10,\"received\":20,\"end\":\"cut\"}\n";
    let file = "state/fumehood/egress/weather/20260102T000000Z-bbbbbbbbbbbb.log";
    world.write(file, &format!("{}{closed}{}", refused(1, 1), refused(3, 2)));
    world.write("state/fumehood/egress/weather/20260101T000000Z-aaaaaaaaaaaa.log", &refused(1, 9));
    assert_snapshot!(world.said(&["egress", "log", "weather"]), @r##"
    exit code 0
    --- stdout
    1970-01-01T00:00:02Z weather refused `a.example.com:443`: no [FH-EGRESS-HOST] (2 times); fumehood allow weather a.example.com
    1970-01-01T00:00:00Z weather closed `b.example.com:443` (cut): 10 bytes out, 20 in
    "##);
    assert_snapshot!(world.said(&["egress", "log", "aaaaaaaaaaaa"]), @r##"
    exit code 0
    --- stdout
    1970-01-01T00:00:09Z weather refused `a.example.com:443`: no [FH-EGRESS-HOST] (9 times); fumehood allow weather a.example.com
    "##);
    let json = world.run_with("", &["egress", "log", "--json"]);
    let first: Value =
        serde_json::from_slice(json.stdout.split(|byte| *byte == b'\n').next().unwrap()).unwrap();
    assert_eq!((&first["count"], &first["server"]), (&Value::from(2), &Value::from("weather")));
}

/// Sends back what it gets.
fn origin() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut buffer = [0; 1024];
                while let Ok(read @ 1..) = stream.read(&mut buffer) {
                    if stream.write_all(&buffer[..read]).is_err() {
                        return;
                    }
                }
            });
        }
    });
    port
}

#[test]
fn a_host_is_refused_with_its_remedy_then_allowed_then_cut() {
    let world = World::new();
    let port = origin();
    world.write(
        "config/fumehood/config.toml",
        &format!("[upstreams.\"echo.example\"]\naddress = \"127.0.0.1:{port}\"\nloopback = true\n"),
    );
    // Bash speaks TCP by itself: each line of stdin is sent over a connection of its own, the last one stays open.
    // What it says has to look like the protocol, which is all that passes.
    let script = "say() { echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"'$1'\"}'; }; while read -r line; do exec 3<>/dev/tcp/echo.example/7 && echo \"$line\" >&3 && read -r answer <&3 && \
                  say \"$answer\" || say none; done; \
                  read -r answer <&3 && say late || say cut";
    let mut run = world
        .command(&["run", "--unreviewed", "--name", "talker", "--", "bash", "-c", script])
        .spawn()
        .unwrap();
    assert!(within(Duration::from_secs(20), || !world.cells().is_empty()), "no cell came up");
    let mut stdin = run.stdin.take().unwrap();
    let mut stdout = BufReader::new(run.stdout.take().unwrap());
    let mut answer = || {
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        serde_json::from_str::<Value>(&line).unwrap()["result"].as_str().unwrap().to_owned()
    };
    stdin.write_all(b"one\n").unwrap();
    assert_eq!(answer(), "none");
    let rule = "tcp://echo.example:7";
    let said = world.said(&["allow", "-y", "talker", rule]);
    assert!(said.contains("cut 0 connections, 0 go on") && said.contains("config.toml"), "{said}");
    stdin.write_all(b"two\n").unwrap();
    assert_eq!(answer(), "two");
    let listed = world.said(&["ps", "-v"]);
    assert!(listed.contains("HOSTS  OPEN"), "{listed}");
    let check = world.run_with("", &["egress", "check", "talker", rule]);
    assert!(
        String::from_utf8_lossy(&check.stdout).contains(&format!("to 127.0.0.1:{port}")),
        "{}",
        world.shown(&check)
    );
    let said = world.said(&["deny", "talker", rule]);
    assert!(said.contains("cut 1 connection, 0 go on"), "{said}");
    // The connection was cut before `deny` returned: what the server reads next is its end.
    drop(stdin);
    assert_eq!(answer(), "cut");
    let mut stderr = String::new();
    run.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    run.wait().unwrap();
    assert!(
        stderr.contains("talker was refused: `echo.example`") && stderr.contains("FH-EGRESS-HOST"),
        "{stderr}"
    );
    assert!(stderr.contains("help: `fumehood allow talker echo.example`"), "{stderr}");
    let log = world.said(&["egress", "log", "talker"]);
    for part in [
        "refused",
        "opened `echo.example:7` (tcp)",
        "changed +tcp://echo.example:7",
        "closed `echo.example:7` (cut)",
    ] {
        assert!(log.contains(part), "{part} is not in\n{log}");
    }
    let shown = std::fs::read_to_string(world.project().join("../config/fumehood/config.toml")).unwrap();
    assert!(shown.contains("talker = []"), "{shown}");
}

/// Answers every HTTP request on loopback with 200.
fn web_origin() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = BufReader::new(stream.try_clone().unwrap());
            let mut line = String::new();
            while head.read_line(&mut line).is_ok_and(|length| length > 2) {
                line.clear();
            }
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").ok();
        }
    });
    port
}

#[test]
fn a_request_is_refused_with_its_remedy_then_allowed_then_denied() {
    let world = World::new();
    world.write(
        "config/fumehood/config.toml",
        &format!(
            "[upstreams.\"api.example\"]\naddress = \"127.0.0.1:{}\"\nloopback = true\n\
             [allow]\nasker = [\"GET http://api.example:8080/a/*\"]\n",
            web_origin()
        ),
    );
    let script = "while read -r line; do exec 3<>/dev/tcp/api.example/8080; \
                  printf '%s HTTP/1.1\\r\\nHost: api.example:8080\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n' \"$line\" >&3; \
                  read -r _ status _ <&3; exec 3>&-; \
                  echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"'$status'\"}'; done";
    let mut run = world
        .command(&["run", "--unreviewed", "--name", "asker", "--", "bash", "-c", script])
        .spawn()
        .unwrap();
    assert!(within(Duration::from_secs(20), || !world.cells().is_empty()), "no cell came up");
    let mut stdin = run.stdin.take().unwrap();
    let mut stdout = BufReader::new(run.stdout.take().unwrap());
    let mut ask = |request: &str| {
        stdin.write_all(format!("{request}\n").as_bytes()).unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        serde_json::from_str::<Value>(&line).unwrap()["result"].as_str().unwrap().to_owned()
    };
    assert_eq!(ask("GET /a/x?q=1"), "200");
    assert_eq!(ask("GET /a/../b"), "403");
    assert_eq!(ask("POST /a/x"), "403");
    let log = world.said(&["egress", "log", "asker"]);
    let line = "fumehood allow asker 'POST http://api.example:8080/a/x'";
    assert!(
        log.contains("FH-REQUEST-METHOD") && log.contains("FH-REQUEST-PATH") && log.contains(line),
        "{log}"
    );
    let rule = "POST http://api.example:8080/a/x";
    let said = world.said(&["allow", "-y", "asker", rule]);
    assert!(said.starts_with("exit code 0"), "{said}");
    assert_eq!(ask("POST /a/x"), "200");
    assert_eq!(ask("GET /a/x"), "200");
    let check = world.said(&["egress", "check", "asker", "http://api.example:8080/a/x", "--method", "POST"]);
    assert!(check.contains(&format!("by the rule `{rule}` (http)")), "{check}");
    let said = world.said(&["deny", "asker", rule]);
    assert!(said.starts_with("exit code 0"), "{said}");
    assert_eq!(ask("POST /a/x"), "403");
    drop(stdin);
    run.wait().unwrap();
}

#[test]
fn a_change_once_is_in_no_file() {
    let world = World::new();
    let (mut run, _) = world.start(&["run", "--unreviewed", "--name", "shy", "--", "cat"]);
    let said = world.said(&["allow", "-y", "--once", "shy", "a.example.com"]);
    assert!(said.contains("cut 0 connections"), "{said}");
    assert!(!world.project().join("../config/fumehood/config.toml").exists());
    drop(run.stdin.take());
    run.wait().unwrap();
    let said = world.said(&["allow", "-y", "--once", "shy", "a.example.com"]);
    assert!(said.starts_with("exit code 1"), "{said}");
}

#[tokio::test]
async fn the_api_refuses_what_would_undo_another_change_and_a_port_where_nobody_is() {
    let world = World::new();
    let (mut run, cell) = world.start(&["run", "--unreviewed", "--name", "asked", "--", "cat"]);
    let folder = world.state().join("cells").join(&cell.id);
    let mut client = Client::connect(&folder).await.unwrap();
    let order = |hosts: &[&str], generation: Option<u64>| NetworkOrder {
        hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
        if_generation: generation,
    };
    let code = |error: ClientError| match error {
        ClientError::Refused(body) => body.code,
        other => panic!("{other}"),
    };
    let before = client.network().await.unwrap().generation;
    let changed = client.set_network(&order(&["a.example.com"], Some(before))).await.unwrap();
    assert_eq!((changed.generation, changed.hosts), (before + 1, vec!["a.example.com".to_owned()]));
    let late = client.set_network(&order(&["b.example.com"], Some(before))).await;
    assert_eq!(code(late.unwrap_err()), ErrorCode::State);
    assert_eq!(client.network().await.unwrap().hosts, ["a.example.com"]);
    assert_eq!(code(client.set_network(&order(&["10.0.0.1"], None)).await.unwrap_err()), ErrorCode::Spec);
    let nobody = Client::connect(&folder).await.unwrap().connect_inside(8080).await;
    assert_eq!(code(nobody.unwrap_err()), ErrorCode::Port);
    let none = Client::connect(&folder).await.unwrap().connect_inside(0).await;
    assert_eq!(code(none.unwrap_err()), ErrorCode::Spec);
    drop(run.stdin.take());
    run.wait().unwrap();
}

#[test]
fn a_server_that_listens_inside_is_reached_from_this_machines_loopback_and_from_nowhere_else() {
    let world = World::new();
    let script = "import http.server as h\nh.HTTPServer(('127.0.0.1', 8080), h.SimpleHTTPRequestHandler).serve_forever()";
    world.write(
        "project/fumehood.toml",
        &format!(
            "[servers.web]\ncommand = [\"python3\", \"-c\", \"{}\"]\ntransport = \"http\"\nport = 8080\n",
            script.replace('\n', "\\n")
        ),
    );
    world.trust();
    let mut run = world.command(&["run", "--unreviewed", "web"]).spawn().unwrap();
    // Its end says nothing about a server that listens.
    drop(run.stdin.take());
    let mut stderr = BufReader::new(run.stderr.take().unwrap());
    let place = loop {
        let mut line = String::new();
        assert!(stderr.read_line(&mut line).unwrap() > 0, "it ended");
        if let Some((_, rest)) = line.split_once("is at http://") {
            break rest.split(' ').next().unwrap().to_owned();
        }
    };
    assert!(place.starts_with("127.0.0.1:"), "{place}");
    let mut stream = TcpStream::connect(&place).unwrap();
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
    signal(i32::try_from(run.id()).unwrap(), rustix::process::Signal::TERM);
    assert_eq!(run.wait().unwrap().code(), Some(143));
    assert!(TcpStream::connect(&place).is_err());
}
