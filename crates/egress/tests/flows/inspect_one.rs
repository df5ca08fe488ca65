//! TLS that is looked into, HTTP/1.1 inside.

use std::sync::Arc;
use std::time::Duration;

use egress::refusal::Code;
use egress::tls::roots::Roots;
use rustls::HandshakeKind;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::alone::alone;
use crate::inspect_world::{API, Ca, Host, Inspected, start, with_rules};
use crate::origins::{answer, ask};
use crate::world::{Plan, Shared, policy, until, within};

const GET: &str = "GET /a HTTP/1.1\r\nHost: api.example.com\r\n\r\n";
const ANY: &str = "* api.example.com";

/// A host that puts down every request head and answers with `say`.
async fn one(ca: &Ca, alpn: &[&str], say: &'static str) -> (Host, Shared<String>) {
    let heads = Shared::default();
    let seen = Arc::clone(&heads);
    let host = Host::new(ca.server(API, alpn), move |mut stream| {
        let seen = Arc::clone(&seen);
        async move {
            while let Some(head) = head_of(&mut stream).await {
                seen.lock().unwrap().push(head);
                if stream.write_all(say.as_bytes()).await.is_err() || stream.flush().await.is_err() {
                    return;
                }
            }
        }
    })
    .await;
    (host, heads)
}

async fn head_of(stream: &mut (impl AsyncReadExt + Unpin)) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    Some(String::from_utf8(head).unwrap())
}

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

alone! {
    async fn requests_share_connections_that_mirror_each_other_and_resume() {
        for alpn in [&[][..], &["http/1.1"], &["h2", "http/1.1"]] {
            let ca = Ca::new();
            let (host, heads) = one(&ca, &["http/1.1"], OK).await;
            let inside = with_rules(&ca, host.address, &[ANY]).await;
            let config = Arc::new(inside.trusts(alpn));
            for turn in 0..2 {
                let mut stream = inside.tls_as(Arc::clone(&config), API).await.unwrap();
                let agreed = stream.get_ref().1.alpn_protocol().map(<[u8]>::to_vec);
                assert_eq!(agreed, alpn.contains(&"http/1.1").then(|| b"http/1.1".to_vec()));
                for _ in 0..3 {
                    assert!(ask(&mut stream, GET).await.ends_with("ok"));
                }
                let resumed = stream.get_ref().1.handshake_kind() == Some(HandshakeKind::Resumed);
                assert_eq!(resumed, turn == 1, "{alpn:?}");
            }
            assert_eq!(*host.resumed.lock().unwrap(), [false, true]);
            assert_eq!(heads.lock().unwrap().len(), 6);
            assert!(heads.lock().unwrap()[0].starts_with("GET /a HTTP/1.1\r\nhost: api.example.com\r\n"));
            assert_eq!(inside.world.codes(), []);
            inside.world.egress.end().await;
        }
    }
}

alone! {
    async fn a_session_of_one_name_is_not_resumed_for_another() {
        let ca = Ca::new();
        let (host, _) = one(&ca, &[], OK).await;
        let other = "www.example.com";
        let plan = Plan::new(&[]).pin(other, one(&ca, &[], OK).await.0.address);
        let rules = policy(1, &[ANY, "* www.example.com"]);
        let inside = start(plan, &ca, host.address, rules).await;
        let config = Arc::new(inside.trusts(&[]));
        assert!(ask(&mut inside.tls_as(Arc::clone(&config), API).await.unwrap(), GET).await.ends_with("ok"));
        // The same connection's address, another name: refused before any session counts.
        assert!(inside.tls_as(Arc::clone(&config), other).await.is_err());
        assert_eq!(inside.world.codes(), [Code::Sni]);
    }
}

alone! {
    async fn a_host_that_cannot_prove_who_it_is_gets_nothing_and_the_cell_reads_why() {
        for alpn in [&["http/1.1"][..], &[]] {
            let (ca, stranger) = (Ca::new(), Ca::new());
            let (host, heads) = one(&stranger, &["http/1.1"], OK).await;
            let inside = with_rules(&ca, host.address, &[ANY]).await;
            let mut stream = inside.tls(alpn).await;
            let told = ask(&mut stream, GET).await;
            assert!(told.starts_with("HTTP/1.1 502 ") && told.contains("FH-EGRESS-UPSTREAM-TLS"), "{told}");
            assert_eq!(inside.world.codes(), [Code::UpstreamTls]);
            assert_eq!((host.connections(), heads.lock().unwrap().len()), (0, 0));
            inside.world.egress.end().await;
        }
    }
}

