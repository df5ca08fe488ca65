//! Dialling for real: two network namespaces with public numbers and a name server of their own, the resolver of this
//! machine in between.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the code of tests may panic"
)]

use std::io::{BufRead, BufReader};
use std::net::{IpAddr, SocketAddr};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use egress::dial::{DialSettings, Dialer, Dialled, Way};
use egress::name::HostName;
use egress::own::OwnAddresses;
use egress::policy::{Permit, Policy};
use egress::refusal::{Code, Refusal};
use egress::resolve::SystemResolver;
use egress::rule::HostRule;
use egress::upstream::Upstreams;
use hickory_proto::op::{Message, MessageType};
use hickory_proto::rr::rdata::{A, AAAA, CNAME};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use model::name::ServerName;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};

/// Says that this process was started inside, by the test of that name.
const INSIDE: &str = "EGRESS_TEST_INSIDE";
const PORT: u16 = 443;

/// Runs a test of this file in new namespaces.
fn started(test: &str, wall: &[&str]) -> Command {
    let mut command = Command::new("unshare");
    command.args(wall).arg("--").arg(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture"]).env(INSIDE, "1");
    command
}

fn run(line: &str) {
    let mut words = line.split_whitespace();
    let status = Command::new(words.next().unwrap()).args(words).status().unwrap();
    assert!(status.success(), "{line}");
}

#[test]
fn names_are_dialled_only_where_they_may_lead() {
    let wall = ["--user", "--map-root-user", "--net", "--mount"];
    let output = started("this_side", &wall).output().unwrap();
    let told =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success() && told.contains("this side is done"), "{told}");
}

