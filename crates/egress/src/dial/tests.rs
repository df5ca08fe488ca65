use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;
use crate::policy::tests::policy;
use crate::resolve::Resolving;

mod proxy;

/// Answers from a list of its own; the last of several answers stays.
#[derive(Debug, Default)]
pub(super) struct Told {
    answers: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    asked: AtomicUsize,
    slow: Option<Duration>,
}

impl Told {
    pub(super) fn with(mut self, name: &str, answers: &[&str]) -> Self {
        let answers = answers.iter().map(|address| address.parse().unwrap()).collect();
        self.answers.get_mut().unwrap().entry(name.to_owned()).or_default().push(answers);
        self
    }
}

impl Resolver for Told {
    fn resolve<'a>(&'a self, name: &'a HostName) -> Resolving<'a> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            if let Some(slow) = self.slow {
                tokio::time::sleep(slow).await;
            }
            let mut answers = self.answers.lock().unwrap();
            let left = answers.get_mut(name.as_str()).ok_or(io::ErrorKind::NotFound)?;
            Ok(if left.len() > 1 { left.remove(0) } else { left[0].clone() })
        })
    }
}

pub(super) fn dialer(told: Told, upstreams: Upstreams) -> Dialer {
    Dialer::new(Arc::new(told), OwnAddresses::open().unwrap(), upstreams, DialSettings::default())
}

pub(super) fn permit(line: &str, port: u16) -> Permit {
    let host = line.rsplit("//").next().unwrap().split(':').next().unwrap();
    policy(1, &[line]).judge(&HostName::parse(host).unwrap(), port).unwrap()
}

fn name(text: &str) -> HostName {
    HostName::parse(text).unwrap()
}

fn rows() -> Vec<(&'static str, bool, &'static str)> {
    include_str!("../../tests/data/addresses.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let [address, verdict, class] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            (address, verdict == "dial", class)
        })
        .collect()
}

#[tokio::test]
async fn every_row_as_the_answer_of_dns() {
    for (address, dialled, what) in rows() {
        let way = dialer(Told::default().with("ok.com", &[address]), Upstreams::default())
            .way(&permit("ok.com", 443))
            .await;
        match way {
            Ok(way) => {
                assert!(dialled, "{address} ({what}) would be dialled");
                let expected = SocketAddr::new(address.parse().unwrap(), 443);
                assert_eq!(way, Way::Direct(vec![expected]));
            }
            Err(refusal) => {
                assert!(!dialled, "{address} ({what}) is refused: {refusal}");
                assert_eq!(refusal.code, Code::Address);
                assert_eq!(refusal.rule.as_deref(), Some("ok.com"));
                let shown = address.parse::<IpAddr>().unwrap().to_string();
                assert!(refusal.message.contains(&shown), "{refusal}");
            }
        }
    }
}

#[tokio::test]
async fn every_row_among_good_answers() {
    const GOOD: [&str; 2] = ["93.184.216.34", "2606:4700:4700::1111"];
    for (address, dialled, what) in rows() {
        for place in 0..=GOOD.len() {
            let mut answers = GOOD.to_vec();
            answers.insert(place, address);
            let way = dialer(Told::default().with("ok.com", &answers), Upstreams::default())
                .way(&permit("ok.com", 443))
                .await;
            assert_eq!(way.is_ok(), dialled, "{address} ({what}) at {place}");
        }
    }
}

#[tokio::test]
async fn an_answer_that_changes_is_checked_each_time() {
    for (address, dialled, what) in rows() {
        let told = Told::default().with("ok.com", &["93.184.216.34"]).with("ok.com", &[address]);
        let dialer = dialer(told, Upstreams::default());
        let permit = permit("ok.com", 443);
        assert!(dialer.way(&permit).await.is_ok());
        assert_eq!(dialer.way(&permit).await.is_ok(), dialled, "{address} ({what})");
    }
}

