//! curl and wget; and that without the key, or without being looked into, nobody is greeted.

use hyper::Version;
use testkit::world::Caller;

use crate::{
    origin::{NAME, Shelf},
    scene::{PLAIN, Scene, host},
};

const URL: &str = "https://api.example.test/user";

#[test]
fn curl_uses_a_key_over_both_versions_of_http() {
    let Some(curl) = host("curl with a key", "curl") else { return };
    for caller in Caller::all() {
        let scene = Scene::of(caller, Shelf::default());
        for (flag, version) in [("--http1.1", Version::HTTP_11), ("--http2", Version::HTTP_2)] {
            let line = format!("{curl} -sS --max-time 20 {flag} -H \"Authorization: Bearer $TOKEN\" {URL}");
            scene.greeted(version, &PLAIN, &["sh", "-c", &line]);
        }
        let line = format!("{curl} -sS --max-time 20 -u \"robot:$TOKEN\" {URL}");
        let visit = scene.with_key(&PLAIN, &["sh", "-c", &line]);
        assert!(visit.said.contains(&format!("robot:{}", visit.placeholder)), "{visit:?}");
        visit.arrived(Version::HTTP_2, &format!("Basic robot:{}", crate::origin::VALUE));
    }
}

#[test]
fn wget_uses_a_key() {
    let Some(wget) = host("wget with a key", "wget") else { return };
    let scene = Scene::new(Shelf::default());
    let line = format!("{wget} -q -T 20 -t 1 -O - --header=\"Authorization: Bearer $TOKEN\" {URL}");
    scene.greeted(Version::HTTP_11, &PLAIN, &["sh", "-c", &line]);
    let line = format!("{wget} -q -T 20 -t 1 -O - --user=robot --password=\"$TOKEN\" {URL}");
    let visit = scene.with_key(&PLAIN, &["sh", "-c", &line]);
    assert!(visit.said.contains(&format!("robot:{}", visit.placeholder)), "{visit:?}");
    visit.arrived(Version::HTTP_11, &format!("Basic robot:{}", crate::origin::VALUE));
}

#[test]
fn whoever_has_no_key_is_not_greeted_and_whoever_does_not_trust_the_cell_is_told() {
    let Some(curl) = host("curl without a key", "curl") else { return };
    let scene = Scene::new(Shelf::default());
    let line = format!("{curl} -sS --max-time 20 -H 'Authorization: Bearer of nothing' {URL}");
    let rule = format!("* {NAME}");
    let ran = scene.exec(&["--host", &rule], &["sh", "-c", &line]);
    assert!(ran.stdout.contains("who are you?"), "{ran:?}");
    assert_eq!(scene.origin.seen().len(), 1);
    // The same program with no roots: it is the cell's authority that vouches for the name.
    let line = format!("{curl} -sS --max-time 20 --capath /var/empty --cacert /dev/null {URL}");
    let ran = scene.exec(&["--secret", "TOKEN"], &["sh", "-c", &line]);
    assert!(ran.code != Some(0) && scene.origin.seen().is_empty(), "{ran:?}");
}
