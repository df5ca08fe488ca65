use std::net::SocketAddr;

use hickory_proto::op::Metadata;
use hickory_proto::rr::Name;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::time::timeout;

use super::*;
use crate::dns::server::DnsServer;
use crate::event::LogSettings;
use crate::policy::tests::policy;
use crate::synthetic::{Range, Synthetic, WildcardSettings};

/// The rest of the edge, as far as DNS needs it: a table and a log.
struct Table {
    policy: Mutex<Arc<Policy>>,
    synthetic: Synthetic,
    log: Log,
}

impl Table {
    fn new(lines: &[&str]) -> Arc<Self> {
        let range = Range { v6: Some([0xfd, 0, 0, 0, 0, 0, 0, 9]), ..Range::V4 };
        let wildcard = WildcardSettings { burst: 5, every: Duration::from_mins(10), ..Default::default() };
        Arc::new(Self {
            policy: Mutex::new(Arc::new(policy(1, lines))),
            synthetic: Synthetic::new(range, wildcard),
            log: Log::new(LogSettings::default()),
        })
    }

    fn refused(&self) -> Vec<(Code, String)> {
        let entries = self.log.since(0).into_iter();
        let refusals = entries.filter_map(|entry| match entry.event {
            Event::Refused(refusal) => Some((refusal.code, refusal.host)),
            _ => None,
        });
        refusals.collect()
    }
}

impl Names for Table {
    fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.policy.lock().unwrap())
    }
    fn ready<'a>(&'a self, name: &'a HostName) -> Readying<'a> {
        Box::pin(async move { Ok(self.synthetic.assign(&self.policy(), name)?.addresses) })
    }
    fn log(&self) -> &Log {
        &self.log
    }
}

/// A server on loopback and where it is.
struct World {
    table: Arc<Table>,
    udp: SocketAddr,
    tcp: SocketAddr,
    _server: DnsServer,
}

impl World {
    async fn new(lines: &[&str]) -> Self {
        Self::with(lines, DnsSettings::default()).await
    }

    async fn with(lines: &[&str], settings: DnsSettings) -> Self {
        let table = Table::new(lines);
        let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (udp_place, tcp_place) = (udp.local_addr().unwrap(), tcp.local_addr().unwrap());
        let server = DnsServer::start(Answerer::new(Arc::clone(&table), settings), [udp], [tcp]);
        Self { table, udp: udp_place, tcp: tcp_place, _server: server }
    }

    async fn udp(&self, question: &[u8]) -> Option<Vec<u8>> {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        socket.send_to(question, self.udp).await.unwrap();
        let mut answer = vec![0; 2000];
        let length = timeout(Duration::from_millis(1500), socket.recv(&mut answer)).await.ok()?.unwrap();
        answer.truncate(length);
        Some(answer)
    }

    async fn tcp(&self, question: &[u8]) -> Option<Vec<u8>> {
        let mut stream = TcpStream::connect(self.tcp).await.unwrap();
        over(&mut stream, question).await
    }

    async fn ask(&self, host: &str, kind: RecordType) -> Message {
        let asked = question(host, kind);
        let udp = self.udp(&asked.to_vec().unwrap()).await.unwrap();
        let tcp = self.tcp(&asked.to_vec().unwrap()).await.unwrap();
        assert_eq!(udp, tcp);
        Message::from_vec(&udp).unwrap()
    }
}

async fn over(stream: &mut TcpStream, question: &[u8]) -> Option<Vec<u8>> {
    stream.write_u16(u16::try_from(question.len()).unwrap()).await.ok()?;
    stream.write_all(question).await.ok()?;
    let length = timeout(Duration::from_millis(1500), stream.read_u16()).await.ok()?.ok()?;
    let mut answer = vec![0; usize::from(length)];
    stream.read_exact(&mut answer).await.ok()?;
    Some(answer)
}

fn question(host: &str, kind: RecordType) -> Message {
    let mut message = Message::query();
    message.metadata = Metadata::new(0x1234, MessageType::Query, OpCode::Query);
    message.metadata.recursion_desired = true;
    message.add_query(Query::query(Name::from_ascii(format!("{host}.")).unwrap(), kind));
    message
}

fn labels(labels: &[&[u8]], kind: RecordType) -> Vec<u8> {
    let mut message = question("x", kind);
    message.queries[0].set_name(Name::from_labels(labels.iter().copied()).unwrap());
    message.to_vec().unwrap()
}

#[tokio::test]
async fn an_allowed_name_has_an_address_of_ours_and_the_same_each_time() {
    let world = World::new(&["ok.com", "b.com"]).await;
    for host in ["ok.com", "OK.com", "oK.CoM"] {
        let answer = world.ask(host, RecordType::A).await;
        assert_eq!(answer.metadata.response_code, ResponseCode::NoError);
        assert_eq!(answer.metadata.id, 0x1234);
        assert!(answer.metadata.recursion_desired && answer.metadata.recursion_available);
        assert_eq!(answer.answers.len(), 1);
        let record = &answer.answers[0];
        assert_eq!((record.ttl, record.data.to_string().as_str()), (30, "198.18.1.1"));
        // Resolvers that mix the case of a question look for the same in the answer.
        assert_eq!(record.name.to_string(), format!("{host}."));
    }
    let answer = world.ask("ok.com", RecordType::AAAA).await;
    assert_eq!(answer.answers[0].data.to_string(), "fd00:0:0:9::101");
    assert_eq!(world.ask("b.com", RecordType::A).await.answers[0].data.to_string(), "198.18.1.2");
    assert!(world.table.refused().is_empty());
}

