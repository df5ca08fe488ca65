//! Fuzz targets of what writes keys and takes them out again. `cargo test` replays the corpus and tries random inputs;
//! `cargo bolero` goes on from there.
//!
//! In every input the byte 1 stands for the placeholder, which is another one each time, and 2 for the value.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "the code of tests may panic")]

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use egress::credential::request::{Substituted, substitute};
use egress::credential::response::scrub_head;
use egress::credential::websocket::{FromHost, ToHost};
use egress::credential::{Key, Keyring, Placeholder};
use egress::name::HostName;
use egress::permit::Permit;
use egress::policy::Policy;
use egress::rule::HostRule;
use http::request::Parts;
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use model::name::ServerName;
use model::secret::{Binding, Foreign, Place, SecretName};
use secrets::plaintext::Plaintext;

#[cfg(feature = "guard-off")]
#[path = "keys/controls.rs"]
mod controls;

const VALUE: &str = "ghp_c4Nq81ZbT0kXw7LmV2sRjPe9UyHd6GfAoI3t";

struct World {
    ring: Keyring,
    shown: String,
    own: Permit,
    other: Permit,
}

impl World {
    fn new(places: &[&str]) -> Self {
        Self::bound(|binding| {
            binding.places = places.iter().map(|place| Place::parse(place).unwrap()).collect();
        })
    }

    fn bound(change: impl FnOnce(&mut Binding)) -> Self {
        let value = Arc::new(Plaintext::new(VALUE.into()));
        let placeholder = Placeholder::for_value(&value);
        let mut binding = Binding {
            hosts: vec!["a.example.com".into()],
            methods: Vec::new(),
            paths: Vec::new(),
            places: Vec::new(),
            foreign: Foreign::Refuse,
        };
        change(&mut binding);
        let shown = placeholder.to_string();
        let key = Key::new(SecretName::new("K").unwrap(), binding, value, placeholder).unwrap();
        let rules = ["a.example.com", "b.example.com"].map(|rule| HostRule::parse(rule).unwrap());
        let policy = Policy::new(ServerName::new("s").unwrap(), 1, rules);
        let permit = |host| policy.judge(&HostName::parse(host).unwrap(), 443).unwrap();
        Self {
            ring: Keyring::new().with(key).unwrap(),
            shown,
            own: permit("a.example.com"),
            other: permit("b.example.com"),
        }
    }

    fn spelled(&self, bytes: &[u8]) -> Vec<u8> {
        let text = |byte: &u8| match byte {
            1 => self.shown.as_bytes().to_vec(),
            2 => VALUE.as_bytes().to_vec(),
            other => vec![*other],
        };
        bytes.iter().flat_map(text).collect()
    }

