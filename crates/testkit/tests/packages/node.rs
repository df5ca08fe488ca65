//! A world with a registry of npm's kind, and the product.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use serde_json::{Value, json};
use testkit::world::{
    Caller, Ran, World,
    registry::{Package, Registry},
    skip,
};

use crate::conversation;

/// An installation may take longer than most.
const PATIENCE: Duration = Duration::from_mins(3);
/// The server of all trials.
const NAME: &str = "probe";

/// A package whose program is a server with one tool, which tells what `facts` finds: the body of an async function.
pub(crate) fn probe(name: &str, version: &str, facts: &str) -> Package {
    Package::new(name, version)
        .with("bin", json!("serve.mjs"))
        .file("serve.mjs", include_str!("programs/serve.mjs"))
        .file("facts.mjs", format!("export async function facts() {{\n{facts}\n}}\n"))
}

/// One caller's world, and its registry.
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) registry: Registry,
}

impl Scene {
    /// Where a user puts programs that need nothing beside them.
    pub(crate) const PROGRAMS: &str = "home/.local/bin";

    /// Nothing where there is no registry; then `what` is listed as not tried.
    pub(crate) fn new(what: &str, caller: Caller) -> Option<Self> {
        let Some(registry) = Registry::serve(&cache()).unwrap() else {
            skip(what, "the registry for tests is not among the test packages");
            return None;
        };
        Some(Self { world: World::new(caller).unwrap(), registry })
    }

    pub(crate) fn publish(&self, package: &Package) {
        self.registry.publish(package).unwrap();
    }

    /// `fumehood add` of a package under the name of the trial, with these flags.
    pub(crate) fn add(&self, package: &str, flags: &[&str]) -> Ran {
        let source = format!("npx:{package}");
        let words = [&["add", "--global"], flags, &[NAME, &source]].concat();
        self.product(&words, "")
    }

    /// The same for one that is no harm, which is accepted then.
    pub(crate) fn add_good(&self, package: &str, flags: &[&str]) -> Ran {
        let added = self.add(package, flags);
        let seen = self.product(&["review", NAME, "--json"], "");
        let fingerprint = conversation::fingerprint(&seen.stdout);
        let fingerprint = fingerprint.unwrap_or_else(|| panic!("{added:?} {seen:?}"));
        let accepted = self.product(&["review", NAME, "--accept", &fingerprint], "");
        assert_eq!(accepted.code, Some(0), "{added:?} {accepted:?}");
        added
    }

    /// What the accepted server tells of itself.
    pub(crate) fn facts(&self) -> Value {
        let ran = self.product(&["run", "--grace", "5", NAME], &conversation::text());
        conversation::told(&ran).unwrap_or_else(|| panic!("{ran:?}"))
    }

    /// `fumehood remove`.
    pub(crate) fn remove(&self) {
        let removed = self.product(&["remove", NAME], "");
        assert_eq!(removed.code, Some(0), "{removed:?}");
    }

    /// The product with these words, to its end.
    pub(crate) fn product(&self, words: &[&str], input: &str) -> Ran {
        let ran = self.world.run_within(PATIENCE, &mut self.command(words), input).unwrap();
        assert!(!ran.late && ran.remains.is_empty(), "{words:?} {ran:?}");
        ran
    }

    /// The product with these words, for whoever starts it.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = self.world.product(None);
        command.args(words).env("npm_config_registry", self.registry.url());
        command.env("npm_config_cache", self.world.path("home/npm"));
        // What is put there comes before what the machine has.
        command.env(
            "PATH",
            format!("{}:/usr/local/bin:/usr/bin:/bin", self.world.path(Self::PROGRAMS).display()),
        );
        command
    }

    /// `npm install` as it is used without us, in a folder of its own.
    pub(crate) fn usual(&self, package: &str) -> PathBuf {
        let folder = self.world.make_folder("home/usual").unwrap();
        fs::remove_dir_all(&folder).unwrap();
        self.world.make_folder("home/usual").unwrap();
        let ran = self.npm(&folder, &["install", "--no-audit", "--no-fund", package]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        folder
    }

    /// npm as it is used without us.
    pub(crate) fn npm(&self, folder: &Path, words: &[&str]) -> Ran {
        let mut command = self.world.program(Path::new("npm"));
        command.args(words).current_dir(folder).env("npm_config_registry", self.registry.url());
        command
            .env("npm_config_cache", self.world.path("home/npm"))
            .env("npm_config_update_notifier", "false");
        self.world.run_within(PATIENCE, &mut command, "").unwrap()
    }

    /// What the program tells of itself that is started as usual: by `npx`, or by `node` and the path of its file.
    pub(crate) fn tell(&self, folder: &Path, words: &[&str]) -> Value {
        let (program, words) = words.split_first().unwrap();
        let mut command = self.world.program(Path::new(program));
        command.args(words).current_dir(folder).env("npm_config_registry", self.registry.url());
        command.env("npm_config_cache", self.world.path("home/npm"));
        let ran = self.world.run_within(PATIENCE, &mut command, &conversation::text()).unwrap();
        conversation::told(&ran).unwrap_or_else(|| panic!("{ran:?}"))
    }

    /// What the lock says.
    pub(crate) fn lock(&self) -> String {
        let found = self.found("fumehood.lock");
        let [lock] = found.as_slice() else { panic!("{found:?}") };
        fs::read_to_string(lock).unwrap()
    }

    /// The store as on a machine that has nothing yet.
    pub(crate) fn forget_packages(&self) {
        let store = self.store();
        // What is there is read-only, also for its owner.
        assert!(Command::new("chmod").args(["-R", "u+w"]).arg(&store).status().unwrap().success());
        fs::remove_dir_all(store).unwrap();
    }

    /// The trees, so that the next installation does its work.
    pub(crate) fn forget_trees(&self) {
        let trees = self.store().join("trees");
        assert!(Command::new("chmod").args(["-R", "u+w"]).arg(&trees).status().unwrap().success());
        fs::remove_dir_all(trees).unwrap();
    }

    /// Where packages are kept.
    pub(crate) fn store(&self) -> PathBuf {
        self.world.path("data/fumehood/store")
    }

    /// The trees of the store.
    pub(crate) fn trees(&self) -> Vec<PathBuf> {
        entries(&self.store().join("trees")).into_iter().map(|tree| tree.join("tree")).collect()
    }

    /// What installations have begun and not cleared up.
    pub(crate) fn left(&self) -> Vec<PathBuf> {
        let mut left = entries(&self.store().join("staging"));
        let data = entries(&self.world.path("data/fumehood/data"));
        left.extend(data.into_iter().filter(|path| path.to_string_lossy().contains("/install-")));
        left
    }

    /// Every file of that name in the world.
    pub(crate) fn found(&self, name: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut open = vec![self.world.folder().to_owned()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.file_name().is_some_and(|own| own == name) {
                    found.push(path);
                } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    open.push(path);
                }
            }
        }
        found
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
}

/// Where `./x` keeps packages for tests.
pub(crate) fn cache() -> PathBuf {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    checkout.join(env::var_os("FUMEHOOD_CACHE").map_or_else(|| PathBuf::from(".cache"), PathBuf::from))
}
