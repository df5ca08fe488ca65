//! A world with an index of Python packages, uv to install from it, and the product.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use serde_json::Value;
use testkit::world::{
    Caller, Ran, World,
    index::{Index, Wheel},
    skip,
};

use crate::conversation;

/// An installation may take longer than most.
const PATIENCE: Duration = Duration::from_mins(3);
/// The server of all trials.
const NAME: &str = "probe";

/// A package whose program is a server with one tool, which tells what `facts` of this module finds.
pub(crate) fn probe(name: &str, facts: &str) -> Wheel {
    let main = "from found import facts\nfrom serve import serve\ndef main():\n    return serve(facts)\n";
    Wheel::new(name, "1.0")
        .file("serve.py", include_str!("programs/serve.py"))
        .file("found.py", facts)
        .file("probe.py", main)
        .program(name, "probe:main")
}

/// For each caller that this test run can act as, where uv is there.
pub(crate) fn each(what: &str, trial: impl Fn(&Scene)) {
    for caller in Caller::all() {
        if let Some(scene) = Scene::new(what, caller) {
            trial(&scene);
        }
    }
}

/// One caller's world, and its index.
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) index: Index,
    path: String,
    python: PathBuf,
}

impl Scene {
    /// Nothing where there is no uv or no Python; then `what` is listed as not tried.
    pub(crate) fn new(what: &str, caller: Caller) -> Option<Self> {
        let uv = cache().join("python-uv/bin/uv");
        let Some(python) = python() else {
            skip(what, "there is no Python that every user can run");
            return None;
        };
        let world = World::new(caller).unwrap();
        // Where its own installer puts it: a program by itself, of whose environment here nothing is needed.
        let programs = world.make_folder("home/.local/bin").unwrap();
        if fs::copy(&uv, programs.join("uv")).is_err() {
            skip(what, "uv is not among the test packages");
            return None;
        }
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display());
        Some(Self { world, index: Index::serve().unwrap(), path, python })
    }

    /// `fumehood add` of a package under the name of the trial.
    pub(crate) fn add(&self, package: &str) -> Ran {
        self.product(&["add", "--global", NAME, &format!("uvx:{package}")], "")
    }

    /// The same for one that is no harm, which is accepted then.
    pub(crate) fn add_good(&self, package: &str) -> Ran {
        let added = self.add(package);
        assert!(!added.late, "{added:?}");
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

    /// `fumehood lock --check`.
    pub(crate) fn lock_check(&self) -> Ran {
        self.product(&["lock", "--check"], "")
    }

    /// What `fumehood outdated --json` says.
    pub(crate) fn outdated(&self) -> Value {
        let told = self.product(&["outdated", "--json"], "");
        serde_json::from_str(&told.stdout).unwrap_or_else(|_| panic!("{told:?}"))
    }

    /// What the lock says.
    pub(crate) fn lock(&self) -> String {
        let found = self.found("fumehood.lock");
        let [lock] = found.as_slice() else { panic!("{found:?}") };
        fs::read_to_string(lock).unwrap()
    }

    /// The store as on a machine that has nothing yet.
    pub(crate) fn forget_packages(&self) {
        let store = self.world.path("data/fumehood/store");
        // What is there is read-only, also for its owner.
        assert!(Command::new("chmod").args(["-R", "u+w"]).arg(&store).status().unwrap().success());
        fs::remove_dir_all(store).unwrap();
    }

    /// The only tree of the store.
    pub(crate) fn tree(&self) -> PathBuf {
        let trees = fs::read_dir(self.world.path("data/fumehood/store/trees")).unwrap();
        let trees: Vec<PathBuf> = trees.map(|entry| entry.unwrap().path().join("tree")).collect();
        let [tree] = trees.as_slice() else { panic!("{trees:?}") };
        tree.clone()
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

    /// Bytecode of this source, to be taken as it is (PEP 552).
    pub(crate) fn compiled(&self, code: &str) -> Vec<u8> {
        let source = self.world.make_file("tool/code.py", code, 0o644).unwrap();
        let compiled = self.world.path("home/code.pyc");
        let script = "import py_compile, sys\nmode = py_compile.PycInvalidationMode.UNCHECKED_HASH\n\
                      py_compile.compile(sys.argv[1], sys.argv[2], doraise=True, invalidation_mode=mode)";
        let mut command = self.world.program(&self.python);
        self.good(command.args(["-c", script]).arg(source).arg(&compiled));
        fs::read(compiled).unwrap()
    }

    /// How Python calls bytecode of its version.
    pub(crate) fn tag(&self) -> String {
        let mut command = self.world.program(&self.python);
        let told = self.good(command.args(["-c", "import sys; print(sys.implementation.cache_tag)"]));
        told.stdout.trim().to_owned()
    }

    /// `uv pip` as it is used without us, with these words.
    pub(crate) fn uv_pip(&self, words: &[&str]) -> Ran {
        let mut command = self.world.program(&self.world.path("home/.local/bin/uv"));
        self.configure(&mut command);
        command.env("UV_NO_CACHE", "1").arg("pip").args(words);
        self.world.run_within(PATIENCE, &mut command, "").unwrap()
    }

    /// What the package tells of itself where it is installed into an environment as usual.
    pub(crate) fn usual(&self, package: &str) -> Value {
        let environment = self.world.path(&format!("home/{package}"));
        let mut command = self.world.program(&self.world.path("home/.local/bin/uv"));
        self.configure(&mut command);
        self.good(command.arg("venv").arg(&environment));
        let python = environment.join("bin/python");
        let installed = self.uv_pip(&["install", "--python", python.to_str().unwrap(), package]);
        assert_eq!(installed.code, Some(0), "{installed:?}");
        self.tell(&mut self.world.program(&environment.join("bin").join(package)))
    }

    /// The same where it is installed into a folder, which is then on the paths of Python and of the shell.
    pub(crate) fn usual_target(&self, package: &str) -> Value {
        let target = self.world.path(&format!("home/{package}"));
        let installed = self.uv_pip(&["install", "--target", target.to_str().unwrap(), package]);
        assert_eq!(installed.code, Some(0), "{installed:?}");
        let mut command = self.world.program(&self.python);
        command.arg(target.join("bin").join(package)).env("PYTHONPATH", &target);
        command.env("PATH", format!("{}:{}", target.join("bin").display(), self.path));
        self.tell(&mut command)
    }

    /// Unpacks a wheel by the names in it, wherever they lead below the root of the world.
    pub(crate) fn unpack_naively(&self, project: &str, place: &Path) {
        let script = "import os, sys, urllib.request, zipfile, io\n\
                      archive = zipfile.ZipFile(io.BytesIO(urllib.request.urlopen(sys.argv[1]).read()))\n\
                      for name in archive.namelist():\n\
                      \x20   path = os.path.join(sys.argv[2], name.lstrip('/'))\n\
                      \x20   os.makedirs(os.path.dirname(path), exist_ok=True)\n\
                      \x20   open(path, 'wb').write(archive.read(name))\n";
        let url = self.index.url().replace("/simple/", &format!("/files/{project}-py3-none-any.whl"));
        let mut command = self.world.program(&self.python);
        self.good(command.args(["-c", script, &url]).arg(place));
    }

    fn tell(&self, command: &mut Command) -> Value {
        let ran = self.world.run(command, &conversation::text()).unwrap();
        conversation::told(&ran).unwrap_or_else(|| panic!("{ran:?}"))
    }

    fn good(&self, command: &mut Command) -> Ran {
        let ran = self.world.run(command, "").unwrap();
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran
    }

    fn configure(&self, command: &mut Command) {
        command.env("PATH", &self.path).env("UV_DEFAULT_INDEX", self.index.url());
        command.env("UV_PYTHON", &self.python).env("UV_CACHE_DIR", self.world.path("home/uv-cache"));
    }

    fn product(&self, words: &[&str], input: &str) -> Ran {
        let mut command = self.world.product(None);
        self.configure(&mut command);
        let ran = self.world.run_within(PATIENCE, command.args(words), input).unwrap();
        assert!(!ran.late && ran.remains.is_empty(), "{words:?} {ran:?}");
        ran
    }
}

/// Where `./x` keeps packages for tests.
fn cache() -> PathBuf {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    checkout.join(env::var_os("FUMEHOOD_CACHE").map_or_else(|| PathBuf::from(".cache"), PathBuf::from))
}

/// One that every user can run.
fn python() -> Option<PathBuf> {
    ["/usr/local/bin/python3", "/usr/bin/python3"].map(PathBuf::from).into_iter().find(|path| path.is_file())
}
