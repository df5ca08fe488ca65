//! The service around its calls: checked, given keys, installed, told to read anew.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use super::world::World;

mod installed;
mod people;
mod running;

/// A world whose operator declares that server and has accepted it.
fn accepted(rest: &str) -> World {
    let world = World::new();
    let program = world.write("project/orders.sh", include_str!("service/orders.sh")).display().to_string();
    let declared = format!("[servers.orders]\ncommand = ['sh', '{program}']\nmounts = ['{program}']\n");
    world.write("config/fumehood/config.toml", &format!("{declared}{rest}"));
    accept(&world, "orders");
    world
}

fn accept(world: &World, name: &str) {
    let told = world.run_with("", &["review", name, "--json"]);
    assert!(told.status.success(), "{}", world.shown(&told));
    let review: Value = serde_json::from_slice(&told.stdout).unwrap();
    let fingerprint = review.get("fingerprint").and_then(Value::as_str).unwrap();
    let accepted = world.run_with("", &["review", name, "--accept", fingerprint]);
    assert!(accepted.status.success(), "{}", world.shown(&accepted));
}

#[test]
fn a_check_tells_what_is_wrong_with_every_file_at_once() {
    let world = World::new();
    world.write(
        "config/fumehood/config.toml",
        "[serve]\nlisten = '0.0.0.0:8300'\n[keys.ci]\nsha256 = 'fh_secret'\nroles = ['suport']\n[roles.support]\ntools = ['*']\n",
    );
    world.write("project/fumehood.toml", "[servers.a]\ncommand = ['cat']\ntools.t.tier = 4\n");
    assert_snapshot!(world.said(&["serve", "--check"]), @r"
    exit code 2
    --- stderr
    error: `0.0.0.0:8300` is reached from other machines
     --> ROOT/config/fumehood/config.toml:2:10
      |
    2 | listen = '0.0.0.0:8300'
      |          ^^^^^^^^^^^^^^
      = help: add an `[identity.NAME]` with an `issuer` and `url`, by which it is reached

    error: this is not the SHA-256 of a key
     --> ROOT/config/fumehood/config.toml:4:10
      |
    4 | sha256 = 'fh_secret'
      |          ^^^^^^^^^^^
      = help: write its 64 lower-case hexadecimal digits; the key itself does not belong into a file

    error: no role is called `suport`
     --> ROOT/config/fumehood/config.toml:5:10
      |
    5 | roles = ['suport']
      |          ^^^^^^^^
      = help: did you mean `support`?

    error: `4` is not a tier
     --> fumehood.toml:3:16
      |
    3 | tools.t.tier = 4
      |                ^
      = help: write 1 where it only reads, 2 where it changes something, 3 where a person is asked before
    ");
    let told: Value =
        serde_json::from_slice(&world.run_with("", &["serve", "--check", "--json"]).stdout).unwrap();
    assert_eq!(told.get("problems").and_then(Value::as_array).map(Vec::len), Some(2));
    assert_eq!(told.get("servers"), Some(&Value::Array(Vec::new())));
    // Nothing starts from what is wrong.
    assert_eq!(world.said(&["serve"]), world.said(&["serve", "--check"]));
}

#[test]
fn files_that_the_configuration_names_are_looked_at_before_somebody_needs_them() {
    let world = World::new();
    let empty = world.write("project/keys.json", "{\"keys\": []}").display().to_string();
    world.write(
        "config/fumehood/config.toml",
        &format!(
            "[identity.a]\nissuer = 'https://a.example'\naudience = ['x']\nkeys = '{empty}'\nextra_root = '{empty}'\n\
             [identity.b]\nissuer = 'https://b.example'\naudience = ['x']\nkeys = '/nowhere/keys.json'\n\
             [audit]\ncheckpoints = '/nowhere/checkpoints'\n",
        ),
    );
    assert_snapshot!(world.said(&["serve", "--check"]), @r"
    exit code 2
    --- stderr
    fumehood: `identity.a.keys`: `ROOT/project/keys.json` is no JWK set: none of its 0 keys can check a signature
    fumehood: help: RSA keys of 2048 to 8192 bits, P-256, P-384 and Ed25519 are known; keys with a private part or `use` other than `sig` are left out

    fumehood: `identity.a.extra_root`: `ROOT/project/keys.json` holds no certificate
    fumehood: help: name a file with the certificate of the authority in PEM

    fumehood: `identity.b.keys`: `/nowhere/keys.json` cannot be read: No such file or directory (os error 2)
    fumehood: help: name a JWK set (RFC 7517)

    fumehood: `audit.checkpoints`: `/nowhere/checkpoints` lies in no folder
    fumehood: help: make the folder, on another volume than the record's
    ");
}

#[test]
fn a_check_says_which_servers_are_ready_and_what_was_most_likely_not_meant() {
    let world = accepted(
        "tools.get_order.bind.user_id = 'claims.sub'\ntools.cancel.bind.user = 'subject'\ntools.refund.tier = 3\n\
         [servers.other]\ncommand = ['cat']\ncell = 'user'\nprofile = 'pass-through'\n\
         [roles.support]\ntools = ['orders/get_*', 'orders/refund', 'nowhere/x', 'other/x']\nprompts = ['orders/hello']\n\
         [keys.ci]\nsha256 = '0000000000000000000000000000000000000000000000000000000000000000'\nserver = 'weather'\n",
    );
    assert_snapshot!(world.said(&["serve", "--check"]), @r"
    exit code 0
    --- stdout
    NAME    STANDING  TOOLS  CELL    PROFILE
    orders  ready     2      server  guarded
    other   withheld  -      user    pass-through
    --- stderr
    fumehood: other: it was not reviewed yet
    fumehood: help: `fumehood review other`
    fumehood: warning: the key `ci` has no role, and sees nothing
    fumehood: warning: orders: the tool `cancel` is left out: `bind.user`: the tool has no such parameter; it has `id`
    fumehood: warning: orders: `tools.refund` is about no tool of this server
    fumehood: warning: the role `support` has `orders/refund` in `tools`, which is nothing of any server
    fumehood: warning: the role `support` has `nowhere/x` in `tools`, which is nothing of any server
    fumehood: warning: the role `support` has `orders/hello` in `prompts`, which is nothing of any server
    fumehood: warning: the key `ci` is for the server `weather`, which nobody declares
    fumehood: the configuration is right; it would be served at http://127.0.0.1:8300
    ");
    let told: Value =
        serde_json::from_slice(&world.run_with("", &["serve", "--check", "--json"]).stdout).unwrap();
    let ready: Vec<_> =
        told.get("servers").and_then(Value::as_array).unwrap().iter().map(|row| row.get("ready")).collect();
    assert_eq!(ready, [Some(&Value::Bool(true)), Some(&Value::Bool(false))]);
    assert!(told.get("policy").and_then(Value::as_str).unwrap().starts_with("sha256:"));
    assert_eq!(world.folders(), 0, "a check starts nothing");
}

#[test]
fn the_command_line_opens_no_address_that_the_file_could_not() {
    let world = World::new();
    let check = world.said(&["serve", "--check", "--listen", "0.0.0.0:0"]);
    assert_snapshot!(check, @r"
    exit code 2
    --- stderr
    fumehood: --listen: `0.0.0.0:0` is reached from other machines
    fumehood: help: add an `[identity.NAME]` with an `issuer` and `url`, by which it is reached
    ");
    assert_eq!(world.said(&["serve", "--listen", "0.0.0.0:0"]), check);
    // With what is missing it may.
    world.write(
        "config/fumehood/config.toml",
        "[serve]\nurl = 'https://mcp.example.com'\n[identity.a]\nissuer = 'https://a.example'\n",
    );
    let said = world.said(&["serve", "--check", "--listen", "0.0.0.0:0"]);
    assert!(said.contains("it would be served at http://0.0.0.0:0"), "{said}");
}

#[test]
fn nobody_is_let_in_by_an_empty_file() {
    assert_snapshot!(World::new().said(&["serve", "--check"]), @r"
    exit code 0
    --- stderr
    fumehood: warning: only whoever runs the service is let in, over the socket: there is no `[identity]`, no `[keys]` and no `[peers]`
    fumehood: the configuration is right; it would be served at http://127.0.0.1:8300
    ");
}

#[test]
fn another_rule_of_a_project_asks_again_and_one_of_the_operator_is_in_force() {
    let world = accepted("tools.get_order.tier = 1\n");
    let operators = world.write("config/fumehood/operators", "");
    let file = operators.with_file_name("config.toml");
    let before = fs::read_to_string(&file).unwrap();
    fs::write(&file, before.replace("tier = 1", "tier = 3")).unwrap();
    assert!(world.said(&["serve", "--check"]).contains("orders  ready"));

    let project = |tier: u8, bind: &str| {
        fs::write(&file, "").unwrap();
        let declared = before
            .replace("tools.get_order.tier = 1", &format!("tools.get_order = {{ tier = {tier}{bind} }}"));
        world.write("project/fumehood.toml", &declared.replace("[servers.orders]", "[servers.theirs]"));
        world.trust();
    };
    project(2, ", bind = { user_id = 'claims.sub' }");
    accept(&world, "theirs");
    assert!(world.said(&["serve", "--check"]).contains("theirs  ready"));
    project(1, "");
    assert_snapshot!(world.said(&["serve", "--check"]), @r"
    exit code 0
    --- stdout
    NAME    STANDING  TOOLS  CELL    PROFILE
    theirs  withheld  -      server  guarded
    --- stderr
    fumehood: theirs: its declaration has changed since it was accepted (tiers: `get_order=1` was `get_order=2`; bound parameters: nothing was `get_order/user_id=claims.sub`)
    fumehood: help: `fumehood review theirs`
    fumehood: warning: only whoever runs the service is let in, over the socket: there is no `[identity]`, no `[keys]` and no `[peers]`
    fumehood: the configuration is right; it would be served at http://127.0.0.1:8300
    ");
    // Without a person's trust in the file nothing of it counts at all.
    world.write(
        "project/fumehood.toml",
        &fs::read_to_string(world.project().join("fumehood.toml")).unwrap().replace("tier = 1", "tier = 2"),
    );
    assert!(
        world
            .said(&["serve", "--check"])
            .contains("the project's fumehood.toml has changed since it was trusted")
    );
}

#[test]
fn trust_shows_what_a_project_says_of_calls() {
    let world = World::new();
    world.write(
        "project/fumehood.toml",
        "[servers.a]\ncommand = ['cat']\ncell = 'user'\nsecrets.T = { name = 'T', per = 'user' }\n[servers.a.tools.get]\ntier = 1\n\
         bind.user_id = 'claims.sub'\ndefaults.limit = 20\nmax_bytes = '1 KiB'\nconcurrency = 2\nrate = '6/m'\ntime = '90s'\n",
    );
    let said = world.said(&["trust"]);
    let asks = said.lines().skip(2).take_while(|line| !line.contains("its digest is"));
    assert_snapshot!(asks.collect::<Vec<_>>().join("\n"), @r"
    fumehood: `ROOT/project/fumehood.toml` asks for
    fumehood:   a: runs `cat` in a cell
    fumehood:     uses your secrets T (as T)
    fumehood:     uses your secrets of each caller, not one for all: T
    fumehood:     behind `fumehood serve` runs in the cell of user
    fumehood:     says of calls of its tool get: tier 1, user_id from claims.sub, limit = 20 where it is left out, at most 1 KiB of arguments, at most 2 at a time, at most 6/m, at most 1m 30s
    ");
}

#[test]
fn a_new_key_is_told_once_and_kept_nowhere() {
    let world = World::new();
    let made = world.run_with("", &["serve", "--new-key", "ci"]);
    let key = String::from_utf8(made.stdout.clone()).unwrap().trim_end().to_owned();
    let random = key.strip_prefix("fh_").unwrap();
    assert!(
        random.len() == 43 && random.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)),
        "{key}"
    );
    let digest = model::digest::Digest::of(key.as_bytes()).hex();
    assert_snapshot!(world.shown(&made).replace(&key, "KEY").replace(&digest, "DIGEST"), @r#"
    exit code 0
    --- stdout
    KEY
    --- stderr
    fumehood: this key is shown once; add to the operator's file, with the roles its caller has:

    [keys.ci]
    sha256 = "DIGEST"
    roles = []
    "#);
    let again: Value =
        serde_json::from_slice(&world.run_with("", &["serve", "--new-key", "a.b", "--json"]).stdout).unwrap();
    assert_ne!(again.get("key").and_then(Value::as_str), Some(key.as_str()));
    let toml = again.get("toml").and_then(Value::as_str).unwrap();
    world.write("config/fumehood/config.toml", toml);
    assert!(world.said(&["serve", "--check"]).contains("the key `a.b` has no role"), "{toml}");
    assert_snapshot!(world.said(&["serve", "--new-key", "../ci"]), @r"
    exit code 2
    --- stderr
    fumehood: `../ci` is not a name of a key
    fumehood: help: use 1 to 64 letters, digits, `.`, `_` or `-`, beginning with a letter or digit
    ");
}

#[test]
fn what_does_not_go_together_is_refused() {
    let world = World::new();
    for words in [
        ["serve", "--check", "--install"],
        ["serve", "--dry-run", "--check"],
        ["serve", "--root", "/nowhere"],
        ["serve", "--listen", "localhost"],
        ["serve", "--install", "--new-key=x"],
    ] {
        let said = world.said(&words);
        assert!(said.starts_with("exit code 2"), "{words:?}: {said}");
    }
    let said = world.said(&["serve", "--check", "--project", "."]);
    assert!(said.contains("there is no fumehood.toml in it"), "{said}");
    let output = world.command(&["serve"]).env("FUMEHOOD_LOG", "hyper=trace").output().unwrap();
    assert_snapshot!(world.shown(&output), @r"
    exit code 2
    --- stderr
    fumehood: `FUMEHOOD_LOG=hyper=trace` is not how much can be told
    fumehood: help: write `error`, `warn`, `info`, `debug` or `trace`
    ");
}
