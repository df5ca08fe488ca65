//! Requests that two readers could read differently, and ways out of HTTP: none of them reaches a host.

use egress::refusal::Code;
use tokio::io::AsyncWriteExt;

use crate::alone::alone;
use crate::origins::Origin;
use crate::world::{Ending, Plan, World, ending, until};

const HOST: &str = "Host: plain.example.com\r\n";
const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// A request on the HTTP port of `plain.example.com`.
struct Case {
    what: &'static str,
    request: String,
    status: u16,
    code: Code,
    /// The guard without which it gets through; none where hyper refuses it as well.
    #[cfg_attr(not(feature = "guard-off"), expect(dead_code, reason = "for the control"))]
    guard: Option<&'static str>,
}

fn case(what: &'static str, request: &str, code: Code, guard: Option<&'static str>) -> Case {
    Case { what, request: request.replace("$HOST", HOST), status: code.status(), code, guard }
}

#[rustfmt::skip]
fn cases() -> Vec<Case> {
    let head = Some("http-head");
    let inner = "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: plain.example.com\r\n\r\n";
    let te = "Transfer-Encoding: chunked\r\n";
    let ws = "Upgrade: websocket\r\nConnection: upgrade\r\n";
    vec![
        case("CL.TE", &format!("POST / HTTP/1.1\r\n$HOST{te}Content-Length: {}\r\n\r\n{inner}", inner.len()), Code::NotHttp, head),
        case("TE.CL", &format!("POST / HTTP/1.1\r\n$HOSTContent-Length: 4\r\n{te}\r\n{inner}"), Code::NotHttp, head),
        case("the same length twice", "POST / HTTP/1.1\r\n$HOSTContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi", Code::NotHttp, head),
        case("two lengths", "POST / HTTP/1.1\r\n$HOSTContent-Length: 2\r\nContent-Length: 5\r\n\r\nhi", Code::NotHttp, None),
        case("a list of lengths", "POST / HTTP/1.1\r\n$HOSTContent-Length: 2, 2\r\n\r\nhi", Code::NotHttp, None),
        case("a signed length", "POST / HTTP/1.1\r\n$HOSTContent-Length: +2\r\n\r\nhi", Code::NotHttp, None),
        case("a length in words", "POST / HTTP/1.1\r\n$HOSTContent-Length: 0x2\r\n\r\nhi", Code::NotHttp, None),
        case("chunked twice", &format!("POST / HTTP/1.1\r\n$HOST{te}{te}\r\n{inner}"), Code::NotHttp, head),
        case("an unknown coding", "POST / HTTP/1.1\r\n$HOSTTransfer-Encoding: identity\r\n\r\n", Code::NotHttp, None),
        case("gzip, chunked", "POST / HTTP/1.1\r\n$HOSTTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", Code::NotHttp, head),
        case("chunked with a tab", "POST / HTTP/1.1\r\n$HOSTTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", Code::NotHttp, None),
        case("space before the colon", &format!("POST / HTTP/1.1\r\n$HOSTTransfer-Encoding : chunked\r\n\r\n{inner}"), Code::NotHttp, None),
        case("a folded header", "GET / HTTP/1.1\r\n$HOSTX-A: b\r\n c\r\n\r\n", Code::NotHttp, None),
        case("a folded first header", "GET / HTTP/1.1\r\n $HOST\r\n", Code::NotHttp, None),
        case("bare line feeds", "GET / HTTP/1.1\nHost: plain.example.com\n\n", Code::NotHttp, head),
        case("one bare line feed", "GET / HTTP/1.1\r\n$HOSTX-A: b\nX-B: c\r\n\r\n", Code::NotHttp, head),
        case("a bare carriage return", "GET / HTTP/1.1\r\n$HOSTX-A: b\rX-B: c\r\n\r\n", Code::NotHttp, None),
        case("NUL in a value", "GET / HTTP/1.1\r\n$HOSTX-A: b\0c\r\n\r\n", Code::NotHttp, None),
        case("no host", "GET / HTTP/1.1\r\nX-A: b\r\n\r\n", Code::NotHttp, None),
        case("two hosts", "GET / HTTP/1.1\r\n$HOSTHost: evil.example.net\r\n\r\n", Code::NotHttp, head),
        case("another host", "GET / HTTP/1.1\r\nHost: evil.example.net\r\n\r\n", Code::HostHeader, Some("http-host")),
        case("another port", "GET / HTTP/1.1\r\nHost: plain.example.com:81\r\n\r\n", Code::HostHeader, Some("http-host")),
        case("a longer host", "GET / HTTP/1.1\r\nHost: plain.example.com.evil.net\r\n\r\n", Code::HostHeader, Some("http-host")),
        case("an address", "GET / HTTP/1.1\r\nHost: 169.254.169.254\r\n\r\n", Code::HostHeader, Some("http-host")),
        case("user information", "GET / HTTP/1.1\r\nHost: plain.example.com@evil.net\r\n\r\n", Code::NotHttp, head),
        case("absolute form against Host", "GET http://evil.example.net/ HTTP/1.1\r\n$HOST\r\n", Code::HostHeader, Some("http-host")),
        case("Host against absolute form", "GET http://plain.example.com/ HTTP/1.1\r\nHost: evil.example.net\r\n\r\n", Code::HostHeader, Some("http-host")),
        case("user information in the target", "GET http://plain.example.com@evil.net/ HTTP/1.1\r\n$HOST\r\n", Code::NotHttp, head),
        case("https in the target", "GET https://plain.example.com/ HTTP/1.1\r\n$HOST\r\n", Code::NotHttp, head),
        case("Connection: Host", "GET / HTTP/1.1\r\n$HOSTConnection: close, Host\r\n\r\n", Code::NotHttp, Some("http-connection")),
        case("Connection: Authorization", "GET / HTTP/1.1\r\n$HOSTConnection: Authorization\r\n\r\n", Code::NotHttp, Some("http-connection")),
        case("a coding in HTTP/1.0", &format!("POST / HTTP/1.0\r\n$HOST{te}\r\n{inner}"), Code::NotHttp, None),
        case("the HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", Code::Upgrade, None),
        case("Upgrade: h2c", "GET / HTTP/1.1\r\n$HOSTConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n", Code::Upgrade, head),
        case("h2c beside websocket", "GET / HTTP/1.1\r\n$HOSTConnection: upgrade\r\nUpgrade: websocket, h2c\r\n\r\n", Code::Upgrade, head),
        case("another upgrade", "GET / HTTP/1.1\r\n$HOSTConnection: upgrade\r\nUpgrade: TLS/1.2\r\n\r\n", Code::Upgrade, head),
        case("a WebSocket by POST", &format!("POST / HTTP/1.1\r\n$HOST{ws}Content-Length: 0\r\n\r\n"), Code::Upgrade, head),
        case("a WebSocket with a body", &format!("GET / HTTP/1.1\r\n$HOST{ws}Content-Length: 5\r\n\r\nhello"), Code::Upgrade, head),
        case("a WebSocket in HTTP/1.0", &format!("GET / HTTP/1.0\r\n$HOST{ws}\r\n"), Code::Upgrade, head),
        case("TRACE", "TRACE / HTTP/1.1\r\n$HOST\r\n", Code::Method, Some("http-method")),
        case("CONNECT", "CONNECT evil.example.net:443 HTTP/1.1\r\nHost: evil.example.net:443\r\n\r\n", Code::Method, None),
        case("a request in lower case", "get / HTTP/1.1\r\n$HOST\r\n", Code::NotHttp, head),
        case("a target with brackets", "GET /<a> HTTP/1.1\r\n$HOST\r\n", Code::NotHttp, None),
        case("an escape in the target's host", "GET http://plain.example.com%2eevil.net/ HTTP/1.1\r\n$HOST\r\n", Code::NotHttp, None),
        case("two spaces", "GET  / HTTP/1.1\r\n$HOST\r\n", Code::NotHttp, None),
        case("HTTP/0.9", "GET /\r\n\r\n", Code::NotHttp, None),
        case("HTTP/1.2", "GET / HTTP/1.2\r\n$HOST\r\n", Code::NotHttp, None),
        case("TLS on the port", "\x16\x03\x01\0\x05\x01\0\0\x01\0\r\n\r\n", Code::NotHttp, None),
    ]
}

