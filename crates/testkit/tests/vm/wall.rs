//! The process wall on kernels unlike this one: built, or refused by name.

use serde_json::Value;
use testkit::vm::{Groups, Machine, Run};

use crate::guest::{machine_with_wall, result, run};

/// Every layer without which there is no cell.
const WALLS: [&str; 11] = [
    "user namespace",
    "mount namespace",
    "pid namespace",
    "network namespace",
    "ipc namespace",
    "uts namespace",
    "cgroup namespace",
    "capabilities",
    "no_new_privs",
    "seccomp",
    "identity",
];

/// The cell called `name`, which was built and left nothing behind.
fn built<'a>(run: &'a Run, name: &str) -> &'a Value {
    ended_so(run, name, "Ok(Closed)")
}

fn ended_so<'a>(run: &'a Run, name: &str, how: &str) -> &'a Value {
    let cell = result(run, "wall", name);
    assert!(cell["refused"].is_null(), "{name}: {:#}\n{}", cell["refused"], run.console);
    for wall in WALLS {
        assert_eq!(cell["layers"][wall]["state"], "enforced", "{name}: {wall}: {cell:#}");
    }
    assert_eq!(cell["ended"], how, "{name}: {cell:#}");
    assert_eq!(cell["gone"], true, "{name}: {cell:#}");
    cell
}

fn refused<'a>(run: &'a Run, name: &str, error: &str, hint: &str) -> &'a Value {
    let cell = result(run, "wall", name);
    for (key, wanted) in [("error", error), ("hint", hint)] {
        let said =
            cell["refused"][key].as_str().unwrap_or_else(|| panic!("{name} was not refused: {cell:#}"));
        assert!(said.contains(wanted), "{name}: {key}: `{said}` does not say `{wanted}`");
    }
    assert_eq!(cell["gone"], true, "{name}: {cell:#}");
    cell
}

fn state(cell: &Value, layer: &str) -> String {
    cell["layers"][layer]["state"].as_str().unwrap_or_default().to_owned()
}

fn said(cell: &Value) -> &str {
    cell["stdout"].as_str().unwrap_or_default()
}

/// More memory than any ceiling here: of the shell's own, and in files of the cell's `/tmp`.
const EAT: &str = "x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done";
const FILL: &str =
    "i=0; while [ $i -lt 40 ]; do i=$((i+1)); head -c 1000000 /dev/zero >/tmp/$i || exit 3; done";

#[test]
fn on_cgroup_v2_the_tool_sees_and_feels_its_own_ceilings() {
    let Some(machine) = machine_with_wall() else { return };
    let run = run(
        &machine,
        &format!(
            "
        wall-probe seen memory=67108864 processes=9 -- sh -c '
            cat /proc/self/cgroup
            cd /sys/fs/cgroup && cat memory.max pids.max cpu.max
            echo 1 >pids.max || echo read-only'
        wall-probe eaten memory=67108864 -- sh -c '{EAT}'
        wall-probe filled memory=33554432 -- sh -c '{FILL}'
        wall-probe forked processes=5 -- sh -c 'for i in 1 2 3 4 5 6 7 8; do sleep 1 & echo started; done'
        wall-probe smallest processes=1 -- true
        wall-probe 'freeze' -- sh -c 'while :; do echo tick; sleep 0.01; done'"
        ),
    );
    let seen = built(&run, "seen");
    assert_eq!(said(seen), "0::/\n67108864\n10\n100000 100000\nread-only\n", "{seen:#}");
    for layer in ["memory", "cpu", "processes", "life-cycle"] {
        assert_eq!(state(seen, layer), "enforced", "{layer}");
    }
    for name in ["eaten", "filled"] {
        // The group dies as a whole, PID 1 with it; whoever asks why finds it counted.
        let over = ended_so(&run, name, "Ok(Lost)");
        assert!(over["oom_kills"].as_u64() > Some(0), "{name}: {over:#}");
    }
    let forked = built(&run, "forked");
    assert_eq!(said(forked).lines().count(), 4, "the shell is the fifth: {forked:#}");

    assert_eq!(built(&run, "smallest")["exit"]["value"], 0);

    let freezing = &built(&run, "freeze")["freezing"];
    assert_eq!((&freezing["meanwhile"], &freezing["errors"][0]), (&0.into(), &Value::Null), "{freezing:#}");
    assert!(freezing["afterwards"].as_u64() > Some(0), "{freezing:#}");
}