#[tokio::test]
async fn an_allowed_name_has_nothing_of_any_other_type() {
    let world = World::new(&["ok.com"]).await;
    for kind in [
        RecordType::HTTPS,
        RecordType::SVCB,
        RecordType::TXT,
        RecordType::MX,
        RecordType::NS,
        RecordType::SOA,
        RecordType::CNAME,
        RecordType::ANY,
        RecordType::DS,
        RecordType::Unknown(4711),
    ] {
        let answer = world.ask("ok.com", kind).await;
        assert_eq!(answer.metadata.response_code, ResponseCode::NoError, "{kind}");
        assert!(answer.answers.is_empty() && answer.authorities.is_empty(), "{kind}");
    }
}

#[tokio::test]
async fn a_name_no_rule_names_does_not_exist() {
    let world = World::new(&["ok.com", "*.wild.com"]).await;
    for host in ["evil.com", "evilok.com", "ok.com.evil.com", "a.ok.com", "wild.com", "xwild.com", "com"] {
        for kind in [RecordType::A, RecordType::AAAA, RecordType::TXT, RecordType::HTTPS] {
            let answer = world.ask(host, kind).await;
            assert_eq!(answer.metadata.response_code, ResponseCode::NXDomain, "{host} {kind}");
            assert!(answer.answers.is_empty());
        }
        assert!(world.table.refused().contains(&(Code::Host, host.to_owned())), "{host}");
    }
    assert!(world.table.synthetic.is_empty());
    let answer = world.ask("34.216.184.93.in-addr.arpa", RecordType::PTR).await;
    assert_eq!(answer.metadata.response_code, ResponseCode::NXDomain);
    assert!(
        !world.table.refused().iter().any(|(_, host)| host.ends_with("arpa")),
        "reverse look-ups are no attempt"
    );
}

#[tokio::test]
async fn what_is_no_host_name_does_not_exist() {
    let world = World::new(&["ok.com", "*.ok.com"]).await;
    for name in [
        &[&b"evil.com\0"[..], b"ok", b"com"][..],
        &[b"ok.com"],
        &[b"evil", b"com.ok", b"com"],
        &[b"a b", b"ok", b"com"],
        &[b"\xff\xfe", b"ok", b"com"],
        &[b"user@x", b"ok", b"com"],
        &[b"*", b"ok", b"com"],
        &[b"10", b"0", b"0", b"1"],
        &[b"0x7f", b"1"],
        &[],
    ] {
        let answer = Message::from_vec(&world.udp(&labels(name, RecordType::A)).await.unwrap()).unwrap();
        assert_eq!(answer.metadata.response_code, ResponseCode::NXDomain, "{name:?}");
    }
    assert!(world.table.refused().iter().all(|(code, _)| *code == Code::Name));
    assert!(world.table.synthetic.is_empty());
}

#[tokio::test]
async fn rules_count_from_the_next_question_on() {
    let world = World::new(&["ok.com"]).await;
    assert_eq!(world.ask("new.com", RecordType::A).await.metadata.response_code, ResponseCode::NXDomain);
    *world.table.policy.lock().unwrap() = Arc::new(policy(2, &["new.com"]));
    assert_eq!(world.ask("new.com", RecordType::A).await.answers.len(), 1);
    assert_eq!(world.ask("ok.com", RecordType::A).await.metadata.response_code, ResponseCode::NXDomain);
}

#[tokio::test]
async fn names_under_a_wildcard_are_bounded_and_put_down() {
    let world = World::new(&["*.ok.com"]).await;
    for n in 0..5 {
        assert_eq!(world.ask(&format!("h{n}.ok.com"), RecordType::A).await.answers.len(), 1);
    }
    let answer = world.ask("h5.ok.com", RecordType::A).await;
    assert_eq!((answer.metadata.response_code, answer.answers.len()), (ResponseCode::Refused, 0));
    assert_eq!(world.table.refused(), [(Code::Wildcard, "h5.ok.com".to_owned())]);
    assert_eq!(world.ask("h1.ok.com", RecordType::A).await.answers.len(), 1, "known names go on");
    let data = format!("{}.{}.ok.com", "d".repeat(60), "e".repeat(60));
    assert_eq!(world.ask(&data, RecordType::A).await.metadata.response_code, ResponseCode::Refused);
    // Other types make no name known.
    assert_eq!(world.ask("h9.ok.com", RecordType::HTTPS).await.metadata.response_code, ResponseCode::NoError);
    assert_eq!(world.table.synthetic.len(), 5);
}

