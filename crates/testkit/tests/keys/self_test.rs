//! A placeholder is never sent as it is: a supervisor that does not write values, or does not take them out again, starts
//! nothing.

use testkit::world::Caller;

use crate::scene::{API, Scene, TOKEN, VALUE};

#[test]
fn where_values_are_not_written_or_not_taken_out_nothing_is_started() {
    let line =
        "echo it runs; curl -sS --max-time 20 -H \"Authorization: Bearer $TOKEN\" https://api.github.com/";
    for caller in Caller::all() {
        let scene = Scene::new(caller);
        scene.set(TOKEN, VALUE, &["--host", API]);
        for (fault, said) in [
            ("substitution", "the value was not written into the request"),
            ("scrub", "the value was not taken out of the answer"),
        ] {
            let before = scene.api.asked().len();
            let ran = scene.shell(Some(fault), &["--secret", TOKEN], line);
            assert!(ran.code != Some(0) && !ran.stdout.contains("it runs"), "{caller:?}: {fault}: {ran:?}");
            assert!(ran.stderr.contains("FH-SECRET-SELFTEST") && ran.stderr.contains(said), "{ran:?}");
            assert_eq!(scene.api.asked().len(), before, "the test of a key went out");

            // Without the test of the key the fault shows.
            let ran = scene.shell(Some(&format!("{fault},self-test")), &["--secret", TOKEN], line);
            assert!(ran.stdout.contains("it runs"), "{caller:?}: {fault}: {ran:?}");
            let heads: Vec<String> =
                scene.api.asked().split_off(before).into_iter().map(|asked| asked.head).collect();
            let literal = heads.iter().any(|head| head.contains("ghp_") && !head.contains(VALUE));
            assert_eq!(literal, fault == "substitution", "{heads:?}");
            assert_eq!(ran.stdout.contains(VALUE), fault == "scrub", "{ran:?}");
        }
    }
}
