//! The vault under many hands, damaged, backed up, and at a terminal.

use std::{fs, io::Write, os::unix::fs::PermissionsExt};

use insta::assert_snapshot;

use super::{
    secrets::{VALUE, set},
    terminal::{at_a_terminal, shell_at_a_terminal},
    world::World,
};

#[test]
fn twenty_at_once_lose_nothing() {
    let world = World::new();
    let names: Vec<String> = (0..20).map(|n| format!("NAME_{n}")).collect();
    let children: Vec<_> = names
        .iter()
        .map(|name| {
            let mut child =
                world.command(&["secret", "set", name.as_str(), "--host", "a.example"]).spawn().unwrap();
            child.stdin.take().unwrap().write_all(format!("the value of {name}").as_bytes()).unwrap();
            child
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", world.shown(&output));
    }
    let listed = world.run_with("", &["secret", "list", "--json"]);
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 20);
}

#[test]
fn a_vault_that_others_can_read_is_not_used() {
    let world = World::new();
    set(&world, &["TOKEN", "--host", "a.example"]);
    let key = world.data().join("vault/key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    assert_snapshot!(world.said(&["secret", "list"]), @r"
    exit code 1
    --- stderr
    fumehood: `ROOT/data/fumehood/vault/key` is open to others: its mode is 644
    fumehood: help: `chmod 600 ROOT/data/fumehood/vault/key`; whoever could read it may know its secrets
    ");
}

#[test]
fn a_damaged_vault_says_the_command_that_restores_it() {
    let world = World::new();
    set(&world, &["TOKEN", "--host", "a.example"]);
    set(&world, &["OTHER", "--host", "a.example"]);
    let vault = world.data().join("vault/vault.age");
    let bytes = fs::read(&vault).unwrap();
    fs::write(&vault, &bytes[..bytes.len() - 7]).unwrap();
    assert_snapshot!(world.said(&["secret", "list"]), @r"
    exit code 1
    --- stderr
    fumehood: `ROOT/data/fumehood/vault/vault.age` is damaged: decryption error
    fumehood: help: `fumehood secret restore ROOT/data/fumehood/vault/vault.age.previous` puts the version before in its place
    ");
    let previous = world.data().join("vault/vault.age.previous");
    assert_snapshot!(world.said(&["secret", "restore", previous.to_str().unwrap()]), @r"
    exit code 0
    --- stderr
    fumehood: the vault holds 1 secret
    ");
    assert_snapshot!(world.said(&["secret", "list"]).replace(" just now", " AGE"), @r"
    exit code 0
    --- stdout
    NAME   HOSTS      REQUESTS  PLACES                SOURCE  CHANGED
    TOKEN  a.example  any       header:authorization  vault   AGE
    ");
}

#[test]
fn a_backup_for_a_recipient_is_restored_elsewhere() {
    let world = World::new();
    set(&world, &["TOKEN", "--host", "a.example"]);
    assert_snapshot!(world.said(&["secret", "export", "backup.age"]), @r"
    exit code 2
    --- stderr
    fumehood: nobody could open the backup
    fumehood: help: `--recipient age1…` seals it to whoever has that identity, `--passphrase` to whoever knows it
    ");
    // The key of another vault is a recipient like any other.
    let other = World::new();
    set(&other, &["OWN", "--host", "b.example"]);
    let recipient = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";
    assert_snapshot!(world.said(&["secret", "seal", "--recipient", recipient]), @r"
    exit code 0
    --- stdout
    age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p
    --- stderr
    fumehood: vault `ROOT/data/fumehood/vault`: its key is in a file that only you can read
    ");
    assert_snapshot!(world.said(&["secret", "seal", "--without", recipient]), @r"
    exit code 0
    --- stderr
    fumehood: vault `ROOT/data/fumehood/vault`: its key is in a file that only you can read
    ");
    assert_snapshot!(world.said(&["secret", "seal", "--without", recipient]), @r"
    exit code 2
    --- stderr
    fumehood: `age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p` is not a recipient of the vault
    fumehood: help: `fumehood secret seal` lists the recipients
    ");
    assert!(world.said(&["secret", "seal", "--recipient", "age1nobody"]).starts_with("exit code 2"));
    assert_snapshot!(world.said(&["secret", "export", "backup.age", "--recipient", recipient]), @r"
    exit code 0
    --- stderr
    fumehood: `backup.age` holds 1 secret, sealed
    fumehood: help: `fumehood secret restore FILE` puts it in the vault's place
    ");
    assert!(
        world.said(&["secret", "export", "backup.age", "--recipient", recipient]).starts_with("exit code 1")
    );
    let backup = world.project().join("backup.age");
    assert_eq!(fs::metadata(&backup).unwrap().permissions().mode() & 0o777, 0o600);
    assert_snapshot!(other.said(&["secret", "restore", backup.to_str().unwrap()]).replace(backup.to_str().unwrap(), "BACKUP"), @r"
    exit code 1
    --- stderr
    fumehood: `BACKUP` cannot be opened: it is sealed to other keys
    fumehood: help: give the identity of a recipient with `--identity FILE`
    ");
}

#[test]
fn at_a_terminal_nothing_that_is_typed_is_shown() {
    let world = World::new();
    let (seen, code) = at_a_terminal(
        &world,
        &["secret", "set", "TOKEN", "--host", "a.example"],
        &format!("wrong\u{15}{VALUE}\n"),
    );
    assert_eq!(code, 0, "{seen}");
    assert!(seen.contains("value of TOKEN: ") && !seen.contains("ghp_") && !seen.contains("wrong"), "{seen}");
    let (seen, code) = at_a_terminal(&world, &["secret", "rotate", "TOKEN"], "abc\u{3}\n");
    assert!(code == 1 && seen.contains("broken off"), "{code} {seen}");
    let (seen, code) = at_a_terminal(
        &world,
        &["secret", "seal", "--passphrase"],
        "correct horse\ncorrect horse\ncorrect horse\n",
    );
    assert!(code == 0 && seen.contains("locked by a passphrase") && !seen.contains("horse"), "{code} {seen}");
    assert_snapshot!(world.said(&["secret", "list"]), @r"
    exit code 1
    --- stderr
    fumehood: the vault is locked by a passphrase: there is no terminal to ask at
    fumehood: help: run it at a terminal; a program that starts it without one needs a vault whose key is in a file: `fumehood secret seal --key-file`
    ");
    let (seen, code) = at_a_terminal(&world, &["secret", "list"], "correct horse\n");
    assert!(code == 0 && seen.contains("TOKEN"), "{code} {seen}");
    let run = ["exec", "--secret", "TOKEN", "--", "/bin/echo", "it ran"];
    let (seen, code) = at_a_terminal(&world, &run, "correct horse\n");
    assert!(code == 0 && seen.contains("it ran") && !seen.contains("horse"), "{code} {seen}");
    let (seen, code) = at_a_terminal(&world, &run, "wrong horse\n");
    assert!(
        code == 1 && seen.contains("the passphrase is wrong") && !seen.contains("it ran"),
        "{code} {seen}"
    );
    let (seen, code) = at_a_terminal(&world, &["secret", "list"], "wrong horse\n");
    assert!(code == 1 && seen.contains("the passphrase is wrong"), "{code} {seen}");
}

#[test]
fn nothing_is_exposed_by_a_slip() {
    let world = World::new();
    assert_snapshot!(world.said(&["run", "--expose", "TOKEN", "--", "true"]), @r"
    exit code 12
    --- stderr
    fumehood: the real value of TOKEN is given to a cell by a person at a terminal
    fumehood: help: run it at a terminal, or add `--expose-yes-really TOKEN` if a person has decided it
    ");
    assert_snapshot!(world.said(&["exec", "--expose", "TOKEN=PGPASSWORD", "--expose-yes-really", "OTHER", "--", "true"]), @r"
    exit code 12
    --- stderr
    fumehood: the real value of TOKEN is given to a cell by a person at a terminal
    fumehood: help: run it at a terminal, or add `--expose-yes-really TOKEN` if a person has decided it
    ");
    let (seen, code) = at_a_terminal(&world, &["exec", "--expose", "TOKEN", "--", "true"], "yes\n");
    assert!(code == 12 && seen.contains("nothing was started"), "{code} {seen}");
    assert_snapshot!(world.said(&["run", "--expose-yes-really", "TOKEN", "--", "true"]), @r"
    exit code 2
    --- stderr
    error: the following required arguments were not provided:
      --expose <NAME[=VARIABLE]>

    Usage: fumehood run --expose <NAME[=VARIABLE]> --expose-yes-really <NAME> <NAME | COMMAND>...

    For more information, try '--help'.
    ");
}

#[test]
fn a_terminal_is_given_back_when_nobody_waits_for_the_answer_any_more() {
    let world = World::new();
    set(&world, &["TOKEN", "--host", "a.example"]);
    let (seen, code) = at_a_terminal(&world, &["secret", "seal", "--passphrase"], "horse\nhorse\nhorse\n");
    assert_eq!(code, 0, "{seen}");
    // What is asked for is hidden while it is asked for, and the program that waits for it is killed.
    let script = r#"
        "$PROGRAM" exec --secret TOKEN -- true &
        until_said() { for n in $(seq 300); do stty -a | grep -q -- "$1" && break; sleep 0.1; done; stty -a; }
        until_said ' -echo '; kill -KILL $!; until_said ' echo '; wait
    "#;
    let (seen, _) = shell_at_a_terminal(&world, script, "");
    assert!(seen.contains("passphrase of the vault: "), "{seen}");
    let shown: Vec<bool> =
        seen.lines().filter(|line| line.contains("echoe")).map(|line| !line.contains("-echo ")).collect();
    assert_eq!(shown, [false, true], "{seen}");
}
