//! A repository with links in the place of a lock and of what lies beside it: nothing is read, written or removed through
//! one.

use std::{fs, os::unix::fs::symlink, path::Path};

use crate::project::{Project, somebody};

/// The guard that is left out in controls.
const LINKS: Option<&str> = Some("lock-links");
const TREE: &str = "package-lock.json";

/// A trusted project, and a folder of its user outside of it with two files that are nobody else's business.
struct Scene {
    project: Project,
}

impl Scene {
    fn new() -> Self {
        let project = Project::new(somebody(), &["weather"]);
        project.world.make_folder("home/precious/weather").unwrap();
        for folder in ["home/precious", "home/precious/weather"] {
            for file in [TREE, "surface.json"] {
                project.world.make_file(&format!("{folder}/{file}"), "precious", 0o644).unwrap();
            }
        }
        Self { project }
    }

    /// A link in the project to something of the user's.
    fn link(&self, to: &str, at: &str) {
        let at = self.project.world.path("project").join(at);
        let folder = at.parent().unwrap().strip_prefix(self.project.world.folder()).unwrap().to_owned();
        self.project.world.make_folder(folder.to_str().unwrap()).unwrap();
        symlink(self.project.world.path(to), at).unwrap();
    }

    /// What is left of the user's files, by name.
    fn left(&self) -> Vec<String> {
        let mut left = Vec::new();
        for folder in ["home/precious", "home/precious/weather"] {
            for file in [TREE, "surface.json"] {
                let path = self.project.world.path(folder).join(file);
                if fs::read_to_string(&path).is_ok_and(|text| text == "precious") {
                    left.push(format!("{folder}/{file}"));
                }
            }
        }
        left
    }

    /// Every verb that reads, writes or removes what is pinned, and expects to be told of the link.
    fn is_refused(&self, link: &str) {
        let before = self.left();
        for words in [
            &["review", "weather"][..],
            &["review", "weather", "--json"],
            &["lock", "weather"],
            &["remove", "weather"],
        ] {
            let ran = self.project.run(words);
            assert_ne!(ran.code, Some(0), "{words:?}: {ran:?}");
            let named = format!("{link}` is a link");
            assert!(ran.stderr.contains(&named) && !ran.stdout().contains("precious"), "{words:?}: {ran:?}");
            self.project.declare(&self.project.table("weather"));
            self.project.trust();
        }
        assert_eq!(self.left(), before);
    }
}

#[test]
fn nothing_is_written_through_the_folder_of_a_server() {
    let scene = Scene::new();
    scene.link("home/precious", "fumehood.lock.d/weather");
    scene.is_refused("fumehood.lock.d/weather");
    // Control: the surface is written there, and what looks like a tree file of ours goes.
    let mut control = scene.project.product(LINKS, &["lock", "weather"]);
    let ran = crate::session::run(&mut control);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!scene.left().iter().any(|file| Path::new(file).parent() == Some(Path::new("home/precious"))));
}

#[test]
fn nothing_is_written_through_the_folder_of_all() {
    let scene = Scene::new();
    scene.link("home/precious", "fumehood.lock.d");
    scene.is_refused("fumehood.lock.d");
    let mut control = scene.project.product(LINKS, &["lock", "weather"]);
    let ran = crate::session::run(&mut control);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(scene.left(), ["home/precious/package-lock.json", "home/precious/surface.json"]);
}

#[test]
fn nothing_is_read_through_a_file_of_a_server() {
    for file in ["surface.json", TREE] {
        let scene = Scene::new();
        scene.project.accept("weather");
        let beside = scene.project.world.path("project/fumehood.lock.d/weather");
        // The very bytes, elsewhere: only that it is a link is wrong with it.
        let bytes = fs::read_to_string(beside.join("surface.json")).unwrap();
        scene.project.world.make_file("home/precious/surface.json", &bytes, 0o644).unwrap();
        fs::remove_file(beside.join(file)).ok();
        scene.link(&format!("home/precious/{file}"), &format!("fumehood.lock.d/weather/{file}"));
        let ended = scene.project.start("weather");
        assert_eq!((ended.code, ended.heard.len()), (Some(12), 0), "{ended:?}");
        assert!(ended.stderr.contains(&format!("weather/{file}` is a link")), "{ended:?}");
        let mut control = scene.project.client(LINKS, "weather");
        assert_eq!(control.call("steady"), "did steady");
        control.end();
    }
}

#[test]
fn a_lock_is_not_another_one() {
    // The operator's own server of the same name, accepted and in use.
    let scene = Scene::new();
    scene.project.accept("weather");
    let locks = scene.project.world.path("project");
    fs::create_dir(scene.project.world.path("home/other")).unwrap();
    let other = scene.project.world.path("home/other/fumehood.lock");
    fs::rename(locks.join("fumehood.lock"), &other).unwrap();
    symlink(&other, locks.join("fumehood.lock")).unwrap();
    let before = fs::read_to_string(&other).unwrap();
    let ended = scene.project.start("weather");
    assert_eq!((ended.code, ended.heard.len()), (Some(12), 0), "{ended:?}");
    scene.is_refused("fumehood.lock");
    assert_eq!(fs::read_to_string(&other).unwrap(), before);
    let mut control = scene.project.client(LINKS, "weather");
    assert_eq!(control.call("steady"), "did steady");
    control.end();
}

#[test]
fn a_link_to_what_never_ends_is_no_file() {
    let scene = Scene::new();
    for at in ["fumehood.lock", "fumehood.toml"] {
        let path = scene.project.world.path("project").join(at);
        fs::remove_file(&path).ok();
        symlink("/dev/zero", &path).unwrap();
        let ended = scene.project.start("weather");
        assert!(matches!(ended.code, Some(1 | 2 | 12)) && ended.heard.is_empty(), "{at}: {ended:?}");
        assert!(ended.stderr.contains(at), "{at}: {ended:?}");
        fs::remove_file(&path).unwrap();
    }
}
