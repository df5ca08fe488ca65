use std::{
    cell::RefCell,
    fs,
    os::unix::{fs::PermissionsExt, process::ExitStatusExt},
    process::{Command, Stdio},
};

use model::secret::{Binding, Foreign, SecretName};
use rustix::process::{Signal, getpid, kill_process};
use tempfile::TempDir;

use super::*;
use crate::vault::write::Step;

/// Answers every question with the same passphrase, and counts.
struct Knows(&'static str, RefCell<usize>);

impl Opener for Knows {
    fn passphrase(&mut self, _: &str) -> Result<Plaintext, AskError> {
        *self.1.borrow_mut() += 1;
        Ok(Plaintext::copied(self.0.as_bytes()))
    }

    fn new_passphrase(&mut self) -> Result<Plaintext, AskError> {
        self.passphrase("")
    }
}

fn knows(passphrase: &'static str) -> Knows {
    Knows(passphrase, RefCell::new(0))
}

fn name(text: &str) -> SecretName {
    SecretName::new(text).unwrap()
}

fn binding() -> Binding {
    Binding { hosts: vec![], methods: vec![], paths: vec![], places: vec![], foreign: Foreign::Refuse }
}

fn set(store: &Store, secret: &str, value: &str) -> Result<(), VaultError> {
    store.change(&mut Nobody, |vault| {
        vault.set(name(secret), binding(), Plaintext::copied(value.as_bytes()), 1)
    })
}

fn get(store: &Store, secret: &str) -> Result<Option<String>, VaultError> {
    let vault = store.read(&mut Nobody)?;
    Ok(vault
        .entries()
        .get(&name(secret))
        .map(|entry| String::from_utf8_lossy(entry.value.expose()).into_owned()))
}

fn store() -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path().join("data/vault"));
    (folder, store)
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn what_is_set_is_there_and_the_version_before_is_kept() {
    let (_root, store) = store();
    assert!(store.read(&mut Nobody).unwrap().entries().is_empty());
    assert!(!store.folder().exists(), "reading makes nothing");
    set(&store, "A", "first").unwrap();
    let stamp = store.stamp().unwrap();
    set(&store, "A", "second").unwrap();
    assert_ne!(store.stamp().unwrap(), stamp);
    assert_eq!(get(&store, "A").unwrap().as_deref(), Some("second"));
    for (path, wanted) in [("", 0o700), ("vault.age", 0o600), ("key", 0o600), ("vault.age.previous", 0o600)] {
        assert_eq!(mode(&store.folder().join(path)), wanted, "{path}");
    }
    for file in ["vault.age", "vault.age.previous"] {
        let sealed = fs::read(store.folder().join(file)).unwrap();
        assert!(!sealed.windows(5).any(|bytes| bytes == b"first" || bytes == b"secon"), "{file}");
    }
    store.restore(&mut Nobody, &store.folder().join(PREVIOUS), None, true).unwrap();
    assert_eq!(get(&store, "A").unwrap().as_deref(), Some("first"));
}

#[test]
fn a_change_that_fails_writes_nothing() {
    let (_root, store) = store();
    set(&store, "A", "first").unwrap();
    let stamp = store.stamp().unwrap();
    let failed = store.change(&mut Nobody, |vault| vault.rotate(&name("B"), Plaintext::copied(b"x"), 1));
    assert!(matches!(failed, Err(VaultError::Unknown(_))));
    assert!(set(&store, "A", "").is_err());
    assert_eq!(store.stamp().unwrap(), stamp);
}

#[test]
fn changes_at_once_lose_nothing() {
    let (_root, store) = store();
    std::thread::scope(|scope| {
        for n in 0..20 {
            let store = &store;
            scope.spawn(move || set(store, &format!("NAME_{n}"), "value").unwrap());
        }
    });
    assert_eq!(store.read(&mut Nobody).unwrap().entries().len(), 20);
}