/// What is checked is what is dialled: there is no second look-up between the two.
#[tokio::test]
async fn one_dial_looks_up_once() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let told = Arc::new(Told::default().with("ok.com", &["93.184.216.34"]).with("ok.com", &["127.0.0.1"]));
    let resolver: Arc<dyn Resolver> = told.clone();
    let settings = DialSettings { connect: Duration::from_millis(200), ..Default::default() };
    let dialer = Dialer::new(resolver, OwnAddresses::open().unwrap(), Upstreams::default(), settings);
    let refusal = dialer.dial(&permit(&format!("tcp://ok.com:{port}"), port)).await.unwrap_err();
    assert_eq!(refusal.code, Code::Connect, "{refusal}");
    assert_eq!(told.asked.load(Ordering::SeqCst), 1);
    assert!(timeout(Duration::from_millis(100), listener.accept()).await.is_err());
}

#[tokio::test]
async fn a_refused_address_comes_with_the_very_lines_that_would_allow_it() {
    for (address, lines) in [
        ("10.1.2.3", "`[upstreams.\"ok.com\"]` with `address = \"10.1.2.3:443\"`"),
        ("fd12::1", "`[upstreams.\"ok.com\"]` with `address = \"[fd12::1]:443\"`"),
        ("127.0.0.1", "`address = \"127.0.0.1:443\"` and `loopback = true`"),
        ("169.254.169.254", "none: "),
        ("168.63.129.16", "none: "),
        ("64:ff9b::a9fe:a9fe", "none: "),
        ("::ffff:10.1.2.3", "none: "),
    ] {
        let refusal = dialer(Told::default().with("ok.com", &[address]), Upstreams::default())
            .way(&permit("ok.com", 443))
            .await
            .unwrap_err();
        assert!(refusal.remedy.contains(lines), "{address}: {}", refusal.remedy);
    }
}

#[tokio::test]
async fn a_name_without_address_and_a_slow_resolver_are_told() {
    let refusal =
        dialer(Told::default(), Upstreams::default()).way(&permit("ok.com", 443)).await.unwrap_err();
    assert_eq!(refusal.code, Code::Resolve);
    let empty = Told::default().with("ok.com", &[]);
    assert_eq!(
        dialer(empty, Upstreams::default()).way(&permit("ok.com", 443)).await.unwrap_err().code,
        Code::Resolve
    );
    let slow = Told { slow: Some(Duration::from_secs(3)), ..Told::default().with("ok.com", &["8.8.8.8"]) };
    let settings = DialSettings { resolve: Duration::from_millis(50), ..Default::default() };
    let slow = Dialer::new(Arc::new(slow), OwnAddresses::open().unwrap(), Upstreams::default(), settings);
    let refusal = slow.way(&permit("ok.com", 443)).await.unwrap_err();
    assert!(refusal.code == Code::Resolve && refusal.message.contains("in time"), "{refusal}");
}

#[tokio::test]
async fn a_pinned_upstream_is_dialled_without_a_look_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = listener.local_addr().unwrap();
    let mut upstreams = Upstreams::default();
    upstreams.pin(name("ok.com"), Pinned::parse(&name("ok.com"), &place.to_string(), true).unwrap());
    // DNS says otherwise, and is not asked.
    let dialer = dialer(Told::default().with("ok.com", &["169.254.169.254"]), upstreams);
    let dialled = dialer.dial(&permit("ok.com", 443)).await.unwrap();
    assert_eq!(dialled.address, Some(place));
    let (mut accepted, _) = listener.accept().await.unwrap();
    let mut stream = dialled.stream;
    stream.write_all(b"hello").await.unwrap();
    drop(stream);
    let mut heard = String::new();
    accepted.read_to_string(&mut heard).await.unwrap();
    assert_eq!(heard, "hello");
    // Another name does not profit.
    assert_eq!(dialer.way(&permit("other.com", 443)).await.unwrap_err().code, Code::Resolve);
}

