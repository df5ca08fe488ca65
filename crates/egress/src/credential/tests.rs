//! Whatever is asked of whom: a value goes to a host of its key, in a place of its key, and comes back to nobody.

#![expect(clippy::string_slice, reason = "the code of tests may panic")]

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use model::request::{Method, PathPattern};
use model::secret::{Binding, Foreign, Place, SecretName};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::coding::tests::gzip;
use super::key::tests::{key, plain};
use super::stream::tests::spellings;
use super::{Key, Keyring, Placeholder, request, response, websocket};
use crate::name::HostName;
use crate::permit::Permit;
use crate::policy::Policy;
use crate::rule::HostRule;

const VALUES: [&str; 3] = [
    "ghp_c4Nq81ZbT0kXw7LmV2sRjPe9UyHd6GfAoI3t",
    "0123456789abcdef0123456789abcdef",
    "p+ss/w=rd with \"all& 0123456789-more",
];
const HOSTS: [&str; 4] = ["a.example.com", "b.example.com", "*.wild.example.com", "a.example.com:8443"];
const TARGETS: [(&str, u16); 5] = [
    ("a.example.com", 443),
    ("b.example.com", 443),
    ("x.wild.example.com", 443),
    ("a.example.com", 8443),
    ("a.example.com", 80),
];
const PLACES: [&str; 9] = [
    "header:authorization",
    "header:x-api-key",
    "header:cookie",
    "basic",
    "query:key",
    "path",
    "json",
    "form",
    "websocket",
];
const HEADERS: [&str; 6] = ["authorization", "x-api-key", "cookie", "x-debug", "user-agent", "referer"];

/// Whether `bytes` tell `value` to somebody who takes every listed encoding off. Made without anything of the product.
fn tell(bytes: &[u8], value: &[u8]) -> bool {
    let mut layer = bytes.to_vec();
    for _ in 0..4 {
        let digits: String = value.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
        let plus: Vec<u8> = value.iter().map(|byte| if *byte == b' ' { b'+' } else { *byte }).collect();
        if holds(&layer, value)
            || holds(&layer, &plus)
            || holds(&layer.to_ascii_lowercase(), digits.as_bytes())
            || base64_runs(&layer).iter().any(|decoded| holds(decoded, value))
        {
            return true;
        }
        layer = unescaped(&layer);
    }
    false
}

fn holds(bytes: &[u8], value: &[u8]) -> bool {
    bytes.windows(value.len()).any(|window| window == value)
}

fn base64_runs(bytes: &[u8]) -> Vec<Vec<u8>> {
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let engine = GeneralPurpose::new(&alphabet::STANDARD, config);
    let is = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte);
    let mut decoded = Vec::new();
    for run in bytes.split(|byte| !is(byte)).filter(|run| run.len() >= 20) {
        let run: Vec<u8> = run
            .iter()
            .map(|byte| match byte {
                b'-' => b'+',
                b'_' => b'/',
                other => *other,
            })
            .collect();
        for start in 0..4 {
            for cut in 0..2 {
                if let Ok(bytes) = engine.decode(&run[start..run.len() - cut]) {
                    decoded.push(bytes);
                }
            }
        }
    }
    decoded
}

