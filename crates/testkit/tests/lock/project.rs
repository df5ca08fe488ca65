//! A project with servers of ours, of one caller, and the product used in it.

use std::{fmt::Write as _, fs, process::Command};

use serde_json::Value;
use testkit::world::{Caller, World};

use crate::{
    lists::Lists,
    session::{Ended, Session, run},
};

/// The world of one caller, and the project in it.
pub(crate) struct Project {
    pub(crate) world: World,
}

/// The caller of what is the same for all.
pub(crate) fn somebody() -> Caller {
    Caller::all().pop().unwrap()
}

impl Project {
    /// One with a server of each name, all offering what is to be accepted; trusted.
    pub(crate) fn new(caller: Caller, names: &[&str]) -> Self {
        let world = World::new(caller).unwrap();
        world.make_folder("project").unwrap();
        let project = Self { world };
        let mut file = String::new();
        for name in names {
            project.make_server(name);
            file += &project.table(name);
        }
        project.declare(&file);
        project.trust();
        project
    }

    /// The program of a server, and what it offers.
    pub(crate) fn make_server(&self, name: &str) {
        self.world.make_folder(&format!("project/servers/{name}")).unwrap();
        let program = include_str!("programs/server.py");
        self.world.make_file(&format!("project/servers/{name}/server.py"), program, 0o644).unwrap();
        self.offer(name, &Lists::accepted());
    }

    /// How a server of these is declared.
    pub(crate) fn table(&self, name: &str) -> String {
        let program = self.world.path(&format!("project/servers/{name}/server.py")).display().to_string();
        let mut table = String::new();
        writeln!(table, "[servers.{name}]").unwrap();
        writeln!(table, "command = [\"python3\", \"{program}\"]\nmounts = [\"servers/{name}\"]").unwrap();
        table
    }

    /// Writes the project's file.
    pub(crate) fn declare(&self, text: &str) {
        self.world.make_file("project/fumehood.toml", text, 0o644).unwrap();
    }

    /// From now on, a server offers this.
    pub(crate) fn offer(&self, name: &str, lists: &Lists) {
        let beside = format!("project/servers/{name}/lists.new");
        let path = self.world.make_file(&beside, &lists.text(), 0o644).unwrap();
        fs::rename(&path, path.with_extension("json")).unwrap();
    }

    /// Any words for the product in the project.
    pub(crate) fn product(&self, off: Option<&str>, words: &[&str]) -> Command {
        let mut command = self.world.product(off);
        command.args(words).current_dir(self.world.path("project"));
        command
    }

    /// The same, to its end.
    pub(crate) fn run(&self, words: &[&str]) -> Ended {
        run(&mut self.product(None, words))
    }

    /// What `--json` printed.
    pub(crate) fn told(&self, words: &[&str]) -> Value {
        let ran = self.run(words);
        assert_eq!(ran.code, Some(0), "{words:?}: {ran:?}");
        ran.json()
    }

    /// A client of a server.
    pub(crate) fn client(&self, off: Option<&str>, name: &str) -> Session {
        Session::with_hello(&mut self.product(off, &["run", name]))
    }

    /// A client of a server whose lists pass as they are.
    pub(crate) fn bare_client(&self, name: &str) -> Session {
        Session::with_hello(&mut self.product(None, &["run", "--unreviewed", name]))
    }

    /// A start that begins no session.
    pub(crate) fn start(&self, name: &str) -> Ended {
        self.run(&["run", name])
    }

    /// Trusts the project's file as it is.
    pub(crate) fn trust(&self) {
        let digest = self.told(&["trust", "--json"])["digest"].as_str().unwrap().to_owned();
        let trusted = self.run(&["trust", "--accept", &digest]);
        assert_eq!(trusted.code, Some(0), "{trusted:?}");
    }

    /// The fingerprint under which a server waits for a decision.
    pub(crate) fn fingerprint(&self, name: &str) -> String {
        self.told(&["review", name, "--json"])["fingerprint"].as_str().unwrap().to_owned()
    }

    /// Accepts a server as it is.
    pub(crate) fn accept(&self, name: &str) -> String {
        let fingerprint = self.fingerprint(name);
        let accepted = self.run(&["review", name, "--accept", &fingerprint]);
        assert_eq!(accepted.code, Some(0), "{accepted:?}");
        fingerprint
    }

    /// A session in which a server answers as it was accepted.
    pub(crate) fn works(&self, name: &str, tools: &[&str]) {
        let mut session = self.client(None, name);
        assert_eq!(session.names(), tools, "{name}");
        assert_eq!(session.call("steady"), "did steady", "{name}");
        let ended = session.end();
        assert_eq!(ended.code, Some(0), "{name}: {ended:?}");
    }
}