#[test]
#[ignore = "started by `names_are_dialled_only_where_they_may_lead`"]
fn this_side() {
    assert!(std::env::var_os(INSIDE).is_some(), "started by another test");
    let mut other =
        started("other_side", &["--net"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(other.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("other side listens")));
    let there = format!("nsenter --target {} --net ip", other.id());
    run("ip link set lo up");
    run(&format!("ip link add here type veth peer name there netns {}", other.id()));
    for line in [
        "link set lo up",
        "link set there up",
        "addr add 11.0.0.2/24 dev there",
        "addr add 93.184.216.34/32 dev lo",
    ] {
        run(&format!("{there} {line}"));
    }
    run(&format!("{there} -6 addr add 2600:aa::2/64 dev there nodad"));
    run(&format!("{there} -6 addr add 2606:2800::34/128 dev lo nodad"));
    for line in [
        "link set here up",
        "addr add 11.0.0.1/24 dev here",
        "route add default via 11.0.0.2",
        "route add local 11.77.0.0/16 dev lo",
        "-6 addr add 2600:aa::1/64 dev here nodad",
        "-6 route add default via 2600:aa::2",
    ] {
        run(&format!("ip {line}"));
    }
    let folder = tempfile::tempdir().unwrap();
    let resolv = folder.path().join("resolv.conf");
    // The search list must not be used.
    std::fs::write(&resolv, "nameserver 11.0.0.2\nsearch search.test\noptions timeout:2\n").unwrap();
    run(&format!("mount --bind {} /etc/resolv.conf", resolv.display()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(everything());
    drop(other.stdin.take());
    other.wait().unwrap();
    println!("this side is done");
}

async fn dial(host: &str) -> Result<Dialled, Refusal> {
    let (dialer, permit) = dialer(host);
    dialer.dial(&permit).await
}

fn dialer(host: &str) -> (Dialer, Permit) {
    let name = HostName::parse(host).unwrap();
    let rule = HostRule::parse(&format!("tcp://{host}:{PORT}")).unwrap();
    let permit = Policy::new(ServerName::new("s").unwrap(), 1, [rule]).judge(&name, PORT).unwrap();
    let settings = DialSettings { connect: Duration::from_secs(4), ..DialSettings::default() };
    let own = OwnAddresses::open().unwrap();
    (Dialer::new(Arc::new(SystemResolver::new()), own, Upstreams::default(), settings), permit)
}

/// The rows of the table: its number, the address, whether it may be dialled.
fn rows() -> Vec<(usize, IpAddr, bool)> {
    let lines = include_str!("data/addresses.tsv").lines().filter(|line| !line.starts_with('#'));
    let row = |line: &str| {
        let mut fields = line.split('\t');
        (fields.next().unwrap().parse().unwrap(), fields.next() == Some("dial"))
    };
    lines.map(row).enumerate().map(|(at, (address, dialled))| (at, address, dialled)).collect()
}

/// Where a dial would go.
async fn way(host: &str) -> Result<Way, Refusal> {
    let (dialer, permit) = dialer(host);
    dialer.way(&permit).await
}

async fn greeting(host: &str) -> String {
    let mut dialled = dial(host).await.unwrap_or_else(|refusal| panic!("{refusal}"));
    let mut greeting = String::new();
    dialled.stream.read_to_string(&mut greeting).await.unwrap();
    greeting
}

async fn everything() {
    // What every attack is after: a service of this machine, on all its addresses.
    let service = TcpListener::bind(("::", PORT)).await.unwrap();
    let reached =
        || async { tokio::time::timeout(Duration::from_millis(50), service.accept()).await.is_ok() };

    assert_eq!(greeting("good.test").await, "good");
    assert_eq!(greeting("cname-good.test").await, "good");
    let v6 = dial("v6.test").await.unwrap();
    assert_eq!(v6.address.unwrap().to_string(), "[2606:2800::34]:443");
    let begun = Instant::now();
    assert_eq!(greeting("dead-v6.test").await, "good");
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());

    for (host, seen) in [
        ("private.test", "10.0.0.1"),
        ("cname-private.test", "10.0.0.1"),
        ("cname-loopback.test", "127.0.0.1"),
        ("metadata.test", "169.254.169.254"),
        ("mapped.test", "::ffff:"),
        ("nat64.test", "64:ff9b::"),
        ("mixed.test", "10.0.0.1"),
        ("this-machine.test", "11.0.0.1 is this machine itself"),
        ("this-machine-v6.test", "2600:aa::1 is this machine itself"),
        ("local-route.test", "11.77.1.2 is this machine itself"),
        ("gateway.test", "11.0.0.2 is a gateway of this machine"),
        ("localhost.test", "127.0.0.1"),
    ] {
        let refusal = dial(host).await.err().unwrap_or_else(|| panic!("{host} was dialled"));
        assert_eq!(refusal.code, Code::Address, "{host}: {refusal}");
        assert!(refusal.message.contains(seen), "{host}: {refusal}");
        assert!(!reached().await, "{host}");
    }
    for host in ["nothing.test", "only-by-search"] {
        assert_eq!(dial(host).await.unwrap_err().code, Code::Resolve, "{host}");
    }
    // Every row of the table behind an alias.
    let shown = |address: &IpAddr| SocketAddr::new(*address, PORT);
    for (at, address, dialled) in rows() {
        match way(&format!("alias-{at}.row.test")).await {
            Ok(way) => assert!(dialled && way == Way::Direct(vec![shown(&address)]), "{address}: {way:?}"),
            Err(refusal) => assert!(!dialled && refusal.code == Code::Address, "{address}: {refusal}"),
        }
    }
    #[cfg(feature = "guard-off")]
    for (at, address, _) in rows() {
        let _off = egress::guard::without(&["own-address", "address-class"]);
        let way = way(&format!("alias-{at}.row.test")).await.unwrap();
        assert_eq!(way, Way::Direct(vec![shown(&address)]), "the attack must work without its guards");
    }
    // Public and loopback in turns: what is dialled is what was checked.
    let mut outcomes = [0, 0];
    for _ in 0..12 {
        match dial("rebind.test").await {
            Ok(dialled) => {
                assert_eq!(dialled.address.unwrap().to_string(), "93.184.216.34:443");
                outcomes[0] += 1;
            }
            Err(refusal) => {
                assert_eq!(refusal.code, Code::Address, "{refusal}");
                outcomes[1] += 1;
            }
        }
        assert!(!reached().await);
    }
    assert!(outcomes.iter().all(|count| *count > 0), "{outcomes:?}");

    #[cfg(feature = "guard-off")]
    for (guards, host) in [
        (&["own-address"][..], "this-machine.test"),
        (&["own-address"], "local-route.test"),
        (&["own-address"], "this-machine-v6.test"),
        (&["own-address", "address-class"], "cname-loopback.test"),
    ] {
        let _off = egress::guard::without(guards);
        dial(host).await.unwrap_or_else(|refusal| panic!("{refusal}"));
        assert!(reached().await, "the attack must work without its guard: {host}");
    }
}

#[test]
#[ignore = "started by `this_side`"]
fn other_side() {
    assert!(std::env::var_os(INSIDE).is_some(), "started by another test");
    // However the other process ends, this one ends with it.
    std::thread::spawn(|| {
        let _end = std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).is_ok();
        std::process::exit(0);
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let names = UdpSocket::bind("[::]:53").await.unwrap();
        let origin = TcpListener::bind(("::", PORT)).await.unwrap();
        println!("other side listens");
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = origin.accept().await.unwrap();
                let _gone = stream.write_all(b"good").await.is_err();
            }
        });
        let mut bytes = [0; 1500];
        let mut questions = 0;
        loop {
            let (length, from) = names.recv_from(&mut bytes).await.unwrap();
            questions += 1;
            let answer = answered(bytes.get(..length).unwrap(), questions);
            names.send_to(&answer, from).await.unwrap();
        }
    });
}

