//! Fuzz targets of what is read from a cell's connections. `cargo test` replays the corpus and tries random inputs;
//! `cargo bolero` goes on from there.

use egress::http::chunks::Chunks;
use egress::http::head::{Framing, Head, Target, end_of_head};
use egress::tls::hello::{MAX_HELLO, Progress, parse};

#[test]
fn client_hello() {
    bolero::check!().with_iterations(20_000).for_each(|bytes: &[u8]| {
        let Ok(Progress::Complete(hello)) = parse(bytes) else { return };
        assert!(hello.length <= bytes.len() && hello.length <= MAX_HELLO);
        // The reading does not depend on how much has arrived, nor on what follows.
        assert_eq!(parse(&bytes[..hello.length]), Ok(Progress::Complete(hello.clone())));
        for end in [0, 1, 5, hello.length / 2, hello.length - 1] {
            assert!(matches!(parse(&bytes[..end]), Ok(Progress::Incomplete { need }) if need > end && need <= hello.length));
        }
        if let Some(sni) = hello.sni {
            assert!(!sni.is_empty() && sni.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte)));
        }
    });
}

#[test]
fn http_head() {
    bolero::check!().with_iterations(20_000).for_each(|bytes: &[u8]| {
        for connect in [false, true] {
            if let Ok(head) = Head::parse(bytes, 64, connect) {
                check_head(bytes, &head, connect);
            }
        }
    });
}

/// Heads put together from the pieces that matter, so that random input gets behind the first line.
fn head_from(pieces: &[u8]) -> Vec<u8> {
    const PIECES: [&str; 24] = [
        "GET / HTTP/1.1\r\n",
        "POST /a?b HTTP/1.1\r\n",
        "GET http://a.b/ HTTP/1.1\r\n",
        "CONNECT a.b:1 HTTP/1.1\r\n",
        "Host: a.b\r\n",
        "Host:",
        "Content-Length: 3\r\n",
        "Content-Length:",
        "Transfer-Encoding: chunked\r\n",
        "Transfer-Encoding:",
        "chunked",
        "Connection: close\r\n",
        "Connection: upgrade\r\n",
        "Upgrade: websocket\r\n",
        "Upgrade:",
        "h2c",
        "\r\n",
        "\n",
        "\r",
        " ",
        "\t",
        ",",
        "X: y\r\n",
        "HTTP/1.0\r\n",
    ];
    pieces.iter().flat_map(|piece| PIECES[usize::from(*piece) % PIECES.len()].bytes()).collect()
}

#[test]
fn http_head_of_pieces() {
    bolero::check!().with_iterations(50_000).with_type::<Vec<u8>>().for_each(|pieces| {
        for bytes in
            [head_from(pieces), [b"GET / HTTP/1.1\r\nHost: a.b\r\n".to_vec(), head_from(pieces)].concat()]
        {
            if let Ok(head) = Head::parse(&bytes, 64, true) {
                check_head(&bytes, &head, true);
            }
        }
    });
}

/// What everything behind the gate relies on for each head that passes it.
fn check_head(bytes: &[u8], head: &Head, connect: bool) {
    assert_eq!(end_of_head(bytes, 0), Some(bytes.len()));
    let text = String::from_utf8_lossy(bytes).to_ascii_lowercase();
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "a bare line feed");
    assert_eq!(text.matches('\r').count(), text.matches("\r\n").count(), "a bare carriage return");
    assert!(!text.contains("\r\n ") && !text.contains("\r\n\t"), "a fold");
    assert!(connect || head.method != "CONNECT");
    assert!(!matches!(head.method.as_str(), "TRACE" | "TRACK" | "PRI"));
    assert_eq!(head.method == "CONNECT", matches!(head.target, Target::Authority(_)));
    assert!(!head.websocket || (head.method == "GET" && head.framing == Framing::None));
    // The parser under hyper reads the same request.
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut again = httparse::Request::new(&mut headers);
    let length = again.parse(bytes).expect("hyper would refuse it");
    assert_eq!(length, httparse::Status::Complete(bytes.len()));
    assert_eq!(again.method, Some(head.method.as_str()));
    let named =
        |name: &str| again.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name)).count();
    assert_eq!(named("host"), 1);
    assert!(named("content-length") + named("transfer-encoding") <= 1);
    match head.framing {
        Framing::None => assert_eq!(named("transfer-encoding"), 0),
        Framing::Length(_) => assert_eq!((named("content-length"), named("transfer-encoding")), (1, 0)),
        Framing::Chunked => assert_eq!((named("content-length"), named("transfer-encoding")), (0, 1)),
    }
    assert_eq!(named("http2-settings"), 0);
}

#[test]
fn chunked_body() {
    bolero::check!().with_iterations(20_000).for_each(|bytes: &[u8]| {
        let mut whole = Chunks::START;
        let at_once = whole.follow(bytes);
        let mut bit = Chunks::START;
        let mut taken = 0;
        let mut failed = false;
        for byte in bytes {
            let Ok(count) = bit.follow(&[*byte]) else {
                failed = true;
                break;
            };
            taken += count;
        }
        // However it is cut, a body has one end.
        match at_once {
            Ok(count) => assert!(!failed && count == taken && whole == bit),
            Err(_) => assert!(failed),
        }
    });
}
