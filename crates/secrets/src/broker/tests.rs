use std::{
    fs,
    os::fd::AsRawFd,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use model::secret::Foreign;
use tempfile::TempDir;

use super::*;
use crate::{
    link::{Granted, Link, LinkError, Notice},
    terminal::AskError,
    vault::User,
};

/// Knows no passphrase.
struct Nobody;

impl Opener for Nobody {
    fn passphrase(&mut self, _: &str) -> Result<Plaintext, AskError> {
        Err(AskError::NoTerminal)
    }

    fn new_passphrase(&mut self) -> Result<Plaintext, AskError> {
        Err(AskError::NoTerminal)
    }
}

fn name(text: &str) -> SecretName {
    SecretName::new(text).unwrap()
}

fn key(digit: char) -> UserKey {
    UserKey::new(digit.to_string().repeat(64)).unwrap()
}

fn binding(host: &str) -> Binding {
    let hosts = vec![host.to_owned()];
    Binding { hosts, methods: vec![], paths: vec![], places: vec![], foreign: Foreign::Refuse }
}

/// A vault, a file with a secret, and a broker in a process of its own: it confines itself for good.
struct World {
    root: TempDir,
    store: Store,
}

const FOLDER: &str = "FUMEHOOD_TEST_BROKER";

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let store = Store::at(root.path().join("vault"));
        fs::create_dir(root.path().join("mounted")).unwrap();
        fs::write(root.path().join("mounted/token"), "a token in a file\n").unwrap();
        Self { root, store }
    }

    fn set(&self, secret: &str, value: &str) {
        let value = Plaintext::copied(value.as_bytes());
        let set = |vault: &mut Vault| vault.set(name(secret), binding("api.example.com"), value, 1);
        self.store.change(&mut Nobody, set).unwrap();
    }

    fn set_for(&self, secret: &str, digit: char, value: &str) {
        let user = User {
            key: key(digit),
            issuer: "https://idp.example".into(),
            subject: digit.to_string(),
            tenant: None,
        };
        let value = Plaintext::copied(value.as_bytes());
        let set = |vault: &mut Vault| vault.set_for(name(secret), user, binding("api.example.com"), value, 1);
        self.store.change(&mut Nobody, set).unwrap();
    }

    fn broker(&self, names: &[&str]) -> (Child, Link) {
        self.broker_for("", names)
    }

    /// For the cell of a user, whose own the secret `MINE` is.
    fn broker_for(&self, user: &str, names: &[&str]) -> (Child, Link) {
        let (broker, supervisor) = UnixStream::pair().unwrap();
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "broker::tests::changes_are_told_until_the_supervisor_has_gone"])
            .env(FOLDER, self.root.path())
            .env("FUMEHOOD_TEST_NAMES", names.join(","))
            .env("FUMEHOOD_TEST_USER", user)
            .stdin(OwnedFd::from(broker))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        (child, Link::over(supervisor.into()))
    }
}

/// The child's part.
fn be_a_broker(folder: std::ffi::OsString) {
    let folder = std::path::PathBuf::from(folder);
    let names = std::env::var("FUMEHOOD_TEST_NAMES").unwrap();
    let names = names.split(',').map(name).collect();
    let file = DeclaredSecret {
        source: SecretSource::File(folder.join("mounted/token")),
        binding: binding("files.example.com"),
    };
    let declared = BTreeMap::from([(name("FROM_FILE"), file)]);
    let personal = std::env::var("FUMEHOOD_TEST_USER")
        .unwrap()
        .chars()
        .next()
        .map(|user| Personal { user: key(user), names: [name("MINE")].into() });
    let order = Order { store: Store::at(folder.join("vault")), declared, names, personal };
    let socket = std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned().unwrap();
    assert!(socket.as_raw_fd() > 2);
    serve(&order, socket, &mut Nobody).unwrap();
}

const SOON: Duration = Duration::from_secs(30);

