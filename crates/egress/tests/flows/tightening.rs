//! Both ends of a flow that is cut, and what is half way when its host is taken away.

use std::io::ErrorKind;
use std::time::Duration;

use egress::refusal::Code;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::alone::alone;
use crate::client_hello::hello;
use crate::origins::{Origin, Tap, Tls};
use crate::world::{Ending, Plan, World, ending, within};

/// How the host's end of a connection ended: in order, or by which error.
type Ended = Result<(), ErrorKind>;

const HEAD: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n";
const SWITCH: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nx";
const WHOLE: &str = "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx";

/// A host that answers `said` to the first it hears, once more and more if it is a download, and tells how its end ended.
async fn host(said: &'static str, download: bool) -> (Origin, UnboundedReceiver<Ended>) {
    let (tell, told) = unbounded_channel();
    let origin = Origin::new(move |mut tap: Tap| {
        let tell = tell.clone();
        async move {
            tap.read(&mut [0; 4096]).await.unwrap();
            drop(tap.stream.write_all(said.as_bytes()).await);
            let ended = if download {
                loop {
                    if let Err(error) = tap.stream.write_all(b"400\r\n").await {
                        break Err(error.kind());
                    }
                    drop(tap.stream.write_all(&[b'd'; 1024]).await);
                    drop(tap.stream.write_all(b"\r\n").await);
                }
            } else {
                loop {
                    match tap.stream.read(&mut [0; 4096]).await {
                        Ok(0) => break Ok(()),
                        Ok(_) => {}
                        Err(error) => break Err(error.kind()),
                    }
                }
            };
            // At the end of a test nobody listens.
            tell.send(ended).ok();
        }
    })
    .await;
    (origin, told)
}

/// A kind of flow.
struct Kind {
    what: &'static str,
    rule: &'static str,
    port: u16,
    /// What is sent first.
    first: Vec<u8>,
    /// What the host says then.
    said: &'static str,
    /// Whether it goes on saying it.
    download: bool,
}

fn kinds() -> Vec<Kind> {
    let get = |what, more: &str, said, download| {
        let first = format!("GET / HTTP/1.1\r\nHost: x.example.com\r\n{more}\r\n").into_bytes();
        Kind { what, rule: "x.example.com", port: 80, first, said, download }
    };
    let (greeting, raw) = (hello(Some("x.example.com"), &[]), "tcp://x.example.com:5432");
    vec![
        get("idle keep-alive", "", WHOLE, false),
        get("event stream", "Accept: text/event-stream\r\n", HEAD, false),
        get("download", "", HEAD, true),
        get("WebSocket", "Upgrade: websocket\r\nConnection: upgrade\r\n", SWITCH, false),
        Kind { what: "TLS", rule: "x.example.com", port: 443, first: greeting, said: "x", download: false },
        Kind { what: "raw TCP", rule: raw, port: 5432, first: b"x".to_vec(), said: "x", download: false },
    ]
}

/// A flow of the kind, after bytes went both ways.
async fn opened(kind: &Kind) -> (World, TcpStream, UnboundedReceiver<Ended>) {
    let (origin, told) = host(kind.said, kind.download).await;
    let world = Plan::new(&[kind.rule]).pin("x.example.com", origin.address).start().await;
    let mut stream = world.connect("x.example.com", kind.port).await;
    stream.write_all(&kind.first).await.unwrap();
    let mut got = Vec::new();
    // The last byte of what the host says.
    while !got.contains(&b'x') && got.last() != Some(&b'd') {
        assert!(within(stream.read_buf(&mut got)).await.unwrap() > 0);
    }
    (world, stream, told)
}

alone! {
    async fn both_ends_of_every_kind_of_flow_are_reset() {
        for kind in kinds() {
            let what = kind.what;
            let (mut world, mut stream, mut told) = opened(&kind).await;
            assert_eq!(world.set(&[]).await.cut, 1, "{what}");
            // Nothing on the way to it is an end in order, so that nobody takes what came for all there is.
            let mut rest = Vec::new();
            let inside = within(stream.read_to_end(&mut rest)).await.map_err(|error| error.kind());
            assert_eq!(inside, Err(ErrorKind::ConnectionReset), "{what}");
            let outside = within(told.recv()).await.unwrap().unwrap_err();
            assert!(matches!(outside, ErrorKind::ConnectionReset | ErrorKind::BrokenPipe), "{what}: {outside}");
            assert_eq!(world.codes(), [Code::Removed], "{what}");
            world.egress.end().await;
        }
    }
}