async fn world_and_origin() -> (World, Origin) {
    let origin = Origin::http(OK).await;
    let world = Plan::new(&["plain.example.com"]).pin("plain.example.com", origin.address).start().await;
    (world, origin)
}

alone! {
    async fn none_of_them_reaches_the_host_and_each_is_answered() {
        for Case { what, request, status, code, .. } in cases() {
            let (world, origin) = world_and_origin().await;
            let mut stream = world.connect("plain.example.com", 80).await;
            stream.write_all(request.as_bytes()).await.unwrap();
            let Ending::Closed(answer) = ending(&mut stream).await else { panic!("{what}: no answer") };
            let answer = String::from_utf8(answer).unwrap();
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{what}: {answer}");
            let (_, body) = answer.split_once("\r\n\r\n").unwrap();
            let body: serde_json::Value = serde_json::from_str(body).unwrap();
            assert_eq!(body["code"], code.as_str(), "{what}: {body}");
            assert_eq!(body["host"], "plain.example.com", "{what}");
            assert!(body["remedy"].as_str().is_some_and(|remedy| !remedy.is_empty()), "{what}");
            assert_eq!(world.codes(), [code], "{what}");
            assert_eq!(origin.connections(), 0, "{what}");
            world.egress.end().await;
        }
    }
}

