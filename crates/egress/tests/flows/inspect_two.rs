//! TLS that is looked into, HTTP/2 on both sides.

use bytes::Bytes;
use h2::Reason;
use http::{HeaderMap, Request, Response};

use crate::alone::alone;
use crate::inspect_world::{API, Ca, body, get, two, with_rules};
use crate::world::within;

const ANY: &str = "* api.example.com";

/// Answers with two letters.
pub(crate) async fn ok(_: Request<h2::RecvStream>, mut respond: h2::server::SendResponse<Bytes>) {
    let mut stream = respond.send_response(Response::new(()), false).unwrap();
    drop(stream.send_data(Bytes::from_static(b"ok"), true));
}

alone! {
    async fn many_requests_at_once_share_one_connection_to_the_host() {
        let ca = Ca::new();
        let (host, asked) = two(&ca, ok).await;
        let inside = with_rules(&ca, host.address, &[ANY]).await;
        let mut send = inside.two().await;
        // With the first answer the client knows how many may be sent at once.
        let answer = within(send.send_request(get("/first"), true).unwrap().0).await.unwrap();
        assert_eq!(body(answer.into_body()).await.unwrap(), b"ok");
        let mut all = tokio::task::JoinSet::new();
        for at in 1..250 {
            let send = send.clone();
            all.spawn(async move {
                let mut send = within(send.ready()).await.unwrap();
                let answer = within(send.send_request(get(&format!("/{at}")), true).unwrap().0).await.unwrap();
                assert_eq!(body(answer.into_body()).await.unwrap(), b"ok");
            });
        }
        while let Some(done) = all.join_next().await {
            done.unwrap();
        }
        assert_eq!((asked.lock().unwrap().len(), host.connections()), (250, 1));
        assert_eq!(asked.lock().unwrap()[0].1, format!("https://{API}/first"));
        assert_eq!(inside.world.codes(), []);
    }
}

