//! Installations that are killed half way, and many at once.

use std::{
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use testkit::world::{Caller, registry::Package};

use crate::node::{Scene, probe};

/// What is left by whoever was killed is cleared up by others within this time, but for what only an installation sweeps.
const TIDY_WITHIN: Duration = Duration::from_secs(10);
/// How many install at once.
const MANY: usize = 8;
/// How many packages one needs.
const NEEDED: usize = 6;

/// A package that needs some others.
fn publish(scene: &Scene) {
    let mut probe = probe("busy", "1.0.0", "return { runs: true };");
    for number in 0..NEEDED {
        let name = format!("part-{number}");
        scene.publish(&Package::new(&name, "1.0.0").file("part.js", "x".repeat(10_000)));
        probe = probe.needs(&name, "^1.0.0");
    }
    scene.publish(&probe);
}

fn begin(scene: &Scene, name: &str) -> Child {
    let mut command = scene.command(&["add", "--global", name, "npx:busy@1.0.0"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn an_installation_that_is_killed_leaves_nothing_that_counts() {
    for caller in Caller::all() {
        let Some(scene) = Scene::new("a killed installation", caller) else { continue };
        publish(&scene);
        let begun = Instant::now();
        let whole = scene.add("busy@1.0.0", &[]);
        let takes = begun.elapsed();
        assert!(scene.trees().len() == 1 && scene.left().is_empty(), "{whole:?} {:?}", scene.left());
        scene.remove();
        // Before it asks, while it resolves, while it fetches, while it puts away.
        for part in [10, 30, 45, 60, 75, 90] {
            scene.forget_packages();
            let mut child = begin(&scene, "probe");
            thread::sleep(takes * part / 100);
            child.kill().unwrap();
            child.wait().unwrap();
            for tree in scene.trees() {
                let whole = tree.join("node_modules/busy/serve.mjs").is_file()
                    && tree.parent().unwrap().join("list").is_file();
                assert!(whole, "{part} %: {tree:?}");
            }
            // Its cell ends with it; then another one does it, and clears up.
            let deadline = Instant::now() + TIDY_WITHIN;
            loop {
                scene.add_good("busy@1.0.0", &[]);
                scene.remove();
                if scene.left().is_empty() {
                    break;
                }
                assert!(Instant::now() < deadline, "{part} %: {:?}", scene.left());
                scene.forget_trees();
                thread::sleep(Duration::from_millis(100));
            }
        }
    }
}

#[test]
fn many_installations_at_once_do_the_work_once() {
    for caller in Caller::all() {
        let Some(scene) = Scene::new("many installations at once", caller) else { continue };
        publish(&scene);
        let before = scene.registry.downloads().unwrap();
        let children: Vec<Child> =
            (0..MANY).map(|number| begin(&scene, &format!("probe-{number}"))).collect();
        for child in children {
            let ended = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&ended.stderr);
            // Nobody was there to accept it: but it is installed.
            assert!(said.contains("fumehood review"), "{said}");
        }
        assert_eq!(scene.registry.downloads().unwrap() - before, NEEDED + 1);
        assert_eq!((scene.trees().len(), scene.left()), (1, Vec::new()));
        // Control: each one for itself fetches everything.
        scene.usual("busy@1.0.0");
        assert_eq!(scene.registry.downloads().unwrap() - before, 2 * (NEEDED + 1));
    }
}
