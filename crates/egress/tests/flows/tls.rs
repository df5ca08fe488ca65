//! The name in the greeting must be the name that was looked up; otherwise TLS is not touched.

use egress::refusal::Code;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::alone::alone;
use crate::client_hello::{hello, message, record};
use crate::origins::{Origin, Tls, ask};
use crate::world::{Ending, Plan, World, ending, until, within};

const GET: &str = "GET / HTTP/1.1\r\nHost: api.example.com\r\n\r\n";

alone! {
    async fn an_allowed_host_is_reached_untouched_over_both_protocols() {
        let tls = Tls::new("api.example.com").await;
        let world = Plan::new(&["api.example.com"]).pin("api.example.com", tls.origin.address).v6().start().await;
        let v4 = world.connect("api.example.com", 443).await;
        let mut stream = tls.handshake(v4, "api.example.com").await.unwrap();
        assert!(ask(&mut stream, GET).await.ends_with("api.example.com"));
        assert!(ask(&mut stream, GET).await.ends_with("api.example.com"));

        let v6 = world.lookup("api.example.com", hickory_proto::rr::RecordType::AAAA).await.unwrap();
        let v6 = TcpStream::connect((v6, 443)).await.unwrap();
        let mut stream = tls.handshake(v6, "api.example.com").await.unwrap();
        assert!(ask(&mut stream, GET).await.ends_with("api.example.com"));
        assert_eq!(world.codes(), []);
        assert_eq!(tls.origin.connections(), 2);
    }
}

/// What an origin got of raw bytes sent to the TLS port of `api.example.com`.
struct Sent {
    ending: Option<Ending>,
    received: String,
    codes: Vec<Code>,
}

/// Sends pieces to the TLS port and looks at what became of them. With `passes`, waits until all have arrived.
async fn send(world: &World, origin: &Origin, pieces: &[&[u8]], passes: bool) -> Sent {
    let mut stream = world.connect("api.example.com", 443).await;
    stream.set_nodelay(true).unwrap();
    let total: usize = pieces.iter().map(|piece| piece.len()).sum();
    let before = origin.all().len();
    for piece in pieces {
        if stream.write_all(piece).await.is_err() {
            break;
        }
        tokio::task::yield_now().await;
    }
    let ending = if passes {
        // Replacement characters make text longer than the bytes it stands for, never shorter.
        until(|| origin.all().len() >= before + total).await;
        None
    } else {
        Some(ending(&mut stream).await)
    };
    Sent { ending, received: origin.all()[before..].to_owned(), codes: world.codes() }
}

async fn world_with_echo() -> (World, Origin) {
    let origin = Origin::echo().await;
    let world = Plan::new(&["api.example.com"]).pin("api.example.com", origin.address).start().await;
    (world, origin)
}

/// Greetings that are refused, the code, and the guard without which they reach the host.
fn refused() -> Vec<(&'static str, Vec<u8>, Code, &'static str)> {
    let api = Some("api.example.com");
    vec![
        ("another name", hello(Some("evil.example.net"), &[]), Code::Sni, "sni"),
        ("the name as a prefix", hello(Some("api.example.com.evil.net"), &[]), Code::Sni, "sni"),
        ("the name as a suffix", hello(Some("evilapi.example.com"), &[]), Code::Sni, "sni"),
        ("a trailing dot", hello(Some("api.example.com."), &[]), Code::Sni, "sni"),
        ("NUL", hello(Some("api.example.com\0.evil.net"), &[]), Code::Sni, "sni"),
        ("an address", hello(Some("127.0.0.1"), &[]), Code::Sni, "sni"),
        ("no name", hello(None, &[]), Code::SniMissing, "sni"),
        ("an encrypted part", hello(api, &[(0xfe0d, vec![0; 64])]), Code::Ech, "ech"),
        ("the name twice", hello(api, &[(0, b"\0\x0b\0\0\x08evil.net".to_vec())]), Code::NotTls, "tls"),
        ("HTTP", GET.as_bytes().to_vec(), Code::NotTls, "tls"),
        ("SSH", b"SSH-2.0-OpenSSH_9.2\r\n".to_vec(), Code::NotTls, "tls"),
        ("garbage", vec![0x16, 3, 1, 0, 5, 9, 9, 9, 9, 9], Code::NotTls, "tls"),
        ("zeros", vec![0; 64], Code::NotTls, "tls"),
    ]
}

