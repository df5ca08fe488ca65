//! Plain HTTP that is meant: requests, streams, WebSockets, redirects, refusals.

use egress::event::{End, Event};
use egress::refusal::Code;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::alone::alone;
use crate::origins::{Origin, answer, ask};
use crate::world::{Ending, Plan, World, ending, until, within};

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const GET: &str = "GET / HTTP/1.1\r\nHost: plain.example.com\r\n\r\n";

async fn world_of(origin: &Origin) -> World {
    Plan::new(&["plain.example.com"]).pin("plain.example.com", origin.address).start().await
}

alone! {
    async fn requests_share_one_connection_to_the_host() {
        let origin = Origin::http(OK).await;
        let world = world_of(&origin).await;
        let mut stream = world.connect("plain.example.com", 80).await;
        for _ in 0..5 {
            assert!(ask(&mut stream, GET).await.ends_with("ok"));
        }
        assert_eq!(origin.connections(), 1);
        drop(stream);
        world.until_flows(0).await;
        let usage = world.egress.usage();
        assert_eq!((usage.connections, usage.open), (1, 0));
        assert!(usage.sent >= 5 * 20 && usage.received >= 5 * OK.len() as u64, "{usage:?}");
        let closed = world.entries().into_iter().any(|entry| {
            matches!(entry.event, Event::Closed { end: End::Finished, .. })
        });
        assert!(closed);
    }
}

alone! {
    async fn a_host_that_closes_after_each_answer_is_connected_again() {
        let origin = Origin::new(|mut tap| async move {
            drop(tap.head().await);
            drop(tap.stream.write_all(OK.as_bytes()).await);
        })
        .await;
        let world = world_of(&origin).await;
        let mut stream = world.connect("plain.example.com", 80).await;
        for _ in 0..3 {
            assert!(ask(&mut stream, GET).await.ends_with("ok"));
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        assert_eq!(origin.connections(), 3);
    }
}

alone! {
    async fn a_redirect_is_handed_over_and_not_followed() {
        let evil = Origin::http(OK).await;
        let location = format!("http://{}/", evil.address);
        let redirect = format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
        let origin = Origin::http(Box::leak(redirect.into_boxed_str())).await;
        let world = world_of(&origin).await;
        let mut stream = world.connect("plain.example.com", 80).await;
        let answer = ask(&mut stream, GET).await;
        assert!(answer.starts_with("HTTP/1.1 302 ") && answer.contains(&format!("location: {location}")), "{answer}");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        assert_eq!((origin.connections(), evil.connections()), (1, 0));
    }
}

/// What becomes of a client that follows a redirect of an allowed host by itself: whether `evil` hears of it.
async fn follows(location: &'static str) -> bool {
    let evil = Origin::http(OK).await;
    let redirect = format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
    let origin = Origin::http(Box::leak(redirect.into_boxed_str())).await;
    let world = Plan::new(&["plain.example.com"])
        .pin("plain.example.com", origin.address)
        .pin("evil.example.net", evil.address)
        .start()
        .await;
    let mut stream = world.connect("plain.example.com", 80).await;
    let answer = ask(&mut stream, GET).await;
    let to = answer.lines().find_map(|line| line.strip_prefix("location: http://")).unwrap();
    let to = to.trim_end_matches('/');
    let (host, port) = to.split_once(':').unwrap_or((to, "80"));
    if let Some(address) = world.lookup(host, hickory_proto::rr::RecordType::A).await
        && let Ok(mut stream) = tokio::net::TcpStream::connect((address, port.parse().unwrap())).await
    {
        drop(ask(&mut stream, &format!("GET / HTTP/1.1\r\nHost: {to}\r\n\r\n")).await);
    }
    world.egress.end().await;
    evil.connections() > 0
}

alone! {
    async fn a_client_that_follows_a_redirect_is_judged_anew() {
        for location in ["http://evil.example.net/", "http://evil.example.net:8080/", "http://plain.example.com:8080/"] {
            assert!(!follows(location).await, "{location}");
        }
    }
}

#[cfg(feature = "guard-off")]
alone! {
    async fn control_without_the_rules_a_redirect_leads_anywhere() {
        let _without = egress::guard::without(&["host-rules", "http-host"]);
        assert!(follows("http://evil.example.net/").await);
    }
}

alone! {
    async fn a_large_body_goes_both_ways() {
        const SIZE: usize = 3 << 20;
        let origin = Origin::new(|mut tap| async move {
            let head = tap.head().await.unwrap();
            let length: usize = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse().unwrap();
            let mut left = length;
            let mut bytes = vec![0; 64 * 1024];
            let mut sum = 0_u64;
            while left > 0 {
                let count = tap.read(&mut bytes).await.unwrap();
                sum += bytes[..count].iter().map(|byte| u64::from(*byte)).sum::<u64>();
                left -= count;
            }
            let head = format!("HTTP/1.1 200 OK\r\nx-sum: {sum}\r\ncontent-length: {SIZE}\r\n\r\n");
            tap.stream.write_all(head.as_bytes()).await.unwrap();
            tap.stream.write_all(&vec![b'd'; SIZE]).await.unwrap();
        })
        .await;
        let world = world_of(&origin).await;
        let stream = world.connect("plain.example.com", 80).await;
        let (mut read, mut write) = stream.into_split();
        let head = format!("POST / HTTP/1.1\r\nHost: plain.example.com\r\nContent-Length: {SIZE}\r\n\r\n");
        tokio::spawn(async move {
            write.write_all(head.as_bytes()).await.unwrap();
            write.write_all(&vec![3; SIZE]).await.unwrap();
            std::future::pending::<()>().await;
        });
        let answer = answer(&mut read).await;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("x-sum: {}", 3 * SIZE)), "{head}");
        assert!(body.len() == SIZE && body.bytes().all(|byte| byte == b'd'));
    }
}

