//! Locks under real git: plain merges of servers at different places, and the merge driver for any two.

#![expect(clippy::unwrap_used, reason = "the code of tests may panic")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use model::digest::Digest;
use model::name::ServerName;
use model::profile::Profile;
use tools::lock::{Lists, Lock, LockFault, Merged, Pinned, merge};

const FILE: &str = "fumehood.lock";
/// The variable by which git's driver line tells this program which three files to merge.
const DRIVER: &str = "LOCK_MERGE_FILES";

/// As git's merge driver when the variable is there; in an ordinary run on three files of its own.
#[test]
fn the_driver_writes_what_was_merged_over_ours() {
    if let Ok(files) = env::var(DRIVER) {
        let files: Vec<&Path> = files.split(':').map(Path::new).collect();
        let [base, ours, theirs] = files[..] else { panic!("{files:?}") };
        assert!(drive(base, ours, theirs), "the two sides are in conflict");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, servers: &[(&str, &str)]| {
        let path = folder.path().join(name);
        fs::write(&path, lock(servers).to_text()).unwrap();
        path
    };
    let (base, ours) = (file("base", &[]), file("ours", &[("a", "1")]));
    assert!(drive(&base, &ours, &file("theirs", &[("b", "1")])));
    assert_eq!(read(&ours), lock(&[("a", "1"), ("b", "1")]));
    assert!(!drive(&base, &ours, &file("theirs", &[("a", "2")])));
    assert!(fs::read_to_string(&ours).unwrap().contains("<<<<<<< ours"));
}

/// Merges into `ours`; whether it is clean.
fn drive(base: &Path, ours: &Path, theirs: &Path) -> bool {
    let bytes = |path: &Path| fs::read(path).unwrap();
    let merged = merge(&bytes(base), &bytes(ours), &bytes(theirs)).unwrap();
    fs::write(ours, merged.text()).unwrap();
    matches!(merged, Merged::Clean(_))
}

#[test]
fn servers_at_different_places_merge_without_a_driver() {
    for (ours, theirs) in [("a", "z"), ("b", "n"), ("n", "z"), ("z", "a")] {
        let repository = Repository::new(&[("c", "1"), ("m", "1"), ("o", "1")]);
        let output = repository.merge(&[(ours, "1")], &[(theirs, "1")]);
        assert!(output.status.success(), "{output:?}");
        let wanted = lock(&[("c", "1"), ("m", "1"), ("o", "1"), (ours, "1"), (theirs, "1")]);
        assert_eq!(repository.lock(), wanted, "{ours} and {theirs}");
    }
}

#[test]
fn a_change_and_a_new_server_merge_without_a_driver() {
    let repository = Repository::new(&[("c", "1"), ("m", "1"), ("o", "1")]);
    let output = repository.merge(&[("c", "2")], &[("n", "1")]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(repository.lock(), lock(&[("c", "2"), ("m", "1"), ("n", "1"), ("o", "1")]));
}

/// The control of the next test: git alone cannot tell two new tables at one place from two versions of one.
#[test]
fn servers_at_one_place_need_the_driver() {
    let repository = Repository::new(&[]);
    let output = repository.merge(&[("a", "1")], &[("b", "1")]);
    assert!(!output.status.success());
    let error = Lock::parse(FILE, &repository.bytes()).unwrap_err();
    assert_eq!(error.fault(), &LockFault::Conflict);
}

#[test]
fn any_two_servers_merge_with_the_driver() {
    for base in [&[][..], &[("c", "1"), ("m", "1")][..]] {
        for (ours, theirs) in [("a", "b"), ("b", "a"), ("d", "e"), ("m.x", "m-x"), ("a", "z")] {
            let repository = Repository::new(base);
            repository.use_driver();
            let output = repository.merge(&[(ours, "1")], &[(theirs, "1")]);
            assert!(output.status.success(), "{output:?}");
            let servers: Vec<(&str, &str)> =
                base.iter().copied().chain([(ours, "1"), (theirs, "1")]).collect();
            assert_eq!(repository.lock(), lock(&servers), "{ours} and {theirs}");
        }
    }
}

#[test]
fn a_lock_that_both_sides_begin_merges_with_the_driver() {
    let repository = Repository::empty();
    repository.use_driver();
    let output = repository.merge(&[("a", "1")], &[("b", "1")]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(repository.lock(), lock(&[("a", "1"), ("b", "1")]));
}

#[test]
fn the_same_server_is_a_conflict_inside_one_table() {
    for with_driver in [false, true] {
        let repository = Repository::new(&[("a", "1"), ("m", "1"), ("z", "1")]);
        if with_driver {
            repository.use_driver();
        }
        let output = repository.merge(&[("a", "2"), ("m", "2")], &[("m", "3"), ("z", "3")]);
        assert!(!output.status.success(), "{output:?}");
        let text = String::from_utf8(repository.bytes()).unwrap();
        let tables: Vec<&str> = text.split("\n[servers.").collect();
        let [_, a, m, z] = tables[..] else { panic!("{text}") };
        assert!(!a.contains("<<<<<<<") && a.contains("pkg@2"), "{text}");
        assert!(m.contains("<<<<<<<") && m.contains(">>>>>>>"), "{text}");
        assert!(!z.contains(">>>>>>>") && z.contains("pkg@3"), "{text}");
        let error = Lock::parse(FILE, text.as_bytes()).unwrap_err();
        let line = text.lines().position(|line| line.starts_with("<<<<<<<")).unwrap() + 1;
        assert_eq!((error.fault(), error.line()), (&LockFault::Conflict, line));
        let status = repository.git(&["status", "--porcelain", FILE]);
        assert!(String::from_utf8_lossy(&status.stdout).starts_with("UU"), "{status:?}");
    }
}

/// A change of a server touches no line of its neighbours.
#[test]
fn a_diff_shows_the_one_table() {
    let repository = Repository::new(&[("a", "1"), ("m", "1"), ("z", "1")]);
    repository.write(&[("a", "1"), ("m", "2"), ("z", "1")]);
    let diff = repository.git(&["diff", "-U0", FILE]);
    let diff = String::from_utf8(diff.stdout).unwrap();
    let changed: Vec<&str> = diff.lines().filter(|line| line.starts_with(['+', '-'])).skip(2).collect();
    assert_eq!(changed.len(), 4, "{diff}");
    assert!(changed.contains(&"-source = \"npx:pkg@1\"") && changed.contains(&"+source = \"npx:pkg@2\""));
}

fn lock(servers: &[(&str, &str)]) -> Lock {
    let mut lock = Lock::default();
    for (name, version) in servers {
        lock.insert(ServerName::new(*name).unwrap(), pinned(version));
    }
    lock
}

fn pinned(version: &str) -> Pinned {
    let digest = |of: &str| Digest::of(format!("{of} {version}").as_bytes());
    Pinned {
        source: format!("npx:pkg@{version}"),
        command: vec!["npx".to_owned(), "pkg".to_owned()],
        integrity: None,
        tree: None,
        content: [("linux-x64".to_owned(), digest("content"))].into(),
        scripts: Vec::new(),
        client: Profile::plain(),
        lists: Lists::Offline,
        fingerprint: format!("v1:{}", Digest::of(b"surface")).parse().unwrap(),
        short: "0".repeat(16),
        hosts: vec!["api.example.com".to_owned()],
        secrets: [("KEY".to_owned(), "key".to_owned())].into(),
        headers: Vec::new(),
        mounts: Vec::new(),
        tiers: BTreeMap::new(),
        bound: BTreeMap::new(),
    }
}

fn read(path: &Path) -> Lock {
    Lock::parse(FILE, &fs::read(path).unwrap()).unwrap()
}

struct Repository(tempfile::TempDir);

impl Repository {
    /// With a lock that is committed.
    fn new(servers: &[(&str, &str)]) -> Self {
        let repository = Self::empty();
        repository.write(servers);
        repository.commit();
        repository
    }

    fn empty() -> Self {
        let repository = Self(tempfile::tempdir().unwrap());
        repository.must(&["init", "--quiet", "--initial-branch=main"]);
        repository.must(&["commit", "--quiet", "--allow-empty", "--message=begin"]);
        repository
    }

    fn use_driver(&self) {
        let program = env::current_exe().unwrap();
        let test = "the_driver_writes_what_was_merged_over_ours";
        let line = format!("{DRIVER}=%O:%A:%B '{}' --exact {test}", program.display());
        self.must(&["config", "merge.fumehood.driver", &line]);
        fs::write(self.0.path().join(".git/info/attributes"), format!("{FILE} merge=fumehood\n")).unwrap();
    }

    /// Makes each change on a branch of its own, and merges the second into the first.
    fn merge(&self, ours: &[(&str, &str)], theirs: &[(&str, &str)]) -> Output {
        let before = if self.path().exists() { self.lock() } else { Lock::default() };
        for (branch, changes) in [("theirs", theirs), ("ours", ours)] {
            self.must(&["switch", "--quiet", "--create", branch, "main"]);
            let mut changed = before.clone();
            for (name, version) in changes {
                changed.insert(ServerName::new(*name).unwrap(), pinned(version));
            }
            fs::write(self.path(), changed.to_text()).unwrap();
            self.commit();
        }
        self.git(&["merge", "--quiet", "--no-edit", "theirs"])
    }

    fn write(&self, servers: &[(&str, &str)]) {
        fs::write(self.path(), lock(servers).to_text()).unwrap();
    }

    fn commit(&self) {
        self.must(&["add", FILE]);
        self.must(&["commit", "--quiet", "--message=change"]);
    }

    fn path(&self) -> PathBuf {
        self.0.path().join(FILE)
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(self.path()).unwrap()
    }

    fn lock(&self) -> Lock {
        read(&self.path())
    }

    fn must(&self, arguments: &[&str]) {
        let output = self.git(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }

    /// Runs git here, without the settings of whoever runs the test.
    fn git(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("git");
        for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            command.env_remove(variable);
        }
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "ann").env(format!("GIT_{who}_EMAIL"), "ann@example.com");
        }
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        command.current_dir(self.0.path()).args(arguments).output().unwrap()
    }
}
