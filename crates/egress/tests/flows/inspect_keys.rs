//! A key's value is written into requests to its own host, and taken out of what comes back.

use std::sync::Arc;

use egress::event::Event;
use egress::policy::Policy;
use egress::refusal::Code;
use egress::self_test::SelfTestError;
use model::name::ServerName;
use model::request::{Method, PathPattern};
use model::secret::{Binding, Place, SecretName};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::alone::alone;
use crate::inspect_world::{
    API, Asked, Ca, Host, Inspected, TOKEN, VALUE, binding, body, get, placeholder, ring, start, two,
};
use crate::origins::ask;
use crate::world::{Plan, until, within};

fn keyed(generation: u64, ring: &Arc<egress::credential::Keyring>) -> Policy {
    Policy::new(ServerName::new("test").unwrap(), generation, []).with_keys(Arc::clone(ring))
}

/// A host that sends every request back as the body of its answer, and in a header.
async fn echo(ca: &Ca) -> Host {
    Host::new(ca.server(API, &["http/1.1"]), |mut stream| async move {
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            while !bytes.ends_with(b"\r\n\r\n") {
                match stream.read_u8().await {
                    Ok(byte) => bytes.push(byte),
                    Err(_) => return,
                }
            }
            let text = String::from_utf8(bytes.clone()).unwrap();
            let auth = text.lines().find_map(|line| line.strip_prefix("authorization: ")).unwrap_or("none");
            let head =
                format!("HTTP/1.1 200 OK\r\nx-echo: {auth}\r\ncontent-length: {}\r\n\r\n", bytes.len());
            stream.write_all(head.as_bytes()).await.unwrap();
            for byte in &bytes {
                stream.write_all(&[*byte]).await.unwrap();
                stream.flush().await.unwrap();
            }
        }
    })
    .await
}

alone! {
    async fn the_host_gets_the_value_and_the_cell_the_placeholder_back() {
        let ca = Ca::new();
        let seen = crate::world::Shared::<String>::default();
        let heard = Arc::clone(&seen);
        let host = Host::new(ca.server(API, &[]), move |mut stream| {
            let heard = Arc::clone(&heard);
            async move {
                let mut bytes = vec![0; 4096];
                let count = stream.read(&mut bytes).await.unwrap();
                heard.lock().unwrap().push(String::from_utf8(bytes[..count].to_vec()).unwrap());
                let say = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{VALUE}", VALUE.len());
                stream.write_all(say.as_bytes()).await.unwrap();
                stream.flush().await.unwrap();
            }
        })
        .await;
        let ring = ring(binding(&[]), VALUE);
        let inside = start(Plan::new(&[]), &ca, host.address, keyed(1, &ring)).await;
        let placeholder = placeholder(&ring);
        let mut stream = inside.tls(&["http/1.1"]).await;
        let told = ask(&mut stream, &format!("GET /x?q=1 HTTP/1.1\r\nHost: {API}\r\nAuthorization: Bearer {placeholder}\r\n\r\n")).await;
        assert!(told.ends_with(&placeholder) && !told.contains(VALUE), "{told}");
        assert!(seen.lock().unwrap()[0].contains(&format!("authorization: Bearer {VALUE}\r\n")));
        let used = || inside.world.entries().into_iter().find_map(|entry| match entry.event {
            Event::KeyUsed { secret, host, port, method, path, status, received, .. } => {
                Some((secret.to_string(), host, port, method, path, status, received))
            }
            _ => None,
        });
        until(|| used().is_some()).await;
        assert_eq!(
            used().unwrap(),
            (TOKEN.into(), API.into(), 443, "GET".into(), "/x".into(), Some(200), VALUE.len() as u64)
        );
        assert!(!serde_json::to_string(&inside.world.entries()).unwrap().contains(VALUE));
    }
}