    /// What is done to the answers and the messages of a request without anything of interest.
    fn plain(&self) -> Substituted {
        let mut parts = http::Request::new(()).into_parts().0;
        substitute(&mut parts, &self.own, &self.ring).unwrap()
    }
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// A request of lines: the method, the target, then headers.
fn request(bytes: &[u8]) -> Option<Parts> {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let mut request = http::Request::builder().method(lines.next()?).uri(lines.next()?);
    for line in lines {
        let colon = line.iter().position(|byte| *byte == b':')?;
        request = request.header(&line[..colon], &line[colon + 1..]);
    }
    Some(request.body(()).ok()?.into_parts().0)
}

/// Any request: no panic; the value goes to no other host, and at its own only into places of the binding; where
/// something was refused nothing was changed; what is written is a request again.
#[test]
fn key_request() {
    let world = World::new(&["header:authorization", "query:key", "path"]);
    bolero::check!().with_iterations(30_000).for_each(|bytes: &[u8]| {
        if bytes.contains(&2) {
            return;
        }
        let Some(parts) = request(&world.spelled(bytes)) else { return };
        let mut elsewhere = parts.clone();
        let sent = substitute(&mut elsewhere, &world.other, &world.ring);
        assert!(
            sent.is_ok_and(|sent| sent.used.is_empty()
                && sent.scrub.is_empty()
                && elsewhere.headers == parts.headers)
                || elsewhere.headers == parts.headers
        );
        assert_eq!(elsewhere.uri, parts.uri);
        let mut written = parts.clone();
        match substitute(&mut written, &world.own, &world.ring) {
            Err(refusal) => {
                assert_eq!((&written.headers, &written.uri), (&parts.headers, &parts.uri));
                assert!(!refusal.to_string().contains(VALUE));
            }
            Ok(sent) => {
                assert!(!matches!(written.method.as_str(), "OPTIONS" | "TRACE") || sent.used.is_empty());
                let mut there = holds(written.uri.to_string().as_bytes(), VALUE);
                for (name, value) in &written.headers {
                    let here = holds(value.as_bytes(), VALUE);
                    assert!(!here || name == "authorization", "{name}");
                    assert!(!holds(value.as_bytes(), &world.shown), "{name}");
                    there |= here;
                }
                assert_eq!(there, !sent.used.is_empty());
                assert!(!written.uri.authority().is_some_and(|host| holds(host.as_str().as_bytes(), VALUE)));
                assert_eq!(written.headers["accept-encoding"], "identity");
            }
        }
    });
}

/// Any user and password: what is not the placeholder and something short beside it does not pass; what passes decodes to
/// the same with the value in its place.
#[test]
fn key_basic() {
    let world = World::new(&["basic"]);
    bolero::check!().with_iterations(30_000).for_each(|bytes: &[u8]| {
        if bytes.contains(&2) {
            return;
        }
        let pair = world.spelled(bytes);
        let mut parts = http::Request::new(()).into_parts().0;
        parts.headers.insert("authorization", format!("Basic {}", STANDARD.encode(&pair)).parse().unwrap());
        let before = parts.headers.clone();
        match substitute(&mut parts, &world.own, &world.ring) {
            Err(_) => assert_eq!(parts.headers, before),
            Ok(sent) => {
                assert_eq!(sent.used.len(), 1);
                let text = parts.headers["authorization"].to_str().unwrap().to_owned();
                let decoded = STANDARD.decode(text.strip_prefix("Basic ").unwrap()).unwrap();
                let wanted = String::from_utf8_lossy(&pair).replace(&world.shown, VALUE);
                assert_eq!(String::from_utf8_lossy(&decoded), wanted);
                assert!(wanted.contains(':') && holds(&decoded, VALUE));
            }
        }
    });
}

/// A body in pieces.
struct Cut(VecDeque<Bytes>);

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

/// Any body, its first byte says how it is cut: no panic, as many bytes as came, the same however it is cut, and the value
/// nowhere.
#[test]
fn key_scrubbing() {
    let world = World::new(&[]);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let scrub = world.plain().scrub;
    let scrubbed = |bytes: &[u8], piece: usize| {
        let mut head = http::Response::new(()).into_parts().0;
        let plan = scrub_head(&mut head, &scrub).unwrap();
        let body = plan.wrap(Cut(bytes.chunks(piece).map(Bytes::copy_from_slice).collect()));
        runtime.block_on(body.collect()).unwrap().to_bytes()
    };
    bolero::check!().with_iterations(20_000).for_each(|bytes: &[u8]| {
        let Some((cut, bytes)) = bytes.split_first() else { return };
        let bytes = world.spelled(bytes);
        let out = scrubbed(&bytes, usize::from(*cut) + 1);
        assert_eq!(out.len(), bytes.len());
        assert!(!holds(&out, VALUE));
        assert_eq!(out, scrubbed(&bytes, usize::MAX), "{}", String::from_utf8_lossy(&bytes));
    });
}

/// Any bytes in the place of frames, in both directions; the first says how they are cut: no panic, no more bytes than
/// came, and the same however they are cut.
#[test]
fn key_websocket() {
    let world = World::new(&["websocket"]);
    let plain = world.plain();
    bolero::check!().with_iterations(20_000).for_each(|bytes: &[u8]| {
        let Some((cut, bytes)) = bytes.split_first() else { return };
        let bytes = world.spelled(bytes);
        let pushed = |piece: usize| {
            let (mut to, mut from) = (ToHost::new(plain.messages.as_ref()), FromHost::new(&plain.scrub));
            let (mut sent, mut received) = (Vec::new(), Vec::new());
            let to_end = bytes.chunks(piece).try_for_each(|piece| to.push(piece, &mut sent));
            let from_end = bytes.chunks(piece).try_for_each(|piece| from.push(piece, &mut received));
            to.finish(&mut sent);
            from.finish(&mut received);
            ((to_end, sent), (from_end, received))
        };
        let ((to_end, sent), (from_end, received)) = pushed(usize::from(*cut) + 1);
        assert!(sent.len() <= bytes.len() && received.len() <= bytes.len());
        assert!(to_end.is_err() || sent.len() == bytes.len());
        assert!(from_end.is_err() || (received.len() == bytes.len()));
        let ((to_whole, sent_whole), (from_whole, received_whole)) = pushed(usize::MAX);
        assert_eq!((to_end, from_end), (to_whole, from_whole));
        assert!(to_end.is_err() || sent == sent_whole);
        assert!(from_end.is_err() || received == received_whole);
    });
}
