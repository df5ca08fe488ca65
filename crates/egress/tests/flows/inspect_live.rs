//! The policy and the keys change while requests are under way.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use egress::credential::{Key, Keyring, Placeholder};
use egress::policy::Policy;
use egress::refusal::Code;
use egress::rule::HostRule;
use http::Response;
use model::name::ServerName;
use model::secret::SecretName;
use secrets::plaintext::Plaintext;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::alone::alone;
use crate::inspect_world::{
    API, Ca, Host, TOKEN, VALUE, binding, get, placeholder, ring, start, two, with_rules,
};
use crate::world::{Plan, Shared, until, within};

fn made(generation: u64, rules: &[&str], ring: &Arc<Keyring>) -> Policy {
    let rules = rules.iter().map(|rule| HostRule::parse(rule).unwrap());
    Policy::new(ServerName::new("test").unwrap(), generation, rules).with_keys(Arc::clone(ring))
}

/// A host that takes bodies without end and sends one without end.
async fn endless(ca: &Ca) -> (Host, Shared<usize>) {
    let got = Shared::default();
    let seen = Arc::clone(&got);
    let (host, _) = two(ca, move |request, mut respond| {
        let seen = Arc::clone(&seen);
        async move {
            let mut to = respond.send_response(Response::new(()), false).unwrap();
            to.send_data(Bytes::from_static(b"begun"), false).unwrap();
            let mut from = request.into_body();
            while let Some(Ok(piece)) = from.data().await {
                seen.lock().unwrap().push(piece.len());
                drop(from.flow_control().release_capacity(piece.len()));
                if to.send_data(Bytes::from_static(b"more"), false).is_err() {
                    return;
                }
            }
        }
    })
    .await;
    (host, got)
}

alone! {
    async fn a_request_of_http_2_is_cut_alone_and_nothing_of_it_leaves_after_the_word() {
        let ca = Ca::new();
        let (host, got) = endless(&ca).await;
        let none = Arc::new(Keyring::new());
        let mut inside = with_rules(&ca, host.address, &["POST api.example.com/going", "POST api.example.com/staying"]).await;
        let mut send = inside.two().await;
        let mut streams = Vec::new();
        for path in ["/going", "/staying"] {
            let mut request = get(path);
            *request.method_mut() = http::Method::POST;
            let (answer, to) = send.send_request(request, false).unwrap();
            let mut from = within(answer).await.unwrap().into_body();
            assert_eq!(within(from.data()).await.unwrap().unwrap(), "begun");
            streams.push((from, to));
        }
        let (mut staying, mut staying_to) = streams.pop().unwrap();
        let (mut going, mut going_to) = streams.pop().unwrap();
        // One that writes without pause.
        let writer = tokio::spawn(async move {
            let piece = Bytes::from(vec![b'g'; 1000]);
            loop {
                going_to.reserve_capacity(piece.len());
                match std::future::poll_fn(|cx| going_to.poll_capacity(cx)).await {
                    Some(Ok(1000..)) => {
                        if going_to.send_data(piece.clone(), false).is_err() {
                            return;
                        }
                    }
                    Some(Ok(_)) => {}
                    _ => return,
                }
                tokio::task::yield_now().await;
            }
        });
        until(|| got.lock().unwrap().len() > 10).await;
        let changed = inside.world.put(|at| made(at, &["POST api.example.com/staying"], &none)).await;
        assert_eq!((changed.cut, changed.kept), (1, 1));
        // What the system had taken may still be read by the host; then there is nothing more.
        tokio::time::sleep(Duration::from_millis(50)).await;
        let then = got.lock().unwrap().len();
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert_eq!(got.lock().unwrap().len(), then);
        within(writer).await.unwrap();
        within(async { while let Some(Ok(_)) = going.data().await {} }).await;
        staying_to.send_data(Bytes::from_static(b"still"), false).unwrap();
        assert_eq!(within(staying.data()).await.unwrap().unwrap(), "more");
        assert_eq!(inside.world.codes(), [Code::RequestPath]);
        let refused = get("/going");
        let answer = within(send.send_request(refused, true).unwrap().0).await.unwrap();
        assert_eq!(answer.status(), 403);
    }
}

#[cfg(feature = "guard-off")]
alone! {
    async fn control_without_the_cut_a_request_goes_on() {
        let _off = egress::guard::without(&["cut"]);
        let ca = Ca::new();
        let (host, got) = endless(&ca).await;
        let none = Arc::new(Keyring::new());
        let mut inside = with_rules(&ca, host.address, &["POST api.example.com/going"]).await;
        let mut send = inside.two().await;
        let mut request = get("/going");
        *request.method_mut() = http::Method::POST;
        let (answer, mut to) = send.send_request(request, false).unwrap();
        drop(within(answer).await.unwrap());
        let changed = inside.world.put(|at| made(at, &["POST api.example.com/other"], &none)).await;
        assert_eq!(changed.cut, 0);
        to.send_data(Bytes::from_static(b"after"), false).unwrap();
        until(|| !got.lock().unwrap().is_empty()).await;
    }
}