alone! {
    async fn an_echo_byte_by_byte_is_scrubbed_in_head_and_body() {
        let ca = Ca::new();
        let host = echo(&ca).await;
        let ring = ring(binding(&[]), VALUE);
        let inside = start(Plan::new(&[]), &ca, host.address, keyed(1, &ring)).await;
        let placeholder = placeholder(&ring);
        let mut stream = inside.tls(&["http/1.1"]).await;
        for _ in 0..2 {
            let request = format!("GET / HTTP/1.1\r\nHost: {API}\r\nAuthorization: token {placeholder}\r\n\r\n");
            let told = ask(&mut stream, &request).await;
            assert!(told.contains(&format!("x-echo: token {placeholder}")), "{told}");
            assert!(told.contains(&format!("authorization: token {placeholder}")), "{told}");
            assert!(!told.contains(VALUE));
        }
    }
}

alone! {
    async fn somebody_elses_credential_and_a_placeholder_elsewhere_do_not_leave() {
        let ca = Ca::new();
        let host = echo(&ca).await;
        let ring = ring(binding(&[]), VALUE);
        let inside = start(Plan::new(&[]), &ca, host.address, keyed(1, &ring)).await;
        let placeholder = placeholder(&ring);
        for (head, code) in [
            ("Authorization: Bearer attackers-own-token-000000".to_owned(), "FH-CREDENTIAL-FOREIGN"),
            (format!("X-Other: {placeholder}"), "FH-SECRET-PLACE"),
        ] {
            let mut stream = inside.tls(&["http/1.1"]).await;
            let told = ask(&mut stream, &format!("GET / HTTP/1.1\r\nHost: {API}\r\n{head}\r\n\r\n")).await;
            assert!(told.starts_with("HTTP/1.1 403 ") && told.contains(code), "{told}");
        }
        assert_eq!(inside.world.codes(), [Code::CredentialForeign, Code::SecretPlace]);
    }
}

