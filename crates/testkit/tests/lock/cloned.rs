//! A repository of a stranger, with a file of servers and a lock of its own: nothing of it is used before a person of this
//! machine has read it, and what it would do is told.

use std::{
    collections::BTreeMap,
    fs,
    net::TcpListener,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::{
    project::{Project, somebody},
    rows::TOOLS,
    session::{Ended, Session, run},
};

/// The host that the project wants to reach, and what it would write there.
const HOST: &str = "collect.example";
/// The value of every secret of the user's.
const VALUE: &str = "ghp_R3alValue0fTheKey0123456789abcdefXY";
/// The guards of a project's file and of a lock, which are left out in controls.
pub(crate) const TRUST: &str = "project-trust";
const BOTH: &str = "project-trust,acceptance";

/// A clone, whose author has used it honestly in another home.
pub(crate) struct Clone {
    pub(crate) project: Project,
    /// Connections to the host outside.
    reached: Arc<AtomicUsize>,
}

impl Clone {
    /// Everything that a project's file can ask for. Its server says in the project that it ran, and calls home.
    pub(crate) fn new() -> Self {
        let project = Project::new(somebody(), &[]);
        project.make_server("weather");
        let server = include_str!("programs/server.py");
        let calls_home = include_str!("programs/calls_home.py");
        let path = "project/servers/weather/server.py";
        project.world.make_file(path, &format!("{calls_home}\n{server}"), 0o644).unwrap();
        let reached = Arc::new(AtomicUsize::new(0));
        let address = listen(&reached);
        project.world.make_folder("config/fumehood").unwrap();
        let operator = format!("[upstreams.\"{HOST}\"]\naddress = \"{address}\"\nloopback = true\n");
        project.world.make_file("config/fumehood/config.toml", &operator, 0o600).unwrap();
        for name in ["home", "state", "data", "config", "run"] {
            project.world.make_folder(&format!("author/{name}")).unwrap();
        }
        let own = fs::Permissions::from_mode(0o700);
        fs::set_permissions(project.world.path("author/run"), own).unwrap();
        let clone = Self { project, reached };
        // What its user has, and what its author has, for other hosts than the clone's.
        for name in ["TOKEN", "GITHUB"] {
            let words = ["secret", "set", name, "--host", "api.github.com"];
            for mut set in [clone.project.product(None, &words), clone.author_command(&words)] {
                let ran = clone.project.world.run(&mut set, VALUE).unwrap();
                assert_eq!(ran.code, Some(0), "{ran:?}");
            }
        }
        clone.project.declare(&clone.file());
        clone
    }

    /// What the project asks for.
    pub(crate) fn file(&self) -> String {
        let program = self.project.world.path("project/servers/weather/server.py").display().to_string();
        format!(
            "[servers.weather]\ncommand = [\"python3\", \"{program}\", \"--city\", \"Z\\u00FCrich\"]\n\
             mounts = [\"servers/weather\", \"out:rw\"]\nhosts = [\"{HOST}\"]\n\
             secrets = {{ API_KEY = \"TOKEN\" }}\nenv = {{ MODE = \"live\" }}\ndata = true\n\
             limits = {{ processes = 64 }}\n"
        )
    }

    /// The author's own words on the author's own machine: another home, the same path.
    pub(crate) fn author(&self, words: &[&str]) -> Ended {
        let ended = run(&mut self.author_command(words));
        assert_eq!(ended.code, Some(0), "{words:?}: {ended:?}");
        ended
    }

    fn author_command(&self, words: &[&str]) -> Command {
        let mut command = self.project.product(None, words);
        for (name, folder) in [
            ("HOME", "home"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_DATA_HOME", "data"),
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_RUNTIME_DIR", "run"),
        ] {
            command.env(name, self.project.world.path("author").join(folder));
        }
        command
    }

    /// Makes the lock, as it is committed.
    pub(crate) fn pin_as_author(&self) {
        self.project.world.make_folder("project/out").unwrap();
        let digest = self.author(&["trust", "--json"]).json()["digest"].as_str().unwrap().to_owned();
        self.author(&["trust", "--accept", &digest]);
        let fingerprint = self.author(&["review", "weather", "--json"]).json()["fingerprint"].clone();
        self.author(&["review", "weather", "--accept", fingerprint.as_str().unwrap()]);
    }

    /// Whether the server was ever started with what it asks for.
    pub(crate) fn ran(&self) -> bool {
        self.project.world.path("project/out/ran").exists()
    }

    pub(crate) fn connections(&self) -> usize {
        self.reached.load(Ordering::SeqCst)
    }

    /// A client finds one entry, which says what to do, and the call of any tool of the server is refused.
    pub(crate) fn is_closed(&self, name: &str, remedy: &str) {
        let mut session = self.project.client(None, name);
        let tools = session.tools();
        assert_eq!((tools.len(), &tools[0]["name"]), (1, &Value::from("fumehood_status")), "{tools:?}");
        assert!(tools[0]["description"].as_str().unwrap().contains(remedy), "{tools:?}");
        let answer = session.ask("tools/call", &serde_json::json!({ "name": "steady" }));
        assert!(!answer.to_string().contains("did steady"), "{answer}");
        let ended = session.end();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let strict = self.project.run(&["run", "--strict", name]);
        assert_eq!((strict.code, strict.heard.len()), (Some(11), 0), "{strict:?}");
        assert!(strict.stderr.contains(remedy), "{strict:?}");
    }

    /// Where the guards are left out, the server answers.
    pub(crate) fn is_open_without(&self, off: &str) {
        let mut session = self.project.client(Some(off), "weather");
        assert_eq!(session.call("steady"), "did steady");
        session.end();
    }
}

/// Counts connections, and answers none.
fn listen(reached: &Arc<AtomicUsize>) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, reached) = (listener.local_addr().unwrap(), Arc::clone(reached));
    thread::spawn(move || {
        for connection in listener.incoming().map_while(Result::ok) {
            reached.fetch_add(1, Ordering::SeqCst);
            drop(connection);
        }
    });
    address
}

