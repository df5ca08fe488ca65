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
fn whoever_has_no_key_is_not_greeted_and_only_what_is_looked_into_is_vouched_for_by_the_cell() {
    let Some(curl) = host("curl without a key", "curl") else { return };
    let scene = Scene::new(Shelf::default());
    let line = format!("{curl} -sS --max-time 20 -H 'Authorization: Bearer of nothing' {URL}");
    let rule = format!("* {NAME}");
    let ran = scene.exec(&["--host", &rule], &["sh", "-c", &line]);
    assert!(ran.stdout.contains("who are you?"), "{ran:?}");
    assert_eq!(scene.origin.seen().len(), 1);
    // Whoever believes only the host's own authority is told: inside, the cell's vouches for the name.
    let roots = scene.program("origin.pem", &scene.origin.authority);
    let line = format!("{curl} -sS --max-time 20 --capath /var/empty --cacert {roots} {URL}");
    let ran = scene.exec(&["--secret", "TOKEN"], &["sh", "-c", &line]);
    // curl(1): the peer's certificate cannot be authenticated.
    assert!(ran.code == Some(60) && scene.origin.seen().is_empty(), "{ran:?}");
    // Where nothing is looked into, it is the host's own.
    let ran = scene.exec(&["--host", NAME], &["sh", "-c", &line]);
    assert!(ran.code == Some(0) && ran.stdout.contains("who are you?"), "{ran:?}");
}