/// A host of HTTP/1.1 that begins an answer and puts down what it is sent.
async fn slow(ca: &Ca) -> (Host, Shared<u8>) {
    let got = Shared::default();
    let seen = Arc::clone(&got);
    let host = Host::new(ca.server(API, &[]), move |mut stream| {
        let seen = Arc::clone(&seen);
        async move {
            let say = b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\nbegun";
            let mut bytes = [0; 1024];
            let mut said = false;
            while let Ok(count @ 1..) = stream.read(&mut bytes).await {
                seen.lock().unwrap().extend_from_slice(&bytes[..count]);
                if !said {
                    stream.write_all(say).await.unwrap();
                    stream.flush().await.unwrap();
                    said = true;
                }
            }
        }
    })
    .await;
    (host, got)
}

alone! {
    async fn a_request_of_http_1_is_cut_with_its_connections() {
        let ca = Ca::new();
        let (host, _) = slow(&ca).await;
        let none = Arc::new(Keyring::new());
        let mut inside = with_rules(&ca, host.address, &["* api.example.com/a", "* api.example.com/b"]).await;
        let mut streams = Vec::new();
        for path in ["/a", "/b"] {
            let mut stream = inside.tls(&[]).await;
            stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: {API}\r\n\r\n").as_bytes()).await.unwrap();
            within(stream.read(&mut [0; 16])).await.unwrap();
            streams.push(stream);
        }
        let idle = inside.tls(&[]).await;
        let changed = inside.world.put(|at| made(at, &["* api.example.com/b"], &none)).await;
        assert_eq!((changed.cut, changed.kept), (1, 2));
        let mut rest = Vec::new();
        assert!(within(streams[0].read_to_end(&mut rest)).await.is_err());
        assert!(tokio::time::timeout(Duration::from_millis(100), streams[1].read_to_end(&mut rest)).await.is_err());
        // What is looked into no longer is, and the reverse: both ends know the wrong keys.
        let changed = inside.world.put(|at| made(at, &["api.example.com"], &none)).await;
        assert_eq!(changed.cut, 2);
        drop(idle);
        inside.world.until_flows(0).await;
        let tunnel = inside.world.connect(API, 443).await;
        let tunnelled = tokio_rustls::TlsConnector::from(Arc::new(inside.trusts(&[])));
        let name = rustls::pki_types::ServerName::try_from(API).unwrap();
        assert!(within(tunnelled.connect(name, tunnel)).await.is_err());
    }
}

fn another(ring: &Keyring, value: &str) -> Arc<Keyring> {
    let old = ring.keys()[0].clone();
    let placeholder: Placeholder = old.placeholder().clone();
    let value = Arc::new(Plaintext::new(value.as_bytes().to_vec()));
    let key = Key::new(SecretName::new(TOKEN).unwrap(), old.binding().clone(), value, placeholder).unwrap();
    Arc::new(ring.with(key).unwrap())
}

const NEXT: &str = "ghp_An0therValue0fTheKey0123456789abcdXY";

alone! {
    async fn a_key_that_is_rotated_is_so_for_the_next_request_and_one_that_is_removed_cuts() {
        let ca = Ca::new();
        let (host, got) = slow(&ca).await;
        let first = ring(binding(&[]), VALUE);
        let marker = placeholder(&first);
        let mut inside = start(Plan::new(&[]), &ca, host.address, made(1, &[], &first)).await;
        let get = format!("GET / HTTP/1.1\r\nHost: {API}\r\nAuthorization: Bearer {marker}\r\n\r\n");
        let mut old = inside.tls(&[]).await;
        old.write_all(get.as_bytes()).await.unwrap();
        within(old.read(&mut [0; 16])).await.unwrap();
        let second = another(&first, NEXT);
        let changed = inside.world.put(|at| made(at, &[], &second)).await;
        assert_eq!((changed.cut, changed.kept), (0, 1));
        let mut new = inside.tls(&[]).await;
        new.write_all(get.as_bytes()).await.unwrap();
        within(new.read(&mut [0; 16])).await.unwrap();
        let text = String::from_utf8(got.lock().unwrap().clone()).unwrap();
        assert_eq!((text.matches(VALUE).count(), text.matches(NEXT).count()), (1, 1), "{text}");
        // The host stays allowed without the key; the requests that hold it do not.
        let none = Arc::new(Keyring::new());
        let changed = inside.world.put(|at| made(at, &["* api.example.com"], &none)).await;
        assert_eq!(changed.cut, 2);
        assert!(inside.world.codes().contains(&Code::SecretRemoved), "{:?}", inside.world.codes());
        assert!(within(old.read_to_end(&mut Vec::new())).await.is_err());
        assert!(within(new.read_to_end(&mut Vec::new())).await.is_err());
    }
}

alone! {
    async fn a_change_while_the_host_is_being_reached_is_seen() {
        let ca = Ca::new();
        // Takes connections and never answers the greeting.
        let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut inside = with_rules(&ca, silent.local_addr().unwrap(), &["* api.example.com"]).await;
        let config = Arc::new(inside.trusts(&[]));
        let stream = inside.world.connect(API, 443).await;
        let name = rustls::pki_types::ServerName::try_from(API).unwrap();
        let handshake = tokio::spawn(tokio_rustls::TlsConnector::from(config).connect(name, stream));
        let (_held, _) = within(silent.accept()).await.unwrap();
        let none = Arc::new(Keyring::new());
        let changed = inside.world.put(|at| made(at, &[], &none)).await;
        assert_eq!(changed.cut, 1);
        assert!(within(handshake).await.unwrap().is_err());
    }
}
