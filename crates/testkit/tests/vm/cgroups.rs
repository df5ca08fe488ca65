//! Control groups: where a cell's ceilings are held, and that they hold, on each layout of a host.

use serde_json::Value;
use testkit::vm::{Groups, Run};

use crate::guest::{machine, result, run};

/// What `cgroup-probe layers` said between the lines `case NAME` and the next one.
fn case<'a>(run: &'a Run, name: &str) -> Case<'a> {
    let at = run
        .console
        .lines()
        .filter(|line| line.starts_with("case "))
        .position(|l| l == format!("case {name}"));
    let mut layers = run.results.iter().filter(|result| result["tried"] == "layers");
    let result =
        at.and_then(|at| layers.nth(at)).unwrap_or_else(|| panic!("no case {name}\n{}", run.console));
    assert_eq!(result["gone"], true, "{name}: the groups are removed: {result:#}");
    Case { name: name.to_owned(), result }
}

struct Case<'a> {
    name: String,
    result: &'a Value,
}

impl Case<'_> {
    fn enforced(&self, layer: &str, detail: &str) {
        let found = &self.result["layers"][layer];
        assert_eq!(found["state"], "enforced", "{}: {layer}: {found:#}", self.name);
        let said = found["detail"].as_str().expect("text");
        assert!(said.contains(detail), "{}: {layer}: `{said}` does not say `{detail}`", self.name);
    }

    fn missing(&self, layer: &str, detail: &str, remedy: &str) {
        let found = &self.result["layers"][layer];
        assert_eq!(found["state"], "missing", "{}: {layer}: {found:#}", self.name);
        for (key, wanted) in [("detail", detail), ("remedy", remedy)] {
            let said = found[key].as_str().expect("text");
            assert!(said.contains(wanted), "{}: {layer}: {key}: `{said}` does not say `{wanted}`", self.name);
        }
    }
}

/// The layers that are limits.
const LIMITS: [&str; 3] = ["memory", "cpu", "processes"];

fn all_ceilings_hold(run: &Run) {
    let memory = result(run, "tried", "memory");
    assert_eq!(memory["ended_well"], false, "{memory}");
    assert!(memory["oom_kills"].as_u64() > Some(0), "{memory}");
    let enough = result(run, "tried", "memory, high enough");
    assert_eq!(
        (&enough["ended_well"], enough["oom_kills"].as_u64()),
        (&Value::Bool(true), Some(0)),
        "{enough}"
    );

    let processes = result(run, "tried", "processes");
    assert!(processes["started"].as_u64().is_some_and(|n| (4..=5).contains(&n)), "{processes}");
    let enough = result(run, "tried", "processes, high enough");
    assert_eq!(enough["started"], 10, "{enough}");

    let counted = |what| result(run, "tried", what)["counted"].as_u64().expect("a number");
    let (low, high) = (counted("cpu"), counted("cpu, high enough"));
    assert!(low * 3 < high, "a tenth of a core counted to {low}, a whole one to {high}");

    for result in &run.results {
        assert_eq!(result["gone"], true, "{result}");
    }
}

fn freezing_works(run: &Run) {
    let freezing = result(run, "tried", "freezing");
    for what in ["began", "stopped", "went_on", "frozen_again", "killed", "died"] {
        assert_eq!(freezing[what], true, "{what}: {freezing:#}");
    }
}

#[test]
fn unified_ceilings_hold() {
    let Some(machine) = machine() else { return };
    let run = run(&machine, "cgroup-probe ceilings");
    all_ceilings_hold(&run);
    freezing_works(&run);
    assert!(result(&run, "tried", "processes")["denied"].as_u64() > Some(0), "the kernel's count is found");
    let peak = result(&run, "tried", "memory");
    assert!(peak["peak"].is_u64() && peak["peak"].as_u64() < Some(64 << 20), "{peak}");
}

#[test]
fn legacy_ceilings_hold() {
    let Some(machine) = machine() else { return };
    let run = run(&machine.groups(Groups::Legacy), "cgroup-probe ceilings");
    all_ceilings_hold(&run);
    let freezing = result(&run, "tried", "freezing");
    assert_eq!(freezing["frozen"], "the cell has no group that could be frozen", "v1's freezer is not used");
}

#[test]
fn hybrid_ceilings_hold() {
    let Some(machine) = machine() else { return };
    let run = run(&machine.groups(Groups::Hybrid), "cgroup-probe ceilings");
    all_ceilings_hold(&run);
    freezing_works(&run);
}