#[tokio::test]
async fn no_setting_leads_to_fumehood_itself() {
    let own: SocketAddr = "127.0.0.1:8765".parse().unwrap();
    for (pinned, service, refused) in [
        ("127.0.0.1:8765", own, true),
        ("127.0.0.2:8765", own, true),
        ("[::1]:8765", own, true),
        ("127.0.0.1:8766", own, false),
        ("127.0.0.1:8765", "0.0.0.0:8765".parse().unwrap(), true),
        ("127.0.0.1:8765", "[::]:8765".parse().unwrap(), true),
        ("10.99.99.99:8765", own, false),
        ("10.99.99.99:8765", "10.99.99.99:8765".parse().unwrap(), true),
    ] {
        let mut upstreams = Upstreams { forbidden: vec![service], ..Default::default() };
        upstreams.pin(name("ok.com"), Pinned::parse(&name("ok.com"), pinned, true).unwrap());
        let way = dialer(Told::default(), upstreams).way(&permit("ok.com", 443)).await;
        assert_eq!(way.is_err(), refused, "{pinned} {service}: {way:?}");
        if let Err(refusal) = way {
            assert_eq!(
                (refusal.code, refusal.remedy.starts_with("none")),
                (Code::Address, true),
                "{refusal}"
            );
        }
    }
    // Also not with the port left to the tool.
    let mut upstreams = Upstreams { forbidden: vec![own], ..Default::default() };
    upstreams.pin(name("ok.com"), Pinned::parse(&name("ok.com"), "127.0.0.1", true).unwrap());
    let dialer = dialer(Told::default(), upstreams);
    assert!(dialer.way(&permit("ok.com:8765", 8765)).await.is_err());
    assert!(dialer.way(&permit("ok.com:8764", 8764)).await.is_ok());
}

#[test]
fn the_families_take_turns() {
    let order = |addresses: &[&str]| {
        race::interleaved(addresses.iter().map(|one| one.parse().unwrap()).collect())
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        order(&["2606::1", "2606::2", "8.8.8.8", "8.8.4.4"]),
        ["2606::1", "8.8.8.8", "2606::2", "8.8.4.4"]
    );
    assert_eq!(
        order(&["8.8.8.8", "8.8.4.4", "1.1.1.1", "2606::1"]),
        ["8.8.8.8", "2606::1", "8.8.4.4", "1.1.1.1"]
    );
    assert_eq!(order(&["8.8.8.8", "8.8.8.8", "2606::1", "2606::1"]), ["8.8.8.8", "2606::1"]);
    assert!(order(&[]).is_empty());
}

#[tokio::test]
async fn a_dead_address_costs_nothing_and_a_silent_one_little() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let good = listener.local_addr().unwrap();
    let dead = {
        let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
        closed.local_addr().unwrap()
    };
    let begun = std::time::Instant::now();
    let stream = race::first(&[dead, good], Duration::from_secs(30)).await.unwrap();
    assert_eq!(stream.peer_addr().unwrap(), good);
    assert!(begun.elapsed() < Duration::from_secs(5));
    // A full backlog: attempts hang.
    let full = tokio::net::TcpSocket::new_v4().unwrap();
    full.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let full = full.listen(1).unwrap();
    let silent = full.local_addr().unwrap();
    let mut filling = Vec::new();
    for _ in 0..4 {
        filling.push(tokio::spawn(TcpStream::connect(silent)));
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    let stream = race::first(&[silent, good], Duration::from_millis(20)).await.unwrap();
    assert_eq!(stream.peer_addr().unwrap(), good);
    let error = race::first(&[dead, dead], Duration::from_millis(20)).await.unwrap_err();
    assert!(error.to_string().contains(&dead.to_string()), "{error}");
    assert!(race::first(&[], Duration::from_millis(20)).await.is_err());
}
