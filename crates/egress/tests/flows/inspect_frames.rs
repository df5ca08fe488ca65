//! Attacks on HTTP/2 inside TLS, frame by frame.

use std::time::Duration;

use egress::refusal::Code;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::alone::alone;
use crate::inspect_two::ok;
use crate::inspect_world::{API, Ca, body, get, start, two, with_rules};
use crate::world::{Plan, policy, until, within};

const ANY: &str = "* api.example.com";

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A literal header without indexing (RFC 7541 §6.2.2).
fn field(name: &str, value: &str) -> Vec<u8> {
    let short = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    [vec![0], short(name), short(value)].concat()
}

fn request(authority: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let usual = [(":method", "GET"), (":scheme", "https"), (":path", "/"), (":authority", authority)];
    usual.iter().chain(more).flat_map(|(name, value)| field(name, value)).collect()
}

/// What an attacker writes on a connection of HTTP/2, and whether the host saw a request of it.
async fn attack(inside: &crate::inspect_world::Inspected, bytes: &[u8]) -> std::io::Result<usize> {
    let mut stream = inside.tls(&["h2"]).await;
    stream.write_all(PREFACE).await?;
    stream.write_all(&frame(4, 0, 0, &[])).await?;
    for piece in bytes.chunks(16 * 1024) {
        if stream.write_all(piece).await.is_err() {
            break;
        }
        tokio::task::yield_now().await;
    }
    drop(stream.flush().await);
    let mut back = Vec::new();
    // Its end is in order (GOAWAY) or a reset.
    let _ending = within(stream.read_to_end(&mut back)).await;
    Ok(back.len())
}

fn tricks() -> Vec<(&'static str, Vec<u8>)> {
    let headers = |block: &[u8]| frame(1, 5, 1, block);
    let pseudo = |more: &[(&str, &str)]| headers(&request(API, more));
    let rapid: Vec<u8> = (0..2_000_u32)
        .flat_map(|at| {
            [frame(1, 5, 2 * at + 1, &request(API, &[])), frame(3, 0, 2 * at + 1, &8_u32.to_be_bytes())]
                .concat()
        })
        .collect();
    let flood: Vec<u8> = std::iter::once(frame(1, 1, 1, &request(API, &[])))
        .chain((0..2_000).map(|_| frame(9, 0, 1, &field("x-more", "a"))))
        .flatten()
        .collect();
    let empty: Vec<u8> = std::iter::once(frame(1, 1, 1, &request(API, &[])))
        .chain((0..20_000).map(|_| frame(9, 0, 1, &[])))
        .flatten()
        .collect();
    vec![
        ("rapid reset", rapid),
        ("a flood of CONTINUATION", flood),
        ("a flood of empty CONTINUATION", empty),
        ("a frame beyond the limit", frame(1, 5, 1, &vec![0; 17_000])),
        ("headers on stream 0", frame(1, 5, 0, &request(API, &[]))),
        ("an even stream", frame(1, 5, 2, &request(API, &[]))),
        ("garbage for a header block", headers(&[0xff; 64])),
        ("data before headers", frame(0, 1, 1, b"x")),
        ("a pushed promise", frame(5, 4, 1, &[0; 8])),
        ("a window of nothing", frame(8, 0, 0, &0_u32.to_be_bytes())),
        (
            "priority of itself then nothing",
            [pseudo(&[(":method", "POST")]), frame(2, 0, 1, &[0; 4])].concat(),
        ),
    ]
}

alone! {
    async fn floods_and_broken_frames_end_the_connection() {
        let ca = Ca::new();
        let (host, _) = two(&ca, ok).await;
        let inside = with_rules(&ca, host.address, &[ANY]).await;
        for (what, bytes) in tricks() {
            let back = attack(&inside, &bytes).await.unwrap();
            assert!(back < 4 * 1024 * 1024, "{what}");
        }
        assert!(inside.world.codes().contains(&Code::Limit), "{:?}", inside.world.codes());
        inside.world.until_flows(0).await;
    }
}

