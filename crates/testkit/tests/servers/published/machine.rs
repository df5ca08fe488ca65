//! A caller's world with the package clients as its user has them, and the product.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use serde_json::{Value, json};
use testkit::world::{Caller, Ran, World, skip};

use super::{
    server::{Client, Server},
    unreachable::Unreachable,
};

/// An installation fetches a hundred packages, and the machine is busy.
const PATIENCE: Duration = Duration::from_mins(8);
/// Variables by which uv is told of indexes.
const INDEX_VARIABLES: [&str; 2] = ["UV_DEFAULT_INDEX", "UV_INDEX_URL"];

/// Variables by which a user lets the clients trust more than they do by themselves.
const AUTHORITIES: [&str; 3] = ["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"];

/// The machine of one trial.
pub(crate) struct Machine {
    pub(crate) world: World,
    server: &'static Server,
    path: String,
}

impl Machine {
    /// Nothing where a package client is missing; then the server is listed as not tried.
    pub(crate) fn new(server: &'static Server, caller: Caller) -> Option<Self> {
        let callers = Caller::all();
        // Whoever is no root runs all of them as an ordinary user.
        let caller = if callers.contains(&caller) { caller } else { *callers.first()? };
        let world = World::new(caller).unwrap();
        let programs = world.make_folder("home/.local/bin").unwrap();
        for folder in ["work", "bare", "config/uv"] {
            world.make_folder(folder).unwrap();
        }
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display());
        let machine = Self { world, server, path };
        match server.client() {
            Client::Npm => {
                let Some(registry) = said(Command::new("npm").args(["config", "get", "registry"])) else {
                    skip(server.name, "there is no npm");
                    return None;
                };
                machine.use_npm(&registry);
            }
            Client::Uv => {
                let uv = cache().join("python-uv/bin/uv");
                if fs::copy(uv, programs.join("uv")).is_err() {
                    skip(server.name, "uv is not among the test packages");
                    return None;
                }
                if let Some(index) = INDEX_VARIABLES.iter().find_map(|name| env::var(name).ok()) {
                    machine.use_uv(&index);
                }
            }
        }
        for (name, text) in server.files {
            machine.world.make_file(&format!("work/{name}"), text, 0o644).unwrap();
        }
        Some(machine)
    }

    /// `fumehood add`, without a terminal.
    pub(crate) fn add(&self) -> Ran {
        let mut words = vec!["add".to_owned(), "--global".to_owned()];
        words.extend(self.placed(self.server.flags, "/data"));
        words.push(self.server.name.to_owned());
        if self.server.runner.is_empty() {
            words.push(self.server.source.to_owned());
        }
        words.push("--".to_owned());
        words.extend(self.server.runner.iter().map(|word| (*word).to_owned()));
        words.extend(self.placed(self.server.arguments, "/data"));
        self.product(&words)
    }

    /// What `fumehood list --json` says of the server.
    pub(crate) fn listed(&self) -> Value {
        let ran = self.product(&["list", "--json"]);
        let rows: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
        let [row] = rows.as_slice() else { panic!("{rows:?}") };
        row.clone()
    }

    /// The product with these words, to its end.
    pub(crate) fn product(&self, words: &[impl AsRef<str>]) -> Ran {
        let mut command = self.command();
        command.args(words.iter().map(AsRef::as_ref));
        let ran = self.world.run_within(PATIENCE, &mut command, "").unwrap();
        assert!(!ran.late, "{ran:?}");
        ran
    }

    /// The product's start of the server, for whoever speaks with it.
    pub(crate) fn start(&self) -> Command {
        let mut command = self.command();
        command.args(["run", self.server.name]);
        command
    }

    /// The start of the same files with nothing around them, but without a network. They are copied: what runs bare may
    /// write to its own.
    pub(crate) fn bare_start(&self) -> Command {
        let trees = self.world.path("data/fumehood/store/trees");
        let trees: Vec<PathBuf> = fs::read_dir(trees).unwrap().map(|tree| tree.unwrap().path()).collect();
        let [tree] = trees.as_slice() else { panic!("{trees:?}") };
        let copy = self.world.path("home/copy");
        let mut copying = self.world.program(Path::new("cp"));
        let copied =
            self.world.run(copying.args(["-r", "--"]).arg(tree.join("tree")).arg(&copy), "").unwrap();
        assert_eq!(copied.code, Some(0), "{copied:?}");
        let tree = copy;
        let mut command = self.world.program(Path::new("unshare"));
        command.args(["--map-current-user", "--net", "--"]);
        match self.server.client() {
            Client::Npm => command.arg("node").arg(program(&tree, self.server.package())),
            Client::Uv => {
                // As the product has it: some write sets into what they list.
                command.env("PYTHONPATH", &tree).env("PYTHONHASHSEED", "0");
                command.arg("python3").arg(tree.join("bin").join(self.server.program()))
            }
        };
        let data = self.world.path("bare").display().to_string();
        let mut flags = self.placed(self.server.flags, &data).into_iter();
        while let Some(flag) = flags.next() {
            if flag == "--env" {
                let variable = flags.next().unwrap();
                let (name, value) = variable.split_once('=').unwrap();
                command.env(name, value);
            }
        }
        command.args(self.placed(self.server.arguments, &data));
        command.env("PATH", &self.path).current_dir(self.world.path("bare"));
        command
    }

    /// Lists of a bare server, with the working folder of a cell in the place of its own: some write it into their texts.
    pub(crate) fn placed_inside(&self, tools: &[Value]) -> Vec<Value> {
        let folder = self.world.path("bare").display().to_string();
        serde_json::from_str(&json!(tools).to_string().replace(&folder, "/workspace")).unwrap()
    }

    /// Configures the client anew: its registry is this.
    pub(crate) fn cut_off(&self, registry: &Unreachable) {
        match self.server.client() {
            Client::Npm => self.use_npm(&registry.url()),
            Client::Uv => self.use_uv(&format!("{}simple/", registry.url())),
        }
    }

    /// Lets the client itself ask for the package.
    pub(crate) fn ask(&self) -> Ran {
        let mut command = match self.server.client() {
            Client::Npm => {
                let mut command = self.world.program(Path::new("npm"));
                command.args(["view", self.server.package(), "name", "--fetch-retries=0"]);
                command
            }
            Client::Uv => {
                let mut command = self.world.program(&self.world.path("home/.local/bin/uv"));
                command.args(["pip", "compile", "--no-deps", "--no-cache", "-"]).env("UV_HTTP_RETRIES", "0");
                command
            }
        };
        self.configure(&mut command);
        self.world.run_within(PATIENCE, &mut command, self.server.package()).unwrap()
    }

    /// Logs of what cells did in the network, which are there from the first thing they do on.
    pub(crate) fn network_logs(&self) -> Vec<PathBuf> {
        let logs = self.world.path("state/fumehood/egress").join(self.server.name);
        let mut logs: Vec<_> =
            fs::read_dir(logs).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
        logs.sort();
        logs
    }

    /// The product, in the environment of its user.
    pub(crate) fn command(&self) -> Command {
        let mut command = self.world.product(None);
        command.current_dir(self.world.path("work"));
        self.configure(&mut command);
        command
    }

    /// The environment of its user.
    fn configure(&self, command: &mut Command) {
        command.env("PATH", &self.path);
        command.envs(AUTHORITIES.iter().filter_map(|name| Some((name, env::var_os(name)?))));
    }

    fn use_npm(&self, registry: &str) {
        self.world.make_file("home/.npmrc", &format!("registry={registry}\n"), 0o644).unwrap();
    }

    fn use_uv(&self, index: &str) {
        let text = format!("[[index]]\nurl = {}\ndefault = true\n", json!(index));
        self.world.make_file("config/uv/uv.toml", &text, 0o644).unwrap();
    }

    /// With the folders of this world in the places of their names.
    fn placed(&self, words: &[&str], data: &str) -> Vec<String> {
        let work = self.world.path("work").display().to_string();
        words.iter().map(|word| word.replace("{work}", &work).replace("{data}", data)).collect()
    }
}

/// The file that is a package's program.
fn program(tree: &Path, package: &str) -> PathBuf {
    let folder = tree.join("node_modules").join(package);
    let manifest = fs::read_to_string(folder.join("package.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let unscoped = package.rsplit('/').next().unwrap();
    let bin = &manifest["bin"];
    let first = || bin.as_object().and_then(|programs| programs.values().next());
    let path = bin.as_str().or_else(|| bin[unscoped].as_str()).or_else(|| first()?.as_str());
    folder.join(path.unwrap_or_else(|| panic!("{manifest}")))
}

fn said(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

/// Where `./x` keeps packages for tests.
fn cache() -> PathBuf {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    checkout.join(env::var_os("FUMEHOOD_CACHE").map_or_else(|| PathBuf::from(".cache"), PathBuf::from))
}