#[test]
fn unified_places() {
    let Some(machine) = machine() else { return };
    let run = run(&machine, UNIFIED_PLACES);

    let root = case(&run, "root");
    for layer in LIMITS {
        root.enforced(layer, "cgroup v2 /sys/fs/cgroup/fumehood-probe-");
    }
    root.enforced("life-cycle", "freeze and kill in /sys/fs/cgroup/fumehood-probe-");
    assert_eq!(root.result["view"]["kind"], "unified");

    // Our own group has processes, so the kernel hands nothing down there, and the group above is taken.
    let session = case(&run, "session");
    for layer in LIMITS {
        session.enforced(layer, "/sys/fs/cgroup/user.slice/fumehood-probe-");
    }
    assert!(run.console.contains("session domain"), "no group of others became a threaded one");

    let stranger = case(&run, "stranger");
    for layer in LIMITS.into_iter().chain(["life-cycle"]) {
        stranger.missing(layer, "no group can be made in `/sys/fs/cgroup/session`", "-p Delegate=yes");
    }
    assert_eq!(stranger.result["view"]["kind"], "stated");

    // What systemd's user manager looks like from a terminal in it.
    let manager = case(&run, "manager");
    manager.enforced("memory", "/sys/fs/cgroup/user.slice/app.slice/fumehood-probe-");
    manager.enforced("processes", "/sys/fs/cgroup/user.slice/app.slice/fumehood-probe-");
    manager.missing(
        "cpu",
        "not handed down to `/sys/fs/cgroup/user.slice/app.slice`",
        "Delegate=cpu memory pids",
    );
    manager.enforced("life-cycle", "freeze and kill");

    // A unit with `Delegate=yes`, whose own processes have to make room first.
    let unit = case(&run, "unit");
    for layer in LIMITS {
        unit.enforced(layer, "/sys/fs/cgroup/unit/fumehood-probe-");
    }
    unit.result["own"]
        .as_str()
        .expect("text")
        .contains("/unit/fumehood.main")
        .then_some(())
        .expect("made room");
    let again = case(&run, "unit again");
    again.enforced("memory", "/sys/fs/cgroup/unit/fumehood-probe-");

    // The same without the mark: somebody else's processes are not moved about.
    let unmarked = case(&run, "unmarked");
    for layer in LIMITS {
        unmarked.missing(layer, "`/sys/fs/cgroup/unmarked` holds processes", "Delegate=yes");
    }
    unmarked.enforced("life-cycle", "freeze and kill in /sys/fs/cgroup/unmarked/fumehood-probe-");

    let read_only = case(&run, "read-only");
    for layer in LIMITS {
        read_only.missing(layer, "no group can be made in `/sys/fs/cgroup`", "writable /sys/fs/cgroup");
    }
}

const UNIFIED_PLACES: &str = r#"
cd /sys/fs/cgroup
# Runs the probe as the given user from a shell that stays in the group.
probe() {
    echo "case $1"
    ( echo 0 >"/sys/fs/cgroup/$3/cgroup.procs"; su "$2" -c 'cgroup-probe layers; exit $?' )
}
echo "case root"
cgroup-probe layers

mkdir -p user.slice/session.scope session
probe session root user.slice/session.scope
echo "session $(cat user.slice/session.scope/cgroup.type)"

probe stranger user session
rmdir user.slice/session.scope user.slice

mkdir user.slice
echo '+memory +pids -cpu' >cgroup.subtree_control
echo '+memory +pids' >user.slice/cgroup.subtree_control
mkdir -p user.slice/app.slice/terminal.scope
echo '+memory +pids' >user.slice/app.slice/cgroup.subtree_control
chown user:user user.slice user.slice/cgroup.procs user.slice/cgroup.subtree_control
chown -R user:user user.slice/app.slice
probe manager user user.slice/app.slice/terminal.scope

echo '+cpu' >cgroup.subtree_control
for unit in unit unmarked; do
    mkdir $unit
    chown user:user $unit $unit/cgroup.procs $unit/cgroup.subtree_control
done
cgroup-probe delegate unit || exit 1
probe unit user unit
probe 'unit again' user unit/fumehood.main
probe unmarked user unmarked

mount -o remount,ro,bind /sys/fs/cgroup
echo "case read-only"
cgroup-probe layers
"#;

#[test]
fn legacy_places() {
    let Some(machine) = machine() else { return };
    let script = "
        echo case root; cgroup-probe layers
        echo case stranger; su user -c 'cgroup-probe layers'
        # With a group in it the hierarchy outlives its mount.
        mkdir /sys/fs/cgroup/pids/kept && umount /sys/fs/cgroup/pids
        echo case unmounted; cgroup-probe layers";
    let run = run(&machine.groups(Groups::Legacy), script);

    let root = case(&run, "root");
    root.enforced("memory", "cgroup v1 /sys/fs/cgroup/memory/fumehood-probe-");
    root.enforced("cpu", "cgroup v1 /sys/fs/cgroup/cpu,cpuacct/fumehood-probe-");
    root.enforced("processes", "cgroup v1 /sys/fs/cgroup/pids/fumehood-probe-");
    root.missing("life-cycle", "no cgroup v2 file system is mounted", "beside cgroup v1");
    assert_eq!(root.result["view"]["kind"], "legacy");

    let stranger = case(&run, "stranger");
    for layer in LIMITS {
        stranger.missing(layer, "no group can be made in `/sys/fs/cgroup/", "on cgroup v1 only root");
    }

    let unmounted = case(&run, "unmounted");
    unmounted.missing(
        "processes",
        "the `pids` hierarchy (cgroup v1) is not mounted",
        "mount -t cgroup -o pids",
    );
    unmounted.enforced("memory", "cgroup v1");
}

#[test]
fn no_groups_and_no_controller() {
    let Some(machine) = machine() else { return };
    let script = "
        echo case nothing; cgroup-probe layers
        mount -t cgroup2 none /sys/fs/cgroup
        echo case no-memory; cgroup-probe layers";
    let machine = machine.groups(Groups::None).kernel_option("cgroup_no_v1=all cgroup_disable=memory");
    let run = run(&machine, script);

    let nothing = case(&run, "nothing");
    for layer in LIMITS.into_iter().chain(["life-cycle"]) {
        nothing.missing(layer, "no cgroup v2 file system is mounted", "mount -t cgroup2 none /sys/fs/cgroup");
    }
    let without = case(&run, "no-memory");
    without.missing(
        "memory",
        "the kernel has no `memory` controller",
        "boot without `cgroup_disable=memory`",
    );
    without.enforced("processes", "cgroup v2 /sys/fs/cgroup/fumehood-probe-");
}
