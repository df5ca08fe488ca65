//! A real server that speaks streamable HTTP on a port inside its cell.

use std::{
    env,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::PathBuf,
    process::Stdio,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use testkit::world::{Caller, skip};

use crate::{origin::Origin, scene::world};

#[test]
fn a_streamable_http_server_is_reached_over_loopback() {
    let cache = env::var_os("FUMEHOOD_CACHE")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.cache")), PathBuf::from);
    let packages = cache.join("npm");
    let script = packages.join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    if !script.is_file() {
        return skip("a streamable HTTP server in a cell", "it is not among the test packages");
    }
    let origin = Origin::web("127.0.0.1:0");
    for caller in Caller::all() {
        let world = world(caller, &origin);
        let text = format!(
            "[servers.everything]\ncommand = [\"node\", \"{}\", \"streamableHttp\"]\nenv = {{ PORT = \"3001\" }}\n\
             mounts = [\"{}\"]\ntransport = \"http\"\nport = 3001\nlimits.require = []\n",
            script.display(),
            packages.display()
        );
        let mut config = std::fs::read_to_string(world.path("config/fumehood/config.toml")).unwrap();
        config.push_str(&text);
        world.make_file("config/fumehood/config.toml", &config, 0o600).unwrap();
        let mut command = world.product(None);
        command.args(["run", "everything"]);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let place = loop {
            let mut line = String::new();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "it ended");
            if let Some((_, rest)) = line.split_once("is at http://") {
                break rest.split(' ').next().unwrap().to_owned();
            }
        };
        let answer = initialize(&place);
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.contains("\"serverInfo\""),
            "{caller:?} {answer}"
        );

        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
        child.wait().unwrap();
        assert!(TcpStream::connect(&place).is_err());
    }
}

fn initialize(place: &str) -> String {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let mut stream = TcpStream::connect(place).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {place}\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = Vec::new();
    // The stream of events may stay open: what came until then is looked at.
    stream.read_to_end(&mut answer).ok();
    String::from_utf8_lossy(&answer).into_owned()
}
