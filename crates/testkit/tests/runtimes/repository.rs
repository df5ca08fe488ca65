//! git, which reads a repository over HTTPS with the key as password and as a header of its own.

use std::{path::Path, process::Command};

use hyper::Version;

use crate::{
    origin::{Shelf, VALUE},
    scene::{PLAIN, Scene, host},
};

fn git(folder: &Path, words: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=robot", "-c", "user.email=robot@example.test"]).args(words);
    let output = command.current_dir(folder).env("HOME", folder).output().unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
}

/// A bare repository with one commit, as a plain web server gives it out.
fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "-q", "work"]);
    std::fs::write(folder.path().join("work/README"), "read me\n").unwrap();
    git(folder.path(), &["-C", "work", "add", "README"]);
    git(folder.path(), &["-C", "work", "commit", "-q", "-m", "first"]);
    git(folder.path(), &["clone", "-q", "--bare", "work", "thing.git"]);
    git(folder.path(), &["-C", "thing.git", "update-server-info"]);
    folder
}

#[test]
fn git_clones_with_a_key_as_password_and_as_header() {
    let Some(git) = host("git with a key", "git") else { return };
    let folder = repository();
    let shelf = Shelf { folder: Some(folder.path().to_owned()), ..Shelf::default() };
    let scene = Scene::new(shelf);
    let place = "api.example.test/thing.git /tmp/thing && cat /tmp/thing/README";
    let header =
        format!("{git} -c http.extraHeader=\"Authorization: Bearer $TOKEN\" clone -q https://{place}");
    let password = format!("{git} clone -q \"https://robot:$TOKEN@\"{place}");
    let version = Version::HTTP_2;
    for (line, credential) in
        [(header, format!("Bearer {VALUE}")), (password, format!("Basic robot:{VALUE}"))]
    {
        let visit = scene.with_key(&PLAIN, &["sh", "-c", &line]);
        assert!(visit.said.ends_with("read me\n"), "{visit:?}");
        visit.arrived(version, &credential);
        let refs = visit.seen.iter().filter(|seen| seen.path == "/thing.git/info/refs").count();
        assert!((1..=2).contains(&refs), "asked once, and once more with the password: {visit:?}");
    }
}