#[cfg(feature = "guard-off")]
alone! {
    async fn control_without_the_cut_neither_end_notices() {
        let _without = egress::guard::without(&["cut"]);
        for kind in kinds() {
            let what = kind.what;
            let (mut world, mut stream, mut told) = opened(&kind).await;
            world.set(&[]).await;
            let more = tokio::time::timeout(Duration::from_millis(100), stream.read(&mut [0; 64])).await;
            // Either nothing comes, or more of the download.
            assert!(more.is_err() || matches!(more, Ok(Ok(1..))), "{what}: {more:?}");
            assert!(told.try_recv().is_err(), "{what}");
            world.egress.end().await;
        }
    }
}

/// A handshake whose host has the greeting and has not answered yet.
async fn half_way(slow: &Tls) -> (World, tokio::task::JoinHandle<bool>, tokio::sync::oneshot::Sender<()>) {
    let (go, wait) = tokio::sync::oneshot::channel::<()>();
    let wait = std::sync::Arc::new(tokio::sync::Mutex::new(Some(wait)));
    let (there, greeted) = (slow.origin.address, std::sync::Arc::new(tokio::sync::Semaphore::new(0)));
    let heard = greeted.clone();
    // In front of the real one: holds back its answer.
    let front = Origin::new(move |tap: Tap| {
        let (wait, heard) = (wait.clone(), heard.clone());
        async move {
            let mut client = tap.stream;
            client.readable().await.unwrap();
            heard.add_permits(1);
            if let Some(wait) = wait.lock().await.take() {
                drop(wait.await);
            }
            let mut host = TcpStream::connect(there).await.unwrap();
            drop(tokio::io::copy_bidirectional(&mut client, &mut host).await);
        }
    })
    .await;
    let world = Plan::new(&["api.example.com"]).pin("api.example.com", front.address).start().await;
    let stream = world.connect("api.example.com", 443).await;
    let handshake = slow.connector("api.example.com");
    let done = tokio::spawn(async move { handshake(stream).await.is_ok() });
    drop(within(greeted.acquire()).await.unwrap());
    (world, done, go)
}

alone! {
    async fn a_handshake_with_the_host_under_way_is_cut() {
        let slow = Tls::new("api.example.com").await;
        let (mut world, done, go) = half_way(&slow).await;
        assert_eq!(world.set(&[]).await.cut, 1);
        // Whoever waited for it may be gone with the cut.
        go.send(()).ok();
        assert!(!within(done).await.unwrap());
        assert_eq!(world.codes(), [Code::Removed]);
    }
}

#[cfg(feature = "guard-off")]
alone! {
    async fn control_without_the_cut_a_handshake_ends_after_its_host_was_taken_away() {
        let _without = egress::guard::without(&["cut"]);
        let slow = Tls::new("api.example.com").await;
        let (mut world, done, go) = half_way(&slow).await;
        world.set(&[]).await;
        go.send(()).unwrap();
        assert!(within(done).await.unwrap());
    }
}

#[cfg(feature = "guard-off")]
alone! {
    async fn control_without_the_cut_a_greeting_under_way_arrives() {
        let _without = egress::guard::without(&["cut"]);
        let origin = Origin::echo().await;
        let mut world = Plan::new(&["api.example.com"]).pin("api.example.com", origin.address).start().await;
        let mut stream = world.connect("api.example.com", 443).await;
        let greeting = hello(Some("api.example.com"), &[]);
        stream.write_all(&greeting[..30]).await.unwrap();
        world.until_flows(1).await;
        world.set(&[]).await;
        stream.write_all(&greeting[30..]).await.unwrap();
        within(stream.read_exact(&mut vec![0; greeting.len()])).await.unwrap();
    }
}

alone! {
    async fn a_cut_waits_for_no_tool_that_does_not_read() {
        // As of a frozen cell: nobody inside takes anything, and its buffers are full.
        let (origin, mut told) = host(HEAD, true).await;
        let mut world = Plan::new(&["x.example.com"]).pin("x.example.com", origin.address).start().await;
        let mut stream = world.connect("x.example.com", 80).await;
        stream.write_all(b"GET / HTTP/1.1\r\nHost: x.example.com\r\n\r\n").await.unwrap();
        // Until nothing moves any more.
        let mut before = u64::MAX;
        while world.egress.usage().received != before {
            before = world.egress.usage().received;
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        assert_eq!(within(world.set(&[])).await.cut, 1);
        assert!(within(told.recv()).await.unwrap().is_err());
        assert_eq!(ending(&mut stream).await, Ending::Reset);
    }
}