alone! {
    async fn a_greeting_for_nobody_or_somebody_else_is_reset_and_told() {
        for (what, bytes, code, _) in refused() {
            let (world, origin) = world_with_echo().await;
            let sent = send(&world, &origin, &[&bytes], false).await;
            assert_eq!(sent.ending, Some(Ending::Reset), "{what}");
            assert_eq!(sent.codes, [code], "{what}");
            assert_eq!(origin.connections(), 0, "{what}");
            let refusal = &world.refusals()[0];
            assert_eq!((refusal.host.as_str(), refusal.port), ("api.example.com", Some(443)), "{what}");
            world.egress.end().await;
        }
    }
}

#[cfg(feature = "guard-off")]
alone! {
    async fn control_without_the_guard_each_of_them_reaches_the_host() {
        for (what, bytes, _, guard) in refused() {
            let guards = egress::guard::without(&[guard]);
            let (world, origin) = world_with_echo().await;
            let sent = send(&world, &origin, &[&bytes], true).await;
            assert_eq!(sent.received, String::from_utf8_lossy(&bytes), "{what}");
            assert_eq!(sent.codes, [], "{what}");
            world.egress.end().await;
            drop(guards);
        }
    }
}

alone! {
    async fn the_name_is_found_in_any_case_and_however_the_greeting_is_cut() {
        let (world, origin) = world_with_echo().await;
        let mixed = hello(Some("API.Example.COM"), &[]);
        let sent = send(&world, &origin, &[&mixed], true).await;
        assert_eq!((sent.received, sent.codes), (String::from_utf8_lossy(&mixed).into_owned(), vec![]));
        let long = hello(Some("api.example.com"), &[(21, vec![b'p'; 1_700])]);
        assert!(long.len() > 1_700);
        assert_eq!(send(&world, &origin, &[&long], true).await.codes, []);
        let bytes: Vec<&[u8]> = long.chunks(1).collect();
        assert_eq!(send(&world, &origin, &bytes, true).await.codes, []);
        let records: Vec<Vec<u8>> =
            message(Some("api.example.com"), &[(21, vec![b'p'; 500])]).chunks(40).map(record).collect();
        let records: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
        assert_eq!(send(&world, &origin, &records, true).await.codes, []);
        assert_eq!(origin.connections(), 4);
    }
}

/// A greeting for somebody else, in the pieces that hide a name from those who look at single packets or records.
fn hidden() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let long = hello(Some("evil.example.net"), &[(21, vec![b'p'; 1_700])]);
    // The name is the last of the extensions, and comes in the second packet.
    let behind = hello(None, &[(21, vec![b'p'; 1_700]), (0, b"\0\x0b\0\0\x08evil.net".to_vec())]);
    let split = |bytes: &[u8], at: usize| bytes.chunks(at).map(<[u8]>::to_vec).collect::<Vec<_>>();
    let short = message(Some("evil.example.net"), &[]);
    vec![
        ("byte by byte", split(&hello(Some("evil.example.net"), &[]), 1)),
        ("two packets long", split(&long, 1_400)),
        ("the name in the second packet", split(&behind, 1_400)),
        ("many records in one packet", vec![short.chunks(8).flat_map(record).collect()]),
        ("many records in many packets", short.chunks(8).map(record).collect()),
    ]
}

async fn send_hidden(world: &World, origin: &Origin, pieces: &[Vec<u8>], passes: bool) -> Sent {
    let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
    send(world, origin, &pieces, passes).await
}