fn unescaped(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes).replace("&amp;", "&").replace("&quot;", "\"");
    let mut out = Vec::new();
    let mut rest = text.as_str();
    let number =
        |digits: Option<&str>, radix| digits.and_then(|digits| u8::from_str_radix(digits, radix).ok());
    while let Some(first) = rest.chars().next() {
        let slashes = rest.len() - rest.trim_start_matches('\\').len();
        let (byte, taken) = if first == '%' {
            (number(rest.get(1..3), 16), 3)
        } else if slashes > 0 && rest[slashes..].starts_with("u00") {
            (number(rest.get(slashes + 3..slashes + 5), 16), slashes + 5)
        } else if slashes > 0 && rest[slashes..].starts_with('x') {
            (number(rest.get(slashes + 1..slashes + 3), 16), slashes + 3)
        } else if slashes > 0 && rest[slashes..].starts_with(['"', '/']) {
            (Some(rest.as_bytes()[slashes]), slashes + 1)
        } else if slashes > 1 {
            (Some(b'\\'), slashes)
        } else if let Some((digits, _)) = rest.strip_prefix("&#x").and_then(|rest| rest.split_once(';')) {
            (number(Some(digits), 16), digits.len() + 4)
        } else if let Some((digits, _)) = rest.strip_prefix("&#").and_then(|rest| rest.split_once(';')) {
            (number(Some(digits), 10), digits.len() + 3)
        } else {
            (None, 0)
        };
        let taken = if let Some(byte) = byte {
            out.push(byte);
            taken
        } else {
            out.extend_from_slice(first.to_string().as_bytes());
            first.len_utf8()
        };
        rest = &rest[taken..];
    }
    out
}

#[test]
fn the_measure_itself_sees_every_listed_spelling() {
    for value in VALUES {
        for (name, spelled) in spellings(value.as_bytes()) {
            assert!(tell(&[b"x \"", &*spelled, b"\""].concat(), value.as_bytes()), "{name}");
        }
        assert!(!tell(b"nothing of it", value.as_bytes()));
    }
}

fn bindings() -> impl Strategy<Value = Binding> {
    let hosts = prop::collection::vec(select(&HOSTS[..]), 1..3);
    let places = prop::collection::vec(select(&PLACES[..8]), 0..4);
    (hosts, places, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(hosts, places, get, path, open)| Binding {
            hosts: hosts.into_iter().map(str::to_owned).collect(),
            methods: if get { vec![Method::new("GET").unwrap()] } else { Vec::new() },
            paths: if path { vec![PathPattern::new("/in/*").unwrap()] } else { Vec::new() },
            places: places.into_iter().map(|place| Place::parse(place).unwrap()).collect(),
            foreign: if open { Foreign::Allow } else { Foreign::Refuse },
        },
    )
}

/// Something of a request: plain text, or a placeholder in some spelling.
#[derive(Debug, Clone)]
enum Piece {
    Text(&'static str),
    Placeholder(usize, Option<Index>),
}

fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let text = select(&["Bearer ", "x", "a=", "Basic ", "", "token ", "/in/"][..]).prop_map(Piece::Text);
    let raw = (0..VALUES.len()).prop_map(|owner| Piece::Placeholder(owner, None));
    let spelled =
        (0..VALUES.len(), any::<Index>()).prop_map(|(owner, index)| Piece::Placeholder(owner, Some(index)));
    prop::collection::vec(prop_oneof![2 => text, 3 => raw, 1 => spelled], 0..3)
}

fn said(pieces: &[Piece], ring: &Keyring) -> Vec<u8> {
    pieces
        .iter()
        .flat_map(|piece| match piece {
            Piece::Text(text) => text.as_bytes().to_vec(),
            Piece::Placeholder(owner, index) => {
                let shown = ring.keys()[*owner].placeholder().as_str().as_bytes();
                index.map_or_else(|| shown.to_vec(), |index| index.get(&spellings(shown)).1.clone())
            }
        })
        .collect()
}

fn permit(host: &str, port: u16) -> Permit {
    let rules = ["a.example.com", "b.example.com", "*.wild.example.com", "a.example.com:8443"];
    let policy = Policy::new(
        model::name::ServerName::new("s").unwrap(),
        1,
        rules.map(|rule| HostRule::parse(rule).unwrap()),
    );
    policy.judge(&HostName::parse(host).unwrap(), port).unwrap()
}

/// A body in pieces.
struct Cut(VecDeque<Bytes>);

impl Cut {
    fn of(bytes: &[u8], piece: usize) -> Self {
        Self(bytes.chunks(piece.max(1)).map(Bytes::copy_from_slice).collect())
    }
}

impl Body for Cut {
    type Data = Bytes;
    type Error = Infallible;
    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|piece| Ok(Frame::data(piece))))
    }
}

