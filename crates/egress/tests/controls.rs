//! Attacks that the guards of this crate stop, each shown to work when its guard is taken away. Built with the feature
//! `guard-off` only.

#![cfg(feature = "guard-off")]
#![expect(clippy::unwrap_used, reason = "the code of tests may panic")]

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use egress::dial::{DialSettings, Dialer};
use egress::guard::without;
use egress::name::HostName;
use egress::own::OwnAddresses;
use egress::policy::{Permit, Policy};
use egress::refusal::Code;
use egress::resolve::{Resolver, Resolving};
use egress::rule::HostRule;
use egress::synthetic::{Range, Synthetic, WildcardSettings};
use egress::upstream::{Pinned, Upstreams};
use model::name::ServerName;
use tokio::net::TcpListener;

/// A resolver under the attacker's hand.
#[derive(Debug)]
struct Says(IpAddr);

impl Resolver for Says {
    fn resolve<'a>(&'a self, _name: &'a HostName) -> Resolving<'a> {
        Box::pin(async move { io::Result::Ok(vec![self.0]) })
    }
}

fn name(text: &str) -> HostName {
    HostName::parse(text).unwrap()
}

fn policy(line: &str) -> Policy {
    Policy::new(ServerName::new("s").unwrap(), 1, [HostRule::parse(line).unwrap()])
}

fn permit(port: u16) -> Permit {
    policy(&format!("tcp://ok.com:{port}")).judge(&name("ok.com"), port).unwrap()
}

fn dialer(answer: IpAddr, upstreams: Upstreams) -> Dialer {
    Dialer::new(Arc::new(Says(answer)), OwnAddresses::open().unwrap(), upstreams, DialSettings::default())
}

async fn service() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = listener.local_addr().unwrap();
    (listener, place)
}

#[tokio::test]
async fn a_name_that_leads_to_loopback_reaches_a_service_there_without_the_guards() {
    let (listener, place) = service().await;
    let attack = || async { dialer(place.ip(), Upstreams::default()).dial(&permit(place.port())).await };
    assert_eq!(attack().await.unwrap_err().code, Code::Address);
    {
        let _off = without(&["address-class"]);
        let refusal = attack().await.unwrap_err();
        assert!(refusal.message.contains("this machine itself"), "the second guard still holds: {refusal}");
    }
    {
        let _off = without(&["own-address"]);
        assert_eq!(attack().await.unwrap_err().code, Code::Address, "the first guard still holds");
    }
    let _off = without(&["address-class", "own-address"]);
    let dialled = attack().await.unwrap();
    assert_eq!(dialled.address, Some(place));
    listener.accept().await.unwrap();
}

#[tokio::test]
async fn a_pinned_upstream_reaches_fumehood_itself_without_the_guard() {
    let (listener, place) = service().await;
    let attack = || async {
        let mut upstreams = Upstreams { forbidden: vec![place], ..Upstreams::default() };
        upstreams.pin(name("ok.com"), Pinned::parse(&name("ok.com"), &place.to_string(), true).unwrap());
        dialer("8.8.8.8".parse().unwrap(), upstreams).dial(&permit(443)).await
    };
    assert_eq!(attack().await.unwrap_err().code, Code::Address);
    let _off = without(&["own-ports"]);
    attack().await.unwrap();
    listener.accept().await.unwrap();
}

#[test]
fn a_wildcard_reaches_strangers_without_the_guard() {
    let strangers = [("*.github.io", "evil.github.io"), ("*.amazonaws.com", "evil.s3.amazonaws.com")];
    let reached =
        |rule: &str, stranger: &str| HostRule::parse(rule).is_ok_and(|rule| rule.covers(&name(stranger)));
    for (rule, stranger) in strangers {
        assert!(!reached(rule, stranger), "{rule}");
    }
    let _off = without(&["public-suffix"]);
    for (rule, stranger) in strangers {
        assert!(reached(rule, stranger), "{rule}");
    }
}

#[test]
fn labels_under_a_wildcard_carry_data_without_the_guard() {
    let data: Vec<HostName> =
        (0..500).map(|n| name(&format!("{n}.{}.{}.ok.com", "d".repeat(60), "e".repeat(60)))).collect();
    let policy = policy("*.ok.com");
    let passed = || {
        let table = Synthetic::new(Range::V4, WildcardSettings::default());
        data.iter().filter(|name| table.assign(&policy, name).is_ok()).count()
    };
    assert_eq!(passed(), 0);
    let _off = without(&["wildcard-bounds"]);
    assert_eq!(passed(), 500);
}
