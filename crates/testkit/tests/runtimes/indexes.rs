//! npm, pip and uv, each with a registry that asks for a key before it gives anything.

use std::{path::Path, process::Command};

use hyper::Version;
use serde_json::json;

use crate::{
    origin::{Shelf, VALUE},
    scene::{PLAIN, Scene, Visit, host, package, python},
};

/// npm's registry with one package.
fn registry() -> Shelf {
    let folder = tempfile::tempdir().unwrap();
    let manifest = r#"{"name": "tiny-thing", "version": "1.0.0", "main": "thing.js"}"#;
    std::fs::write(folder.path().join("package.json"), manifest).unwrap();
    std::fs::write(folder.path().join("thing.js"), "module.exports = 'tiny';\n").unwrap();
    let packed = Command::new("npm").args(["pack", "--silent"]).current_dir(folder.path()).output().unwrap();
    assert!(packed.status.success(), "{packed:?}");
    let tarball = std::fs::read(folder.path().join("tiny-thing-1.0.0.tgz")).unwrap();
    let version = json!({
        "name": "tiny-thing", "version": "1.0.0", "main": "thing.js",
        "dist": {"tarball": "https://api.example.test/npm/tiny-thing/-/tiny-thing-1.0.0.tgz"},
    });
    let about = json!({
        "name": "tiny-thing", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version},
    });
    let mut shelf = Shelf::default();
    shelf.pages.insert("/npm/tiny-thing".to_owned(), ("application/json", about.to_string().into_bytes()));
    shelf
        .pages
        .insert("/npm/tiny-thing/-/tiny-thing-1.0.0.tgz".to_owned(), ("application/octet-stream", tarball));
    shelf
}

/// A Python index with one package.
fn index(python: &str) -> Shelf {
    const WHEEL: &str = "tiny_thing-1.0-py3-none-any.whl";
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("wheel.py");
    std::fs::write(&script, include_str!("programs/wheel.py")).unwrap();
    let made = Command::new(python).arg(&script).arg(folder.path().join(WHEEL)).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let page = format!("<!DOCTYPE html><html><body><a href=\"/files/{WHEEL}\">{WHEEL}</a></body></html>");
    let wheel = std::fs::read(folder.path().join(WHEEL)).unwrap();
    let mut shelf = Shelf::default();
    shelf.pages.insert("/simple/tiny-thing/".to_owned(), ("text/html", page.into_bytes()));
    shelf.pages.insert(format!("/files/{WHEEL}"), ("application/octet-stream", wheel));
    shelf
}

/// The file itself was fetched with this credential.
fn fetched(visit: &Visit, ending: &str, credential: &str) {
    let file = visit
        .seen
        .iter()
        .any(|seen| seen.path.ends_with(ending) && seen.credential.as_deref() == Some(credential));
    assert!(file, "{visit:?}");
}

#[test]
fn npm_installs_from_a_registry_with_a_key() {
    let (Some(npm), Some(node)) = (host("npm with a key", "npm"), host("npm with a key", "node")) else {
        return;
    };
    let scene = Scene::new(registry());
    // npm itself puts the variable in.
    let file = scene.program("npmrc", "//api.example.test/npm/:_authToken=${TOKEN}\n");
    let line = format!(
        "mkdir /tmp/here && cd /tmp/here && echo '{{}}' >package.json && npm_config_userconfig={file} \
         {npm} install --no-audit --no-fund --no-update-notifier --loglevel=error \
         --registry=https://api.example.test/npm/ tiny-thing && {node} -p 'require(\"tiny-thing\")'"
    );
    let visit = scene.with_key(&PLAIN, &["sh", "-c", &line]);
    assert!(visit.said.ends_with("tiny\n"), "{visit:?}");
    visit.arrived(Version::HTTP_11, &format!("Bearer {VALUE}"));
    fetched(&visit, ".tgz", &format!("Bearer {VALUE}"));
}

#[test]
fn pip_installs_from_an_index_with_a_key() {
    let Some((python, mounts)) = python("pip with a key") else { return };
    let scene = Scene::new(index(&python));
    let line = format!(
        "{python} -m pip install -q --no-input --no-cache-dir --disable-pip-version-check --target /tmp/there \
         --index-url \"https://robot:$TOKEN@api.example.test/simple/\" tiny-thing && cat /tmp/there/tiny_thing.py"
    );
    let visit = scene.with_key(&mounts, &["sh", "-c", &line]);
    assert!(visit.said.ends_with("SIZE = 'tiny'\n"), "{visit:?}");
    visit.arrived(Version::HTTP_11, &format!("Basic robot:{VALUE}"));
    fetched(&visit, ".whl", &format!("Basic robot:{VALUE}"));
}

#[test]
fn uv_installs_from_an_index_with_a_key() {
    const ROW: &str = "uv with a key";
    let Some((_, uv)) = package(ROW, "python-uv", "bin/uv") else { return };
    let Some((python, mounts)) = python(ROW) else { return };
    let scene = Scene::new(index(&python));
    let own = scene.world.path("tool/uv");
    // A program by itself: nothing of the environment around it is needed.
    std::fs::copy(Path::new(&uv), &own).unwrap();
    let line = format!(
        "{} pip install -q --no-cache --python {python} --target /tmp/there \
         --default-index \"https://robot:$TOKEN@api.example.test/simple/\" tiny-thing && cat /tmp/there/tiny_thing.py",
        own.display()
    );
    let visit = scene.with_key(&mounts, &["sh", "-c", &line]);
    assert!(visit.said.ends_with("SIZE = 'tiny'\n"), "{visit:?}");
    visit.arrived(Version::HTTP_2, &format!("Basic robot:{VALUE}"));
    fetched(&visit, ".whl", &format!("Basic robot:{VALUE}"));
}