alone! {
    async fn an_event_stream_arrives_event_by_event() {
        let (next, wait) = tokio::sync::mpsc::channel::<()>(1);
        let wait = std::sync::Arc::new(tokio::sync::Mutex::new(wait));
        let origin = Origin::new(move |mut tap| {
            let wait = wait.clone();
            async move {
                drop(tap.head().await);
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
                tap.stream.write_all(head.as_bytes()).await.unwrap();
                while wait.lock().await.recv().await.is_some() {
                    tap.stream.write_all(b"9\r\ndata: x\n\n\r\n").await.unwrap();
                }
            }
        })
        .await;
        let world = world_of(&origin).await;
        let mut stream = world.connect("plain.example.com", 80).await;
        stream.write_all(GET.as_bytes()).await.unwrap();
        let mut seen = String::new();
        for count in 1..=3 {
            next.send(()).await.unwrap();
            let mut bytes = [0; 1024];
            while seen.matches("data: x").count() < count {
                let length = within(stream.read(&mut bytes)).await.unwrap();
                seen.push_str(std::str::from_utf8(&bytes[..length]).unwrap());
            }
        }
        // The tool goes away; so does the connection to the host.
        drop(stream);
        world.until_flows(0).await;
    }
}

alone! {
    async fn a_websocket_is_a_tunnel_after_the_hosts_yes() {
        let origin = websocket().await;
        let world = world_of(&origin).await;
        let mut stream = world.connect("plain.example.com", 80).await;
        let request = "GET /ws HTTP/1.1\r\nHost: plain.example.com\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n\
            Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\nearly";
        let answer = ask(&mut stream, request).await;
        assert!(answer.starts_with("HTTP/1.1 101 ") && answer.contains("sec-websocket-accept: x"), "{answer}");
        let mut bytes = [0; 5];
        let early = answer.split_once("\r\n\r\n").unwrap().1.to_owned();
        let mut got = early.into_bytes();
        while got.len() < 5 {
            let count = within(stream.read(&mut bytes)).await.unwrap();
            got.extend_from_slice(&bytes[..count]);
        }
        assert_eq!(got, b"early");
        stream.write_all(&[0x81, 0x02, b'h', b'i']).await.unwrap();
        let mut frame = [0; 4];
        within(stream.read_exact(&mut frame)).await.unwrap();
        assert_eq!(frame, [0x81, 0x02, b'h', b'i']);
        assert_eq!(origin.connections(), 1);
        stream.shutdown().await.unwrap();
        assert_eq!(ending(&mut stream).await, Ending::Closed(vec![]));
        world.until_flows(0).await;
    }
}

/// Says yes to every WebSocket and sends back what it is sent.
pub(crate) async fn websocket() -> Origin {
    Origin::new(|mut tap| async move {
        let Some(head) = tap.head().await else { return };
        assert!(head.contains("upgrade: websocket\r\n") && head.contains("connection: upgrade\r\n"), "{head}");
        let yes = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n";
        tap.stream.write_all(yes.as_bytes()).await.unwrap();
        let mut bytes = [0; 1024];
        while let Some(count) = tap.read(&mut bytes).await {
            if tap.stream.write_all(&bytes[..count]).await.is_err() {
                return;
            }
        }
    })
    .await
}