alone! {
    async fn messages_of_a_web_socket_are_written_and_scrubbed() {
        let ca = Ca::new();
        let host = Host::new(ca.server(API, &["http/1.1"]), |mut stream| async move {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            let say = b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n";
            stream.write_all(say).await.unwrap();
            stream.flush().await.unwrap();
            let mut frame = [0; 6];
            stream.read_exact(&mut frame).await.unwrap();
            let mut text = vec![0; usize::from(frame[1] & 0x7f)];
            stream.read_exact(&mut text).await.unwrap();
            text.iter_mut().zip(frame[2..].iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
            assert_eq!(text, VALUE.as_bytes());
            stream.write_all(&[&[0x81, u8::try_from(text.len()).unwrap()][..], &text].concat()).await.unwrap();
            stream.flush().await.unwrap();
            drop(stream.read_u8().await);
        })
        .await;
        let ring = ring(binding(&[Place::Header("authorization".into()), Place::WebSocket]), VALUE);
        let inside = start(Plan::new(&[]), &ca, host.address, keyed(1, &ring)).await;
        let placeholder = placeholder(&ring);
        let mut stream = inside.tls(&["http/1.1"]).await;
        let told = ask(&mut stream, &format!("GET / HTTP/1.1\r\nHost: {API}\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n")).await;
        assert!(told.starts_with("HTTP/1.1 101 "), "{told}");
        let mask = [1, 2, 3, 4];
        let masked: Vec<u8> =
            placeholder.bytes().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
        let length = 0x80 | u8::try_from(masked.len()).unwrap();
        stream.write_all(&[&[0x81, length][..], &mask, &masked].concat()).await.unwrap();
        let mut back = vec![0; 2 + placeholder.len()];
        within(stream.read_exact(&mut back)).await.unwrap();
        assert_eq!(&back[2..], placeholder.as_bytes());
        drop(stream);
        let used = |entry: egress::event::Entry| matches!(entry.event, Event::KeyUsed { .. });
        until(|| inside.world.entries().into_iter().any(used)).await;
    }
}

alone! {
    async fn over_http_2_the_same_holds_and_trailers_are_scrubbed() {
        let ca = Ca::new();
        let (host, asked): (Host, Asked) = two(&ca, |request, mut respond| async move {
            let auth = request.headers()["authorization"].clone();
            let response = http::Response::builder().header("x-echo", &auth).body(()).unwrap();
            let mut stream = respond.send_response(response, false).unwrap();
            stream.send_data(auth.as_bytes().to_vec().into(), false).unwrap();
            let trailers = http::HeaderMap::from_iter([(http::HeaderName::from_static("x-late"), auth)]);
            stream.send_trailers(trailers).unwrap();
        })
        .await;
        let ring = ring(binding(&[]), VALUE);
        let inside = start(Plan::new(&[]), &ca, host.address, keyed(1, &ring)).await;
        let bearer = format!("Bearer {}", placeholder(&ring));
        let mut send = inside.two().await;
        let mut request = get("/x");
        request.headers_mut().insert("authorization", bearer.parse().unwrap());
        let answer = within(send.send_request(request, true).unwrap().0).await.unwrap();
        assert_eq!(answer.headers()["x-echo"], bearer);
        let mut stream = answer.into_body();
        assert_eq!(within(stream.data()).await.unwrap().unwrap(), bearer);
        assert_eq!(within(stream.trailers()).await.unwrap().unwrap()["x-late"], bearer);
        assert_eq!(asked.lock().unwrap()[0].2["authorization"], format!("Bearer {VALUE}"));
        let mut request = get("/x");
        request.headers_mut().insert("authorization", "Bearer attackers-own-token-000000".parse().unwrap());
        let answer = within(send.send_request(request, true).unwrap().0).await.unwrap();
        assert_eq!(answer.status(), 403);
        assert!(String::from_utf8(body(answer.into_body()).await.unwrap()).unwrap().contains("FH-CREDENTIAL-FOREIGN"));
        assert_eq!(asked.lock().unwrap().len(), 1);
    }
}

async fn untouched() -> (Ca, Host) {
    let ca = Ca::new();
    let host = Host::new(ca.server(API, &[]), |_| async { panic!("the test of a key went out") }).await;
    (ca, host)
}

async fn tested(binding: Binding) -> (Inspected, Host, Result<(), SelfTestError>) {
    let (ca, host) = untouched().await;
    let ring = ring(binding, VALUE);
    let inside = start(Plan::new(&[]), &ca, host.address, keyed(1, &ring)).await;
    let passed = inside.world.egress.self_test(&SecretName::new(TOKEN).unwrap()).await;
    (inside, host, passed)
}

alone! {
    async fn a_key_passes_its_test_in_every_place_without_leaving_the_machine() {
        let header = |name: &str| Place::Header(name.into());
        let places =
            [header("authorization"), header("x-api-key"), Place::Basic, Place::Query("key".into()), Place::Path, Place::Json, Place::Form, Place::WebSocket];
        for place in places {
            let (inside, host, passed) = tested(binding(std::slice::from_ref(&place))).await;
            assert!(passed.is_ok(), "{place}: {}", passed.unwrap_err());
            assert_eq!(host.connections(), 0);
            assert!(!inside.world.entries().iter().any(|entry| matches!(entry.event, Event::KeyUsed { .. })));
            inside.world.egress.end().await;
        }
        let mut narrow = binding(&[]);
        narrow.methods = vec![Method::new("POST").unwrap()];
        narrow.paths = vec![PathPattern::new("/v1/*/messages").unwrap()];
        assert!(tested(narrow).await.2.is_ok());
    }
}

alone! {
    async fn a_key_the_cell_has_not_does_not_pass() {
        let (inside, _, passed) = tested(binding(&[])).await;
        assert!(passed.is_ok());
        let other = inside.world.egress.self_test(&SecretName::new("OTHER").unwrap()).await;
        assert!(matches!(other, Err(SelfTestError::Unknown { .. })));
    }
}

#[cfg(feature = "guard-off")]
alone! {
    async fn control_the_test_of_a_key_fails_when_answers_are_not_scrubbed() {
        let _off = egress::guard::without(&["scrub"]);
        let (_inside, _, passed) = tested(binding(&[])).await;
        assert!(matches!(passed, Err(SelfTestError::NotTakenOut)), "{passed:?}");
    }
}

#[cfg(feature = "guard-off")]
alone! {
    async fn control_the_test_of_a_key_fails_when_its_placeholder_is_sent_as_it_is() {
        let _off = egress::guard::without(&["substitution"]);
        let (_inside, _, passed) = tested(binding(&[])).await;
        assert!(matches!(passed, Err(SelfTestError::NotWritten)), "{passed:?}");
    }
}
