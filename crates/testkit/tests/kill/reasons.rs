//! Ends that have a reason of their own: an exit code, a signal, a ceiling. The reason is told, in words and as a code.

use std::time::Instant;

use testkit::world::Caller;

use crate::{ending::End, stage::Stage};

/// Flags of `run`, what the tool does, how `run` ends, and what it says.
const REASONS: [(&[&str], &str, End, &str); 6] = [
    (&[], "exit 41", End::Code(41), "played ended: exit code 41\n"),
    (&[], "kill -SEGV $$", End::Code(139), "played ended: signal 11 (SIGSEGV)\n"),
    (&[], "kill -KILL $$", End::Code(137), "played ended: signal 9 (SIGKILL)\n"),
    // Everything inside but PID 1.
    (&[], "kill -KILL -1; exit 5", End::Code(5), "played ended: exit code 5\n"),
    (
        &["--limit", "memory=32MiB"],
        "x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done",
        End::Code(137),
        "played ended: signal 9 (SIGKILL): the memory ceiling of 32 MiB was reached",
    ),
    (
        &["--limit", "memory=32MiB"],
        "head -c 60000000 /dev/zero >/tmp/full; sleep 5; exit 6",
        End::Code(137),
        "played ended: signal 9 (SIGKILL): the memory ceiling of 32 MiB was reached",
    ),
];

#[test]
fn the_reason_of_an_end_is_told() {
    for caller in Caller::all() {
        let stage = Stage::new(caller);
        for (flags, does, expected, words) in REASONS {
            let case = format!("`{does}` as {caller:?}");
            let mut play = stage.start(&mut stage.script(flags, does), false);
            let end = play.end(&case);
            let said = play.stderr();
            assert!(end == expected && said.contains(words), "{case}: {end:?}: {said}");
            play.assert_gone_soon(Instant::now(), &case);
        }
    }
}

#[test]
fn a_command_that_is_not_there_is_told_and_leaves_nothing() {
    for caller in Caller::all() {
        let stage = Stage::new(caller);
        let mut command = stage.product();
        command.args(["exec", "--limit", "require=none", "--", "no-such-program"]);
        let mut play = stage.start(&mut command, false);
        let case = format!("no such program, as {caller:?}");
        let end = play.end(&case);
        let said = play.stderr();
        assert!(end == End::Code(2) && said.contains("no-such-program"), "{case}: {end:?}: {said}");
        play.assert_gone_soon(Instant::now(), &case);
    }
}
