//! The explicit proxy: the same judgement by another way in.

use egress::refusal::Code;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::alone::alone;
use crate::client_hello::hello;
use crate::origins::{Origin, Tls, ask};
use crate::world::{Ending, Plan, ending, within};

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

alone! {
    async fn there_is_none_unless_asked_for() {
        let world = Plan::new(&["plain.example.com"]).start().await;
        let proxy = (egress::synthetic::Range::V4.proxy().v4, egress::core::PROXY_PORT);
        assert!(tokio::net::TcpStream::connect(proxy).await.is_err());
        drop(world);
    }
}

alone! {
    async fn connect_leads_to_an_allowed_host_and_is_held_to_its_name() {
        let tls = Tls::new("api.example.com").await;
        let world = Plan::new(&["api.example.com"]).pin("api.example.com", tls.origin.address).proxy().start().await;
        let connect = "CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com:443\r\n\r\n";
        let mut stream = world.to_proxy().await;
        assert!(read_head(&mut stream, connect).await.starts_with("HTTP/1.1 200 "));
        let mut stream = tls.handshake(stream, "api.example.com").await.unwrap();
        let get = "GET / HTTP/1.1\r\nHost: api.example.com\r\n\r\n";
        assert!(ask(&mut stream, get).await.ends_with("api.example.com"));

        let mut stream = world.to_proxy().await;
        assert!(read_head(&mut stream, connect).await.starts_with("HTTP/1.1 200 "));
        stream.write_all(&hello(Some("evil.example.net"), &[])).await.unwrap();
        assert_eq!(ending(&mut stream).await, Ending::Reset);
        assert_eq!(world.codes(), [Code::Sni]);
        assert_eq!(tls.origin.connections(), 1);
    }
}

async fn read_head(stream: &mut tokio::net::TcpStream, request: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(within(stream.read_u8()).await.unwrap());
    }
    String::from_utf8(head).unwrap()
}

alone! {
    async fn what_is_not_allowed_is_refused_in_words() {
        let origin = Origin::http(OK).await;
        let rules = ["plain.example.com", "tcp://db.example.com:5432"];
        let world = Plan::new(&rules).pin("plain.example.com", origin.address).proxy().start().await;
        let cases = [
            ("CONNECT evil.example.net:443 HTTP/1.1\r\nHost: evil.example.net:443\r\n\r\n", Code::Host),
            ("CONNECT plain.example.com:22 HTTP/1.1\r\nHost: plain.example.com:22\r\n\r\n", Code::Port),
            ("CONNECT plain.example.com:443 HTTP/1.1\r\nHost: evil.example.net:443\r\n\r\n", Code::HostHeader),
            ("CONNECT 127.0.0.1:443 HTTP/1.1\r\nHost: 127.0.0.1:443\r\n\r\n", Code::Name),
            ("CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\n\r\n", Code::Name),
            ("CONNECT 2130706433:443 HTTP/1.1\r\nHost: 2130706433:443\r\n\r\n", Code::Name),
            ("CONNECT plain.example.com HTTP/1.1\r\nHost: plain.example.com\r\n\r\n", Code::Name),
            ("CONNECT plain.example.com:0 HTTP/1.1\r\nHost: plain.example.com:0\r\n\r\n", Code::Name),
            ("GET http://evil.example.net/ HTTP/1.1\r\nHost: evil.example.net\r\n\r\n", Code::Host),
            ("GET http://169.254.169.254/ HTTP/1.1\r\nHost: 169.254.169.254\r\n\r\n", Code::Name),
            ("GET http://plain.example.com/ HTTP/1.1\r\nHost: evil.example.net\r\n\r\n", Code::HostHeader),
            ("GET http://plain.example.com:443/ HTTP/1.1\r\nHost: plain.example.com:443\r\n\r\n", Code::NotTls),
            ("GET http://db.example.com:5432/ HTTP/1.1\r\nHost: db.example.com:5432\r\n\r\n", Code::NotTls),
            ("GET / HTTP/1.1\r\nHost: plain.example.com\r\n\r\n", Code::NotHttp),
            ("TRACE http://plain.example.com/ HTTP/1.1\r\nHost: plain.example.com\r\n\r\n", Code::Method),
        ];
        for (request, code) in cases {
            let mut stream = world.to_proxy().await;
            let answer = ask(&mut stream, request).await;
            assert!(answer.contains(code.as_str()), "{request}: {answer}");
            assert!(!answer.starts_with("HTTP/1.1 200"), "{request}: {answer}");
            assert_eq!(ending(&mut stream).await, Ending::Closed(vec![]), "{request}");
        }
        assert_eq!(origin.connections(), 0);
    }
}

alone! {
    async fn one_connection_serves_one_host_after_the_other() {
        let (one, two) = (Origin::http(OK).await, Origin::http(OK).await);
        let mut world = Plan::new(&["one.example.com", "two.example.com"])
            .pin("one.example.com", one.address)
            .pin("two.example.com", two.address)
            .proxy()
            .start()
            .await;
        let mut stream = world.to_proxy().await;
        for host in ["one", "two", "one", "one"] {
            let request = format!("GET http://{host}.example.com/{host} HTTP/1.1\r\nHost: {host}.example.com\r\n\r\n");
            assert!(ask(&mut stream, &request).await.ends_with("ok"));
        }
        assert_eq!((one.connections(), two.connections()), (2, 1));
        assert!(one.all().contains("GET /one ") && !one.all().contains("two"), "{}", one.all());
        // It speaks to `one` now, so taking `two` away is nothing to it, and taking `one` cuts it.
        assert_eq!(world.set(&["one.example.com"]).await.cut, 0);
        assert_eq!(world.set(&["two.example.com"]).await.cut, 1);
        assert_eq!(ending(&mut stream).await, Ending::Reset);
    }
}

alone! {
    async fn connect_to_a_port_for_http_is_read_as_http() {
        let origin = Origin::http(OK).await;
        let world = Plan::new(&["plain.example.com"]).pin("plain.example.com", origin.address).proxy().start().await;
        let connect = "CONNECT plain.example.com:80 HTTP/1.1\r\nHost: plain.example.com:80\r\n\r\n";
        let mut stream = world.to_proxy().await;
        // The request comes in the same packet as the CONNECT.
        let both = format!("{connect}GET /a HTTP/1.1\r\nHost: plain.example.com\r\n\r\n");
        assert!(read_head(&mut stream, &both).await.starts_with("HTTP/1.1 200 "));
        assert!(crate::origins::answer(&mut stream).await.ends_with("ok"));
        let evil = "GET /b HTTP/1.1\r\nHost: evil.example.net\r\n\r\n";
        assert!(ask(&mut stream, evil).await.contains("FH-EGRESS-HOST-HEADER"));
        assert!(!origin.all().contains("/b"));
    }
}

alone! {
    async fn connect_to_a_declared_port_is_a_raw_tunnel() {
        let origin = Origin::echo().await;
        let world = Plan::new(&["tcp://db.example.com:5432"]).pin("db.example.com", origin.address).proxy().start().await;
        let mut stream = world.to_proxy().await;
        let connect = "CONNECT db.example.com:5432 HTTP/1.1\r\nHost: db.example.com:5432\r\n\r\nearly";
        assert!(read_head(&mut stream, connect).await.starts_with("HTTP/1.1 200 "));
        let mut bytes = [0; 5];
        within(stream.read_exact(&mut bytes)).await.unwrap();
        assert_eq!(&bytes, b"early");
    }
}
