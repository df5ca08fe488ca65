//! What Node.js compiles of a program is kept with its package.

use std::{fs, path::Path};

use serde_json::json;
use testkit::world::{Caller, skip};

use crate::node::{Scene, cache, probe};

/// Where Node.js has what it compiled, as far as it says so.
const FACTS: &str = "const m = await import('node:module');\n\
                     return { variable: process.env.NODE_COMPILE_CACHE ?? null, used: m.getCompileCacheDir?.() ?? null };";

#[test]
fn what_nodejs_compiles_is_made_at_the_installation_and_read_at_every_start() {
    const WHAT: &str = "what Node.js compiles";
    let newer = cache().join(format!("npm-runtimes/node_modules/node-linux-{}/bin/node", architecture()));
    if !newer.is_file() {
        return skip(WHAT, "a newer Node.js is not among the test packages");
    }
    for caller in Caller::all() {
        let Some(scene) = Scene::new(WHAT, caller) else { continue };
        scene.publish(&probe("compiled", "1.0.0", FACTS));
        // Control: the one of the machine, where that is too old for it.
        if older(&scene) {
            scene.add_good("compiled@1.0.0", &[]);
            assert_eq!(scene.facts(), json!({ "variable": null, "used": null }));
            scene.remove();
            scene.forget_packages();
        }
        // A program by itself, before the other one.
        fs::copy(&newer, scene.world.make_folder(Scene::PROGRAMS).unwrap().join("node")).unwrap();
        scene.add_good("compiled@1.0.0", &[]);
        let [tree] = scene.trees().try_into().unwrap();
        let versions: Vec<_> = fs::read_dir(tree.join(".fumehood/node")).unwrap().collect();
        assert_eq!(versions.len(), 1, "{versions:?}");
        let facts = scene.facts();
        assert_eq!(facts["variable"], "/package/.fumehood/node");
        assert!(
            facts["used"].as_str().is_some_and(|used| used.starts_with("/package/.fumehood/node/")),
            "{facts}"
        );
        // It is looked after as everything else.
        let version = versions[0].as_ref().unwrap().path();
        let file = fs::read_dir(&version).unwrap().next().unwrap().unwrap().path();
        assert!(std::process::Command::new("chmod").arg("u+w").arg(&file).status().unwrap().success());
        fs::write(&file, "other").unwrap();
        let refused = scene.product(&["store", "verify"], "");
        assert_ne!(refused.code, Some(0), "{refused:?}");
        assert!(refused.stderr.contains("was changed since it was installed"), "{refused:?}");
    }
}

/// Whether the Node.js of the machine does not know it yet.
fn older(scene: &Scene) -> bool {
    let mut command = scene.world.program(Path::new("node"));
    let told =
        scene.world.run(command.args(["-p", "typeof require('module').getCompileCacheDir"]), "").unwrap();
    told.stdout.trim() == "undefined"
}

/// As npm calls it.
fn architecture() -> &'static str {
    if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" }
}
