//! Fuzz targets of what decides by name. `cargo test` replays the corpus and tries random inputs; `cargo bolero` goes on
//! from there.

#![expect(clippy::unwrap_used, reason = "the code of tests may panic")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use egress::dns::{Answerer, DnsSettings, Names, Readying};
use egress::event::{Log, LogSettings};
use egress::name::HostName;
use egress::path::CanonicalPath;
use egress::policy::Policy;
use egress::rule::HostRule;
use egress::synthetic::{Range, Synthetic, WildcardSettings};
use model::name::ServerName;

struct Edge {
    policy: Arc<Policy>,
    synthetic: Synthetic,
    log: Log,
    outside: AtomicBool,
}

impl Edge {
    fn new() -> Self {
        let rules =
            ["ok.com", "*.wild.com", "tcp://db.ok.com:5432"].map(|rule| HostRule::parse(rule).unwrap());
        Self {
            policy: Arc::new(Policy::new(ServerName::new("s").unwrap(), 1, rules)),
            synthetic: Synthetic::new(
                Range { v6: Some([0xfd, 0, 0, 0, 0, 0, 0, 1]), ..Range::V4 },
                WildcardSettings::default(),
            ),
            log: Log::new(LogSettings::default()),
            outside: AtomicBool::new(false),
        }
    }
}

impl Names for Edge {
    fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.policy)
    }
    fn ready<'a>(&'a self, name: &'a HostName) -> Readying<'a> {
        if self.policy.reach(name).is_none() {
            self.outside.store(true, Ordering::SeqCst);
        }
        Box::pin(async move { Ok(self.synthetic.assign(&self.policy, name)?.addresses) })
    }
    fn log(&self) -> &Log {
        &self.log
    }
}

/// Any bytes: no panic, an answer no longer than a datagram, nothing asked of anybody for a name without a rule, and no
/// address in it that is not of our making. The answerer gets no resolver, and the runtime has no sockets and no clock:
/// asking upstream would panic.
#[test]
fn dns_message() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let edge = Arc::new(Edge::new());
    let answerer = Answerer::new(Arc::clone(&edge), DnsSettings::default());
    bolero::check!().with_iterations(30_000).for_each(|bytes: &[u8]| {
        let answer = runtime.block_on(answerer.answer(bytes));
        assert!(!edge.outside.load(Ordering::SeqCst));
        let Some(answer) = answer else {
            assert!(bytes.len() < 12 || bytes[2] & 0x80 != 0);
            return;
        };
        assert!(answer.len() <= 512 + 11, "{}", answer.len());
        assert_eq!(answer[..2], bytes[..2]);
        assert_eq!(answer[2] & 0x80, 0x80);
        let answer = hickory_proto::op::Message::from_vec(&answer).unwrap();
        for record in &answer.answers {
            let address = record.data.ip_addr().unwrap();
            assert!(edge.synthetic.range().contains(address) || address.is_loopback(), "{address}");
        }
    });
}

/// Any text: what is read as a rule is written as one that reads the same, is about at least one port, is about no
/// address and no public suffix.
#[test]
fn host_rule() {
    bolero::check!().with_iterations(30_000).for_each(|bytes: &[u8]| {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let rule = match HostRule::parse(text) {
            Ok(rule) => rule,
            Err(error) => {
                assert!(!error.to_string().chars().any(char::is_control), "{error:?}");
                assert!(!error.hint().is_empty());
                return;
            }
        };
        let written = rule.to_string();
        assert_eq!(HostRule::parse(&written).unwrap(), rule, "{text:?} {written}");
        assert!(written.is_ascii());
        assert!(rule.ports().all(|(port, _)| port != 0) && rule.ports().count() > 0);
        let host = written.split_once(' ').map_or(written.as_str(), |(_, rest)| rest);
        let host = host.split_once("://").map_or(host, |(_, rest)| rest);
        let host = host.split_once('/').map_or(host, |(host, _)| host);
        let host = host.split_once(':').map_or(host, |(host, _)| host);
        let bare = host.strip_prefix("*.").unwrap_or(host);
        assert!(bare.parse::<std::net::IpAddr>().is_err());
        if host != bare {
            assert!(psl::domain_str(bare).is_some(), "{written}");
        }
    });
}

/// Any bytes in the places where a program names a host: one reading, or none.
#[test]
fn host_name() {
    bolero::check!().with_iterations(30_000).for_each(|bytes: &[u8]| {
        if let Ok(name) = HostName::from_wire(bytes) {
            let again = HostName::parse(std::str::from_utf8(bytes).unwrap()).unwrap();
            assert_eq!(name, again);
            assert_eq!(HostName::from_labels(name.labels().map(str::as_bytes)).unwrap(), name);
            assert!(egress::name::spelled_address(name.as_str()).is_none(), "{name}");
        }
    });
}

/// Any text as the target of a request: its canonical form is its own, has no second reading, and a rule about everything
/// below `/a/` takes nothing that a server which decodes or resolves once more would find elsewhere.
#[test]
fn path() {
    let pattern = model::request::PathPattern::new("/a/*").unwrap();
    bolero::check!().with_iterations(30_000).for_each(|bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        for target in [text.to_string(), format!("/a/{text}")] {
            let path = CanonicalPath::of(&target);
            assert!(!path.sent().contains(['?', '#']));
            let Ok(form) = path.canonical() else { continue };
            assert_eq!(CanonicalPath::of(form).canonical(), Ok(form), "{target:?}");
            assert!(form.is_ascii() && form.starts_with('/') && !form.contains(['\\', ';', '?', '#', ' ']));
            if !pattern.covers(form) {
                continue;
            }
            let mut read = form.to_owned();
            for _ in 0..3 {
                let mut place: Vec<&str> = Vec::new();
                for segment in read.split(['/', '\\']).skip(1) {
                    match segment.trim_end_matches([' ', '.']) {
                        "" if segment.starts_with("..") => drop(place.pop()),
                        _ => place.push(segment),
                    }
                }
                assert_eq!(place.first(), Some(&"a"), "{target:?} {read:?}");
                read = percent_encoding::percent_decode_str(&read).decode_utf8_lossy().into_owned();
            }
        }
    });
}