#[cfg(feature = "guard-off")]
alone! {
    async fn control_without_the_guard_a_request_reaches_the_host() {
        let mut tried = 0;
        for Case { what, request, guard, .. } in cases() {
            let Some(guard) = guard else { continue };
            let without = egress::guard::without(&[guard, "http-host"]);
            let (world, origin) = world_and_origin().await;
            let mut stream = world.connect("plain.example.com", 80).await;
            stream.write_all(request.as_bytes()).await.unwrap();
            crate::world::within(async {
                while !origin.all().contains(" HTTP/1.1\r\n") {
                    assert_eq!(world.codes(), [], "{what}");
                    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
                }
            })
            .await;
            tried += 1;
            world.egress.end().await;
            drop(without);
        }
        assert!(tried > 20, "{tried}");
    }
}

/// The same request by way of the explicit proxy: in a tunnel to the HTTP port, and with the whole URL in its first line.
fn through_proxy(request: &str) -> Vec<(&'static str, String)> {
    let connect = "CONNECT plain.example.com:80 HTTP/1.1\r\nHost: plain.example.com:80\r\n\r\n";
    let mut ways = vec![("in a tunnel", format!("{connect}{request}"))];
    if let Some((method, rest)) = request.split_once(" / HTTP/1") {
        ways.push(("as a whole URL", format!("{method} http://plain.example.com/ HTTP/1{rest}")));
    }
    ways
}

alone! {
    async fn none_of_them_reaches_the_host_through_the_explicit_proxy() {
        for Case { what, request, .. } in cases() {
            for (way, request) in through_proxy(&request) {
                let origin = Origin::http(OK).await;
                let plan = Plan::new(&["plain.example.com"]).pin("plain.example.com", origin.address);
                let world = plan.proxy().start().await;
                let mut stream = world.to_proxy().await;
                stream.write_all(request.as_bytes()).await.unwrap();
                let Ending::Closed(answer) = ending(&mut stream).await else { panic!("{what} {way}: reset") };
                let answer = String::from_utf8_lossy(&answer).into_owned();
                // The tunnel is granted, and what is said in it refused.
                let last = answer.rsplit_once("HTTP/1.1 ").unwrap().1;
                assert!(!last.starts_with('2') && answer.contains("FH-EGRESS-"), "{what} {way}: {answer}");
                assert!(!world.codes().is_empty(), "{what} {way}");
                assert_eq!(origin.connections(), 0, "{what} {way}");
                world.egress.end().await;
            }
        }
    }
}

#[cfg(feature = "guard-off")]
alone! {
    async fn control_without_the_guards_requests_in_a_tunnel_reach_the_host() {
        let mut tried = 0;
        for Case { what, request, guard, .. } in cases() {
            let Some(guard) = guard else { continue };
            let without = egress::guard::without(&[guard, "http-host"]);
            let origin = Origin::http(OK).await;
            let plan = Plan::new(&["plain.example.com"]).pin("plain.example.com", origin.address);
            let world = plan.proxy().start().await;
            let mut stream = world.to_proxy().await;
            let (_, request) = through_proxy(&request).swap_remove(0);
            let (connect, request) = request.split_at(request.find("\r\n\r\n").unwrap() + 4);
            stream.write_all(connect.as_bytes()).await.unwrap();
            let mut granted = [0; 12];
            crate::world::within(tokio::io::AsyncReadExt::read_exact(&mut stream, &mut granted)).await.unwrap();
            assert_eq!(&granted, b"HTTP/1.1 200", "{what}");
            stream.write_all(request.as_bytes()).await.unwrap();
            until(|| origin.all().contains(" HTTP/1.1\r\n")).await;
            tried += 1;
            world.egress.end().await;
            drop(without);
        }
        assert!(tried > 20, "{tried}");
    }
}

