//! Attacks that the guards of this crate stop, each shown to work when its guard is taken away. Built with the feature
//! `guard-off` only.

#![cfg(feature = "guard-off")]
#![expect(clippy::unwrap_used, reason = "the code of tests may panic")]

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::{Arc, Mutex};

use egress::dial::{DialSettings, Dialer, Way};
use egress::guard::without;
use egress::name::HostName;
use egress::own::OwnAddresses;
use egress::path::CanonicalPath;
use egress::policy::{Permit, Policy};
use egress::refusal::Code;
use egress::resolve::{Resolver, Resolving};
use egress::rule::HostRule;
use egress::synthetic::{Range, Synthetic, WildcardSettings};
use egress::upstream::{Pinned, Upstreams};
use model::name::ServerName;
use tokio::net::TcpListener;

/// A resolver under the attacker's hand: one answer after the other, the last one for ever.
#[derive(Debug)]
struct Says(Mutex<Vec<Vec<IpAddr>>>);

impl Resolver for Says {
    fn resolve<'a>(&'a self, _name: &'a HostName) -> Resolving<'a> {
        let mut answers = self.0.lock().unwrap();
        let answer = if answers.len() > 1 { answers.remove(0) } else { answers.concat() };
        Box::pin(async move { io::Result::Ok(answer) })
    }
}

/// A resolver that reads numbers as most do (`getaddrinfo(3)`), whatever they are written as.
#[derive(Debug)]
struct ReadsNumbers;

impl Resolver for ReadsNumbers {
    fn resolve<'a>(&'a self, name: &'a HostName) -> Resolving<'a> {
        let answers = (name.as_str(), 0).to_socket_addrs();
        Box::pin(async move { Ok(answers?.map(|one| one.ip()).collect()) })
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
    told(vec![vec![answer]], upstreams)
}

fn told(answers: Vec<Vec<IpAddr>>, upstreams: Upstreams) -> Dialer {
    dialer_of(Arc::new(Says(Mutex::new(answers))), upstreams)
}

fn dialer_of(resolver: Arc<dyn Resolver>, upstreams: Upstreams) -> Dialer {
    Dialer::new(resolver, OwnAddresses::open().unwrap(), upstreams, DialSettings::default())
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

/// The addresses of the table that must not be dialled.
fn refused_rows() -> Vec<IpAddr> {
    let rows = include_str!("data/addresses.tsv").lines().filter(|line| line.contains("\trefuse\t"));
    rows.map(|line| line.split('\t').next().unwrap().parse().unwrap()).collect()
}

/// Alone, among good answers in every place, and after a good answer: the ways in which the tests without this feature
/// see each of them refused.
#[tokio::test]
async fn every_row_is_dialled_without_the_guards() {
    let good: [IpAddr; 2] = ["93.184.216.34".parse().unwrap(), "2606:4700:4700::1111".parse().unwrap()];
    let rows = refused_rows();
    assert_eq!(rows.len(), 60);
    for row in rows {
        let mixed = (0..=good.len()).map(|place| {
            let mut answers = good.to_vec();
            answers.insert(place, row);
            vec![answers]
        });
        let changing = vec![vec![good[0]], vec![row]];
        for answers in [vec![vec![row]], changing].into_iter().chain(mixed) {
            let last = async || {
                let dialer = told(answers.clone(), Upstreams::default());
                for _ in 1..answers.len() {
                    dialer.way(&permit(443)).await.unwrap();
                }
                dialer.way(&permit(443)).await
            };
            assert_eq!(last().await.unwrap_err().code, Code::Address, "{row}");
            let _off = without(&["address-class", "own-address"]);
            let way = last().await.unwrap();
            let Way::Direct(places) = &way else { panic!("{way:?}") };
            assert!(places.contains(&SocketAddr::new(row, 443)), "{row}: {way:?}");
        }
    }
}

#[tokio::test]
async fn an_address_in_any_spelling_is_a_rule_and_reached_without_the_guards() {
    let (listener, place) = service().await;
    for spelled in
        ["127.0.0.1", "127.1", "2130706433", "0x7f.1", "0X7F000001", "0177.0.0.1", "１２７．０．０．１"]
    {
        let line = format!("tcp://{spelled}:{}", place.port());
        assert!(HostRule::parse(&line).is_err() && HostName::from_wire(spelled.as_bytes()).is_err());
        let literals = without(&["literals"]);
        let host = name(spelled);
        let permit = policy(&line).judge(&host, place.port()).unwrap();
        let attack = async || dialer_of(Arc::new(ReadsNumbers), Upstreams::default()).dial(&permit).await;
        let refusal = attack().await.unwrap_err();
        assert_eq!(refusal.code, Code::Address, "{spelled}: the class of the address still holds");
        drop(literals);
        let _off = without(&["literals", "address-class", "own-address"]);
        assert_eq!(attack().await.unwrap().address, Some(place), "{spelled}");
        listener.accept().await.unwrap();
    }
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

/// What a server that resolves dot segments, decoded or not, takes a path for.
fn resolved(path: &str) -> String {
    let mut place: Vec<String> = Vec::new();
    for segment in path.split('/').skip(1) {
        match segment.to_ascii_lowercase().replace("%2e", ".").split(';').next().unwrap_or_default() {
            ".." => drop(place.pop()),
            "." | "" => {}
            other => place.push(other.to_owned()),
        }
    }
    format!("/{}", place.join("/"))
}

#[test]
fn a_request_beside_the_rule_is_let_through_without_the_guards() {
    let judged = |method: &str, target: &str| {
        let policy = policy("GET ok.com/repos/acme/*");
        let permit = policy.judge(&name("ok.com"), 443).unwrap();
        policy
            .judge_request(&permit, method, &CanonicalPath::of(target))
            .map(|allowed| allowed.target())
            .map_err(|refusal| refusal.code)
    };
    assert_eq!(judged("DELETE", "/repos/acme/x"), Err(Code::RequestMethod));
    assert_eq!(judged("GET", "/user"), Err(Code::RequestPath));
    {
        let _off = without(&["request-method"]);
        assert_eq!(judged("DELETE", "/repos/acme/x"), Ok("/repos/acme/x".to_owned()));
    }
    {
        let _off = without(&["request-path"]);
        assert_eq!(judged("GET", "/user"), Ok("/user".to_owned()));
    }
    // Each looks like one below the rule's path, and is another for the host.
    for path in [
        "/repos/acme/../../user",
        "/repos/acme/%2e%2e/%2E%2e/user",
        "/repos/acme/..;/..;a=b/user",
        "/repos/acme/x/../../../user",
    ] {
        assert_eq!(judged("GET", path), Err(Code::RequestPath), "{path}");
        let _off = without(&["path-form"]);
        let sent = judged("GET", path).unwrap();
        assert_eq!(resolved(&sent), "/user", "{path}");
    }
}

/// In a tunnel the `Host` that leads to another tenant is seen by nobody.
#[test]
fn a_host_that_shares_its_front_is_a_tunnel_without_the_guard() {
    let seen = || policy("d1.cloudfront.net").judge(&name("d1.cloudfront.net"), 443).unwrap().inspect();
    assert!(seen());
    let _off = without(&["shared-front"]);
    assert!(!seen());
}
