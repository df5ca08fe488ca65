//! Depth that is missing: the cell runs and says so, and what was made a condition is refused.

use std::{
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    host::{Host, Lack, callers},
    walls::parsed,
};

/// A host without depth.
struct Depth {
    name: &'static str,
    lack: Lack,
    /// The layers that are not held as they should be, by their names in JSON and in words, and how they are.
    layers: &'static [(&'static str, &'static str, &'static str)],
    /// What has to be a condition for `exec` to be refused; nothing where it is one by default.
    condition: Option<&'static str>,
    /// The layer that the refusal names.
    refused: &'static str,
}

const NO_LANDLOCK: &[(&str, &str, &str)] = &[("landlock", "landlock", "missing")];
const NO_GROUPS: &[(&str, &str, &str)] =
    &[("memory", "memory", "watched"), ("cpu", "cpu", "missing"), ("lifecycle", "life-cycle", "watched")];
const READ_ONLY: &str = "for h in /sys/fs/cgroup /sys/fs/cgroup/*; do \
                           if mountpoint -q $h; then mount -o remount,bind,ro $h; fi; done";

const DEPTHS: &[Depth] = &[
    Depth {
        name: "a kernel without Landlock",
        lack: Lack::Calls(&["landlock_create_ruleset=ENOSYS"]),
        layers: NO_LANDLOCK,
        condition: Some("require=landlock"),
        refused: "landlock",
    },
    Depth {
        name: "Landlock switched off",
        lack: Lack::Calls(&["landlock_create_ruleset=EOPNOTSUPP"]),
        layers: NO_LANDLOCK,
        condition: Some("require=landlock"),
        refused: "landlock",
    },
    Depth {
        name: "no control groups",
        lack: Lack::Mounts("mount -t tmpfs none /sys/fs/cgroup"),
        layers: NO_GROUPS,
        condition: None,
        refused: "memory",
    },
    Depth {
        name: "control groups read-only",
        lack: Lack::Mounts(READ_ONLY),
        layers: NO_GROUPS,
        condition: None,
        refused: "memory",
    },
];

#[test]
fn a_cell_without_depth_runs_and_is_shown_as_it_is() {
    each(|case, host, depth| {
        let words = host.marking("run", &["--unreviewed", "--name", "shallow"]);
        let child = host.start(&words);
        let deadline = Instant::now() + Duration::from_secs(20);
        let ps = loop {
            let ps = host.run(&["ps".into(), "--json".into()]);
            let is_up = host.mark().exists() && parsed(&ps)[0]["state"] == "running";
            if is_up || Instant::now() > deadline {
                break ps;
            }
            thread::sleep(Duration::from_millis(5));
        };
        let shown = host.run(&["ps".into()]);
        let out = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success() && host.mark().exists(), "{case}: {said}");
        let cells = parsed(&ps);
        assert_eq!(cells[0]["name"], "shallow", "{case}: {cells:#}");
        assert_layers(case, depth, &cells[0]["layers"]);
        let lines: Vec<&str> = said.lines().filter(|line| line.contains("not held on this host: ")).collect();
        assert_eq!(lines.len(), 1, "{case}: {said}");
        for (_, name, state) in depth.layers {
            assert!(lines[0].contains(&format!("{name} ({state})")), "{case}: {said}");
            assert!(shown.stdout.contains(name), "{case}: {shown:?}");
        }
    });
}

#[test]
fn doctor_shows_missing_depth_with_its_remedy() {
    each(|case, host, depth| {
        let json = host.run(&["doctor".into(), "--json".into()]);
        assert_eq!(json.code, Some(0), "{case}: {json:?}");
        let report = parsed(&json);
        assert_eq!(report["wall"], true, "{case}: {report:#}");
        assert_layers(case, depth, &report["layers"]);
        let text = host.run(&["doctor".into()]);
        assert_eq!(text.code, Some(0), "{case}: {text:?}");
        for (_, name, state) in depth.layers {
            let mut lines = text.stdout.lines();
            let is_row = |line: &&str| line.starts_with(state) && line.contains(&format!(" {name} "));
            assert!(lines.any(|line| is_row(&line)), "{case}: {}", text.stdout);
            let next = lines.next().unwrap_or_default();
            assert!(next.trim_start().starts_with("remedy: "), "{case}: {name}: {}", text.stdout);
        }
    });
}

#[test]
fn what_is_a_condition_is_refused_and_nothing_runs() {
    each(|case, host, depth| {
        let flags: Vec<&str> = depth.condition.iter().flat_map(|condition| ["--limit", condition]).collect();
        let ran = host.run(&host.marking("exec", &flags));
        assert_eq!(ran.code, Some(13), "{case}: {ran:?}");
        assert!(!host.mark().exists(), "{case}: something ran: {ran:?}");
        assert!(ran.stderr.contains(&format!("(layer: {})", depth.refused)), "{case}: {ran:?}");
        assert!(ran.stderr.contains("FH-CELL-REQUIRED") && ran.stderr.contains("help: "), "{case}: {ran:?}");
        // Without the condition the same command runs.
        let ran = host.run(&host.marking("exec", &["--limit", "require=none"]));
        assert!(ran.code == Some(0) && host.mark().exists(), "{case}: {ran:?}");
    });
}

fn assert_layers(case: &str, depth: &Depth, layers: &Value) {
    for (key, _, state) in depth.layers {
        let found = layers.as_array().unwrap().iter().find(|layer| layer["name"] == *key);
        let layer = found.unwrap_or_else(|| panic!("{case}: no layer {key}: {layers:#}"));
        assert_eq!(layer["state"], *state, "{case}: {layer:#}");
        assert!(!layer["remedy"].as_str().unwrap_or_default().is_empty(), "{case}: {layer:#}");
    }
}

fn each(check: impl Fn(&str, &Host, &Depth)) {
    for caller in callers() {
        for depth in DEPTHS {
            check(&format!("{}, as {caller:?}", depth.name), &Host::new(caller, depth.lack), depth);
        }
    }
}