alone! {
    async fn a_body_that_waits_for_a_word_is_sent_after_the_hosts_and_to_a_host_that_knows_none() {
        let origin = Origin::new(|mut tap| async move {
            let Some(head) = tap.head().await else { return };
            assert!(head.contains("expect: 100-continue\r\n"), "{head}");
            if head.starts_with("PUT /final ") {
                drop(tap.stream.write_all(OK.as_bytes()).await);
                return;
            }
            if head.starts_with("PUT /word ") {
                tap.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await.unwrap();
            }
            while tap.read(&mut [0; 4]).await != Some(4) {}
            drop(tap.stream.write_all(OK.as_bytes()).await);
        })
        .await;
        let world = world_of(&origin).await;
        let put = |path: &str| {
            format!("PUT {path} HTTP/1.1\r\nHost: plain.example.com\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
        };
        for path in ["/word", "/silence"] {
            let mut stream = world.connect("plain.example.com", 80).await;
            stream.write_all(put(path).as_bytes()).await.unwrap();
            let mut bytes = [0; 64];
            let count = within(stream.read(&mut bytes)).await.unwrap();
            assert!(bytes[..count].starts_with(b"HTTP/1.1 100 Continue"), "{path}");
            stream.write_all(b"body").await.unwrap();
            assert!(answer(&mut stream).await.ends_with("ok"));
            until(|| origin.all().ends_with("body")).await;
        }
        let mut stream = world.connect("plain.example.com", 80).await;
        let told = ask(&mut stream, &put("/final")).await;
        assert!(told.starts_with("HTTP/1.1 200 ") && told.ends_with("ok"), "{told}");
    }
}

alone! {
    async fn other_ports_are_named_in_the_host_header() {
        let origin = Origin::http(OK).await;
        let world = Plan::new(&["http://plain.example.com:8080"]).pin("plain.example.com", origin.address).start().await;
        let mut stream = world.connect("plain.example.com", 8080).await;
        let request = "GET / HTTP/1.1\r\nHost: plain.example.com:8080\r\n\r\n";
        assert!(ask(&mut stream, request).await.ends_with("ok"));
        assert!(origin.all().contains("host: plain.example.com:8080\r\n"));
        assert!(ask(&mut stream, GET).await.contains("FH-EGRESS-HOST-HEADER"));
    }
}

alone! {
    async fn a_host_that_answers_with_nonsense_or_not_at_all_is_told_as_such() {
        for nonsense in ["SSH-2.0-x\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n", ""] {
            let origin = Origin::new(move |mut tap| async move {
                drop(tap.head().await);
                drop(tap.stream.write_all(nonsense.as_bytes()).await);
            })
            .await;
            let world = world_of(&origin).await;
            let mut stream = world.connect("plain.example.com", 80).await;
            let answer = ask(&mut stream, GET).await;
            assert!(answer.starts_with("HTTP/1.1 504 ") && answer.contains("FH-EGRESS-CONNECT"), "{answer}");
            assert_eq!(world.codes(), [Code::Connect]);
            world.egress.end().await;
        }
        let nobody = Plan::new(&["plain.example.com"]).pin("plain.example.com", "127.0.0.1:1".parse().unwrap());
        let world = nobody.start().await;
        let mut stream = world.connect("plain.example.com", 80).await;
        assert!(ask(&mut stream, GET).await.contains("FH-EGRESS-CONNECT"));
    }
}

alone! {
    async fn a_refusal_arrives_though_a_body_is_still_on_its_way() {
        let origin = Origin::http(OK).await;
        let world = world_of(&origin).await;
        let stream = world.connect("plain.example.com", 80).await;
        let (mut read, mut write) = stream.into_split();
        tokio::spawn(async move {
            let head = "POST / HTTP/1.1\r\nHost: evil.example.net\r\nContent-Length: 2000000\r\n\r\n";
            write.write_all(head.as_bytes()).await.unwrap();
            write.write_all(&vec![b'x'; 2_000_000]).await
        });
        // Reading begins late: a reset in the meantime would have thrown the answer away.
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        let answer = answer(&mut read).await;
        assert!(answer.contains("FH-EGRESS-HOST-HEADER"), "{answer}");
        assert_eq!(origin.connections(), 0);
    }
}