#[test]
fn a_vault_that_is_changed_in_any_byte_or_cut_anywhere_does_not_open() {
    let (_root, store) = store();
    set(&store, "A", "first").unwrap();
    set(&store, "A", "second").unwrap();
    let file = store.file();
    let whole = fs::read(&file).unwrap();
    let previous = store.folder().join(PREVIOUS);
    let check = |bytes: &[u8], what: &str| {
        fs::write(&file, bytes).unwrap();
        let error = store.read(&mut Nobody).err().unwrap_or_else(|| panic!("{what}: it opens"));
        match &error {
            VaultError::Damaged { previous: Some(named), .. } => assert_eq!(*named, previous),
            VaultError::WrongKey { .. } => {}
            other => panic!("{what}: {other}"),
        }
        assert!(error.hint().contains("fumehood secret restore "), "{what}: {}", error.hint());
    };
    for length in 0..whole.len() {
        check(&whole[..length], &format!("cut to {length}"));
    }
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        check(&bytes, &format!("byte {at}"));
    }
    check(&[&whole[..], b"x"].concat(), "one byte more");
    assert!(set(&store, "B", "value").is_err(), "nothing is written over it");
    // The command of the hint.
    store.restore(&mut Nobody, &previous, None, false).unwrap();
    assert_eq!(get(&store, "A").unwrap().as_deref(), Some("first"));
    fs::write(&file, &whole).unwrap();
    assert_eq!(get(&store, "A").unwrap().as_deref(), Some("second"), "the control: unharmed it opens");
}

#[test]
fn a_key_that_is_changed_in_any_byte_or_cut_anywhere_opens_nothing() {
    let (_root, store) = store();
    set(&store, "A", "first").unwrap();
    let key = store.folder().join("key");
    let whole = fs::read(&key).unwrap();
    let fails = |bytes: &[u8], what: &str| {
        fs::write(&key, bytes).unwrap();
        let error = store.read(&mut Nobody).err().unwrap_or_else(|| panic!("{what}: it opens"));
        assert!(
            matches!(error, VaultError::KeyBroken { .. } | VaultError::WrongKey { .. }),
            "{what}: {error}"
        );
        assert!(error.hint().contains("--identity"), "{}", error.hint());
    };
    // The line end at its end may be missing.
    for length in 0..whole.len() - 1 {
        fails(&whole[..length], &format!("cut to {length}"));
    }
    for at in 0..whole.len() - 1 {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fails(&bytes, &format!("byte {at}"));
    }
    fs::remove_file(&key).unwrap();
    assert!(matches!(store.read(&mut Nobody), Err(VaultError::KeyMissing { .. })));
    assert!(
        matches!(set(&store, "B", "x"), Err(VaultError::KeyMissing { .. })),
        "no second key takes its place"
    );
}

#[test]
fn a_vault_that_others_can_get_at_is_refused() {
    let (_root, store) = store();
    set(&store, "A", "first").unwrap();
    for (path, open) in [("", 0o750), ("vault.age", 0o640), ("key", 0o604)] {
        let path = store.folder().join(path);
        let before = fs::metadata(&path).unwrap().permissions();
        fs::set_permissions(&path, fs::Permissions::from_mode(open)).unwrap();
        let error = store.read(&mut Nobody).err().unwrap();
        assert!(matches!(&error, VaultError::Exposed { .. }), "{error}");
        assert!(error.hint().starts_with("`chmod "), "{}", error.hint());
        assert!(set(&store, "B", "x").is_err());
        fs::set_permissions(&path, before).unwrap();
        assert!(store.read(&mut Nobody).is_ok());
    }
    let key = store.folder().join("key");
    let elsewhere = store.folder().join("elsewhere");
    fs::rename(&key, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &key).unwrap();
    assert!(matches!(store.read(&mut Nobody), Err(VaultError::Kind { .. })), "a link is followed");
}

#[test]
fn a_passphrase_is_asked_for_and_a_wrong_one_opens_nothing() {
    let (_root, store) = store();
    set(&store, "A", "first").unwrap();
    store.protect(Protection::Passphrase, &mut knows("correct horse")).unwrap();
    assert_eq!(store.protection().unwrap(), Some(Protection::Passphrase));
    assert!(!store.folder().join("key").exists());
    assert!(matches!(store.read(&mut Nobody), Err(VaultError::Ask(AskError::NoTerminal))));
    assert!(matches!(store.read(&mut knows("wrong horse")), Err(VaultError::Passphrase)));
    let mut opener = knows("correct horse");
    assert_eq!(store.read(&mut opener).unwrap().entries().len(), 1);
    assert_eq!(opener.1.into_inner(), 1);
    store.protect(Protection::File, &mut knows("correct horse")).unwrap();
    assert_eq!(get(&store, "A").unwrap().as_deref(), Some("first"));
}

