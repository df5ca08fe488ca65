//! Packages of a registry of npm's kind that mean harm: each is harmless in a cell or refused, and does its harm where they
//! are installed as usual.

use std::{fs, os::unix::fs::PermissionsExt as _};

use serde_json::{Value, json};
use testkit::world::{Caller, registry::Package};

use crate::{
    conversation,
    node::{Scene, probe},
};

/// Nothing to find.
const NOTHING: &str = "return {};";

/// For each caller that this test run can act as, where there is a registry.
fn each(what: &str, trial: impl Fn(&Scene)) {
    for caller in Caller::all() {
        if let Some(scene) = Scene::new(what, caller) {
            trial(&scene);
        }
    }
}

/// A module that copies one file of the host to another, as far as it can, and says in a third that it ran.
fn thief(scene: &Scene) -> String {
    let [canary, loot] = ["home/canary", "loot/stolen"].map(|name| json!(scene.world.path(name)));
    format!(
        "const fs = require('fs');\nfs.writeFileSync(__dirname + '/ran', '1');\n\
         try {{ fs.writeFileSync({loot}, fs.readFileSync({canary})); }} catch {{}}\n"
    )
}

#[test]
fn an_install_script_is_not_run_or_where_it_is_allowed_finds_nothing_to_steal() {
    each("an install script that steals", |scene| {
        scene.world.make_file("home/canary", "precious", 0o600).unwrap();
        let loot = scene.world.make_folder("loot").unwrap().join("stolen");
        let package =
            Package::new("thief", "1.0.0").file("thief.js", thief(scene)).postinstall("node thief.js");
        scene.publish(&package);
        scene.publish(&probe("loves-thief", "1.0.0", NOTHING).needs("thief", "1"));
        let added = scene.add_good("loves-thief@1.0.0", &[]);
        assert!(added.stdout.contains("scripts that did not run: thief"), "{added:?}");
        let [tree] = scene.trees().try_into().unwrap();
        assert!(tree.join("node_modules/thief/thief.js").exists());
        assert!(!tree.join("node_modules/thief/ran").exists() && !loot.exists());
        scene.remove();
        let allowed = scene.add_good("loves-thief@1.0.0", &["--allow-script", "thief"]);
        let ran = scene.trees().into_iter().any(|tree| tree.join("node_modules/thief/ran").exists());
        assert!(ran && !loot.exists(), "{allowed:?}");
        assert!(scene.lock().contains("\"thief\""), "{}", scene.lock());
        // Control: as usual, it is run as the user.
        scene.usual("loves-thief@1.0.0");
        assert_eq!(fs::read_to_string(loot).unwrap(), "precious");
    });
}

#[test]
fn a_dependency_that_changes_under_a_caret_range_changes_nothing() {
    const SAYS: &str = "const m = await import('mood');\nreturn { mood: m.default };";
    each("a dependency that changes", |scene| {
        let mood = |version: &str, mood: &str| {
            let says = format!("module.exports = '{mood}';\n");
            Package::new("mood", version).with("main", json!("mood.js")).file("mood.js", says)
        };
        scene.publish(&mood("1.0.0", "good"));
        scene.publish(&probe("moody", "1.0.0", SAYS).needs("mood", "^1.0.0"));
        scene.add_good("moody@1.0.0", &[]);
        assert_eq!(scene.facts(), json!({ "mood": "good" }));
        scene.publish(&mood("1.0.1", "bad"));
        let before = scene.registry.requests().unwrap();
        assert_eq!(scene.facts(), json!({ "mood": "good" }));
        assert_eq!(scene.registry.requests().unwrap(), before, "nothing is asked at a start");
        // Another machine with the same lock.
        let lock = scene.lock();
        scene.forget_packages();
        let installed = scene.product(&["lock", "--check"], "");
        assert_eq!(installed.code, Some(0), "{installed:?}");
        assert_eq!((scene.facts(), scene.lock()), (json!({ "mood": "good" }), lock));
        // Control: as usual, the range decides at each installation.
        let folder = scene.usual("moody@1.0.0");
        assert_eq!(scene.tell(&folder, &["npx", "moody"]), json!({ "mood": "bad" }));
    });
}

#[test]
fn a_file_that_was_swapped_under_its_version_is_refused() {
    let says = |mood: &str| format!("return {{ mood: '{mood}' }};");
    each("a swapped file", |scene| {
        scene.publish(&probe("swap", "1.0.0", &says("good")));
        scene.add_good("swap@1.0.0", &[]);
        let honest = scene.lock();
        scene.publish(&probe("swap", "1.0.0", &says("bad")));
        assert_eq!(scene.facts(), json!({ "mood": "good" }), "what is installed is not fetched again");
        // Another machine with the same lock.
        scene.forget_packages();
        let refused = scene.product(&["lock", "--check"], "");
        assert_ne!(refused.code, Some(0), "{refused:?}");
        assert!(refused.stderr.contains("is not the one its hash was taken of"), "{refused:?}");
        assert!(refused.stderr.contains("help: "), "{refused:?}");
        assert_eq!((scene.lock(), scene.trees().len()), (honest, 0));
        // Control: as usual, the version alone decides.
        let folder = scene.usual("swap@1.0.0");
        assert_eq!(scene.tell(&folder, &["npx", "swap"]), json!({ "mood": "bad" }));
    });
}

