//! `secret`, and what `run` and `exec` say about secrets.

use std::{fs, os::unix::fs::PermissionsExt};

use insta::assert_snapshot;

use super::world::World;

pub(crate) const VALUE: &str = "ghp_0123456789abcdefABCDEF";

pub(crate) fn set(world: &World, arguments: &[&str]) -> String {
    let arguments: Vec<&str> = [&["secret", "set"], arguments].concat();
    world.shown(&world.run_with(&format!("{VALUE}\n"), &arguments))
}

#[test]
fn a_secret_is_kept_listed_changed_and_forgotten_without_being_shown() {
    let world = World::new();
    assert_snapshot!(world.said(&["secret", "list"]), @r"
    exit code 0
    --- stderr
    fumehood: there are no secrets
    fumehood: help: `fumehood secret set NAME --host HOST` keeps one
    ");
    let first = set(
        &world,
        &[
            "GITHUB_TOKEN",
            "--host",
            "api.github.com",
            "--method",
            "get",
            "--path",
            "/repos/acme/*",
            "--foreign",
            "allow",
        ],
    );
    assert_snapshot!(first, @r"
    exit code 0
    --- stderr
    fumehood: GITHUB_TOKEN is in the vault: written into GET requests to api.github.com for /repos/acme/*, as header:authorization; other credentials pass
    fumehood: made the vault `ROOT/data/fumehood/vault`, whose key lies beside it
    fumehood: help: `fumehood secret seal --passphrase` locks the key, `--recipient age1…` lets another open the vault
    ");
    let second = set(
        &world,
        &[
            "KEY",
            "--host",
            "a.example:8443",
            "--host",
            "*.b.example",
            "--header",
            "X-Api-Key",
            "--basic",
            "--query",
            "key",
        ],
    );
    assert_snapshot!(second, @r"
    exit code 0
    --- stderr
    fumehood: KEY is in the vault: written into requests to a.example:8443, *.b.example, as header:x-api-key, query:key, basic
    ");
    assert_snapshot!(set(&world, &["PASSWORD", "--only-expose"]), @r"
    exit code 0
    --- stderr
    fumehood: PASSWORD is in the vault: written nowhere, only handed over by `--expose`
    ");
    assert_snapshot!(world.said(&["secret", "list"]).replace(" just now", " AGE"), @r"
    exit code 0
    --- stdout
    NAME          HOSTS                       REQUESTS           PLACES                              SOURCE  CHANGED
    GITHUB_TOKEN  api.github.com              GET /repos/acme/*  header:authorization                vault   AGE
    KEY           a.example:8443,*.b.example  any                header:x-api-key, query:key, basic  vault   AGE
    PASSWORD      (only --expose)             -                  -                                   vault   AGE
    ");
    assert_snapshot!(world.said(&["secret", "show-binding", "KEY"]), @r"
    exit code 0
    --- stdout
    KEY: written into requests to a.example:8443, *.b.example, as header:x-api-key, query:key, basic
    ");
    assert_snapshot!(world.said(&["secret", "show-binding", "GITHUB_TOKEN", "--json"]), @r#"
    exit code 0
    --- stdout
    {
      "hosts": [
        "api.github.com"
      ],
      "methods": [
        "GET"
      ],
      "paths": [
        "/repos/acme/*"
      ],
      "foreign": "allow"
    }
    "#);
    let rotated = world.run_with("another value of the key\n", &["secret", "rotate", "KEY"]);
    assert_snapshot!(world.shown(&rotated), @r"
    exit code 0
    --- stderr
    fumehood: KEY has another value; running cells use it from the next request on
    ");
    assert_snapshot!(world.said(&["secret", "rm", "PASSWORD"]), @r"
    exit code 0
    --- stderr
    fumehood: PASSWORD is out of the vault, and running cells lose it
    fumehood: help: the version before still holds it until the next change
    ");
    assert_snapshot!(world.said(&["secret", "rm", "PASSWORD"]), @r"
    exit code 1
    --- stderr
    fumehood: there is no secret `PASSWORD` in the vault
    fumehood: help: `fumehood secret set PASSWORD --host …` keeps it; `fumehood secret list` shows what there is
    ");
    assert_snapshot!(world.said(&["secret", "show-binding", "NONE"]), @r"
    exit code 1
    --- stderr
    fumehood: there is no secret `NONE` in the vault
    fumehood: help: `fumehood secret set NONE --host …` keeps it; `fumehood secret list` shows what there is
    ");

    let json: serde_json::Value =
        serde_json::from_slice(&world.run_with("", &["secret", "list", "--json"]).stdout).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 2);
    assert_eq!(json[0]["name"], "GITHUB_TOKEN");
    assert_eq!(json[0]["source"], "vault");
    assert!(json[1]["rotated"].as_u64() >= json[1]["created"].as_u64());
    assert!(!json.to_string().contains("ghp_"));
}

#[test]
fn what_cannot_be_kept_is_refused_with_what_to_do() {
    let world = World::new();
    assert_snapshot!(set(&world, &["TOKEN"]), @r"
    exit code 2
    --- stderr
    fumehood: TOKEN is bound to no host
    fumehood: help: `--host api.example.com` says whose key it is; `--only-expose` keeps it for `--expose` alone
    ");
    assert_snapshot!(set(&world, &["no-name", "--host", "a.example"]), @r"
    exit code 2
    --- stderr
    fumehood: `no-name` is not a secret's name: use 1 to 64 letters, digits or `_`, not beginning with a digit, such as `GITHUB_TOKEN`
    ");
    for (host, said) in [
        ("https://a.example", "`https://a.example` is not a host of a secret"),
        ("tcp://a.example:5432", "`tcp://a.example:5432` is not a host of a secret"),
        ("127.0.0.1", "127.0.0.1"),
        ("*.com", "com"),
    ] {
        let told = set(&world, &["TOKEN", "--host", host]);
        assert!(told.starts_with("exit code 2") && told.contains(said), "{host}: {told}");
    }
    for arguments in [["--method", "TRACE"], ["--path", "x"], ["--header", "Host"], ["--query", "a b"]] {
        let told = set(&world, &[&["TOKEN", "--host", "a.example"][..], &arguments].concat());
        assert!(told.starts_with("exit code 2"), "{arguments:?}: {told}");
    }
    let given = |value: &str, arguments: &[&str]| {
        world.shown(&world.run_with(value, &[&["secret", "set", "TOKEN"][..], arguments].concat()))
    };
    assert_snapshot!(given("short\n", &["--host", "a.example"]), @r"
    exit code 2
    --- stderr
    fumehood: the value has 5 bytes, and one that is written into requests has at least 16
    fumehood: help: a short one can only be given to a cell as it is: keep it with `--only-expose`, and use `--expose`
    ");
    assert_snapshot!(given("", &["--only-expose"]), @r"
    exit code 2
    --- stderr
    fumehood: the value is empty
    fumehood: help: type it at the prompt, or write it to stdin
    ");
    assert_snapshot!(given("a long first line\nand another\n", &["--host", "a.example"]), @r"
    exit code 2
    --- stderr
    fumehood: the value holds a line end or another control character, which a header, a URL or Basic cannot hold
    fumehood: help: bind it with `--json-body`, `--form` or `--websocket` alone, or keep it with `--only-expose` and use `--expose`
    ");
    assert_snapshot!(given(&"x".repeat(20_000), &["--only-expose"]), @r"
    exit code 2
    --- stderr
    fumehood: reading the value from stdin failed: there are more than 16386 bytes
    ");
    // A value is never an argument.
    assert!(set(&world, &["TOKEN", VALUE, "--host", "a.example"]).starts_with("exit code 2"));
    assert!(!world.data().join("vault").join("vault.age").exists());
}

#[test]
fn the_operators_file_says_where_a_value_comes_from() {
    let world = World::new();
    let file = world.write(
        "config/fumehood/config.toml",
        "[secrets.GH]\ncommand = ['/bin/echo', 'a value that is not for show']\nhosts = ['api.github.com']\n",
    );
    assert_snapshot!(world.said(&["secret", "list"]), @r"
    exit code 0
    --- stdout
    NAME  HOSTS           REQUESTS  PLACES                SOURCE   CHANGED
    GH    api.github.com  any       header:authorization  command  -
    ");
    assert_snapshot!(set(&world, &["GH", "--host", "a.example"]), @r"
    exit code 2
    --- stderr
    fumehood: `[secrets.GH]` of the operator's file says where GH comes from
    fumehood: help: take it out there first, or choose another name
    ");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let (supervisor, broker) = std::os::unix::net::UnixStream::pair().unwrap();
    let mut command = world.command(&["vault", "GH"]);
    let output = command.stdin(std::os::fd::OwnedFd::from(broker)).output().unwrap();
    drop(supervisor);
    assert_snapshot!(world.shown(&output), @r"
    exit code 12
    --- stderr
    fumehood: `ROOT/config/fumehood/config.toml` can be changed by others, and names a program that is run
    fumehood: help: `chmod go-w ROOT/config/fumehood/config.toml`, and let it belong to you or to root
    ");
}

#[test]
fn the_broker_is_for_supervisors() {
    assert_snapshot!(World::new().said(&["vault", "TOKEN"]), @r"
    exit code 2
    --- stderr
    fumehood: stdin is not the connection to a supervisor
    fumehood: help: this verb is for `fumehood run` and the like
    ");
}

#[test]
fn a_variable_is_not_both_a_secret_and_something_else() {
    let world = World::new();
    assert_snapshot!(world.said(&["run", "--secret", "TOKEN", "--env", "TOKEN=x", "--", "true"]), @r"
    exit code 2
    --- stderr
    fumehood: the variable `TOKEN` is to hold the secret `TOKEN`, and is set by `env` as well
    fumehood: help: take `TOKEN` out of `env` or `--env`: the cell gets a placeholder instead
    ");
    assert_snapshot!(world.said(&["run", "--secret", "A=HOME", "--secret", "1", "--", "true"]), @r"
    exit code 2
    --- stderr
    fumehood: `--secret A=HOME`: `HOME` cannot be changed
    fumehood: help: it is always `/home/tool` inside
    fumehood: `--secret 1`: `1` is not a secret's name
    fumehood: help: use 1 to 64 letters, digits or `_`, not beginning with a digit, such as `GITHUB_TOKEN`
    ");
}

#[test]
fn a_secret_that_is_nowhere_is_told_before_anything_runs() {
    let world = World::new();
    assert_snapshot!(world.said(&["run", "--unreviewed", "--secret", "TOKEN", "--", "true"]), @r"
    exit code 1
    --- stderr
    fumehood: there is no secret `TOKEN` [FH-CELL-SECRET]
    fumehood: help: `fumehood secret set TOKEN --host HOST` keeps it in the vault
    ");
}

#[test]
fn a_cell_has_a_placeholder_unless_a_person_gave_it_the_value() {
    let world = World::new();
    set(&world, &["TOKEN", "--host", "api.example.com"]);
    let inside = |arguments: &[&str]| {
        let print = ["--", "/bin/sh", "-c", "printf %s \"$MINE\""];
        let output = world.run_with("", &[&["exec"][..], arguments, &print].concat());
        assert!(output.status.success(), "{}", world.shown(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let placeholder = inside(&["--secret", "TOKEN=MINE"]);
    assert!(placeholder.starts_with("ghp_") && placeholder.len() == VALUE.len(), "{placeholder}");
    assert_ne!(placeholder, VALUE);
    // The control.
    assert_eq!(inside(&["--expose", "TOKEN=MINE", "--expose-yes-really", "TOKEN"]), VALUE);
}

#[test]
fn no_argument_and_no_environment_on_this_machine_holds_the_value() {
    let world = World::new();
    let value = format!("ghp_{:032x}", std::process::id());
    let output = world.run_with(&value, &["secret", "set", "TOKEN", "--host", "api.example.com"]);
    assert!(output.status.success(), "{}", world.shown(&output));
    let (mut child, cell) = world.start(&["run", "--unreviewed", "--secret", "TOKEN", "--", "sleep", "60"]);
    let mut found = Vec::new();
    let mut brokers = 0;
    for process in fs::read_dir("/proc").unwrap().flatten() {
        for file in ["cmdline", "environ"] {
            let Ok(bytes) = fs::read(process.path().join(file)) else { continue };
            let text = String::from_utf8_lossy(&bytes).replace('\0', " ");
            brokers += usize::from(file == "cmdline" && text.contains("fumehood vault TOKEN"));
            if text.contains(&value) {
                found.push(text);
            }
        }
    }
    assert!(brokers >= 1, "there is no broker to look at");
    assert!(found.is_empty(), "{found:?}");
    let told = world.run_with("", &["ps", "--json"]).stdout;
    assert!(!String::from_utf8_lossy(&told).contains(&value));
    let log = fs::read_to_string(&cell.log).unwrap_or_default();
    assert!(!log.contains(&value), "{log}");
    super::world::signal(i32::try_from(child.id()).unwrap(), rustix::process::Signal::TERM);
    let ended = child.wait().unwrap();
    assert!(!ended.success());
    let gone = super::world::within(std::time::Duration::from_secs(10), || {
        let all = fs::read_dir("/proc").unwrap().flatten();
        let mut lines = all.filter_map(|process| fs::read(process.path().join("environ")).ok());
        let home = world.data().display().to_string();
        !lines.any(|bytes| String::from_utf8_lossy(&bytes).contains(&home))
    });
    assert!(gone, "a broker or a supervisor outlives its cell");
}