fn next(link: &mut Link) -> Result<Notice, LinkError> {
    let begin = Instant::now();
    loop {
        if let Some(notice) = link.try_next()? {
            return Ok(notice);
        }
        assert!(begin.elapsed() < SOON, "nothing is told");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn given(notice: Notice) -> (String, String, Vec<String>) {
    match notice {
        Notice::Given(granted) => {
            let value = String::from_utf8_lossy(granted.value.expose()).into_owned();
            (granted.name.to_string(), value, granted.binding.hosts)
        }
        Notice::Taken(name) => panic!("{name} was taken"),
    }
}

fn taken(notice: Notice) -> String {
    match notice {
        Notice::Taken(name) => name.to_string(),
        Notice::Given(granted) => panic!("{} was given", granted.name),
    }
}

#[test]
fn changes_are_told_until_the_supervisor_has_gone() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return be_a_broker(folder);
    }
    let world = World::new();
    world.set("A", "the first value of A");
    world.set("B", "the first value of B");
    world.set("OTHER", "a value of another cell");
    let (mut child, mut link) = world.broker(&["A", "B", "FROM_FILE"]);
    let first = link.first(SOON).unwrap();
    let mut names: Vec<&str> = first.iter().map(|granted| granted.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["A", "B", "FROM_FILE"], "its own and no others");

    world.set("OTHER", "a value of another cell, changed");
    world.set("A", "the second value of A");
    let (name_of, value, _) = given(next(&mut link).unwrap());
    assert_eq!((name_of.as_str(), value.as_str()), ("A", "the second value of A"));

    let rebind = |vault: &mut Vault| {
        vault.set(name("B"), binding("other.example.com"), Plaintext::copied(b"the first value of B"), 2)
    };
    world.store.change(&mut Nobody, rebind).unwrap();
    let (name_of, _, hosts) = given(next(&mut link).unwrap());
    assert_eq!((name_of.as_str(), hosts), ("B", vec!["other.example.com".to_owned()]));

    world.store.change(&mut Nobody, |vault| vault.remove(&name("A")).map(drop)).unwrap();
    assert_eq!(taken(next(&mut link).unwrap()), "A");
    world.set("A", "the third value of A");
    assert_eq!(given(next(&mut link).unwrap()).1, "the third value of A");

    // Under the same name, as a mounted secret is renewed.
    let file = world.root.path().join("mounted/token");
    fs::write(file.with_extension("new"), "a renewed token in a file").unwrap();
    fs::rename(file.with_extension("new"), &file).unwrap();
    assert_eq!(given(next(&mut link).unwrap()).1, "a renewed token in a file");
    fs::remove_file(&file).unwrap();
    assert_eq!(taken(next(&mut link).unwrap()), "FROM_FILE");

    let sealed = fs::read(world.store.file()).unwrap();
    fs::write(world.store.file(), &sealed[..sealed.len() - 1]).unwrap();
    let mut lost = [taken(next(&mut link).unwrap()), taken(next(&mut link).unwrap())];
    lost.sort_unstable();
    assert_eq!(lost, ["A", "B"], "a damaged vault gives nothing");
    fs::write(world.store.file(), &sealed).unwrap();
    let mut back = [given(next(&mut link).unwrap()).0, given(next(&mut link).unwrap()).0];
    back.sort_unstable();
    assert_eq!(back, ["A", "B"]);

    drop(link);
    let begin = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(begin.elapsed() < SOON, "it outlives its supervisor");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_users_cell_has_the_users_own_value_and_no_other() {
    let world = World::new();
    world.set("MINE", "the value of everybody");
    world.set("A", "the first value of A");
    world.set_for("MINE", 'a', "the value of user a");
    world.set_for("MINE", 'b', "the value of user b");
    let all = |user: &str| {
        let (_child, mut link) = world.broker_for(user, &["MINE", "A"]);
        let granted = link.first(SOON)?;
        let shown =
            |one: &Granted| (one.name.to_string(), String::from_utf8_lossy(one.value.expose()).into_owned());
        Ok::<_, LinkError>(granted.iter().map(shown).collect::<BTreeMap<_, _>>())
    };
    assert_eq!(all("a").unwrap()["MINE"], "the value of user a");
    assert_eq!(all("b").unwrap()["MINE"], "the value of user b");
    assert_eq!(all("b").unwrap()["A"], "the first value of A");
    // Not even the one of everybody stands in for a value that a user does not have.
    let refused = all("c").unwrap_err();
    let LinkError::Refused { is_missing, message, hint } = &refused else { panic!("{refused}") };
    assert!(
        *is_missing && message.contains("`MINE`") && hint.contains("secret set MINE --user"),
        "{message} {hint}"
    );
    // What is given does not change when somebody else's does.
    let (mut child, mut link) = world.broker_for("a", &["MINE"]);
    link.first(SOON).unwrap();
    world.set_for("MINE", 'b', "another value of user b");
    world.set("MINE", "another value of everybody");
    world.set_for("MINE", 'a', "another value of user a");
    assert_eq!(given(next(&mut link).unwrap()).1, "another value of user a");
    drop(link);
    child.wait().unwrap();
}

#[test]
fn what_cannot_be_given_is_told_with_what_to_do() {
    let world = World::new();
    world.set("A", "the first value of A");
    world.set("FROM_FILE", "the first value of another");
    let told = |names: &[&str]| {
        let (mut child, mut link) = world.broker(names);
        let error = link.first(SOON).unwrap_err();
        child.wait().unwrap();
        (error.to_string(), error.hint().to_owned())
    };
    let (message, hint) = told(&["A", "MISSING"]);
    assert_eq!(message, "there is no secret `MISSING`");
    assert!(hint.starts_with("`fumehood secret set MISSING --host "), "{hint}");
    let (message, hint) = told(&["A", "FROM_FILE"]);
    assert!(message.contains("is in the vault and in `[secrets]`"), "{message}");
    assert!(hint.contains("fumehood secret rm FROM_FILE"), "{hint}");
    fs::write(world.store.folder().join("key"), "no key").unwrap();
    let (message, hint) = told(&["A"]);
    assert!(message.contains("holds no key of a vault") && hint.contains("restore"), "{message} {hint}");
}
