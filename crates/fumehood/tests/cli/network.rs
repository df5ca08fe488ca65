//! What a server may reach, said in files and flags, and asked about. Nothing here leaves the machine: names are those
//! of RFC 2606.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should end")]

use std::{
    io::Write,
    os::unix::fs::PermissionsExt,
    process::{Command, Stdio},
};

use insta::assert_snapshot;

use super::world::World;

const PROJECT: &str = r#"# Ours.
[servers.weather] # the one that asks
command = ["cat"]
hosts = [
  "api.example.com", # paid
]
"#;

fn shown_file(world: &World, path: &str) -> String {
    std::fs::read_to_string(world.project().parent().unwrap().join(path)).unwrap()
}

#[test]
fn wrong_rules_are_told_where_they_stand() {
    let world = World::new();
    world.write(
        "project/fumehood.toml",
        "[servers.weather]\ncommand = [\"cat\"]\nhosts = [\"10.1.2.3\", \"*.com\", \"GET tcp://x.example:1\"]\n\
         [upstreams.\"x.example\"]\naddress = \"10.0.0.1\"\n",
    );
    assert_snapshot!(world.said(&["run", "weather"]), @r##"
    exit code 2
    --- stderr
    error: the host rule `10.1.2.3` names the IP address 10.1.2.3
     --> fumehood.toml:3:10
      |
    3 | hosts = ["10.1.2.3", "*.com", "GET tcp://x.example:1"]
      |          ^^^^^^^^^^
      = help: addresses are reached by a name: the operator writes `[upstreams."NAME"]` with `address = "10.1.2.3:443"` (and the port), then allow NAME

    error: the host rule `*.com` covers names of strangers: anybody can get a name under `com`
     --> fumehood.toml:3:22
      |
    3 | hosts = ["10.1.2.3", "*.com", "GET tcp://x.example:1"]
      |                      ^^^^^^^
      = help: name the one host, such as `mine.com`, or `*.mine.com` for all below it

    error: the host rule `GET tcp://x.example:1` has conditions on requests, and raw TCP has no requests
     --> fumehood.toml:3:31
      |
    3 | hosts = ["10.1.2.3", "*.com", "GET tcp://x.example:1"]
      |                               ^^^^^^^^^^^^^^^^^^^^^^^
      = help: leave methods and path out, or write `https://` or `http://` if HTTP is spoken there

    error: `upstreams` is said by the operator's file alone
     --> fumehood.toml:4:2
      |
    4 | [upstreams."x.example"]
      |  ^^^^^^^^^
      = help: where a name leads is not for a project to say, else it could lead into your network: put it into `config.toml`
    "##);
}

#[test]
fn wrong_upstreams_are_told_where_they_stand() {
    let world = World::new();
    world.write(
        "config/fumehood/config.toml",
        "[upstreams.\"a.example\"]\naddress = \"169.254.169.254\"\n[upstreams.\"b.example\"]\naddress = \"127.0.0.1:80\"\n\
         [egress]\nupstream_proxy = \"socks://x\"\n[allow]\nweather = [\"localhost\"]\n",
    );
    assert_snapshot!(world.said(&["run", "--", "cat"]), @r##"
    exit code 2
    --- stderr
    error: `a.example` is bound to 169.254.169.254, and no setting leads to an address of this kind (cloud metadata)
     --> ROOT/config/fumehood/config.toml:2:11
      |
    2 | address = "169.254.169.254"
      |           ^^^^^^^^^^^^^^^^^

    error: `b.example` is bound to 127.0.0.1, which is this machine itself
     --> ROOT/config/fumehood/config.toml:4:11
      |
    4 | address = "127.0.0.1:80"
      |           ^^^^^^^^^^^^^^
      = help: add `loopback = true` if the service of this machine is meant

    error: the proxy `socks://x` is not written as `http://host:port`
     --> ROOT/config/fumehood/config.toml:6:18
      |
    6 | upstream_proxy = "socks://x"
      |                  ^^^^^^^^^^^
      = help: write `http://proxy.example.com:3128`, or `http://user:password@…`

    error: the host rule `localhost` names the cell itself
     --> ROOT/config/fumehood/config.toml:8:12
      |
    8 | weather = ["localhost"]
      |            ^^^^^^^^^^^
      = help: a service of this machine is reached by a name that the operator binds to it: `[upstreams."NAME"]` with `address = "127.0.0.1:PORT"` and `loopback = true`
    "##);
}

#[test]
fn wrong_flags_are_told() {
    let world = World::new();
    assert_snapshot!(world.said(&["run", "--host", "a b", "--host", "tcp://db.example", "--", "cat"]), @r##"
    exit code 2
    --- stderr
    fumehood: `--host a b`: a host holds no blanks and no control characters
    fumehood: help: write `api.example.com`, `*.example.com`, `GET api.example.com/v1/*` or `tcp://db.example.com:5432`
    fumehood: `--host tcp://db.example`: the host rule `tcp://db.example` has no port
    fumehood: help: write `tcp://db.example.com:5432`
    "##);
    assert_snapshot!(world.said(&["run", "--publish", "0.0.0.0:80:80", "--", "cat"]), @r##"
    exit code 2
    --- stderr
    fumehood: `--publish 0.0.0.0:80:80`: only loopback is listened on
    fumehood: help: write `8080:80`, `127.0.0.1:8080:80` or `[::1]:8080:80`; port 0 is any that is free
    "##);
    assert_snapshot!(world.said(&["allow", "-y", "weather", "*.github.io", "x:99999"]), @r##"
    exit code 2
    --- stderr
    fumehood: the host rule `*.github.io` covers names of strangers: anybody can get a name under `github.io`
    fumehood: help: name the one host, such as `mine.github.io`, or `*.mine.github.io` for all below it
    fumehood: the host rule `x:99999` has a port that is not a number from 1 to 65535
    fumehood: help: write `host:8443`
    "##);
}

#[test]
fn allow_and_deny_change_the_projects_file_and_nothing_else_in_it() {
    let world = World::new();
    world.write("project/fumehood.toml", PROJECT);
    assert_snapshot!(world.said(&["allow", "--yes", "weather", "Tiles.Example.com", "tcp://db.example.com:5432"]), @r##"
    exit code 0
    --- stderr
    fumehood: `ROOT/project/fumehood.toml` lets weather reach tiles.example.com, tcp://db.example.com:5432
    "##);
    assert_snapshot!(shown_file(&world, "project/fumehood.toml"), @r##"
    # Ours.
    [servers.weather] # the one that asks
    command = ["cat"]
    hosts = [
      "api.example.com", # paid
      "tiles.example.com",
      "tcp://db.example.com:5432",
    ]
    "##);
    assert_snapshot!(world.said(&["allow", "--yes", "weather", "tiles.example.com"]), @r##"
    exit code 0
    --- stderr
    fumehood: weather may reach tiles.example.com already
    "##);
    assert_snapshot!(world.said(&["deny", "weather", "tiles.example.com", "tcp://db.example.com:5432"]), @r##"
    exit code 0
    --- stderr
    fumehood: `ROOT/project/fumehood.toml` no longer lets weather reach tiles.example.com, tcp://db.example.com:5432
    "##);
    assert_eq!(shown_file(&world, "project/fumehood.toml"), PROJECT);
    assert_snapshot!(world.said(&["deny", "weather", "tiles.example.com"]), @r##"
    exit code 1
    --- stderr
    fumehood: weather has no rule `tiles.example.com`
    fumehood: help: `fumehood egress check weather URL` says which rule lets a request through
    "##);
}

#[test]
fn a_server_of_the_operators_file_is_changed_there() {
    let world = World::new();
    let file = world.write("config/fumehood/config.toml", "[servers.own]\ncommand = [\"cat\"]\nhosts = []\n");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    assert_snapshot!(world.said(&["allow", "-y", "--json", "own", "a.example.com"]), @r##"
    exit code 0
    --- stdout
    {
      "cells": [],
      "file": "ROOT/config/fumehood/config.toml"
    }
    "##);
    assert_snapshot!(shown_file(&world, "config/fumehood/config.toml"), @r##"
    [servers.own]
    command = ["cat"]
    hosts = ["a.example.com"]
    "##);
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn a_server_nobody_declares_is_allowed_in_the_operators_file() {
    let world = World::new();
    assert_snapshot!(world.said(&["allow", "-y", "weather-mcp", "a.example.com"]), @r##"
    exit code 0
    --- stderr
    fumehood: `ROOT/config/fumehood/config.toml` lets weather-mcp reach a.example.com
    "##);
    let file = world.project().join("../config/fumehood/config.toml");
    assert_snapshot!(std::fs::read_to_string(&file).unwrap(), @r##"
    [allow]
    weather-mcp = ["a.example.com"]
    "##);
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_snapshot!(world.said(&["deny", "weather-mcp", "a.example.com"]), @r##"
    exit code 0
    --- stderr
    fumehood: `ROOT/config/fumehood/config.toml` no longer lets weather-mcp reach a.example.com
    "##);
}

#[test]
fn what_still_leads_to_a_host_is_said() {
    let world = World::new();
    world.write(
        "project/fumehood.toml",
        "[servers.db]\ncommand = [\"cat\"]\nhosts = [\"db.example.com\", \"*.example.com\"]\nports = [5432]\n",
    );
    assert_snapshot!(world.said(&["deny", "db", "tcp://db.example.com:5432"]), @r##"
    exit code 1
    --- stderr
    fumehood: `tcp://db.example.com:5432` is still given to db by its configuration
    fumehood: help: it follows from `ports`, or stands in another list
    "##);
    assert_snapshot!(world.said(&["deny", "db", "db.example.com"]), @r##"
    exit code 2
    --- stderr
    error: `ports` opens 5432 on no host
     --> ROOT/project/fumehood.toml as it would be:4:10
      |
    4 | ports = [5432]
      |          ^^^^
      = help: `ports` is about the hosts that are written as a name alone; write `"tcp://HOST:5432"` in `hosts`
    "##);
}

#[test]
fn nobody_is_asked_without_a_terminal() {
    let world = World::new();
    world.write("project/fumehood.toml", PROJECT);
    assert_snapshot!(world.said(&["allow", "weather", "b.example.com"]), @r##"
    exit code 12
    --- stderr
    fumehood: a server is allowed a host by a person at a terminal
    fumehood: help: run it at a terminal, or give `--yes` if a person has decided it
    "##);
    assert_eq!(shown_file(&world, "project/fumehood.toml"), PROJECT);
}

#[test]
fn a_person_at_a_terminal_is_asked() {
    let world = World::new();
    world.write("project/fumehood.toml", PROJECT);
    let ask = |answer: &str| {
        let allow = world.command(&["allow", "weather", "b.example.com"]);
        let line = format!("{} allow weather b.example.com", allow.get_program().display());
        // `script` (util-linux) gives it a terminal.
        let mut script = Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).current_dir(world.project()).env_clear();
        script.envs(allow.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(format!("{answer}\n").as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, said) = ask("");
    assert!(code == Some(12) && said.contains("let weather reach b.example.com? [y/N]"), "{code:?} {said}");
    assert_eq!(shown_file(&world, "project/fumehood.toml"), PROJECT);
    let (code, said) = ask("y");
    assert_eq!(code, Some(0), "{said}");
    assert!(shown_file(&world, "project/fumehood.toml").contains("\"b.example.com\""));
}

#[test]
fn a_file_that_cannot_be_read_is_not_written() {
    let world = World::new();
    world.write("config/fumehood/config.toml", "[allow\n");
    let said = world.said(&["allow", "-y", "weather", "b.example.com"]);
    assert!(said.starts_with("exit code 2"), "{said}");
    assert_eq!(shown_file(&world, "config/fumehood/config.toml"), "[allow\n");
}

#[test]
fn a_question_about_a_server_that_does_not_run() {
    let world = World::new();
    world.write("project/fumehood.toml", PROJECT);
    world.write(
        "config/fumehood/config.toml",
        "[upstreams.\"api.example.com\"]\naddress = \"10.1.2.3\"\n[allow]\nother = [\"http://api.example.com:8080\"]\n",
    );
    assert_snapshot!(world.said(&["egress", "check", "weather", "https://api.example.com/v1?q=1"]), @r##"
    exit code 0
    --- stdout
    allowed: `GET /v1` at `api.example.com:443` by the rule `api.example.com` (tls), to 10.1.2.3:443
    "##);
    assert_snapshot!(world.said(&["egress", "check", "weather", "https://evil.example.com/"]), @r##"
    exit code 12
    --- stdout
    refused: `evil.example.com:443`: no rule of this server names the host [FH-EGRESS-HOST]
    help: fumehood allow weather evil.example.com
    "##);
    assert_snapshot!(world.said(&["egress", "check", "weather", "http://169.254.169.254/latest/meta-data"]), @r##"
    exit code 12
    --- stdout
    refused: `169.254.169.254:80`: this is not a host name: an IP address [FH-EGRESS-NAME]
    help: use a host name; for an address of your own network the operator's file can bind one: `[upstreams."NAME"]` with `address = "169.254.169.254:80"`
    "##);
    assert_snapshot!(world.said(&["egress", "check", "other", "https://api.example.com:8080/"]), @r##"
    exit code 12
    --- stdout
    refused: `api.example.com:8080`: this port is for HTTP/1.1, and something else arrived [FH-EGRESS-NOT-HTTP]
    rule: http://api.example.com:8080
    help: send HTTP/1.1 without ambiguities; another protocol needs `fumehood allow other tcp://api.example.com:8080`
    "##);
    assert_snapshot!(world.said(&["egress", "check", "--json", "other", "http://api.example.com:8080/"]), @r##"
    exit code 0
    --- stdout
    {
      "host": "api.example.com",
      "port": 8080,
      "rule": "http://api.example.com:8080",
      "kind": "http",
      "inspect": false,
      "request": "GET /",
      "way": [
        "10.1.2.3:8080"
      ],
      "refusal": null
    }
    "##);
    assert_snapshot!(world.said(&["egress", "check", "other", "mailto:x"]), @r##"
    exit code 2
    --- stderr
    fumehood: `mailto:x` is not a URL such as `https://api.example.com/path` or `tcp://db.example.com:5432`
    "##);
}

#[test]
fn a_question_about_a_request_says_which_rule_takes_it_or_the_line_that_would() {
    let world = World::new();
    world.write(
        "project/fumehood.toml",
        "[servers.weather]\ncommand = [\"cat\"]\n[servers.weather.hosts]\n\
         \"api.example.com\" = { methods = [\"GET\"], paths = [\"/repos/acme/*\"] }\n",
    );
    world.write("config/fumehood/config.toml", "[upstreams.\"api.example.com\"]\naddress = \"10.1.2.3\"\n");
    let asked = |words: &[&str]| world.said(&[&["egress", "check", "weather"], words].concat());
    assert_snapshot!(asked(&["https://api.example.com/repos/acme/x?token=1"]), @r##"
    exit code 0
    --- stdout
    allowed: `GET /repos/acme/x` at `api.example.com:443` by the rule `GET api.example.com/repos/acme/*` (tls, looked at), to 10.1.2.3:443
    "##);
    assert_snapshot!(asked(&["https://api.example.com/repos/acme/x", "--method", "POST"]), @r##"
    exit code 12
    --- stdout
    refused: `api.example.com:443`: no rule of this server takes this method here: `POST` [FH-REQUEST-METHOD]
    rule: GET api.example.com/repos/acme/*
    help: fumehood allow weather 'POST https://api.example.com/repos/acme/x'
    "##);
    assert_snapshot!(asked(&["https://api.example.com/user"]), @r##"
    exit code 12
    --- stdout
    refused: `api.example.com:443`: no rule of this server takes this path: `GET /user` [FH-REQUEST-PATH]
    rule: GET api.example.com/repos/acme/*
    help: fumehood allow weather 'GET https://api.example.com/user'
    "##);
    assert_snapshot!(asked(&["https://api.example.com/repos/acme/%2e%2e/evil"]), @r##"
    exit code 12
    --- stdout
    refused: `api.example.com:443`: no rule of this server takes this path: `/repos/acme/%2e%2e/evil`: it holds an encoded dot [FH-REQUEST-PATH]
    rule: GET api.example.com/repos/acme/*
    help: write the path so that everybody reads it alike: without empty segments, `.`, `..`, `;` and `\`, and without escapes of `/`, `\`, `.`, `;`, `?` and `%`
    "##);
    assert_snapshot!(asked(&["api.example.com"]), @r##"
    exit code 0
    --- stdout
    allowed: `api.example.com:443` by the rule `GET api.example.com/repos/acme/*` (tls, looked at), to 10.1.2.3:443
    "##);
}

#[test]
fn a_rule_about_requests_is_added_to_a_table_and_to_a_list() {
    let world = World::new();
    let table = "[servers.weather]\ncommand = [\"cat\"]\n[servers.weather.hosts]\n\
                 \"https://api.example.com\" = { methods = [\"GET\"], paths = [\"/v1/*\"] } # paid\n";
    world.write("project/fumehood.toml", table);
    let said =
        world.said(&["allow", "-y", "weather", "GET https://api.example.com/user", "POST b.example.com"]);
    assert!(said.starts_with("exit code 0"), "{said}");
    assert_snapshot!(shown_file(&world, "project/fumehood.toml"), @r##"
    [servers.weather]
    command = ["cat"]
    [servers.weather.hosts]
    "https://api.example.com" = { methods = ["GET"], paths = ["/v1/*", "/user"] } # paid
    "b.example.com" = { methods = ["POST"] }
    "##);
    let line = "POST https://api.example.com/user";
    let said = world.said(&["allow", "-y", "weather", line]);
    assert!(said.starts_with("exit code 0"), "{said}");
    let file = shown_file(&world, "project/fumehood.toml");
    assert!(file.contains("\"/user\"] }, { methods = [\"POST\"], paths = [\"/user\"] }] # paid"), "{file}");
    let said =
        world.said(&["deny", "weather", "GET https://api.example.com/user", "POST b.example.com", line]);
    assert!(said.starts_with("exit code 0"), "{said}");
    assert_eq!(shown_file(&world, "project/fumehood.toml"), table);
    world.write("project/fumehood.toml", PROJECT);
    let said = world.said(&["allow", "-y", "weather", "GET,HEAD b.example.com/v1/*"]);
    assert!(said.starts_with("exit code 0"), "{said}");
    let file = shown_file(&world, "project/fumehood.toml");
    assert!(file.contains("  \"GET,HEAD b.example.com/v1/*\",\n]"), "{file}");
}
