//! The name server, the listeners behind its answers, and asking what would happen.

use egress::event::Event;
use egress::refusal::Code;
use egress::rule::Kind;
use hickory_proto::rr::RecordType;
use tokio::net::TcpStream;

use crate::alone::alone;
use crate::origins::{Origin, ask};
use crate::world::{Plan, within};

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

alone! {
    async fn a_name_under_a_wildcard_is_listened_for_when_it_is_asked_for() {
        let origin = Origin::http(OK).await;
        let mut world = Plan::new(&["*.example.com"])
            .pin("a.example.com", origin.address)
            .limits(|limits| limits.wildcard_names = 3)
            .start()
            .await;
        assert_eq!(world.egress.listeners(), (0, 0));
        let mut stream = world.connect("a.example.com", 80).await;
        assert!(ask(&mut stream, "GET / HTTP/1.1\r\nHost: a.example.com\r\n\r\n").await.ends_with("ok"));
        assert_eq!(world.egress.listeners(), (2, 0));
        let told = world.entries().into_iter().filter(|entry| matches!(entry.event, Event::WildcardName { .. }));
        assert_eq!(told.count(), 1);
        // More names than may be listened for: the one asked for longest ago gives way.
        for name in ["b.example.com", "c.example.com", "d.example.com"] {
            assert!(world.lookup(name, RecordType::A).await.is_some(), "{name}");
        }
        assert_eq!(world.egress.listeners(), (6, 0));
        assert_eq!(world.lookup("evil.example.net", RecordType::A).await, None);
        let changed = world.set(&[]).await;
        assert_eq!(changed.cut, 1);
        assert_eq!(world.lookup("a.example.com", RecordType::A).await, None);
    }
}

alone! {
    async fn a_removed_host_is_answered_with_a_refusal_for_a_while() {
        let origin = Origin::http(OK).await;
        let mut world = Plan::new(&["plain.example.com"])
            .pin("plain.example.com", origin.address)
            .limits(|limits| limits.farewell = std::time::Duration::from_millis(1_500))
            .start()
            .await;
        let (http, tls) = (world.address("plain.example.com", 80).await, world.address("plain.example.com", 443).await);
        world.set(&[]).await;
        assert_eq!(world.egress.listeners(), (2, 2));
        let mut stream = TcpStream::connect(http).await.unwrap();
        let answer = ask(&mut stream, "GET / HTTP/1.1\r\nHost: plain.example.com\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
        assert!(answer.contains("\"code\":\"FH-EGRESS-HOST\""), "{answer}");
        assert!(answer.contains("fumehood allow test plain.example.com"), "{answer}");
        let mut stream = TcpStream::connect(tls).await.unwrap();
        assert_eq!(crate::world::ending(&mut stream).await, crate::world::Ending::Reset);
        assert_eq!(world.codes(), [Code::Host, Code::Host]);
        assert_eq!(origin.connections(), 0);
        within(async {
            while world.egress.listeners() != (0, 0) {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        })
        .await;
        assert!(TcpStream::connect(http).await.is_err());
    }
}

alone! {
    async fn a_port_may_change_what_is_spoken_on_it() {
        let origin = Origin::echo().await;
        let mut world = Plan::new(&["http://x.example.com:7000"]).pin("x.example.com", origin.address).start().await;
        let mut http = world.connect("x.example.com", 7000).await;
        tokio::io::AsyncWriteExt::write_all(&mut http, b"GET").await.unwrap();
        world.until_flows(1).await;
        // Wider, but a connection that was read as HTTP must not become another; it is cut.
        assert_eq!(world.set(&["tcp://x.example.com:7000"]).await.cut, 1);
        let mut raw = world.connect("x.example.com", 7000).await;
        tokio::io::AsyncWriteExt::write_all(&mut raw, b"ping").await.unwrap();
        let mut bytes = [0; 4];
        within(tokio::io::AsyncReadExt::read_exact(&mut raw, &mut bytes)).await.unwrap();
        // Narrower: what is not looked at must not go on.
        assert_eq!(world.set(&["http://x.example.com:7000"]).await.cut, 1);
    }
}

alone! {
    async fn asking_what_would_happen_says_the_rule_or_the_remedy() {
        let world = Plan::new(&["api.example.com", "tcp://db.example.com:5432"])
            .pin("api.example.com", "127.0.0.1:9".parse().unwrap())
            .start()
            .await;
        let verdict = world.egress.check("https://API.example.com/path?x#y").await.unwrap();
        assert_eq!(verdict.rule.as_deref(), Some("api.example.com"));
        assert_eq!((verdict.kind, verdict.refusal), (Some(Kind::Tls), None));
        assert_eq!(verdict.way, ["127.0.0.1:9"]);
        let cases = [
            ("http://api.example.com:443/", Some(Code::NotTls)),
            ("https://api.example.com:80/", Some(Code::NotHttp)),
            ("https://api.example.com:8443/", Some(Code::Port)),
            ("https://api.example.com.evil.net/", Some(Code::Host)),
            ("https://api.example.com@evil.net/", Some(Code::Host)),
            ("https://evil.net\\@api.example.com/", Some(Code::Host)),
            ("http://169.254.169.254/latest", Some(Code::Name)),
            ("http://[::1]:80/", Some(Code::Name)),
            ("https://0x7f.1/", Some(Code::Name)),
            ("http://api.example.com", None),
        ];
        for (url, code) in cases {
            let verdict = world.egress.check(url).await.unwrap();
            assert_eq!(verdict.refusal.map(|refusal| refusal.code), code, "{url}");
        }
        for url in ["ftp://api.example.com/", "tcp://db.example.com", "https://", "https://x:99999/"] {
            assert!(world.egress.check(url).await.is_err(), "{url}");
        }
    }
}

alone! {
    async fn other_udp_is_refused_at_once() {
        let world = Plan::new(&["api.example.com"]).start().await;
        let address = world.address("api.example.com", 443).await;
        let socket = tokio::net::UdpSocket::bind("0.0.0.0:0").await.unwrap();
        socket.connect(address).await.unwrap();
        let begun = std::time::Instant::now();
        socket.send(&[0xc3; 1200]).await.unwrap();
        let error = within(socket.recv(&mut [0; 16])).await.unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
        assert!(begun.elapsed() < std::time::Duration::from_millis(200), "{:?}", begun.elapsed());
        // The control: were somebody of ours there, the same datagram would reach it.
        let somebody = tokio::net::UdpSocket::bind(address).await.unwrap();
        socket.send(&[0xc3; 1200]).await.unwrap();
        assert_eq!(within(somebody.recv(&mut [0; 1500])).await.unwrap(), 1200);
    }
}