alone! {
    async fn another_name_is_found_however_the_greeting_is_cut() {
        for (what, pieces) in hidden() {
            let (world, origin) = world_with_echo().await;
            let sent = send_hidden(&world, &origin, &pieces, false).await;
            assert_eq!((sent.ending, sent.codes), (Some(Ending::Reset), vec![Code::Sni]), "{what}");
            assert_eq!(origin.connections(), 0, "{what}");
            world.egress.end().await;
        }
    }
}

#[cfg(feature = "guard-off")]
alone! {
    async fn control_without_the_guard_greetings_in_pieces_reach_the_host() {
        let _without = egress::guard::without(&["sni"]);
        for (what, pieces) in hidden() {
            let (world, origin) = world_with_echo().await;
            let sent = send_hidden(&world, &origin, &pieces, true).await;
            let all: Vec<u8> = pieces.concat();
            assert_eq!((sent.received, sent.codes), (String::from_utf8_lossy(&all).into_owned(), vec![]), "{what}");
            world.egress.end().await;
        }
    }
}

alone! {
    async fn a_post_quantum_greeting_is_longer_than_a_packet_and_passes() {
        let tls = Tls::new("api.example.com").await;
        let world = Plan::new(&["api.example.com"]).pin("api.example.com", tls.origin.address).start().await;
        let mut caught = Origin::echo().await;
        let direct = TcpStream::connect(caught.address).await.unwrap();
        // The echo of its own greeting is no answer, so this handshake fails; its greeting is what is wanted.
        assert!(tls.handshake(direct, "api.example.com").await.is_err());
        let bytes = caught_bytes(&mut caught);
        assert!(bytes > 1_200, "{bytes}");
        let stream = world.connect("api.example.com", 443).await;
        let mut stream = tls.handshake(stream, "api.example.com").await.unwrap();
        assert!(ask(&mut stream, GET).await.ends_with("api.example.com"));
    }
}

fn caught_bytes(origin: &mut Origin) -> usize {
    origin.all().chars().count()
}

alone! {
    async fn a_greeting_that_never_ends_is_given_up() {
        let origin = Origin::echo().await;
        let plan = Plan::new(&["api.example.com"]).pin("api.example.com", origin.address);
        let world = plan.limits(|limits| limits.hello_time = std::time::Duration::from_millis(100)).start().await;
        let mut stream = world.connect("api.example.com", 443).await;
        stream.write_all(&hello(Some("api.example.com"), &[])[..20]).await.unwrap();
        assert_eq!(within(ending(&mut stream)).await, Ending::Reset);
        assert_eq!(world.codes(), [Code::NotTls]);
        assert_eq!(origin.connections(), 0);
        let mut stream = world.connect("api.example.com", 443).await;
        // 64 KiB of records that are only the beginning of a greeting.
        let endless = [&[22, 3, 1, 0x40, 0][..], &[1, 0, 0x3f, 0xfc], &[0; 16_380]].concat().repeat(4);
        drop(stream.write_all(&endless).await);
        assert_eq!(within(ending(&mut stream)).await, Ending::Reset);
        assert_eq!(origin.connections(), 0);
    }
}

alone! {
    async fn the_greeting_counts_as_sent() {
        let origin = Origin::echo().await;
        let mut world = Plan::new(&["api.example.com"]).pin("api.example.com", origin.address).start().await;
        let mut stream = world.connect("api.example.com", 443).await;
        let greeting = hello(Some("api.example.com"), &[]);
        stream.write_all(&greeting).await.unwrap();
        within(tokio::io::AsyncReadExt::read_exact(&mut stream, &mut vec![0; greeting.len()])).await.unwrap();
        let usage = world.egress.usage();
        assert_eq!((usage.sent, usage.received), (greeting.len() as u64, greeting.len() as u64));
        world.set(&[]).await;
        world.until_flows(0).await;
        let usage = world.egress.usage();
        assert_eq!((usage.sent, usage.received, usage.open), (greeting.len() as u64, greeting.len() as u64, 0));
    }
}