/// Every file below a folder, with what is in it.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                open.push(path);
            } else {
                found.insert(path.clone(), fs::read(&path).unwrap_or_default());
            }
        }
    }
    found
}

#[test]
fn nothing_of_a_clone_is_used_before_its_file_is_trusted() {
    let clone = Clone::new();
    clone.pin_as_author();
    let folders = ["project", "home", "data", "config"].map(|name| clone.project.world.path(name));
    let before = folders.each_ref().map(|folder| contents(folder));
    clone.is_closed("weather", "fumehood trust");
    for (words, code) in [
        (&["run", "--unreviewed", "weather"][..], 11),
        (&["trust"], 11),
        (&["trust", "--json"], 0),
        (&["review", "weather"], 11),
        (&["review", "weather", "--json"], 0),
        (&["review"], 11),
        (&["list"], 0),
        (&["lock"], 1),
        (&["lock", "weather"], 1),
        (&["outdated"], 0),
        (&["store", "list"], 0),
    ] {
        let ran = clone.project.run(words);
        assert_eq!(ran.code, Some(code), "{words:?}: {ran:?}");
        assert!(!ran.stdout().contains("Tells the weather"), "{words:?}: {ran:?}");
    }
    // What somebody else has accepted is no reason to accept it.
    let lock = fs::read_to_string(clone.project.world.path("project/fumehood.lock")).unwrap();
    let at = lock.find("v1:sha256:").unwrap();
    let theirs = &lock[at..at + "v1:sha256:".len() + 64];
    let refused = clone.project.run(&["review", "weather", "--accept", theirs]);
    assert_eq!(refused.code, Some(11), "{refused:?}");
    assert_eq!(folders.each_ref().map(|folder| contents(folder)), before);
    let cells = clone.project.world.path("state/fumehood/cells");
    assert!(!cells.exists() || fs::read_dir(cells).unwrap().next().is_none());
    assert!(!clone.ran() && clone.connections() == 0);
    // Control: it runs, writes into the project and reaches its host.
    clone.is_open_without(BOTH);
    assert!(clone.ran());
    assert!(clone.connections() > 0);
}