#[test]
fn a_recipient_recovers_a_vault_whose_key_is_lost() {
    let (root, store) = store();
    let rescue = Identity::generate();
    store.change(&mut Nobody, |vault| vault.add_recipient(rescue.recipient()).map(drop)).unwrap();
    set(&store, "A", "first").unwrap();
    fs::remove_file(store.folder().join("key")).unwrap();
    let other = Identity::generate().to_file();
    let wrong = store.restore(&mut Nobody, &store.file(), Some(&other), false);
    assert!(matches!(&wrong, Err(VaultError::Backup { .. })), "{wrong:?}");
    let rescue = rescue.to_file();
    assert_eq!(store.restore(&mut Nobody, &store.file(), Some(&rescue), false).unwrap(), 1);
    assert_eq!(get(&store, "A").unwrap().as_deref(), Some("first"));

    let (sealed, count) = store.export(&mut knows("a passphrase"), &Seal::Passphrase).unwrap();
    assert_eq!(count, 1);
    let backup = root.path().join("backup.age");
    fs::write(&backup, sealed).unwrap();
    let second = Store::at(root.path().join("second"));
    assert!(second.restore(&mut knows("another"), &backup, None, false).is_err());
    assert_eq!(second.restore(&mut knows("a passphrase"), &backup, None, false).unwrap(), 1);
    assert!(matches!(
        second.restore(&mut knows("a passphrase"), &backup, None, false),
        Err(VaultError::InUse(1))
    ));
    assert_eq!(get(&second, "A").unwrap().as_deref(), Some("first"));
}

#[test]
fn a_vault_that_was_deleted_is_not_taken_for_a_new_one() {
    let (_root, store) = store();
    set(&store, "A", "first").unwrap();
    set(&store, "A", "second").unwrap();
    fs::remove_file(store.file()).unwrap();
    let error = store.read(&mut Nobody).err().unwrap();
    assert!(matches!(&error, VaultError::Gone { .. }) && error.hint().contains("restore"), "{error}");
    assert!(matches!(set(&store, "B", "x"), Err(VaultError::Gone { .. })));
}

/// Where a child of the test below is to be killed, and in which vault.
const DIE_AT: &str = "FUMEHOOD_TEST_DIE_AT";
const DIE_IN: &str = "FUMEHOOD_TEST_DIE_IN";

#[test]
fn whoever_is_killed_at_any_step_leaves_the_old_version_or_the_new_one() {
    if let (Ok(at), Ok(folder)) = (std::env::var(DIE_AT), std::env::var(DIE_IN)) {
        let store = Store::at(folder);
        let mut die = |step: Step| {
            if format!("{step:?}") == at {
                kill_process(getpid(), Signal::KILL).unwrap();
            }
        };
        let change = |vault: &mut Vault| vault.set(name("A"), binding(), Plaintext::copied(b"new"), 2);
        store.change_watched(&mut Nobody, change, &mut die).unwrap();
        return;
    }
    for first in [true, false] {
        for step in Step::ALL {
            let (_root, store) = store();
            if !first {
                set(&store, "A", "older").unwrap();
                set(&store, "A", "old").unwrap();
            }
            let mut child = Command::new(std::env::current_exe().unwrap());
            child.args([
                "--exact",
                concat!(
                    module_path!(),
                    "::whoever_is_killed_at_any_step_leaves_the_old_version_or_the_new_one"
                )
                .split_once("::")
                .unwrap()
                .1,
            ]);
            child.env(DIE_AT, format!("{step:?}")).env(DIE_IN, store.folder());
            let status = child.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
            // A first version replaces none.
            let is_reached = !(first && matches!(step, Step::Linked | Step::Kept));
            assert_eq!(status.signal() == Some(9), is_reached, "{step:?}: {status}");
            let found = get(&store, "A").unwrap();
            let wanted: Option<&str> = match step {
                Step::Replaced | Step::Done => Some("new"),
                _ if !is_reached => Some("new"),
                _ if first => None,
                _ => Some("old"),
            };
            assert_eq!(found.as_deref(), wanted, "{step:?}");
            // The next change finds nothing in its way, and leaves no scrap.
            set(&store, "B", "next").unwrap();
            assert_eq!(get(&store, "A").unwrap().as_deref(), wanted, "{step:?}");
            let names = fs::read_dir(store.folder()).unwrap();
            let scraps =
                names.filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|e| e == "new"));
            assert_eq!(scraps.count(), 0, "{step:?}");
        }
    }
}