#[cfg(feature = "guard-off")]
alone! {
    async fn control_a_stranger_gets_the_request_when_nobody_checks() {
        let _off = egress::guard::without(&["upstream-verify"]);
        let (ca, stranger) = (Ca::new(), Ca::new());
        let (host, heads) = one(&stranger, &["http/1.1"], OK).await;
        let inside = with_rules(&ca, host.address, &[ANY]).await;
        assert!(ask(&mut inside.tls(&[]).await, GET).await.ends_with("ok"));
        assert_eq!(heads.lock().unwrap().len(), 1);
    }
}

alone! {
    async fn a_name_with_an_authority_of_its_own_is_vouched_for_by_that_one_only() {
        let (public, own) = (Ca::new(), Ca::new());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("own.pem");
        std::fs::write(&path, own.pem()).unwrap();
        for (signer, reached) in [(&own, true), (&public, false)] {
            let (host, _) = one(signer, &[], OK).await;
            let name = egress::name::HostName::parse(API).unwrap();
            let mut plan = Plan::new(&[]);
            plan.settings.roots = Arc::new(Roots::none());
            let mut inside = start(plan, &public, host.address, policy(1, &[])).await;
            inside.world.egress.end().await;
            // The same once more, with the file of the name.
            let mut plan = Plan::new(&[]);
            let port = std::num::NonZeroU16::new(host.address.port());
            let pinned = egress::upstream::Pinned::new(&name, host.address.ip(), port, true).unwrap();
            plan.settings.upstreams.pin(name, pinned.with_ca(path.clone()));
            plan.settings.authority = Some(Arc::clone(&inside.authority));
            let roots = folder.path().join("public.pem");
            std::fs::write(&roots, public.pem()).unwrap();
            plan.settings.roots = Arc::new(Roots::system(&[roots]).unwrap());
            inside.world = plan.start_with(policy(1, &[ANY])).await;
            let told = ask(&mut inside.tls(&[]).await, GET).await;
            assert_eq!(told.ends_with("ok"), reached, "{told}");
            inside.world.egress.end().await;
        }
    }
}

alone! {
    async fn a_greeting_with_an_encrypted_part_is_looked_into_though_no_rule_asks() {
        use rustls::client::{EchGreaseConfig, EchMode};
        use rustls::crypto::aws_lc_rs::hpke::DH_KEM_P256_HKDF_SHA256_AES_128 as SUITE;
        let ca = Ca::new();
        let (host, heads) = one(&ca, &["http/1.1"], OK).await;
        let inside = with_rules(&ca, host.address, &["api.example.com"]).await;
        let mut roots = rustls::RootCertStore::empty();
        roots.add(inside.authority.certificate_der().to_vec().into()).unwrap();
        let (public, _) = rustls::crypto::hpke::Hpke::generate_key_pair(SUITE).unwrap();
        let grease = EchMode::Grease(EchGreaseConfig::new(SUITE, public));
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_ech(grease)
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let mut stream = inside.tls_as(Arc::new(config), API).await.unwrap();
        assert!(ask(&mut stream, GET).await.ends_with("ok"));
        assert_eq!((heads.lock().unwrap().len(), inside.world.codes()), (1, vec![]));
        // Without it the same rule is a tunnel, and the host's own certificate is what is seen.
        let tunnel = inside.tls_as(Arc::new(inside.trusts(&[])), API).await;
        assert!(tunnel.is_err());
    }
}

