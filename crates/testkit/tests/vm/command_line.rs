//! The command line on kernels unlike this one: what it answers, and with which exit code.

use testkit::vm::{Groups, Run};

use crate::guest::{machine_with_fumehood, result, run};

/// `try NAME COMMAND…` runs a command as root, `try_by_user NAME COMMAND-LINE` one as the ordinary user. The result has
/// its exit code, and whether it printed just the line `hi`.
const TRY: &str = r#"
try() {
    ran=$1; shift
    said=$("$@" 2>/tmp/stderr); code=$?
    cat /tmp/stderr
    [ "$said" = hi ] && hi=true || hi=false
    echo "result: {\"ran\":\"$ran\",\"code\":$code,\"hi\":$hi}"
}
try_by_user() { try "$1" su user -c "$2"; }
doctor() { echo "result: {\"ran\":\"$1\",\"report\":$(fumehood doctor --json | tr -d '\n')}"; }
"#;

/// Hi was said, or not and with this exit code.
fn ended(run: &Run, name: &str, code: u64) {
    let found = result(run, "ran", name);
    assert_eq!(
        (found["code"].as_u64(), found["hi"].as_bool()),
        (Some(code), Some(code == 0)),
        "{name}: {found}\n{}",
        run.console
    );
}

#[test]
fn without_user_namespaces_every_start_ends_with_13_and_its_remedy() {
    let Some(machine) = machine_with_fumehood() else { return };
    let script = format!(
        "{TRY}
        try before fumehood exec -- echo hi
        try_by_user before-by-user 'fumehood exec --limit require= -- echo hi'
        echo 0 >/proc/sys/user/max_user_namespaces
        try exec fumehood exec -- echo hi
        try run fumehood run --unreviewed echo hi
        try_by_user exec-by-user 'fumehood exec --limit require= -- echo hi'
        try doctor fumehood doctor
        doctor report"
    );
    let run = run(&machine, &script);
    for name in ["before", "before-by-user"] {
        ended(&run, name, 0);
    }
    for name in ["exec", "run", "exec-by-user", "doctor"] {
        ended(&run, name, 13);
    }
    let refusal = &result(&run, "ran", "report")["report"]["refusal"];
    assert_eq!(
        (&refusal["code"], &refusal["layer"]),
        (&"FH-CELL-WALL".into(), &"namespaces".into()),
        "{refusal:#}"
    );
    let hint = "namespaces are used up or switched off: as root, `sysctl user.max_user_namespaces=";
    assert!(refusal["hint"].as_str().is_some_and(|said| said.starts_with(hint)), "{refusal:#}");
    assert!(run.console.matches(hint).count() >= 4, "each refused start says the remedy\n{}", run.console);
}

#[test]
fn without_cgroups_code_is_refused_unless_the_user_says_otherwise() {
    let Some(machine) = machine_with_fumehood() else { return };
    let script = format!(
        "{TRY}
        try refused fumehood exec -- echo hi
        try said-otherwise fumehood exec --limit require= -- echo hi
        doctor report"
    );
    let run = run(&machine.groups(Groups::None), &script);
    let refused = result(&run, "ran", "refused");
    assert!(refused["code"].as_u64() > Some(0) && refused["hi"] == false, "{refused}");
    assert!(run.console.contains("`limits.require` names memory, which is watched here"), "{}", run.console);
    ended(&run, "said-otherwise", 0);
    let report = &result(&run, "ran", "report")["report"];
    assert_eq!(report["wall"], true, "cgroups are depth: {report:#}");
    let layers = report["layers"].as_array().expect("layers");
    let memory = layers.iter().find(|layer| layer["name"] == "memory").expect("the memory layer");
    assert_eq!(memory["state"], "watched", "{memory:#}");
}

#[test]
fn a_user_with_a_delegated_group_has_every_ceiling_of_root() {
    let Some(machine) = machine_with_fumehood() else { return };
    let script = format!(
        "{TRY}
        cd /sys/fs/cgroup
        echo '+memory +pids +cpu' >cgroup.subtree_control
        mkdir -p unit/main
        echo '+memory +pids +cpu' >unit/cgroup.subtree_control
        chown user:user unit unit/* unit/main/*
        try_by_user elsewhere 'fumehood exec -- echo hi'
        echo $$ >unit/main/cgroup.procs
        cd /
        try_by_user delegated 'fumehood exec -- echo hi'
        try_by_user eats 'fumehood exec --limit memory=64MiB -- sh -c \"x=aaaaaaaa; while :; do x=\\$x\\$x; done\"'
        [ -z \"$(find /sys/fs/cgroup -name 'fumehood-*')\" ] && echo nothing-left"
    );
    let run = run(&machine, &script);
    let elsewhere = result(&run, "ran", "elsewhere");
    assert!(
        elsewhere["code"].as_u64() > Some(0),
        "without delegation memory is no more than watched: {elsewhere}"
    );
    ended(&run, "delegated", 0);
    ended(&run, "eats", 137);
    assert!(run.console.contains("nothing-left"), "{}", run.console);
}
