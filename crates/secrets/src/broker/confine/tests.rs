use std::{
    fs, io,
    net::TcpListener,
    os::unix::{fs::DirBuilderExt, net::UnixStream},
    process::{Command, Stdio},
};

use rustix::process::{Pid, getppid};

use super::*;

/// Says to a child of this test what to do: whether to confine itself, and in which folder.
const CONFINE: &str = "FUMEHOOD_TEST_CONFINE";
const FOLDER: &str = "FUMEHOOD_TEST_FOLDER";

/// Everything that somebody who has taken over a broker would try. Each line is `NAME ok` or `NAME refused`.
fn attempts(folder: &Path, parent: Pid) -> Vec<(&'static str, bool)> {
    let probe = |name, outcome: io::Result<()>| (name, outcome.is_ok());
    vec![
        probe("reading the vault", fs::read(folder.join("vault/vault.age")).map(drop)),
        probe("writing into the vault", fs::write(folder.join("vault/planted"), "x")),
        probe("replacing the vault", fs::rename(folder.join("vault/vault.age"), folder.join("vault/moved"))),
        probe("reading a private key", fs::read(folder.join("home/.ssh/id_ed25519")).map(drop)),
        probe("reading another folder", fs::read_dir(folder.join("home")).map(drop)),
        probe("reading what a process holds", fs::read("/proc/self/environ").map(drop)),
        probe("listening", TcpListener::bind("127.0.0.1:0").map(drop)),
        probe("a new Unix socket", UnixStream::pair().map(drop)),
        probe("another supervisor", UnixStream::connect(folder.join("supervisor.sock")).map(drop)),
        probe("starting a program", Command::new("/bin/true").status().map(drop)),
        probe("a signal to another", rustix::process::test_kill_process(parent).map_err(Into::into)),
        probe("a thread", std::thread::Builder::new().spawn(|| ()).map(drop)),
    ]
}

fn tried(confined: bool) -> Vec<String> {
    let root = tempfile::tempdir().unwrap();
    for path in ["vault", "home", "home/.ssh"] {
        fs::DirBuilder::new().mode(0o700).create(root.path().join(path)).unwrap();
    }
    fs::write(root.path().join("vault/vault.age"), "sealed").unwrap();
    fs::write(root.path().join("home/.ssh/id_ed25519"), "private").unwrap();
    let _supervisor = std::os::unix::net::UnixListener::bind(root.path().join("supervisor.sock")).unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "broker::confine::tests::whoever_takes_over_a_broker_reaches_its_vault_and_nothing_else",
        ])
        .arg("--nocapture")
        .env(CONFINE, if confined { "yes" } else { "no" })
        .env(FOLDER, root.path())
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let text = String::from_utf8(child.stdout).unwrap();
    text.lines().filter_map(|line| line.strip_prefix("probe: ")).map(str::to_owned).collect()
}

#[test]
fn whoever_takes_over_a_broker_reaches_its_vault_and_nothing_else() {
    if let (Ok(confine), Some(folder)) = (std::env::var(CONFINE), std::env::var_os(FOLDER)) {
        let folder = PathBuf::from(folder);
        let parent = getppid().unwrap();
        if confine == "yes" {
            Confinement::of(&Store::at(folder.join("vault")), std::iter::empty()).enter().unwrap();
        }
        for (name, worked) in attempts(&folder, parent) {
            println!("probe: {name}: {}", if worked { "ok" } else { "refused" });
        }
        return;
    }
    // The control: the same attempts of the same process, unconfined.
    let free = tried(false);
    assert_eq!(free.len(), 12);
    assert!(free.iter().all(|line| line.ends_with(": ok")), "{free:#?}");
    let confined = tried(true);
    assert_eq!(confined.len(), 12);
    let (first, others) = confined.split_first().unwrap();
    assert_eq!(first, "reading the vault: ok");
    let through: Vec<_> = others.iter().filter(|line| !line.ends_with(": refused")).collect();
    assert!(through.is_empty(), "{through:#?}");
}

#[test]
fn the_place_of_a_file_is_its_folder_unless_that_holds_a_home() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("token");
    fs::write(&file, "x").unwrap();
    let real = fs::canonicalize(root.path()).unwrap();
    assert_eq!(place(&file), real);
    assert_eq!(place(Path::new("/token-that-is-not-there")), Path::new("/token-that-is-not-there"));
    if let Some(home) = std::env::var_os("HOME").and_then(|home| fs::canonicalize(home).ok()) {
        assert_eq!(place(&home.join(".token-that-is-not-there")), home.join(".token-that-is-not-there"));
    }
}