fn whole(body: impl Body<Data = Bytes, Error = super::body::BodyError>) -> Vec<u8> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(Box::pin(body).collect()).unwrap().to_bytes().to_vec()
}

fn ring(bindings: Vec<Binding>) -> Keyring {
    bindings.into_iter().enumerate().fold(Keyring::new(), |ring, (at, binding)| {
        ring.with(key(&format!("K{at}"), VALUES[at], binding)).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_value_goes_to_its_own_host_and_place_only_and_comes_back_to_nobody(
        bindings in prop::collection::vec(bindings(), VALUES.len()),
        (host, port) in select(&TARGETS[..]),
        method in select(&["GET", "POST", "OPTIONS", "TRACE"][..]),
        path in select(&["/", "/in/x", "/out/x", "/in/../out", "/in/%2e%2e/out"][..]),
        (in_path, in_query, in_body) in (pieces(), pieces(), pieces()),
        parameter in select(&["key", "k%65y", "other"][..]),
        headers in prop::collection::vec((select(&HEADERS[..]), pieces()), 0..3),
        kind in select(&["application/json", "application/x-www-form-urlencoded", "text/plain"][..]),
        (echo, zipped, piece) in (any::<Index>(), any::<bool>(), 1_usize..50),
    ) {
        let ring = ring(bindings);
        let text = |pieces: &[Piece]| String::from_utf8(said(pieces, &ring)).unwrap();
        let target = format!("{path}{}?{parameter}={}", text(&in_path), text(&in_query));
        let mut request = http::Request::builder().method(method).uri(target).header("content-type", kind);
        for (name, pieces) in &headers {
            request = request.header(*name, said(pieces, &ring));
        }
        let Ok(request) = request.body(()) else { return Ok(()) };
        let mut parts = request.into_parts().0;
        let Ok(done) = request::substitute(&mut parts, &permit(host, port), &ring) else { return Ok(()) };
        let sent_body = match kind {
            "application/json" => format!("{{\"{0}\": [\"{0}\"]}}", text(&in_body)),
            _ => format!("{0}={0}", text(&in_body)),
        };
        let body = whole(done.body.wrap(Cut::of(sent_body.as_bytes(), piece)));

        let mut sent = format!("{} {}\n", parts.method, parts.uri).into_bytes();
        for (name, value) in &parts.headers {
            sent.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\n"].concat());
        }
        for key in ring.keys() {
            let own = port != 80 && key.covers(&HostName::parse(host).unwrap(), port)
                && key.takes(method, &crate::path::CanonicalPath::of(&format!("{path}{}", text(&in_path)))).is_ok();
            let has = |place: &str| own && key.places().contains(&Place::parse(place).unwrap());
            let value = key.value();
            prop_assert!(has("query:key") || !tell(parts.uri.query().unwrap_or_default().as_bytes(), value));
            prop_assert!(has("path") || !tell(parts.uri.path().as_bytes(), value));
            for (name, header) in &parts.headers {
                let place = Place::parse(&format!("header:{name}"));
                let placed = own && place.is_ok_and(|place| key.places().contains(&place));
                let basic = name == "authorization" && has("basic");
                prop_assert!(placed || basic || !tell(header.as_bytes(), value), "{}", name);
            }
            let in_body = (kind == "application/json" && has("json")) || (kind.ends_with("urlencoded") && has("form"));
            prop_assert!(in_body || !tell(&body, value));
        }

        // The host answers with all it got, and with the values of the keys it may know, in some spelling.
        let name = HostName::parse(host).unwrap();
        let known = ring.keys().iter().filter(|key| TARGETS.iter().any(|(_, port)| key.covers(&name, *port)));
        let mut answer = [sent, body].concat();
        let mut head = http::Response::builder();
        for key in known {
            let spelled = echo.get(&spellings(key.value())).1.clone();
            answer.extend_from_slice(&[b"\n\"", &*spelled, b"\"\n"].concat());
            head = head.header("x-echo", spelled);
        }
        if zipped {
            head = head.header("content-encoding", "gzip");
            answer = gzip(&answer);
        }
        let mut head = head.body(()).unwrap().into_parts().0;
        let plan = response::scrub_head(&mut head, &done.scrub).unwrap();
        let undone = plan.passes();
        let received = whole(plan.wrap(Cut::of(&answer, piece)));
        for key in ring.keys() {
            prop_assert!(undone || !tell(&received, key.value()), "{}", String::from_utf8_lossy(&received));
            for value in head.headers.values() {
                prop_assert!(!tell(value.as_bytes(), key.value()));
            }
        }
        prop_assert_eq!(undone, done.scrub.is_empty());
    }

    #[test]
    fn a_value_in_a_message_of_a_websocket_comes_back_to_nobody(
        texts in prop::collection::vec(("[a-z%&\\\\]{0,5}", any::<Index>(), any::<Index>()), 1..4),
        piece in 1_usize..40,
    ) {
        let bound = Binding {
            hosts: vec!["a.example.com".into()],
            methods: Vec::new(), paths: Vec::new(), places: Vec::new(), foreign: Foreign::Refuse,
        };
        let ring = ring(vec![bound]);
        let mut parts = http::Request::builder().uri("/").body(()).unwrap().into_parts().0;
        let done = request::substitute(&mut parts, &permit("a.example.com", 443), &ring).unwrap();
        let mut sent = Vec::new();
        for (before, spelled, cut) in &texts {
            let payload = [before.as_bytes(), &spelled.get(&spellings(VALUES[0].as_bytes())).1, b" end"].concat();
            let (one, two) = payload.split_at(cut.index(payload.len()));
            for (first, part) in [(0x01, one), (0x80, two)] {
                sent.extend([first, 126]);
                sent.extend(u16::try_from(part.len()).unwrap().to_be_bytes());
                sent.extend_from_slice(part);
            }
        }
        let mut frames = websocket::FromHost::new(&done.scrub);
        let mut out = Vec::new();
        for piece in sent.chunks(piece) {
            frames.push(piece, &mut out).unwrap();
        }
        prop_assert_eq!(out.len(), sent.len());
        let mut rest = &out[..];
        let mut message = Vec::new();
        while let [first, 126, high, low, more @ ..] = rest {
            let length = usize::from(*high) << 8 | usize::from(*low);
            message.extend_from_slice(&more[..length]);
            if *first == 0x80 {
                prop_assert!(!tell(&message, VALUES[0].as_bytes()), "{}", String::from_utf8_lossy(&message));
                message.clear();
            }
            rest = &more[length..];
        }
        prop_assert!(rest.is_empty());
    }
}

#[test]
fn a_former_value_comes_back_to_nobody() {
    let bound = |hosts: &str| Binding {
        hosts: vec![hosts.into()],
        methods: Vec::new(),
        paths: Vec::new(),
        places: Vec::new(),
        foreign: Foreign::Refuse,
    };
    let ring = ring(vec![bound("a.example.com")]);
    let shown: Placeholder = ring.keys()[0].placeholder().clone();
    let new = "ghp_AnotherValueAfterTheFirst012345";
    let name = SecretName::new("K0").unwrap();
    let ring = ring.with(Key::new(name, bound("a.example.com"), plain(new), shown.clone()).unwrap()).unwrap();
    let mut parts = http::Request::builder().uri("/").body(()).unwrap().into_parts().0;
    parts.headers.insert("authorization", shown.as_str().parse().unwrap());
    let done = request::substitute(&mut parts, &permit("a.example.com", 443), &ring).unwrap();
    assert_eq!(parts.headers["authorization"], new);
    let mut head = http::Response::new(()).into_parts().0;
    let plan = response::scrub_head(&mut head, &done.scrub).unwrap();
    let received = whole(plan.wrap(Cut::of(format!("{} {new}", VALUES[0]).as_bytes(), 7)));
    assert!(received.starts_with(shown.as_str().as_bytes()));
    assert!(!tell(&received, VALUES[0].as_bytes()) && !tell(&received, new.as_bytes()));
}
