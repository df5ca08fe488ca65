//! Java's own client, in a program that is run from its source.

use hyper::Version;

use crate::{
    origin::{GREETING, Shelf, VALUE},
    scene::{PLAIN, Scene, host, works},
};

#[test]
fn java_uses_a_key_over_both_versions_of_http() {
    const ROW: &str = "Java's HttpClient with a key";
    let Some(java) = host(ROW, "java") else { return };
    if !works("java", &["--list-modules"]) || host(ROW, "javac").is_none() {
        return;
    }
    let scene = Scene::new(Shelf::default());
    let program = scene.program("Ask.java", include_str!("programs/Ask.java"));
    let visit = scene.with_key(&PLAIN, &[&java, &program, "https://api.example.test/user"]);
    for (name, version) in [("HTTP_1_1", Version::HTTP_11), ("HTTP_2", Version::HTTP_2)] {
        let line = format!("{name} {GREETING}Bearer {}", visit.placeholder);
        assert!(visit.said.contains(&line), "{visit:?}");
        visit.arrived(version, &format!("Bearer {VALUE}"));
    }
}
