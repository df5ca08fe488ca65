//! Fuzz targets of every parser of this crate. In an ordinary run each replays its corpus (`__fuzz__/<target>/corpus`)
//! and tries some thousand inputs; `cargo bolero test <target>` goes on from there.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::{
    fs,
    io::Write,
    os::unix::{fs::PermissionsExt, net::UnixStream},
    path::{Path, PathBuf},
};

use secrets::{
    link::Link,
    plaintext::Plaintext,
    terminal::AskError,
    value,
    vault::{Opener, Store, Vault, VaultError},
    wire::Frame,
};

#[test]
fn wire_frame() {
    bolero::check!().with_iterations(8000).with_max_len(1024).for_each(check_frame);
}

#[test]
fn link_stream() {
    bolero::check!().with_iterations(4000).with_max_len(1024).for_each(check_stream);
}

#[test]
fn vault_content() {
    bolero::check!().with_iterations(8000).with_max_len(2048).for_each(check_content);
}

#[test]
fn sealed_vault() {
    bolero::check!().with_iterations(1000).with_max_len(2048).for_each(check_sealed);
}

type Check = fn(&[u8]);

/// Without this, an empty folder would pass for a replayed corpus.
#[test]
fn every_target_has_a_corpus() {
    let targets: [(&str, Check); 4] = [
        ("wire_frame", check_frame),
        ("link_stream", check_stream),
        ("vault_content", check_content),
        ("sealed_vault", check_sealed),
    ];
    for (target, check) in targets {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/__fuzz__/{target}/corpus"));
        let files: Vec<PathBuf> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(files.len() >= 3, "{}", folder.display());
        for file in files {
            check(&fs::read(file).unwrap());
        }
    }
}

/// What is read as a secret is one that may be: nothing else would be told from damage later.
fn check_frame(body: &[u8]) {
    if let Ok(Frame::Given { name, value, .. }) = Frame::read(body) {
        assert!(!name.as_str().is_empty() && value.len() <= value::MAX_VALUE);
        assert!(body.ends_with(value.expose()));
    }
}

/// Whatever comes, and in whatever pieces, the same is read, and reading ends.
fn check_stream(bytes: &[u8]) {
    let read = |pieces: &[&[u8]]| {
        let (mut broker, supervisor) = UnixStream::pair().unwrap();
        let mut link = Link::over(supervisor.into());
        let mut told = Vec::new();
        for piece in pieces {
            broker.write_all(piece).unwrap();
            loop {
                match link.try_next() {
                    Ok(Some(notice)) => told.push(format!("{notice:?}")),
                    Ok(None) => break,
                    Err(error) => {
                        told.push(error.to_string());
                        return told;
                    }
                }
            }
        }
        told
    };
    let whole = read(&[bytes]);
    let bytewise: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(whole, read(&bytewise));
}

/// What is read as a vault holds nothing that could not be set.
fn check_content(bytes: &[u8]) {
    if let Ok(vault) = Vault::from_content(bytes) {
        for entry in vault.entries().values() {
            assert_eq!(value::check(&entry.value, &entry.binding), Ok(()));
        }
    }
}

/// Bytes that nobody sealed are no vault, and no key either.
fn check_sealed(bytes: &[u8]) {
    thread_local! {
        static FOLDER: (tempfile::TempDir, Vec<u8>) = {
            let root = tempfile::tempdir().unwrap();
            let store = Store::at(root.path().join("vault"));
            store.change(&mut Nobody, |_| Ok::<_, VaultError>(())).unwrap();
            let key = fs::read(store.folder().join("key")).unwrap();
            (root, key)
        };
    }
    FOLDER.with(|(root, key)| {
        let store = Store::at(root.path().join("vault"));
        let (vault, key_file) = (store.file(), store.folder().join("key"));
        fs::write(&key_file, key).unwrap();
        fs::write(&vault, bytes).unwrap();
        assert!(store.read(&mut Nobody).is_err());
        fs::write(&key_file, bytes).unwrap();
        fs::set_permissions(&key_file, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(store.read(&mut Nobody).is_err());
    });
}

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