alone! {
    async fn a_request_for_somebody_else_or_of_another_kind_is_refused_in_words() {
        let ca = Ca::new();
        let (host, asked) = two(&ca, ok).await;
        let inside = with_rules(&ca, host.address, &["GET api.example.com/a/*"]).await;
        let mut send = inside.two().await;
        let request = |uri: &str| Request::builder().uri(uri.to_owned()).body(()).unwrap();
        let with = |name: &str, value: &str| {
            let mut request = get("/a/b");
            request.headers_mut().append(http::HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
            request
        };
        let method = |method: &str| {
            let mut request = get("/a/b");
            *request.method_mut() = method.parse().unwrap();
            request
        };
        for (request, status, code) in [
            (request("https://evil.example.net/a/b"), 421, "FH-EGRESS-HOST-HEADER"),
            (request("https://api.example.com:8443/a/b"), 421, "FH-EGRESS-HOST-HEADER"),
            (request("https://api.example.com.evil.net/a/b"), 421, "FH-EGRESS-HOST-HEADER"),
            (request("http://api.example.com/a/b"), 400, "FH-EGRESS-NOT-HTTP"),
            (with("host", "evil.example.net"), 421, "FH-EGRESS-HOST-HEADER"),
            (method("TRACE"), 403, "FH-EGRESS-METHOD"),
            (method("POST"), 403, "FH-REQUEST-METHOD"),
            (method("get"), 400, "FH-EGRESS-NOT-HTTP"),
            (get("/b"), 403, "FH-REQUEST-PATH"),
            (get("/a/../b"), 403, "FH-REQUEST-PATH"),
            (get("/a//b"), 403, "FH-REQUEST-PATH"),
            (get("/a/%2e%2e/b"), 403, "FH-REQUEST-PATH"),
        ] {
            let text = format!("{request:?}");
            let answer = within(send.send_request(request, true).unwrap().0).await.unwrap();
            assert_eq!(answer.status(), status, "{text}");
            let told = String::from_utf8(body(answer.into_body()).await.unwrap()).unwrap();
            assert!(told.contains(code), "{text} {told}");
        }
        assert_eq!(asked.lock().unwrap().len(), 0);
        // The connection itself goes on.
        let answer = within(send.send_request(get("/a/b"), true).unwrap().0).await.unwrap();
        assert_eq!(body(answer.into_body()).await.unwrap(), b"ok");
    }
}

#[cfg(feature = "guard-off")]
alone! {
    async fn control_another_authority_reaches_the_shared_front_when_it_is_not_compared() {
        let _off = egress::guard::without(&["http-host"]);
        let ca = Ca::new();
        let (host, asked) = two(&ca, ok).await;
        let inside = with_rules(&ca, host.address, &[ANY]).await;
        let mut send = inside.two().await;
        let request = Request::builder().uri("https://evil.example.net/x").body(()).unwrap();
        let answer = within(send.send_request(request, true).unwrap().0).await.unwrap();
        assert_eq!(answer.status(), 200);
        assert_eq!(asked.lock().unwrap()[0].1, "https://evil.example.net/x");
    }
}

alone! {
    async fn a_host_that_cannot_prove_who_it_is_is_told_over_http_2_too() {
        let (ca, stranger) = (Ca::new(), Ca::new());
        let (host, asked) = two(&stranger, ok).await;
        let inside = with_rules(&ca, host.address, &[ANY]).await;
        let mut send = inside.two().await;
        let answer = within(send.send_request(get("/"), true).unwrap().0).await.unwrap();
        assert_eq!(answer.status(), 502);
        assert!(String::from_utf8(body(answer.into_body()).await.unwrap()).unwrap().contains("FH-EGRESS-UPSTREAM-TLS"));
        assert_eq!(asked.lock().unwrap().len(), 0);
    }
}

alone! {
    async fn messages_go_both_ways_at_once_with_hints_before_and_trailers_behind() {
        let ca = Ca::new();
        let (host, _) = two(&ca, |request, mut respond| async move {
            assert_eq!(request.headers()["te"], "trailers");
            let early = Response::builder().status(103).header("link", "</x>").body(()).unwrap();
            respond.send_informational(early).unwrap();
            let mut from = request.into_body();
            let mut to = respond.send_response(Response::new(()), false).unwrap();
            while let Some(piece) = from.data().await {
                let piece = piece.unwrap();
                from.flow_control().release_capacity(piece.len()).unwrap();
                to.send_data(piece, false).unwrap();
            }
            let trailers = from.trailers().await.unwrap().unwrap();
            to.send_trailers(trailers).unwrap();
        })
        .await;
        let inside = with_rules(&ca, host.address, &[ANY]).await;
        let mut send = inside.two().await;
        let mut request = get("/grpc");
        *request.method_mut() = http::Method::POST;
        request.headers_mut().insert("te", "trailers".parse().unwrap());
        let (mut answer, mut to) = send.send_request(request, false).unwrap();
        let early = within(std::future::poll_fn(|cx| answer.poll_informational(cx))).await.unwrap().unwrap();
        assert_eq!((early.status().as_u16(), early.headers()["link"].to_str().unwrap()), (103, "</x>"));
        let mut from = within(answer).await.unwrap().into_body();
        for turn in ["one", "two", "three"] {
            to.send_data(Bytes::from(turn), false).unwrap();
            assert_eq!(within(from.data()).await.unwrap().unwrap(), turn);
        }
        to.send_trailers(HeaderMap::from_iter([(http::HeaderName::from_static("grpc-status"), "0".parse().unwrap())])).unwrap();
        assert!(within(from.data()).await.is_none());
        assert_eq!(within(from.trailers()).await.unwrap().unwrap()["grpc-status"], "0");
    }
}

alone! {
    async fn large_bodies_pass_whole_at_the_pace_of_who_reads() {
        const TOTAL: usize = 24 * 1024 * 1024;
        let ca = Ca::new();
        let (host, _) = two(&ca, |request, mut respond| async move {
            let sent = body(request.into_body()).await.unwrap();
            let mut to = respond.send_response(Response::new(()), false).unwrap();
            let mut bytes = Bytes::from(sent);
            while !bytes.is_empty() {
                to.reserve_capacity(bytes.len());
                let room = std::future::poll_fn(|cx| to.poll_capacity(cx)).await.unwrap().unwrap();
                to.send_data(bytes.split_to(room.min(bytes.len())), false).unwrap();
            }
            to.send_data(Bytes::new(), true).unwrap();
        })
        .await;
        let inside = with_rules(&ca, host.address, &[ANY]).await;
        let mut send = inside.two().await;
        let mut request = get("/");
        *request.method_mut() = http::Method::PUT;
        let (answer, mut to) = send.send_request(request, false).unwrap();
        let upload = tokio::spawn(async move {
            let mut bytes = Bytes::from((0..TOTAL).map(|at| u8::try_from(at % 251).unwrap()).collect::<Vec<u8>>());
            while !bytes.is_empty() {
                to.reserve_capacity(bytes.len());
                let room = std::future::poll_fn(|cx| to.poll_capacity(cx)).await.unwrap().unwrap();
                to.send_data(bytes.split_to(room.min(bytes.len())), false).unwrap();
            }
            to.send_data(Bytes::new(), true).unwrap();
        });
        let back = body(within(answer).await.unwrap().into_body()).await.unwrap();
        assert_eq!(back.len(), TOTAL);
        assert!(back.iter().enumerate().all(|(at, byte)| usize::from(*byte) == at % 251));
        upload.await.unwrap();
    }
}

alone! {
    async fn an_answer_before_the_end_of_the_body_and_a_reset_are_passed_on() {
        let ca = Ca::new();
        let (host, _) = two(&ca, |request, mut respond| async move {
            if request.uri().path() == "/reset" {
                respond.send_reset(Reason::REFUSED_STREAM);
                return;
            }
            let response = Response::builder().status(413).body(()).unwrap();
            respond.send_response(response, true).unwrap();
        })
        .await;
        let inside = with_rules(&ca, host.address, &[ANY]).await;
        let mut send = inside.two().await;
        let (answer, mut to) = send.send_request(get("/early"), false).unwrap();
        to.send_data(Bytes::from_static(b"part"), false).unwrap();
        assert_eq!(within(answer).await.unwrap().status(), 413);
        let (answer, _) = send.send_request(get("/reset"), true).unwrap();
        assert_eq!(within(answer).await.unwrap_err().reason(), Some(Reason::REFUSED_STREAM));
        let answer = within(send.send_request(get("/early"), true).unwrap().0).await.unwrap();
        assert_eq!(answer.status(), 413);
    }
}