#[test]
fn a_program_outside_of_its_package_is_refused() {
    each("a program outside of its package", |scene| {
        let inside = Package::new("inner", "1.0.0").file("inner.mjs", "console.log('inner ran');\n");
        scene.publish(&inside);
        let outer = |path: &str| Package::new("outer", "1.0.0").needs("inner", "1").with("bin", json!(path));
        scene.publish(&outer("../inner/inner.mjs"));
        let refused = scene.add("outer@1.0.0", &[]);
        assert_ne!(refused.code, Some(0), "{refused:?}");
        assert!(refused.stderr.contains("is not a file of that package"), "{refused:?}");
        assert!(refused.stderr.contains("help: "), "{refused:?}");
        // Control: the path is there, and leads to what another package brought.
        let folder = scene.usual("outer@1.0.0");
        let mut command = scene.world.program("node".as_ref());
        let ran =
            scene.world.run(command.arg(folder.join("node_modules/outer/../inner/inner.mjs")), "").unwrap();
        assert_eq!(ran.stdout, "inner ran\n");
    });
}

#[test]
fn a_dependencys_program_does_not_take_the_place_of_node() {
    const SAYS: &str = "return { runs: process.env.RUN_BY ?? 'node' };";
    each("a dependency's program called `node`", |scene| {
        let impostor =
            "#!/bin/sh\nRUN_BY=impostor exec /usr/bin/env -S PATH=/usr/local/bin:/usr/bin:/bin node \"$@\"\n";
        let package = Package::new("impostor", "1.0.0")
            .with("bin", json!({ "node": "impostor.sh" }))
            .file("impostor.sh", impostor);
        scene.publish(&package);
        scene.publish(&probe("trusting", "1.0.0", SAYS).needs("impostor", "1"));
        scene.add_good("trusting@1.0.0", &[]);
        assert_eq!(scene.facts(), json!({ "runs": "node" }));
        // Control: as usual, the programs of all packages come first.
        let folder = scene.usual("trusting@1.0.0");
        assert_eq!(scene.tell(&folder, &["npx", "trusting"]), json!({ "runs": "impostor" }));
    });
}

#[test]
fn a_version_that_was_taken_back_is_started_from_the_store_and_installed_nowhere_else() {
    each("an unpublished version", |scene| {
        let version = |version: &str| probe("gone", version, "return { runs: true };");
        scene.publish(&version("1.0.0"));
        scene.publish(&version("1.0.1"));
        scene.add_good("gone@1.0.1", &[]);
        scene.registry.unpublish("gone", "1.0.1").unwrap();
        assert_eq!(scene.facts(), json!({ "runs": true }));
        let outdated: Value =
            serde_json::from_str(&scene.product(&["outdated", "--json"], "").stdout).unwrap();
        let withdrawn = outdated[0]["pinned_withdrawn"].as_str().unwrap();
        assert!(withdrawn.contains("is not there any more"), "{outdated}");
        scene.forget_packages();
        let refused = scene.product(&["lock", "--check"], "");
        assert_ne!(refused.code, Some(0), "{refused:?}");
        assert!(refused.stderr.contains("No matching version found for gone@1.0.1"), "{refused:?}");
        assert_eq!(scene.trees().len(), 0);
        // Control: the one that is still there is installed.
        scene.remove();
        scene.add_good("gone@1.0.0", &[]);
        assert_eq!(scene.facts(), json!({ "runs": true }));
    });
}

#[test]
fn a_file_that_was_changed_in_the_store_is_not_run_and_is_replaced_by_what_was_pinned() {
    each("a file changed in the store", |scene| {
        scene.publish(&probe("steady", "1.0.0", "return { runs: 'as pinned' };"));
        scene.add_good("steady@1.0.0", &[]);
        let [tree] = scene.trees().try_into().unwrap();
        let file = tree.join("node_modules/steady/facts.mjs");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        fs::write(&file, "export const facts = async () => ({ runs: 'something else' });\n").unwrap();
        let refused = scene.product(&["run", "--grace", "5", "probe"], &conversation::text());
        // What was accepted is listed all the same; it is the call that is answered with the reason.
        assert_eq!(refused.code, Some(12), "{refused:?}");
        assert!(
            refused.stdout.contains("FH-SERVER-ENDED") && !refused.stdout.contains("runs"),
            "{refused:?}"
        );
        assert!(refused.stderr.contains("facts.mjs` was changed"), "{refused:?}");
        assert!(refused.stderr.contains("`fumehood lock SERVER`"), "{refused:?}");
        let lock = scene.lock();
        let locked = scene.product(&["lock", "probe"], "");
        assert!(locked.stderr.contains("installed anew"), "{locked:?}");
        assert_eq!(scene.lock(), lock);
        assert_eq!(scene.facts(), json!({ "runs": "as pinned" }));
        assert!(scene.product(&["lock", "probe"], "").stderr.contains("pinned already"));
        // Control: what was changed does run without us.
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        fs::write(&file, "export const facts = async () => ({ runs: 'something else' });\n").unwrap();
        let told = scene.tell(&tree, &["node", "node_modules/steady/serve.mjs"]);
        assert_eq!(told, json!({ "runs": "something else" }));
    });
}
