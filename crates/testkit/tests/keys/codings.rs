//! Answers that bring the key back in pieces, or in a coding.

use std::{
    io::{self, Write as _},
    os::unix::fs::PermissionsExt as _,
};

use flate2::{Compression, write::GzEncoder};
use testkit::world::{Caller, Ran};

use crate::{
    origin::{Asked, Peer, say},
    scene::{API, Scene, TOKEN, VALUE, echo},
    search::Needles,
};

/// `/split/N` answers in two pieces of which the first ends N bytes into the key; `/gzip` and `/br` in that coding,
/// whatever was asked for.
fn answer(asked: &Asked, peer: &mut dyn Peer) -> io::Result<()> {
    let credential = asked.header("authorization").unwrap_or_default();
    match asked.path() {
        "/gzip" => {
            let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
            gzip.write_all(credential.as_bytes())?;
            say(peer, "200 OK", "Content-Encoding: gzip\r\n", &gzip.finish()?)
        }
        "/br" => say(peer, "200 OK", "Content-Encoding: br\r\n", &stored(credential.as_bytes())),
        path => match path.strip_prefix("/split/").and_then(|at| at.parse().ok()) {
            Some(at) => in_two(credential, at, peer),
            None => echo(asked, peer),
        },
    }
}

fn in_two(credential: &str, at: usize, peer: &mut dyn Peer) -> io::Result<()> {
    write!(peer, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")?;
    let value = credential.find(VALUE).unwrap_or_default();
    let (first, second) = credential.split_at(credential.len().min(value + at));
    for piece in [first, second].iter().filter(|piece| !piece.is_empty()) {
        write!(peer, "{:x}\r\n{piece}\r\n", piece.len())?;
        peer.flush()?;
        std::thread::sleep(std::time::Duration::from_millis(3));
    }
    write!(peer, "0\r\n\r\n")
}

/// Brotli that compresses nothing (RFC 7932, 9.2): a window of 16 bits, one block as it is, and an empty last one.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len() - 1).unwrap();
    let head = (length << 4 | 1 << 20).to_le_bytes();
    [&head[..3], bytes, &[3]].concat()
}

/// Asks for every split.
const PIECES: &str = r#"
import http.client, os
own = http.client.HTTPSConnection("api.github.com", timeout=20)
for at in range(len(os.environ["TOKEN"]) + 1):
    own.request("GET", "/split/%d" % at, headers={"Authorization": "Bearer " + os.environ["TOKEN"]})
    print(own.getresponse().read().decode())
"#;

fn run(caller: Caller, off: Option<&str>, script: &str) -> (Scene, Ran) {
    let scene = Scene::with(caller, answer);
    scene.set(TOKEN, VALUE, &["--host", API]);
    let folder = scene.world.make_folder("program").unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    let program = scene.world.make_file("program/pieces.py", PIECES, 0o644).unwrap();
    let script = script.replace("{pieces}", &program.display().to_string());
    let folder = folder.display().to_string();
    let ran = scene.shell(off, &["--secret", TOKEN, "--mount", &folder], &script);
    (scene, ran)
}

fn try_both(script: &str, answers: usize) {
    let value = Needles::of(VALUE);
    for caller in Caller::all() {
        let (scene, ran) = run(caller, None, script);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(value.find(ran.stdout.as_bytes()), None, "{caller:?}: {ran:?}");
        assert!(ran.stdout.matches("Bearer ghp_").count() == answers, "{ran:?}");
        let real = scene.api.asked().iter().filter(|asked| asked.head.contains(VALUE)).count();
        assert_eq!(real, answers);
        let (_, ran) = run(caller, Some("scrub,self-test"), script);
        assert_eq!(ran.stdout.matches(VALUE).count(), answers, "without the guard, {caller:?}: {ran:?}");
    }
}

#[test]
fn an_echo_in_two_pieces_is_scrubbed_wherever_it_was_cut() {
    try_both("python3 {pieces}", VALUE.len() + 1);
}

#[test]
fn an_echo_in_gzip_or_brotli_is_scrubbed_though_nobody_asked_for_it() {
    let line = |coding: &str| {
        format!(
            "curl -sS --compressed --max-time 20 -H \"Authorization: Bearer $TOKEN\" https://api.github.com/{coding}"
        )
    };
    try_both(&format!("{}; echo; {}", line("gzip"), line("br")), 2);
}
