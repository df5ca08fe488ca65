//! A stranger's lock of a package, whose tree file pins something else than it says: what a person is told is what is
//! installed, or nothing is.

use std::{fmt::Write as _, fs, process::Command};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use testkit::world::{
    Ran,
    registry::{Package, Registry},
    skip,
};

use crate::{
    first_run::cache,
    project::{Project, somebody},
    session::{Ended, Session, run},
};

/// What the project declares.
const FILE: &str = "[servers.weather]\nsource = \"npx:weather-server@1.0.0\"\n";
const TREE: &str = "project/fumehood.lock.d/weather/package-lock.json";

/// A project with a package, and a registry that has other ones too.
struct Scene {
    project: Project,
    registry: Registry,
}

impl Scene {
    /// Pinned and accepted, by somebody whose home is here no longer.
    fn new() -> Option<Self> {
        let Some(registry) = Registry::serve(&cache()).unwrap() else {
            skip("a poisoned lock", "the registry for tests is not among the test packages");
            return None;
        };
        for (name, version, said) in [
            ("weather-server", "0.9.0", "too old"),
            ("weather-server", "1.0.0", "sunny"),
            ("evil-server", "1.0.0", "stolen"),
        ] {
            let program =
                include_str!("programs/serve.mjs").replace("from \"weather-words\"", "from \"./words.js\"");
            let package = Package::new(name, version)
                .with("bin", json!("serve.mjs"))
                .file("serve.mjs", program)
                .file("words.js", format!("module.exports = '{said}';\n"));
            registry.publish(&package).unwrap();
        }
        let project = Project::new(somebody(), &[]);
        let scene = Self { project, registry };
        scene.project.declare(FILE);
        scene.trust();
        let fingerprint = scene.good(&["review", "weather", "--json"]).json()["fingerprint"].clone();
        scene.good(&["review", "weather", "--accept", fingerprint.as_str().unwrap()]);
        fs::rename(scene.project.world.path("data"), scene.project.world.path("author")).unwrap();
        scene.project.world.make_folder("data").unwrap();
        scene.trust();
        Some(scene)
    }

    fn trust(&self) {
        let digest = self.good(&["trust", "--json"]).json()["digest"].clone();
        self.good(&["trust", "--accept", digest.as_str().unwrap()]);
    }

    fn configured(&self, mut command: Command) -> Command {
        command.env("npm_config_registry", self.registry.url());
        command.env("npm_config_cache", self.project.world.path("home/npm"));
        command
    }

    fn run(&self, words: &[&str]) -> Ended {
        run(&mut self.configured(self.project.product(None, words)))
    }

    fn good(&self, words: &[&str]) -> Ended {
        let ended = self.run(words);
        assert_eq!(ended.code, Some(0), "{words:?}: {ended:?}");
        ended
    }

    /// Writes a tree file, and a table that has its digest, says nothing of contents, and else what it said.
    fn poison(&self, tree: &Value) {
        let text = format!("{tree:#}\n");
        let mut digest = String::new();
        for byte in Sha256::digest(&text) {
            write!(digest, "{byte:02x}").unwrap();
        }
        let lock = fs::read_to_string(self.project.world.path("project/fumehood.lock")).unwrap();
        let mut poisoned = String::new();
        for line in lock.lines().filter(|line| !line.starts_with("content.")) {
            let line = if line.starts_with("tree = ") {
                format!("tree = \"sha256:{digest}\"")
            } else {
                line.to_owned()
            };
            poisoned += &(line + "\n");
        }
        self.project.world.make_file("project/fumehood.lock", &poisoned, 0o644).unwrap();
        self.project.world.make_file(TREE, &text, 0o644).unwrap();
    }

