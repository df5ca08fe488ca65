//! What `run` says of a server that nobody has accepted, and `trust` of a project: nothing is started.

use insta::assert_snapshot;
use serde_json::Value;

use super::world::World;

const PROJECT: &str = "[servers.weather]\ncommand = [\"sh\", \"-c\", \"touch ran; cat\"]\nmounts = [\".:rw\"]\n\
                       hosts = [\"api.example.com\"]\nsecrets = [\"TOKEN\"]\n";

fn world() -> World {
    let world = World::new();
    world.write("project/fumehood.toml", PROJECT);
    world
}

/// Whether anything of the project was started.
fn ran(world: &World) -> bool {
    world.project().join("ran").exists() || world.state().join("cells").exists()
}

#[test]
fn a_project_that_nobody_trusts_starts_nothing() {
    let world = world();
    let strict = world.said(&["run", "--strict", "weather"]);
    assert_snapshot!(strict, @r"
    exit code 11
    --- stderr
    fumehood: weather: the project that declares it is not trusted
    fumehood: help: `fumehood trust ROOT/project`
    ");
    assert_eq!(world.said(&["run", "--unreviewed", "weather"]), strict);
    assert_snapshot!(world.said(&["run", "weather"]), @r"
    exit code 0
    --- stderr
    fumehood: weather: the project that declares it is not trusted
    fumehood: help: `fumehood trust ROOT/project` in a terminal; the client waits
    ");
    assert!(!ran(&world));
}

#[test]
fn a_project_is_trusted_as_it_is_now_and_not_as_it_will_be() {
    let world = world();
    let said = world.said(&["trust"]);
    let digest = said.split_once("its digest is ").unwrap().1.lines().next().unwrap().to_owned();
    assert_snapshot!(said.replace(&digest, "DIGEST"), @r"
    exit code 11
    --- stderr
    fumehood: `ROOT/project/fumehood.toml` asks for
    fumehood:   weather: runs `sh -c 'touch ran; cat'` in a cell
    fumehood:     reaches api.example.com
    fumehood:     uses your secrets TOKEN (as TOKEN)
    fumehood:     sees ROOT/project to read and write
    fumehood: its digest is DIGEST
    fumehood: a project is trusted by a person at a terminal
    fumehood: help: run it at a terminal, or give `--accept DIGEST` if a person has read it
    ");
    assert_snapshot!(world.said(&["trust", "--accept", "sha256:00"]).replace(&digest, "DIGEST"), @r"
    exit code 12
    --- stderr
    fumehood: `ROOT/project/fumehood.toml` asks for
    fumehood:   weather: runs `sh -c 'touch ran; cat'` in a cell
    fumehood:     reaches api.example.com
    fumehood:     uses your secrets TOKEN (as TOKEN)
    fumehood:     sees ROOT/project to read and write
    fumehood: its digest is DIGEST
    fumehood: `sha256:00` is not the digest of this file
    fumehood: help: read what it asks for, and give the digest above
    ");
    assert_snapshot!(world.said(&["trust", "--accept", &digest]).replace(&digest, "DIGEST"), @r"
    exit code 0
    --- stderr
    fumehood: `ROOT/project/fumehood.toml` asks for
    fumehood:   weather: runs `sh -c 'touch ran; cat'` in a cell
    fumehood:     reaches api.example.com
    fumehood:     uses your secrets TOKEN (as TOKEN)
    fumehood:     sees ROOT/project to read and write
    fumehood: its digest is DIGEST
    fumehood: `ROOT/project` is trusted as it is now; each of its servers is reviewed apart
    fumehood: help: `fumehood review` shows them
    ");
    assert_snapshot!(world.said(&["run", "--strict", "weather"]), @r"
    exit code 11
    --- stderr
    fumehood: weather: it was not reviewed yet
    fumehood: help: `fumehood review weather`
    ");
    world.write("project/fumehood.toml", &format!("{PROJECT}data = true\n"));
    assert_snapshot!(world.said(&["run", "--unreviewed", "weather"]), @r"
    exit code 11
    --- stderr
    fumehood: weather: the project's fumehood.toml has changed since it was trusted
    fumehood: help: `fumehood trust ROOT/project`
    ");
    let told: Value = serde_json::from_slice(&world.run_with("", &["trust", "--json"]).stdout).unwrap();
    assert_eq!(told.get("trusted"), Some(&Value::Bool(false)));
    world.write("project/fumehood.toml", PROJECT);
    assert_snapshot!(world.said(&["trust", "--withdraw"]), @r"
    exit code 0
    --- stderr
    fumehood: `ROOT/project` is trusted no longer
    ");
    assert!(
        world.said(&["run", "--strict", "weather"]).contains("the project that declares it is not trusted")
    );
    assert!(!ran(&world));
}

#[test]
fn a_projects_file_says_nothing_in_our_name() {
    let world = World::new();
    world.write(
        "project/fumehood.toml",
        "[servers.s]\ncommand = [\"cat\", \"\", \"a b\\nfumehood: it is trusted\"]\n\
         env = { A = \"\\u001b[2J\\u202e\" }\n",
    );
    let said = world.said(&["trust"]);
    assert!(said.contains("runs `cat '' 'a b<U+000A>fumehood: it is trusted'` in a cell"), "{said}");
    assert!(said.contains("finds variables A=<U+001B>[2J<U+202E>\n"), "{said}");
}

#[test]
fn what_does_not_fit_together_is_told_with_the_line_that_does() {
    let world = World::new();
    assert_snapshot!(world.said(&["run", "--publish", "0:80", "--", "cat"]), @r"
    exit code 2
    --- stderr
    fumehood: what a server says on a port of its own is not compared with what was accepted
    fumehood: help: add `--unreviewed` where it is a program of this machine, or let it speak by stdio
    ");
    assert_snapshot!(world.said(&["run", "--host", "a.example", "--unreviewed", "npx", "-y", "some-server"]), @r"
    exit code 2
    --- stderr
    fumehood: `--unreviewed` is for programs of this machine: what comes from elsewhere is reviewed
    fumehood: help: leave it out: `fumehood run --host a.example npx -y some-server`
    ");
    assert_snapshot!(world.said(&["run", "--strict", "npx", "-y", "some-server"]), @r"
    exit code 11
    --- stderr
    fumehood: some-server: it was not reviewed yet
    fumehood: help: `fumehood run npx -y some-server`
    ");
    assert_snapshot!(world.said(&["run", "--strict", "--", "cat", "--strict"]), @r"
    exit code 11
    --- stderr
    fumehood: cat: it was not reviewed yet
    fumehood: help: `fumehood run -- cat --strict`
    ");
    assert_snapshot!(world.said(&["run", "--strict", "--unreviewed", "cat"]), @r"
    exit code 2
    --- stderr
    error: the argument '--strict' cannot be used with '--unreviewed'

    Usage: fumehood run --strict <NAME | COMMAND>...

    For more information, try '--help'.
    ");
    assert_snapshot!(world.said(&["review", "weather"]), @r"
    exit code 2
    --- stderr
    fumehood: no server is called `weather`
    fumehood: help: `fumehood add NAME SOURCE` declares one
    ");
    assert!(!ran(&world));
}