#[cfg(feature = "guard-off")]
alone! {
    async fn control_a_flood_of_resets_goes_on_when_nobody_counts() {
        let _off = egress::guard::without(&["h2-resets"]);
        let ca = Ca::new();
        let (host, _) = two(&ca, ok).await;
        let inside = with_rules(&ca, host.address, &[ANY]).await;
        let mut stream = inside.tls(&["h2"]).await;
        stream.write_all(PREFACE).await.unwrap();
        stream.write_all(&frame(4, 0, 0, &[])).await.unwrap();
        for (_, bytes) in tricks().into_iter().take(1) {
            stream.write_all(&bytes).await.unwrap();
        }
        stream.write_all(&frame(6, 0, 0, b"still up")).await.unwrap();
        stream.flush().await.unwrap();
        let mut seen = Vec::new();
        within(async {
            while memchr::memmem::find(&seen, b"still up").is_none() {
                let mut bytes = vec![0; 16 * 1024];
                let count = stream.read(&mut bytes).await.unwrap();
                assert!(count > 0, "the connection was ended");
                seen.extend_from_slice(&bytes[..count]);
            }
        })
        .await;
    }
}

/// Requests whose pseudo-headers could be read in two ways: each a stream error or a refusal, never a request to the host.
fn ambiguous() -> Vec<(&'static str, Vec<u8>)> {
    let fields = |fields: &[(&str, &str)]| {
        fields.iter().flat_map(|(name, value)| field(name, value)).collect::<Vec<u8>>()
    };
    let scheme = (":scheme", "https");
    vec![
        ("two methods", request(API, &[(":method", "POST")])),
        ("two paths", request(API, &[(":path", "/other")])),
        ("two authorities", request(API, &[(":authority", "evil.example.net")])),
        ("a pseudo-header of answers", request(API, &[(":status", "200")])),
        ("an unknown pseudo-header", request(API, &[(":evil", "x")])),
        (
            "a pseudo-header behind a header",
            fields(&[(":method", "GET"), scheme, ("x", "y"), (":path", "/"), (":authority", API)]),
        ),
        ("no method", fields(&[scheme, (":path", "/"), (":authority", API)])),
        ("no path", fields(&[(":method", "GET"), scheme, (":authority", API)])),
        ("an empty path", fields(&[(":method", "GET"), scheme, (":path", ""), (":authority", API)])),
        ("no authority", fields(&[(":method", "GET"), scheme, (":path", "/")])),
        ("an upper-case name", request(API, &[("X-Upper", "y")])),
        ("connection", request(API, &[("connection", "keep-alive")])),
        ("transfer-encoding", request(API, &[("transfer-encoding", "chunked")])),
        ("upgrade", request(API, &[("upgrade", "h2c")])),
        ("a line break in a value", request(API, &[("x", "a\r\nevil: 1")])),
        ("NUL in a value", request(API, &[("x", "a\0b")])),
        ("a colon in a name", request(API, &[("x:y", "z")])),
        ("CONNECT", fields(&[(":method", "CONNECT"), (":authority", API)])),
        (
            "a WebSocket over CONNECT",
            fields(&[
                (":method", "CONNECT"),
                (":protocol", "websocket"),
                scheme,
                (":path", "/"),
                (":authority", API),
            ]),
        ),
        ("user information", request("user@api.example.com", &[])),
        ("another host", request("evil.example.net", &[])),
        (
            "a path that is a URL",
            fields(&[
                (":method", "GET"),
                scheme,
                (":path", "https://evil.example.net/"),
                (":authority", API),
            ]),
        ),
    ]
}