    /// What a plain `npm ci` makes of the tree file: what the program says.
    fn usual(&self, tree: &Value) -> String {
        let world = &self.project.world;
        let folder = world.make_folder("home/usual").unwrap();
        fs::remove_dir_all(&folder).unwrap();
        world.make_folder("home/usual").unwrap();
        let manifest = json!({ "dependencies": tree["packages"][""]["dependencies"] });
        world.make_file("home/usual/package.json", &manifest.to_string(), 0o644).unwrap();
        world.make_file("home/usual/package-lock.json", &tree.to_string(), 0o644).unwrap();
        let mut npm = world.program("npm".as_ref());
        npm.args(["ci", "--no-audit", "--no-fund"]).current_dir(&folder);
        let ran: Ran = world.run(&mut self.configured(npm), "").unwrap();
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let mut node = world.program("node".as_ref());
        node.arg(folder.join("node_modules/weather-server/serve.mjs"));
        let mut session = Session::with_hello(&mut node);
        let said = session.call("tell_weather");
        session.end();
        said
    }
}

#[test]
fn a_lock_installs_what_it_says_or_nothing() {
    let Some(scene) = Scene::new() else { return };
    let honest: Value =
        serde_json::from_str(&fs::read_to_string(scene.project.world.path(TREE)).unwrap()).unwrap();
    let place = "node_modules/weather-server";
    assert!(honest["packages"][place]["resolved"].is_null(), "{honest:#}");
    let integrity = |name: &str, version: &str| {
        let mut npm = scene.project.world.program("npm".as_ref());
        npm.args(["view", &format!("{name}@{version}"), "dist.integrity"]);
        let ran = scene.project.world.run(&mut scene.configured(npm), "").unwrap();
        Value::from(ran.stdout.trim())
    };
    let with = |change: &dyn Fn(&mut Value)| {
        let mut tree = honest.clone();
        change(&mut tree["packages"]);
        tree
    };
    let other_name = with(&|packages| {
        packages[""]["dependencies"]["weather-server"] = "npm:evil-server@1.0.0".into();
        packages[place]["name"] = "evil-server".into();
        packages[place]["integrity"] = integrity("evil-server", "1.0.0");
    });
    let other_file = with(&|packages| {
        let url = format!("{}evil-server/-/evil-server-1.0.0.tgz", scene.registry.url());
        packages[place]["resolved"] = url.into();
        packages[place]["integrity"] = integrity("evil-server", "1.0.0");
    });
    let other_version = with(&|packages| {
        packages[""]["dependencies"]["weather-server"] = "0.9.0".into();
        packages[place]["version"] = "0.9.0".into();
        packages[place]["integrity"] = integrity("weather-server", "0.9.0");
    });
    for (tree, said, why) in [
        (other_name, "stolen", "what it calls `weather-server` is `evil-server`"),
        (other_file, "stolen", "weather-server"),
        (other_version, "too old", "the lock says `npx:weather-server@1.0.0`, but what it pins is"),
    ] {
        scene.poison(&tree);
        // Control: npm installs it, and does not say a word.
        assert_eq!(scene.usual(&tree), said);
        let seen = scene.good(&["review", "weather", "--json"]).json();
        assert_eq!(seen["source"], "npx:weather-server@1.0.0", "{seen:#}");
        scene.good(&["review", "weather", "--accept", seen["fingerprint"].as_str().unwrap()]);
        let ended = scene.run(&["review", "weather"]);
        assert_ne!(ended.code, Some(0), "{ended:?}");
        assert!(ended.stderr.contains(why), "{why}: {ended:?}");
        let mut session =
            Session::with_hello(&mut scene.configured(scene.project.product(None, &["run", "weather"])));
        let answer = session.ask("tools/call", &json!({ "name": "tell_weather", "arguments": {} }));
        assert!(!answer.to_string().contains(said), "{answer}");
        session.end();
    }
    // What it says is installed. It names no content for this platform, as one from another platform does: that is asked
    // about, too.
    scene.poison(&honest);
    let fingerprint = scene.good(&["review", "weather", "--json"]).json()["fingerprint"].clone();
    let accept = ["review", "weather", "--accept", fingerprint.as_str().unwrap()];
    scene.good(&accept);
    let asked = scene.run(&["review", "weather"]);
    assert_eq!(asked.code, Some(10), "{asked:?}");
    assert!(asked.stdout().contains("new: the accepted versions on "), "{asked:?}");
    scene.good(&accept);
    let mut session =
        Session::with_hello(&mut scene.configured(scene.project.product(None, &["run", "weather"])));
    assert_eq!(session.call("tell_weather"), "sunny");
    session.end();
}
