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

/// Kills it after these parts of the time it takes, in percent.
fn killed(caller: Caller, parts: &[u32]) {
    let Some(scene) = Scene::new("a killed installation", caller) else { return };
    publish(&scene);
    let begun = Instant::now();
    let whole = scene.add("busy@1.0.0", &[]);
    let takes = begun.elapsed();
    assert!(scene.trees().len() == 1 && scene.left().is_empty(), "{whole:?} {:?}", scene.left());
    scene.remove();
    for part in parts {
        scene.forget_packages();
        let mut child = begin(&scene, "probe");
        thread::sleep(takes * *part / 100);
        child.kill().unwrap();
        child.wait().unwrap();
        for tree in scene.trees() {
            let list = tree.parent().unwrap().join("list");
            let is_whole = tree.join("node_modules/busy/serve.mjs").is_file() && list.is_file();
            assert!(is_whole, "{part} %: {}", tree.display());
        }
        // Its cell ends with it; then another one does it, and clears up.
        let deadline = Instant::now() + TIDY_WITHIN;
        loop {
            // Whether the killed one has declared it already.
            let is_declared = scene.product(&["remove", "probe"], "").code == Some(0);
            let added = scene.add("busy@1.0.0", &[]);
            assert_eq!(scene.trees().len(), 1, "{part} %, declared before: {is_declared}: {added:?}");
            if scene.left().is_empty() {
                break;
            }
            assert!(Instant::now() < deadline, "{part} %: {:?}", scene.left());
            scene.forget_trees();
        }
        scene.remove();
    }
}

#[test]
fn an_installation_of_root_that_is_killed_leaves_nothing_that_counts() {
    if Caller::all().contains(&Caller::Root) {
        killed(Caller::Root, &[15, 40, 60]);
    }
}

#[test]
fn an_installation_of_an_ordinary_user_that_is_killed_leaves_nothing_that_counts() {
    killed(Caller::Ordinary, &[25, 50, 75]);
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