#[test]
fn on_cgroup_v1_the_tool_sees_its_own_ceilings() {
    let Some(machine) = machine_with_wall() else { return };
    let run = run(
        &machine.groups(Groups::Legacy),
        &format!(
            "
        wall-probe seen memory=67108864 processes=9 -- sh -c '
            cd /sys/fs/cgroup && cat memory/memory.limit_in_bytes pids/pids.max cpu,cpuacct/cpu.cfs_quota_us'
        wall-probe eaten memory=67108864 -- sh -c '{EAT}'"
        ),
    );
    let seen = built(&run, "seen");
    assert_eq!(said(seen), "67108864\n10\n100000\n", "{seen:#}");
    assert_eq!(state(seen, "life-cycle"), "watched", "the v1 freezer is not used");
    let eaten = built(&run, "eaten");
    assert_eq!(eaten["exit"]["value"], 9, "{eaten:#}");
}

#[test]
fn without_cgroups_memory_is_watched_or_the_start_refused() {
    let Some(machine) = machine_with_wall() else { return };
    let run = run(
        &machine.groups(Groups::None),
        &format!(
            "
        wall-probe seen memory=67108864 -- sh -c 'cat /sys/fs/cgroup/memory.max'
        wall-probe eaten memory=67108864 -- sh -c '{EAT}'
        wall-probe required require=memory -- true
        echo '{EAT}' >/tmp/eat
        su user -c 'wall-probe by-user memory=67108864 -- sh -c \"$(cat /tmp/eat)\"'"
        ),
    );
    let seen = built(&run, "seen");
    assert_eq!((state(seen, "memory"), state(seen, "cpu")), ("watched".to_owned(), "missing".to_owned()));
    assert_eq!(said(seen), "67108864\n", "the ceiling is stated all the same");
    for name in ["eaten", "by-user"] {
        let eaten = result(&run, "wall", name);
        assert!(
            eaten["ended"].as_str().is_some_and(|how| how.contains("MemoryCeiling")),
            "{name}: {eaten:#}"
        );
    }
    refused(&run, "required", "`limits.require` names memory, which is watched here", "mount -t cgroup2");
}

#[test]
fn without_user_namespaces_nothing_starts() {
    let Some(machine) = machine_with_wall() else { return };
    let run = run(
        &machine,
        "
        wall-probe before -- echo started
        su user -c 'wall-probe before-by-user -- echo started'
        echo 0 >/proc/sys/user/max_user_namespaces
        wall-probe after -- echo started
        su user -c 'wall-probe after-by-user -- echo started'",
    );
    for name in ["before", "before-by-user"] {
        assert_eq!(said(built(&run, name)), "started\n");
    }
    for name in ["after", "after-by-user"] {
        refused(&run, name, "making the namespaces failed", "sysctl user.max_user_namespaces");
    }
}

#[test]
fn without_landlock_the_layer_is_told_missing_or_the_start_refused() {
    let Some(machine) = machine_with_wall() else { return };
    let with = run_landlock(&machine);
    let cell = built(&with, "plain");
    assert_eq!(state(cell, "landlock"), "enforced", "{cell:#}");
    built(&with, "required");

    let without = run_landlock(&machine.kernel_option("lsm=lockdown,yama"));
    let cell = built(&without, "plain");
    assert_eq!(state(cell, "landlock"), "missing", "{cell:#}");
    assert_eq!(said(cell), "started\n", "it is depth, and no wall");
    refused(&without, "required", "`limits.require` names landlock, which is missing here", "");
}

fn run_landlock(machine: &Machine) -> Run {
    run(machine, "wall-probe plain -- echo started; wall-probe required require=landlock -- echo started")
}

#[test]
fn a_masked_proc_is_refused_by_name() {
    let Some(machine) = machine_with_wall() else { return };
    let run = run(
        &machine,
        "
        wall-probe before -- echo started
        mount -t tmpfs none /proc/scsi 2>/dev/null || mount -t tmpfs none /proc/fs
        wall-probe after -- echo started",
    );
    built(&run, "before");
    refused(&run, "after", "/proc", "unmasked /proc");
}