alone! {
    async fn what_the_rules_do_not_take_is_refused_in_words_and_does_not_leave() {
        let ca = Ca::new();
        let (host, heads) = one(&ca, &["http/1.1"], OK).await;
        let inside = with_rules(&ca, host.address, &["GET api.example.com/repos/acme/*"]).await;
        for (request, code) in [
            ("POST /repos/acme/x HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: 0\r\n\r\n", "FH-REQUEST-METHOD"),
            ("GET /user HTTP/1.1\r\nHost: api.example.com\r\n\r\n", "FH-REQUEST-PATH"),
            ("GET /repos/acme/../../user HTTP/1.1\r\nHost: api.example.com\r\n\r\n", "FH-REQUEST-PATH"),
            ("GET /repos/acme/%2e%2e/x HTTP/1.1\r\nHost: api.example.com\r\n\r\n", "FH-REQUEST-PATH"),
            ("GET /repos/acme/x HTTP/1.1\r\nHost: evil.example.net\r\n\r\n", "FH-EGRESS-HOST-HEADER"),
            ("GET /repos/acme/x HTTP/1.1\r\nHost: api.example.com:80\r\n\r\n", "FH-EGRESS-HOST-HEADER"),
            ("TRACE /repos/acme/x HTTP/1.1\r\nHost: api.example.com\r\n\r\n", "FH-EGRESS-METHOD"),
            ("CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com:443\r\n\r\n", "FH-EGRESS-METHOD"),
            ("GET /repos/acme/x HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "FH-EGRESS-NOT-HTTP"),
            ("GET /repos/acme/x HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "FH-EGRESS-NOT-HTTP"),
            ("GET /repos/acme/x HTTP/1.1\r\nHost: api.example.com\r\nX: a\r\n b\r\n\r\n", "FH-EGRESS-NOT-HTTP"),
            ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "FH-EGRESS-UPGRADE"),
        ] {
            let mut stream = inside.tls(&["http/1.1"]).await;
            let told = ask(&mut stream, request).await;
            assert!(told.contains(code), "{request} {told}");
            assert!(told.starts_with("HTTP/1.1 4"), "{told}");
        }
        assert_eq!(*heads.lock().unwrap(), Vec::<String>::new());
        let allowed = "GET /repos/acme/x?page=2 HTTP/1.1\r\nHost: API.example.com:443\r\n\r\n";
        assert!(ask(&mut inside.tls(&["http/1.1"]).await, allowed).await.ends_with("ok"));
        assert!(heads.lock().unwrap()[0].starts_with("GET /repos/acme/x?page=2 HTTP/1.1\r\nhost: api.example.com\r\n"));
    }
}

#[cfg(feature = "guard-off")]
alone! {
    async fn control_another_host_reaches_the_shared_front_when_host_is_not_compared() {
        let _off = egress::guard::without(&["http-host"]);
        let ca = Ca::new();
        let (host, heads) = one(&ca, &[], OK).await;
        let inside = with_rules(&ca, host.address, &[ANY]).await;
        let evil = "GET / HTTP/1.1\r\nHost: evil.example.net\r\n\r\n";
        assert!(ask(&mut inside.tls(&[]).await, evil).await.ends_with("ok"));
        assert!(heads.lock().unwrap()[0].contains("host: evil.example.net\r\n"));
    }
}

#[cfg(feature = "guard-off")]
alone! {
    async fn control_another_name_in_the_greeting_reaches_the_host_when_it_is_not_compared() {
        let ca = Ca::new();
        let (host, heads) = one(&ca, &[], OK).await;
        let inside = with_rules(&ca, host.address, &[ANY]).await;
        let config = Arc::new(inside.trusts(&[]));
        assert!(inside.tls_as(Arc::clone(&config), "evil.example.net").await.is_err());
        let _off = egress::guard::without(&["sni"]);
        let mut stream = inside.tls_as(config, "evil.example.net").await.unwrap();
        assert!(ask(&mut stream, GET).await.ends_with("ok"));
        assert_eq!(heads.lock().unwrap().len(), 1);
    }
}

alone! {
    async fn a_body_that_waits_for_the_hosts_word_is_sent_after_it_or_never() {
        let ca = Ca::new();
        let host = Host::new(ca.server(API, &[]), |mut stream| async move {
            let head = head_of(&mut stream).await.unwrap();
            assert!(head.contains("expect: 100-continue\r\n"), "{head}");
            if head.starts_with("PUT /no ") {
                let no = b"HTTP/1.1 417 Expectation Failed\r\ncontent-length: 2\r\n\r\nno";
                stream.write_all(no).await.unwrap();
                stream.flush().await.unwrap();
                assert!(stream.read_u8().await.is_err(), "the body came all the same");
                return;
            }
            assert!(tokio::time::timeout(Duration::from_millis(300), stream.read_u8()).await.is_err());
            stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await.unwrap();
            stream.flush().await.unwrap();
            let mut body = [0; 4];
            stream.read_exact(&mut body).await.unwrap();
            assert_eq!(&body, b"body");
            stream.write_all(OK.as_bytes()).await.unwrap();
            stream.flush().await.unwrap();
        })
        .await;
        let inside = with_rules(&ca, host.address, &[ANY]).await;
        let put = |path: &str| format!("PUT {path} HTTP/1.1\r\nHost: {API}\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
        let mut stream = inside.tls(&[]).await;
        stream.write_all(put("/yes").as_bytes()).await.unwrap();
        assert_eq!(within(head_of(&mut stream)).await.unwrap(), "HTTP/1.1 100 Continue\r\n\r\n");
        stream.write_all(b"body").await.unwrap();
        assert!(answer(&mut stream).await.ends_with("ok"));
        let mut stream = inside.tls(&[]).await;
        let told = ask(&mut stream, &put("/no")).await;
        assert!(told.starts_with("HTTP/1.1 417 ") && told.ends_with("no"), "{told}");
    }
}

alone! {
    async fn events_come_one_by_one_and_answers_without_bodies_have_none() {
        let ca = Ca::new();
        let (next, turns) = tokio::sync::mpsc::unbounded_channel::<()>();
        let turns = Arc::new(tokio::sync::Mutex::new(turns));
        let host = Host::new(ca.server(API, &[]), move |mut stream| {
            let turns = Arc::clone(&turns);
            async move {
                while let Some(head) = head_of(&mut stream).await {
                    let say = match head.split(' ').nth(1).unwrap() {
                        "/head" => "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n",
                        "/204" => "HTTP/1.1 204 No Content\r\n\r\n",
                        "/304" => "HTTP/1.1 304 Not Modified\r\netag: \"x\"\r\n\r\n",
                        _ => "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
                    };
                    stream.write_all(say.as_bytes()).await.unwrap();
                    stream.flush().await.unwrap();
                    while head.starts_with("GET /sse ") && turns.lock().await.recv().await.is_some() {
                        stream.write_all(b"9\r\ndata: x\n\n\r\n").await.unwrap();
                        stream.flush().await.unwrap();
                    }
                }
            }
        })
        .await;
        let inside = with_rules(&ca, host.address, &[ANY]).await;
        let mut stream = inside.tls(&[]).await;
        for (request, status) in [("HEAD /head", "200"), ("GET /204", "204"), ("GET /304", "304"), ("HEAD /head", "200")] {
            stream.write_all(format!("{request} HTTP/1.1\r\nHost: {API}\r\n\r\n").as_bytes()).await.unwrap();
            let head = within(head_of(&mut stream)).await.unwrap();
            assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
        }
        stream.write_all(format!("GET /sse HTTP/1.1\r\nHost: {API}\r\n\r\n").as_bytes()).await.unwrap();
        within(head_of(&mut stream)).await.unwrap();
        for _ in 0..3 {
            next.send(()).unwrap();
            let mut event = [0; 14];
            within(stream.read_exact(&mut event)).await.unwrap();
            assert_eq!(&event, b"9\r\ndata: x\n\n\r\n");
        }
    }
}

alone! {
    async fn a_large_upload_goes_at_the_pace_of_the_host_and_arrives_whole() {
        const TOTAL: usize = 64 * 1024 * 1024;
        let ca = Ca::new();
        let (open, gate) = tokio::sync::watch::channel(false);
        let host = Host::new(ca.server(API, &[]), move |mut stream| {
            let mut gate = gate.clone();
            async move {
                drop(head_of(&mut stream).await);
                gate.wait_for(|open| *open).await.unwrap();
                let (mut bytes, mut got) = (vec![0; 64 * 1024], 0);
                while got < TOTAL {
                    let count = stream.read(&mut bytes).await.unwrap();
                    assert!(bytes[..count].iter().all(|byte| *byte == b'u'));
                    got += count;
                }
                stream.write_all(OK.as_bytes()).await.unwrap();
                stream.flush().await.unwrap();
            }
        })
        .await;
        let inside = with_rules(&ca, host.address, &[ANY]).await;
        let (mut read, mut write) = tokio::io::split(inside.tls(&[]).await);
        let upload = tokio::spawn(async move {
            let head = format!("PUT / HTTP/1.1\r\nHost: {API}\r\nContent-Length: {TOTAL}\r\n\r\n");
            write.write_all(head.as_bytes()).await.unwrap();
            let piece = vec![b'u'; 64 * 1024];
            for _ in 0..TOTAL / piece.len() {
                write.write_all(&piece).await.unwrap();
            }
            write.flush().await.unwrap();
            write
        });
        tokio::time::sleep(Duration::from_millis(300)).await;
        // Nobody has taken it all while the host takes nothing.
        assert!(!upload.is_finished());
        assert!(inside.world.egress.usage().sent < TOTAL as u64 / 2);
        open.send(true).unwrap();
        assert!(answer(&mut read).await.ends_with("ok"));
        drop(upload.await.unwrap());
    }
}

alone! {
    async fn a_head_that_dribbles_is_given_up_from_either_side() {
        let ca = Ca::new();
        let host = Host::new(ca.server(API, &[]), |mut stream| async move {
            drop(head_of(&mut stream).await);
            for byte in b"HTTP/1.1 200 OK\r\nx-slow: 1\r\n".iter().chain([b'a'; 100].iter()) {
                if stream.write_all(&[*byte]).await.is_err() || stream.flush().await.is_err() {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await;
        let plan = Plan::new(&[]).limits(|limits| limits.head_time = Duration::from_millis(200));
        let inside: Inspected = start(plan, &ca, host.address, policy(1, &[ANY])).await;
        let told = ask(&mut inside.tls(&[]).await, GET).await;
        assert!(told.contains("FH-EGRESS-CONNECT") && told.contains("took too long"), "{told}");
        let mut stream = inside.tls(&[]).await;
        for byte in GET.bytes().take(20) {
            if stream.write_all(&[byte]).await.is_err() || stream.flush().await.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        // Its end is in order or a reset: what was written last may have been refused first.
        let _ending = within(stream.read_to_end(&mut Vec::new())).await;
        until(|| inside.world.codes().contains(&Code::NotHttp)).await;
    }
}