alone! {
    async fn what_is_said_is_written_anew() {
        let (world, origin) = world_and_origin().await;
        let mut stream = world.connect("plain.example.com", 80).await;
        let request = "POST http://PLAIN.example.com:80/a?b=c HTTP/1.1\r\nX-Odd:   spaces  \r\nhost: Plain.Example.Com.\r\n\
            Connection: keep-alive\r\nKeep-Alive: 5\r\nTE: trailers\r\nProxy-Authorization: Basic x\r\n\
            Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
        let answer = crate::origins::ask(&mut stream, request).await;
        assert!(answer.ends_with("ok"), "{answer}");
        until(|| origin.all().ends_with("0\r\n\r\n")).await;
        insta::assert_snapshot!(origin.all().replace('\r', ""), @r"
        POST /a?b=c HTTP/1.1
        host: plain.example.com
        x-odd: spaces
        transfer-encoding: chunked

        3
        abc
        0
        ");
    }
}

alone! {
    async fn a_request_hidden_in_a_body_stays_in_the_body() {
        let (world, origin) = world_and_origin().await;
        let mut stream = world.connect("plain.example.com", 80).await;
        let hidden = "GET /hidden HTTP/1.1\r\nHost: evil.example.net\r\n\r\n";
        let request = format!("POST /a HTTP/1.1\r\n{HOST}Content-Length: {}\r\n\r\n{hidden}GET /b HTTP/1.1\r\n{HOST}\r\n", hidden.len());
        stream.write_all(request.as_bytes()).await.unwrap();
        until(|| origin.all().contains("GET /b HTTP/1.1")).await;
        assert_eq!(world.codes(), []);
    }
}

alone! {
    async fn a_malformed_chunk_ends_the_connection() {
        for chunk in ["3;x=y\r\nabc\r\n", "zz\r\n", "3\nabc\r\n", "3\r\nabcd\r\n", "-1\r\n", "0x3\r\nabc\r\n", "1000000000000000000\r\n"] {
            let (world, origin) = world_and_origin().await;
            let mut stream = world.connect("plain.example.com", 80).await;
            let request = format!("POST / HTTP/1.1\r\n{HOST}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n{chunk}0\r\n\r\nGET /after HTTP/1.1\r\n{HOST}\r\n");
            stream.write_all(request.as_bytes()).await.unwrap();
            let ended = ending(&mut stream).await;
            if let Ending::Closed(answer) = ended {
                assert!(!answer.ends_with(b"ok"), "{chunk}");
            }
            world.until_flows(0).await;
            assert!(!origin.all().contains("/after"), "{chunk}");
            assert!(!origin.all().contains("0\r\n\r\n"), "{chunk}: {}", origin.all());
            world.egress.end().await;
        }
    }
}

alone! {
    async fn bytes_after_a_request_for_a_websocket_wait_for_the_hosts_yes() {
        let refusing = Origin::new(|mut tap| async move {
            drop(tap.head().await);
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            drop(tap.stream.write_all(OK.as_bytes()).await);
            while tap.head().await.is_some() {
                drop(tap.stream.write_all(OK.as_bytes()).await);
            }
        })
        .await;
        let world = Plan::new(&["plain.example.com"]).pin("plain.example.com", refusing.address).start().await;
        let mut stream = world.connect("plain.example.com", 80).await;
        let request = format!("GET /ws HTTP/1.1\r\n{HOST}Upgrade: websocket\r\nConnection: Upgrade\r\n\r\nGET /x HTTP/1.1\r\nHost: evil.example.net\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let Ending::Closed(answers) = ending(&mut stream).await else { panic!("reset") };
        let answers = String::from_utf8(answers).unwrap();
        assert!(answers.starts_with("HTTP/1.1 200 ") && answers.contains("FH-EGRESS-HOST-HEADER"), "{answers}");
        assert!(!refusing.all().contains("/x"), "{}", refusing.all());
        assert_eq!(world.codes(), [Code::HostHeader]);
    }
}

alone! {
    async fn a_host_that_switches_to_what_nobody_asked_for_is_cut() {
        let odd = Origin::http("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: tcp\r\n\r\n").await;
        let world = Plan::new(&["plain.example.com"]).pin("plain.example.com", odd.address).start().await;
        for upgrade in ["", "Upgrade: websocket\r\nConnection: Upgrade\r\n"] {
            let mut stream = world.connect("plain.example.com", 80).await;
            stream.write_all(format!("GET /ws HTTP/1.1\r\n{HOST}{upgrade}\r\n").as_bytes()).await.unwrap();
            let Ending::Closed(answer) = ending(&mut stream).await else { panic!("reset") };
            let answer = String::from_utf8(answer).unwrap();
            assert!(!answer.starts_with("HTTP/1.1 101") && answer.contains("FH-EGRESS-"), "{answer}");
        }
    }
}