#[test]
fn what_a_clone_would_do_is_told_and_cannot_be_told_otherwise() {
    let clone = Clone::new();
    let program = clone.project.world.path("project/servers/weather/server.py");
    let told = clone.project.run(&["trust"]);
    assert_eq!(told.code, Some(11), "{told:?}");
    for line in [
        format!("weather: runs `python3 {} --city 'Zürich'` in a cell", program.display()),
        format!("reaches {HOST}"),
        "uses your secrets TOKEN (as API_KEY)".to_owned(),
        format!("{} to read", program.parent().unwrap().display()),
        format!("sees {} to read and write", clone.project.world.path("project/out").display()),
        "finds variables MODE=live".to_owned(),
        "keeps a folder of its own at /data".to_owned(),
        "sets limits processes = 64".to_owned(),
    ] {
        assert!(told.stderr.contains(&line), "{line}: {}", told.stderr);
    }
    let more = "lists = \"keys\"\n\n[servers.packages]\nsource = \"npx:left-pad@1.0.0\"\nallow_scripts = [\"left-pad\"]\n\n\
                [servers.elsewhere]\nsource = \"https://mcp.example/mcp\"\n";
    clone.project.declare(&(clone.file() + more));
    let told = clone.project.run(&["trust"]).stderr;
    for line in [
        "is read for its review with these secrets and hosts, before anybody has accepted it",
        "runs install scripts of left-pad",
        "elsewhere: speaks to https://mcp.example/mcp",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    // What looks like our own words, or goes backwards, is told as what it is.
    let forged = "env = { A = \"1\\nfumehood: it is trusted\", B = \"\\u001B[2J\", C = \"\\u202Eabc\" }";
    clone.project.declare(&clone.file().replace("env = { MODE = \"live\" }", forged));
    let told = clone.project.run(&["trust"]).stderr;
    assert!(!told.lines().any(|line| line == "fumehood: it is trusted"), "{told}");
    for shown in ["<U+000A>", "<U+001B>", "<U+202E>"] {
        assert!(told.contains(shown), "{shown}: {told}");
    }
    // A yes is for the file that was read.
    let digest = clone.project.told(&["trust", "--json"])["digest"].as_str().unwrap().to_owned();
    clone.project.declare(&clone.file());
    let refused = clone.project.run(&["trust", "--accept", &digest]);
    assert_eq!(refused.code, Some(12), "{refused:?}");
    clone.is_closed("weather", "fumehood trust");
}

#[test]
fn a_file_of_ones_own_below_a_clone_says_nothing_about_the_clone() {
    let clone = Clone::new();
    let sub = clone.project.world.make_folder("project/sub").unwrap();
    clone.project.make_server("mine");
    let program = clone.project.world.path("project/servers/mine/server.py").display().to_string();
    let mut add = clone.project.product(None, &["add", "--project", "mine", "--", "python3", &program]);
    let added = run(add.current_dir(&sub));
    assert!(sub.join("fumehood.toml").exists(), "{added:?}");
    let is_trusted = |folder: &Path| {
        let folder = folder.display().to_string();
        clone.project.told(&["trust", "--json", &folder])["trusted"].as_bool().unwrap()
    };
    // What a person has written is theirs, and what was there before is not.
    assert!(is_trusted(&sub) && !is_trusted(&clone.project.world.path("project")));
    clone.is_closed("weather", "fumehood trust");
    // Nor does one that is added to the clone's own file make the rest of it trusted.
    let added = clone.project.run(&["add", "mine", "--", "python3", &program]);
    assert!(added.stderr.contains("declares mine"), "{added:?}");
    assert!(!is_trusted(&clone.project.world.path("project")));
    clone.is_closed("weather", "fumehood trust");
    assert!(!clone.ran() && clone.connections() == 0);
}

#[test]
fn what_is_not_for_a_project_to_say_is_refused_with_its_place() {
    let clone = Clone::new();
    let table = clone.file();
    let lines = table.lines().count();
    for (text, line, what) in [
        (format!("{table}[secrets.TOKEN]\ncommand = [\"touch\", \"ran\"]\n"), lines + 1, "`secrets`"),
        (format!("{table}[upstreams.\"github.com\"]\naddress = \"127.0.0.1:1\"\n"), lines + 1, "`upstreams`"),
        (format!("{table}[allow]\nweather = [\"*\"]\n"), lines + 1, "`allow`"),
        (format!("{table}[egress]\nproxy = \"http://127.0.0.1:1\"\n"), lines + 1, "`egress`"),
        (table.replace("\"servers/weather\",", "\"../home\","), 3, "outside the project"),
        (table.replace("\"servers/weather\",", "\"/etc/ssh\","), 3, "outside the project"),
        (table.replace("\"servers/weather\",", "\"~/.ssh\","), 3, "home"),
        (table.replace("\"servers/weather\",", "\"servers/../../home\","), 3, "outside the project"),
    ] {
        assert_ne!(text, table);
        clone.project.declare(&text);
        for words in [&["run", "weather"][..], &["trust"], &["review", "weather"]] {
            let ran = clone.project.run(words);
            assert_eq!((ran.code, ran.heard.len()), (Some(2), 0), "{what}: {words:?}: {ran:?}");
            assert!(ran.stderr.contains(&format!("fumehood.toml:{line}:")), "{what}: {ran:?}");
            assert!(ran.stderr.contains(what), "{what}: {ran:?}");
        }
    }
    assert!(!clone.ran() && !clone.project.world.path("project/ran").exists());
}

#[test]
fn a_mount_that_leads_out_of_the_project_is_refused_whatever_was_trusted() {
    let clone = Clone::new();
    clone.pin_as_author();
    clone.project.world.make_folder("home/keys").unwrap();
    clone.project.trust();
    clone.project.accept("weather");
    clone.project.works("weather", &TOOLS);
    assert!(clone.ran());
    // The file stays as it was: only where its mount leads is another place now.
    let out = clone.project.world.path("project/out");
    fs::remove_dir_all(&out).unwrap();
    symlink(clone.project.world.path("home/keys"), &out).unwrap();
    let ended = clone.project.start("weather");
    assert_eq!((ended.code, ended.heard.len()), (Some(12), 0), "{ended:?}");
    assert!(ended.stderr.contains("outside the project"), "{ended:?}");
    assert!(!clone.project.world.path("home/keys/ran").exists());
    // Control: what leads there is written to.
    clone.is_open_without("project-links");
    assert!(clone.project.world.path("home/keys/ran").exists());
}

#[test]
fn a_server_on_a_port_is_not_started_before_it_was_accepted() {
    let clone = Clone::new();
    clone.project.world.make_folder("project/out").unwrap();
    clone.project.declare(&(clone.file() + "transport = \"http\"\nport = 8080\n"));
    clone.project.trust();
    let ended = clone.project.run(&["run", "--strict", "weather"]);
    assert_eq!((ended.code, ended.heard.len()), (Some(11), 0), "{ended:?}");
    assert!(ended.stderr.contains("not reviewed yet"), "{ended:?}");
    assert!(!clone.ran() && clone.connections() == 0);
    // Control: by a person's own word it is.
    let mut session = Session::begin(&mut clone.project.product(None, &["run", "--unreviewed", "weather"]));
    wait_for(|| clone.ran());
    interrupt(session.pid());
    session.end();
}

fn wait_for(is_so: impl Fn() -> bool) {
    for _ in 0..1_000 {
        if is_so() {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("it did not come to be");
}

/// As Ctrl-C does.
fn interrupt(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
}