alone! {
    async fn requests_that_could_be_read_in_two_ways_reach_nobody() {
        let ca = Ca::new();
        let (host, asked) = two(&ca, ok).await;
        let inside = with_rules(&ca, host.address, &[ANY]).await;
        for (what, block) in ambiguous() {
            let mut stream = inside.tls(&["h2"]).await;
            stream.write_all(PREFACE).await.unwrap();
            let all = [frame(4, 0, 0, &[]), frame(1, 5, 1, &block), frame(6, 0, 0, b"are here")].concat();
            stream.write_all(&all).await.unwrap();
            stream.flush().await.unwrap();
            // Until the answer to the ping, or the end.
            let mut seen = Vec::new();
            within(async {
                while memchr::memmem::find(&seen, b"are here").is_none() {
                    let mut bytes = [0; 4096];
                    match stream.read(&mut bytes).await {
                        Ok(count @ 1..) => seen.extend_from_slice(&bytes[..count]),
                        _ => break,
                    }
                }
            })
            .await;
            tokio::time::sleep(Duration::from_millis(20)).await;
            assert_eq!(asked.lock().unwrap().len(), 0, "{what}");
        }
        // The same way of asking, without a trick, arrives.
        let mut stream = inside.tls(&["h2"]).await;
        let all = [PREFACE, &frame(4, 0, 0, &[]), &frame(1, 5, 1, &request(API, &[("x", "y")]))].concat();
        stream.write_all(&all).await.unwrap();
        stream.flush().await.unwrap();
        until(|| asked.lock().unwrap().len() == 1).await;
    }
}

alone! {
    async fn a_bomb_of_headers_is_refused() {
        let ca = Ca::new();
        let (host, asked) = two(&ca, ok).await;
        let inside = with_rules(&ca, host.address, &[ANY]).await;
        let mut send = inside.two().await;
        let mut many = get("/");
        for at in 0..200 {
            many.headers_mut().insert(http::HeaderName::from_bytes(format!("x-{at}").as_bytes()).unwrap(), "y".parse().unwrap());
        }
        let answer = within(send.send_request(many, true).unwrap().0).await.unwrap();
        assert_eq!(answer.status(), 431);
        // One entry of the table, named over and over (RFC 7541 §6.1): small on the wire, large in memory.
        let entry = [&[0x40, 1, b'x', 0x7f, 0xa1, 0x1e][..], &[b'v'; 4000]].concat();
        let bomb = [request(API, &[]), entry, vec![0xbe; 8000]].concat();
        let mut stream = inside.tls(&["h2"]).await;
        stream.write_all(&[PREFACE, &frame(4, 0, 0, &[]), &frame(1, 5, 1, &bomb)].concat()).await.unwrap();
        stream.flush().await.unwrap();
        let mut back = vec![0; 16 * 1024];
        within(stream.read(&mut back)).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(asked.lock().unwrap().len(), 0);
    }
}

alone! {
    async fn a_block_of_headers_that_never_ends_is_given_up() {
        let ca = Ca::new();
        let (host, asked) = two(&ca, ok).await;
        let plan = Plan::new(&[]).limits(|limits| limits.head_time = Duration::from_millis(200));
        let inside = start(plan, &ca, host.address, policy(1, &[ANY])).await;
        let whole = request(API, &[]);
        let (begin, _) = whole.split_at(20);
        for begun in [frame(1, 1, 1, begin), frame(1, 5, 1, &whole)[..15].to_vec(), frame(4, 0, 0, &[])[..5].to_vec()] {
            let mut stream = inside.tls(&["h2"]).await;
            stream.write_all(&[PREFACE, &frame(4, 0, 0, &[]), &begun].concat()).await.unwrap();
            stream.flush().await.unwrap();
            let _ending = within(stream.read_to_end(&mut Vec::new())).await;
        }
        inside.world.until_flows(0).await;
        assert_eq!(asked.lock().unwrap().len(), 0);
        // Silence between requests is none of that.
        let mut send = inside.two().await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        let answer = within(send.send_request(get("/"), true).unwrap().0).await.unwrap();
        assert_eq!(body(answer.into_body()).await.unwrap(), b"ok");
    }
}
