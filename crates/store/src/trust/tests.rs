use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt, fs::PermissionsExt, process::ExitStatusExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use rustix::process::{Signal, getpid, kill_process};

use super::*;
use crate::How;

const ONE: &str = "v1:sha256:1111111111111111111111111111111111111111111111111111111111111111";
const TWO: &str = "v1:sha256:2222222222222222222222222222222222222222222222222222222222222222";

fn trust() -> (tempfile::TempDir, Trust) {
    let root = tempfile::tempdir().unwrap();
    let trust = Trust::at(root.path().join("data/fumehood/trust"));
    (root, trust)
}

fn table(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

fn acceptance(text: &str) -> Acceptance {
    Acceptance {
        name: model::name::ServerName::new("weather").unwrap(),
        table: table(text),
        fingerprint: ONE.to_owned(),
        source: "npx:@acme/weather-mcp@1.4.2".to_owned(),
        accepted_at: "2026-11-30T10:00:00Z".to_owned(),
        how: How::Terminal,
    }
}

fn pending(fingerprint: &str, at: &str) -> Pending {
    Pending {
        fingerprint: fingerprint.to_owned(),
        surface: serde_json::json!({ "tools": [{ "name": "a", "description": "line\nline \u{202e}" }], "n": 0.1 }),
        first_seen: at.to_owned(),
        last_seen: at.to_owned(),
    }
}

fn file(trust: &Trust, folder: &str, key: Digest) -> PathBuf {
    trust.folder().join(folder).join(file_name(key))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn before_anything_was_accepted_nothing_is_and_reading_makes_nothing() {
    let (root, trust) = trust();
    assert_eq!(trust.accepted(&table("a"), ONE).unwrap(), None);
    assert_eq!(trust.project_trusted(Path::new("/p")).unwrap(), None);
    assert_eq!(trust.pending(&table("a").hex()).unwrap(), None);
    assert_eq!((trust.acceptances().unwrap(), trust.projects().unwrap()), (vec![], vec![]));
    assert!(!trust.withdraw(&table("a")).unwrap());
    assert!(!trust.clear_pending_of(&table("a").hex(), ONE).unwrap());
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}

#[test]
fn an_acceptance_is_of_one_table_with_one_fingerprint() {
    let (_root, trust) = trust();
    trust.accept(&acceptance("a")).unwrap();
    assert_eq!(trust.accepted(&table("a"), ONE).unwrap(), Some(acceptance("a")));
    assert_eq!(trust.accepted(&table("a"), TWO).unwrap(), None);
    assert_eq!(trust.accepted(&table("b"), ONE).unwrap(), None);
    let path = file(&trust, "accepted", table("a"));
    assert_eq!((mode(&path), mode(trust.folder()), mode(path.parent().unwrap())), (0o600, 0o700, 0o700));

    let later =
        Acceptance { how: How::CommandLine, accepted_at: "2026-12-01T00:00:00Z".into(), ..acceptance("b") };
    trust.accept(&later).unwrap();
    assert_eq!(trust.acceptances().unwrap(), [acceptance("a"), later]);
    assert!(trust.withdraw(&table("a")).unwrap());
    assert!(!trust.withdraw(&table("a")).unwrap());
    assert_eq!(trust.accepted(&table("a"), ONE).unwrap(), None);
    assert!(trust.accepted(&table("b"), ONE).unwrap().is_some());
}

#[test]
fn trust_in_a_project_is_of_its_place_and_its_configuration() {
    let (_root, trust) = trust();
    let strange = Path::new(OsStr::from_bytes(b"/p/\xff"));
    trust.trust_project(Path::new("/p/a"), table("first")).unwrap();
    trust.trust_project(Path::new("/p/a"), table("second")).unwrap();
    trust.trust_project(strange, table("third")).unwrap();
    assert_eq!(trust.project_trusted(Path::new("/p/a")).unwrap(), Some(table("second")));
    assert_eq!(trust.project_trusted(strange).unwrap(), Some(table("third")));
    assert_eq!(trust.project_trusted(Path::new("/p/\u{fffd}")).unwrap(), None);
    assert_eq!(trust.project_trusted(Path::new("/p")).unwrap(), None);
    let folders: Vec<String> = trust.projects().unwrap().into_iter().map(|project| project.folder).collect();
    assert_eq!(folders, ["/p/a", "/p/\u{fffd}"]);
    assert!(trust.distrust(Path::new("/p/a")).unwrap());
    assert_eq!(trust.project_trusted(Path::new("/p/a")).unwrap(), None);
    assert!(matches!(trust.project_trusted(Path::new("p/a")), Err(TrustError::Relative(_))));
}

#[test]
fn a_change_waits_till_it_is_decided_and_remembers_when_it_was_seen_first() {
    let (_root, trust) = trust();
    let key = table("weather").hex();
    trust.set_pending(&key, &pending(ONE, "monday")).unwrap();
    trust.set_pending(&key, &pending(ONE, "tuesday")).unwrap();
    let kept = trust.pending(&key).unwrap().unwrap();
    assert_eq!((kept.first_seen.as_str(), kept.last_seen.as_str()), ("monday", "tuesday"));
    assert_eq!(kept.surface, pending(ONE, "").surface);
    let kept = trust.set_pending(&key, &pending(TWO, "wednesday")).unwrap();
    assert_eq!((kept.first_seen.as_str(), kept.last_seen.as_str()), ("wednesday", "wednesday"));

    // The first one is decided when the second is already there.
    assert!(!trust.clear_pending_of(&key, ONE).unwrap());
    assert!(trust.pending(&key).unwrap().is_some());
    assert!(trust.clear_pending_of(&key, TWO).unwrap());
    assert_eq!(trust.pending(&key).unwrap(), None);
    trust.set_pending(&key, &pending(ONE, "monday")).unwrap();
    assert!(trust.clear_pending(&key).unwrap());
    for wrong in ["", "../../x", &key.to_uppercase(), &format!("{key}0")] {
        assert!(matches!(trust.pending(wrong), Err(TrustError::Key(_))), "{wrong}");
        assert!(matches!(trust.clear_pending(wrong), Err(TrustError::Key(_))), "{wrong}");
    }
}

#[test]
fn what_could_not_be_read_again_is_not_written() {
    let (_root, trust) = trust();
    let key = table("deep").hex();
    let deep = (0..200).fold(serde_json::Value::Null, |inside, _| serde_json::json!([inside]));
    let error = trust.set_pending(&key, &Pending { surface: deep, ..pending(ONE, "monday") }).unwrap_err();
    assert!(matches!(error, TrustError::Unwritable { .. }), "{error}");
    assert_eq!(trust.pending(&key).unwrap(), None);
}

#[test]
fn a_file_that_differs_in_any_byte_is_an_error_with_its_remedy() {
    let (_root, trust) = trust();
    trust.accept(&acceptance("a")).unwrap();
    let path = file(&trust, "accepted", table("a"));
    let right = fs::read(&path).unwrap();
    let refused = |bytes: &[u8], what: &str| {
        fs::write(&path, bytes).unwrap();
        let error = trust.accepted(&table("a"), ONE).expect_err(what);
        assert!(matches!(error, TrustError::Damaged { .. } | TrustError::Newer { .. }), "{what}: {error}");
        assert!(error.to_string().contains(path.to_str().unwrap()), "{what}: {error}");
        assert!(trust.acceptances().is_err(), "{what}");
        error
    };
    for at in 0..right.len() {
        for flip in [1, 0x20, 0x80] {
            let mut wrong = right.clone();
            wrong[at] ^= flip;
            refused(&wrong, &format!("byte {at} ^ {flip}"));
        }
        refused(&right[..at], &format!("cut at {at}"));
    }
    refused(&[&right[..], b"\n"].concat(), "a line more");
    refused(&right.repeat(2), "twice");
    let error = refused(b"", "empty");
    let remedy =
        format!("`rm {}`, then `fumehood review` asks anew for the server it was about", path.display());
    assert_eq!(error.hint(), remedy);
    assert!(error.to_string().ends_with("is damaged: it is empty"), "{error}");
    // A damaged one can be taken back, and given again.
    assert!(trust.withdraw(&table("a")).unwrap());
    fs::write(&path, b"{}").unwrap();
    trust.accept(&acceptance("a")).unwrap();
    assert_eq!(fs::read(&path).unwrap(), right);
}

#[test]
fn a_file_under_another_name_or_of_another_kind_is_no_acceptance() {
    let (_root, trust) = trust();
    trust.accept(&acceptance("a")).unwrap();
    fs::copy(file(&trust, "accepted", table("a")), file(&trust, "accepted", table("b"))).unwrap();
    let error = trust.accepted(&table("b"), ONE).unwrap_err();
    assert!(error.to_string().ends_with("it lies under the name of another"), "{error}");
    trust.set_pending(&table("c").hex(), &pending(ONE, "monday")).unwrap();
    fs::copy(file(&trust, "pending", table("c")), file(&trust, "accepted", table("c"))).unwrap();
    let error = trust.accepted(&table("c"), ONE).unwrap_err();
    assert!(error.to_string().ends_with("it holds a pending change"), "{error}");
    // What is not named like an entry is not looked at.
    fs::write(trust.folder().join("projects"), b"").unwrap();
    assert!(matches!(trust.projects(), Err(TrustError::Kind { .. })));
}

#[test]
fn a_newer_form_is_left_alone() {
    let (_root, trust) = trust();
    trust.accept(&acceptance("a")).unwrap();
    let path = file(&trust, "accepted", table("a"));
    let text = fs::read_to_string(&path).unwrap().replacen("\"version\":1", "\"version\":2", 1);
    fs::write(&path, text).unwrap();
    let error = trust.accepted(&table("a"), ONE).unwrap_err();
    assert!(matches!(error, TrustError::Newer { version: 2, .. }), "{error}");
    assert!(!error.hint().is_empty());
}

#[test]
fn what_others_could_have_written_is_refused() {
    let (_root, trust) = trust();
    trust.accept(&acceptance("a")).unwrap();
    let path = file(&trust, "accepted", table("a"));
    let folder = path.parent().unwrap().to_owned();
    for (place, mode) in [
        (&path, 0o644),
        (&path, 0o620),
        (&path, 0o602),
        (&folder, 0o750),
        (&trust.folder().to_owned(), 0o701),
    ] {
        let before = fs::metadata(place).unwrap().permissions();
        set_mode(place, mode);
        let error = trust.accepted(&table("a"), ONE).unwrap_err();
        assert!(
            matches!(&error, TrustError::Exposed { path, mode: seen, .. } if path == place && *seen == mode)
        );
        assert!(error.hint().contains("chmod"), "{}", error.hint());
        assert_eq!(trust.accept(&acceptance("b")).is_err(), place != &path, "{mode:o}");
        fs::set_permissions(place, before).unwrap();
    }
    assert!(trust.accepted(&table("a"), ONE).unwrap().is_some());
    if rustix::process::geteuid().is_root() {
        for place in [&path, &folder, &trust.folder().to_owned()] {
            std::os::unix::fs::chown(place, Some(65534), None).unwrap();
            let error = trust.accepted(&table("a"), ONE).unwrap_err();
            assert!(matches!(error, TrustError::Foreign { owner: 65534, .. }), "{error}");
            std::os::unix::fs::chown(place, Some(0), None).unwrap();
        }
        assert!(trust.accepted(&table("a"), ONE).unwrap().is_some());
    }
}

#[test]
fn what_is_no_plain_file_is_refused_and_never_waited_for() {
    let (root, trust) = trust();
    trust.accept(&acceptance("a")).unwrap();
    let path = file(&trust, "accepted", table("a"));
    let elsewhere = root.path().join("elsewhere.json");
    fs::rename(&path, &elsewhere).unwrap();
    let refused = |what: &str| {
        let error = trust.accepted(&table("a"), ONE).expect_err(what);
        assert!(matches!(error, TrustError::Kind { .. }), "{what}: {error}");
    };
    std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
    refused("a link");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    refused("a folder");
    fs::remove_dir(&path).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    refused("a pipe");
    fs::remove_file(&path).unwrap();
    let folder = path.parent().unwrap();
    fs::rename(folder, root.path().join("moved")).unwrap();
    std::os::unix::fs::symlink(root.path().join("moved"), folder).unwrap();
    refused("a linked folder");
}

const TASK: &str = "FUMEHOOD_TEST_STORE_TASK";
const PLACE: &str = "FUMEHOOD_TEST_STORE_PLACE";

/// This test program once more, running one test only, in a process that can be killed.
fn again(test: &str, task: &str, folder: &Path) -> Command {
    let module = module_path!().split_once("::").unwrap().1;
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("{module}::{test}")]);
    command.env(TASK, task).env(PLACE, folder).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn task() -> Option<(String, Trust)> {
    Some((std::env::var(TASK).ok()?, Trust::at(std::env::var(PLACE).ok()?.into())))
}

#[test]
fn whoever_is_killed_at_any_step_leaves_the_old_version_or_the_new_one() {
    let new = Acceptance { source: "new".to_owned(), ..acceptance("a") };
    if let Some((at, trust)) = task() {
        let mut die = |step: Step| {
            if format!("{step:?}") == at {
                kill_process(getpid(), Signal::KILL).unwrap();
            }
        };
        trust.keep(table("a"), &new, &mut die).unwrap();
        return;
    }
    for is_first in [true, false] {
        for step in Step::ALL {
            let (_root, trust) = trust();
            if !is_first {
                trust.accept(&acceptance("a")).unwrap();
            }
            let name = "whoever_is_killed_at_any_step_leaves_the_old_version_or_the_new_one";
            let status = again(name, &format!("{step:?}"), trust.folder()).status().unwrap();
            assert_eq!(status.signal(), Some(9), "{step:?}: {status}");
            let wanted = match step {
                Step::Replaced | Step::Done => Some(new.clone()),
                _ if is_first => None,
                _ => Some(acceptance("a")),
            };
            assert_eq!(trust.accepted(&table("a"), ONE).unwrap(), wanted, "{step:?}");
            // The next one is not held up, and leaves no scrap.
            trust.accept(&acceptance("b")).unwrap();
            assert_eq!(trust.accepted(&table("a"), ONE).unwrap(), wanted, "{step:?}");
            let files = fs::read_dir(trust.folder().join("accepted")).unwrap().count();
            assert_eq!(files, 1 + usize::from(wanted.is_some()), "{step:?}");
        }
    }
}

#[test]
fn processes_that_write_at_once_neither_tear_nor_lose_anything() {
    const PROCESSES: usize = 5;
    const ROUNDS: usize = 12;
    let key = table("contested").hex();
    if let Some((own, trust)) = task() {
        for round in 0..ROUNDS {
            trust.accept(&acceptance(&format!("{own} {round}"))).unwrap();
            trust.accept(&acceptance("contested")).unwrap();
            trust.set_pending(&key, &pending(ONE, &own)).unwrap();
            trust.trust_project(Path::new("/p"), table(&own)).unwrap();
            // One that was given is there at once, whatever the others do.
            assert!(trust.accepted(&table(&format!("{own} {round}")), ONE).unwrap().is_some());
            assert!(trust.withdraw(&table(&format!("{own} {}", round / 2))).is_ok());
            trust.accept(&acceptance(&format!("{own} {}", round / 2))).unwrap();
        }
        return;
    }
    let (_root, trust) = trust();
    let name = "processes_that_write_at_once_neither_tear_nor_lose_anything";
    let mut children: Vec<_> =
        (0..PROCESSES).map(|own| again(name, &own.to_string(), trust.folder()).spawn().unwrap()).collect();
    // Reading takes no turn and meets whole files only.
    let mut reads = 0;
    while children.iter_mut().any(|child| child.try_wait().unwrap().is_none()) && reads < 1_000_000 {
        trust.accepted(&table("contested"), ONE).unwrap();
        trust.pending(&key).unwrap();
        trust.acceptances().unwrap();
        reads += 1;
    }
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    for own in 0..PROCESSES {
        for round in 0..ROUNDS {
            let found = trust.accepted(&table(&format!("{own} {round}")), ONE).unwrap();
            assert!(found.is_some(), "{own} {round} is lost");
        }
    }
    assert_eq!(trust.acceptances().unwrap().len(), PROCESSES * ROUNDS + 1);
    assert!(
        trust.pending(&key).unwrap().is_some() && trust.project_trusted(Path::new("/p")).unwrap().is_some()
    );
    assert!(reads > 0);
}