#[tokio::test]
async fn exfiltration_by_labels_is_told_and_cannot_flood_the_log() {
    let world = World::new(&["ok.com"]).await;
    for n in 0..500 {
        let asked = question(&format!("data{n}.evil.com"), RecordType::A).to_vec().unwrap();
        world.udp(&asked).await.unwrap();
    }
    let refused = world.table.refused();
    assert!(refused.len() < 60, "{}", refused.len());
    assert!(
        refused.contains(&(Code::Host, "data0.evil.com".into()))
            && refused.contains(&(Code::Host, "evil.com".into()))
    );
    let counted: u64 = world.table.log.since(0).iter().map(|entry| entry.count).sum();
    assert_eq!(counted, 500);
}

#[tokio::test]
async fn inside_localhost_is_the_cell() {
    let world = World::new(&[]).await;
    for host in ["localhost", "app.localhost"] {
        assert_eq!(world.ask(host, RecordType::A).await.answers[0].data.to_string(), "127.0.0.1");
        assert_eq!(world.ask(host, RecordType::AAAA).await.answers[0].data.to_string(), "::1");
    }
}

#[tokio::test]
async fn edns_is_answered_and_its_other_versions_are_not() {
    let world = World::new(&["ok.com"]).await;
    let mut asked = question("ok.com", RecordType::A);
    let mut edns = Edns::new();
    edns.set_max_payload(4096).set_version(0);
    asked.set_edns(edns.clone());
    let answer = Message::from_vec(&world.udp(&asked.to_vec().unwrap()).await.unwrap()).unwrap();
    assert_eq!((answer.answers.len(), answer.edns.unwrap().max_payload()), (1, 1232));
    edns.set_version(1);
    asked.set_edns(edns);
    let answer = Message::from_vec(&world.udp(&asked.to_vec().unwrap()).await.unwrap()).unwrap();
    assert_eq!(u16::from(answer.metadata.response_code), 16);
    assert!(answer.answers.is_empty());
}

#[tokio::test]
async fn what_is_no_question_is_answered_shortly_or_not_at_all() {
    let world = World::new(&["ok.com"]).await;
    let good = question("ok.com", RecordType::A).to_vec().unwrap();
    let changed = |at: usize, to: u8| {
        let mut bytes = good.clone();
        bytes[at] = to;
        bytes
    };
    for silent in [Vec::new(), vec![0; 11], changed(2, 0x81)] {
        assert_eq!(world.table.answer_of(&silent).await, None);
    }
    for (bytes, code) in [
        (changed(2, 0x29), ResponseCode::NotImp),
        (changed(5, 0), ResponseCode::FormErr),
        (changed(5, 2), ResponseCode::FormErr),
        (changed(4, 0xff), ResponseCode::FormErr),
        (changed(7, 1), ResponseCode::FormErr),
        (changed(9, 1), ResponseCode::FormErr),
        (changed(11, 3), ResponseCode::FormErr),
        (good[..good.len() - 1].to_vec(), ResponseCode::FormErr),
        (good[..12].to_vec(), ResponseCode::FormErr),
        (changed(12, 0xc0), ResponseCode::FormErr),
        (changed(good.len() - 1, 3), ResponseCode::Refused),
    ] {
        let answer = world.udp(&bytes).await.unwrap();
        let answer = Message::from_vec(&answer).unwrap();
        assert_eq!(answer.metadata.response_code, code, "{bytes:?}");
        assert_eq!(answer.metadata.id, 0x1234);
        assert!(answer.answers.is_empty());
    }
}

impl Table {
    async fn answer_of(self: &Arc<Self>, bytes: &[u8]) -> Option<Vec<u8>> {
        Answerer::new(Arc::clone(self), DnsSettings::default()).answer(bytes).await
    }
}

#[tokio::test]
async fn several_questions_on_one_connection_and_a_bound_on_connections() {
    let settings = DnsSettings { connections: 2, idle: Duration::from_millis(300), ..Default::default() };
    let world = World::with(&["ok.com"], settings).await;
    let asked = question("ok.com", RecordType::A).to_vec().unwrap();
    let mut first = TcpStream::connect(world.tcp).await.unwrap();
    for _ in 0..3 {
        assert!(over(&mut first, &asked).await.is_some());
    }
    let mut second = TcpStream::connect(world.tcp).await.unwrap();
    assert!(over(&mut second, &asked).await.is_some());
    assert!(world.tcp(&asked).await.is_none(), "a third is closed");
    // Silence ends a connection, and frees its place.
    let mut ended = [0; 1];
    assert_eq!(timeout(Duration::from_secs(5), first.read(&mut ended)).await.unwrap().unwrap(), 0);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(world.tcp(&asked).await.is_some());
    // A length no question has.
    let mut huge = TcpStream::connect(world.tcp).await.unwrap();
    huge.write_all(&[0xff, 0xff, 0, 0]).await.unwrap();
    let closed = timeout(Duration::from_secs(5), huge.read(&mut ended)).await.unwrap();
    assert!(matches!(closed, Ok(0) | Err(_)), "{closed:?}");
}