fn answered(question: &[u8], number: u32) -> Vec<u8> {
    let mut message = Message::from_vec(question).unwrap();
    let query = message.queries.first().unwrap().clone();
    message.metadata.message_type = MessageType::Response;
    message.additionals.clear();
    message.edns = None;
    let host = query.name().to_ascii().to_ascii_lowercase();
    let row = host.strip_prefix("alias-").and_then(|rest| rest.strip_suffix(".row.test."));
    if let Some(row) = row.map(|number| number.parse::<usize>().unwrap()) {
        let (_, address, _) = rows()[row];
        return with_answer(message, Some("row.test."), &[&address.to_string()]);
    }
    let (alias, addresses): (Option<&str>, &[&str]) = match host.as_str() {
        "cname-good.test." => (Some("good.test."), &["93.184.216.34"]),
        "v6.test." => (None, &["2606:2800::34"]),
        "dead-v6.test." => (None, &["2606:dead::1", "93.184.216.34"]),
        "private.test." => (None, &["10.0.0.1"]),
        "cname-private.test." => (Some("private.test."), &["10.0.0.1"]),
        "cname-loopback.test." | "localhost.test." => (Some("loopback.test."), &["127.0.0.1"]),
        "metadata.test." => (None, &["169.254.169.254"]),
        "mapped.test." => (None, &["::ffff:93.184.216.34"]),
        "nat64.test." => (None, &["64:ff9b::a9fe:a9fe"]),
        "mixed.test." => (None, &["93.184.216.34", "10.0.0.1", "2606:2800::34"]),
        "this-machine.test." => (None, &["11.0.0.1"]),
        "this-machine-v6.test." => (None, &["2600:aa::1"]),
        "local-route.test." => (None, &["11.77.1.2"]),
        "gateway.test." => (None, &["11.0.0.2"]),
        "rebind.test." if number.is_multiple_of(3) => (None, &["127.0.0.1"]),
        "good.test." | "only-by-search.search.test." | "rebind.test." => (None, &["93.184.216.34"]),
        _ => (None, &[]),
    };
    with_answer(message, alias, addresses)
}

/// The answer's bytes: these addresses, behind an alias if there is one.
fn with_answer(mut message: Message, alias: Option<&str>, addresses: &[&str]) -> Vec<u8> {
    let query = message.queries.first().unwrap().clone();
    let target = match alias {
        Some(alias) => {
            let target = Name::from_ascii(alias).unwrap();
            let data = RData::CNAME(CNAME(target.clone()));
            message.add_answer(Record::from_rdata(query.name().clone(), 0, data));
            target
        }
        None => query.name().clone(),
    };
    for address in addresses {
        let data = match (address.parse::<IpAddr>().expect(address), query.query_type()) {
            (IpAddr::V4(v4), RecordType::A) => RData::A(A(v4)),
            (IpAddr::V6(v6), RecordType::AAAA) => RData::AAAA(AAAA(v6)),
            _ => continue,
        };
        message.add_answer(Record::from_rdata(target.clone(), 0, data));
    }
    message.to_vec().unwrap()
}
