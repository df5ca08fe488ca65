use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};

use super::*;
use crate::credential::key::tests::{TOKEN, binding, key};
use crate::credential::{Key, needle};

/// Ways in which a host may spell a text, each with a name.
pub(crate) fn spellings(text: &[u8]) -> Vec<(String, Vec<u8>)> {
    let each = |spell: &dyn Fn(usize, u8) -> String| -> Vec<u8> {
        text.iter().enumerate().flat_map(|(at, byte)| spell(at, *byte).into_bytes()).collect()
    };
    let raw = |byte: u8| char::from(byte).to_string();
    let mut all = vec![
        ("raw".to_owned(), text.to_vec()),
        ("percent where needed".into(), percent_encode(text, NON_ALPHANUMERIC).to_string().into_bytes()),
        ("percent".into(), each(&|_, byte| format!("%{byte:02X}"))),
        ("percent, lower case".into(), each(&|_, byte| format!("%{byte:02x}"))),
        (
            "percent in part".into(),
            each(&|at, byte| if at % 3 == 1 { format!("%{byte:02X}") } else { raw(byte) }),
        ),
        (
            "percent, last".into(),
            each(&|at, byte| if at + 1 == text.len() { format!("%{byte:02X}") } else { raw(byte) }),
        ),
        ("percent, twice".into(), each(&|_, byte| format!("%25{byte:02X}"))),
        ("hexadecimal".into(), each(&|_, byte| format!("{byte:02x}"))),
        ("hexadecimal, upper case".into(), each(&|_, byte| format!("{byte:02X}"))),
        ("JSON".into(), each(&|_, byte| format!("\\u{byte:04x}"))),
        ("JSON, upper case".into(), each(&|_, byte| format!("\\u{byte:04X}"))),
        (
            "JSON in part".into(),
            each(&|at, byte| if at % 2 == 0 { format!("\\u{byte:04x}") } else { raw(byte) }),
        ),
        ("JSON in JSON".into(), each(&|_, byte| format!("\\\\u{byte:04x}"))),
        (
            "JSON, percent and none".into(),
            each(&|at, byte| match at % 3 {
                0 => format!("\\u{byte:04x}"),
                1 => format!("%{byte:02X}"),
                _ => raw(byte),
            }),
        ),
        ("as Python shows bytes".into(), each(&|_, byte| format!("\\x{byte:02x}"))),
        ("HTML".into(), each(&|_, byte| format!("&#x{byte:x};"))),
        ("HTML, decimal".into(), each(&|_, byte| format!("&#{byte:03};"))),
    ];
    for before in ["", "u", "us", "x-access-token:"] {
        for after in ["", "a", "bc"] {
            let whole = [before.as_bytes(), text, after.as_bytes()].concat();
            let name = format!("between `{before}` and `{after}`");
            let standard = STANDARD.encode(&whole);
            all.push((format!("base64 {name}"), standard.clone().into_bytes()));
            all.push((format!("base64url {name}"), URL_SAFE_NO_PAD.encode(&whole).into_bytes()));
            let escaped = percent_encode(standard.as_bytes(), NON_ALPHANUMERIC).to_string();
            all.push((format!("base64 in percent {name}"), escaped.into_bytes()));
            all.push((format!("base64 in JSON {name}"), standard.replace('/', "\\/").into_bytes()));
        }
    }
    all
}

pub(crate) fn scrubber(keys: Vec<Key>) -> Arc<Needles> {
    let keys: Vec<Arc<Key>> = keys.into_iter().map(Arc::new).collect();
    Arc::new(Needles::new(needle::scrubbing(&keys)))
}

fn passed(needles: &Arc<Needles>, pieces: &[&[u8]]) -> Vec<u8> {
    let mut stream = Stream::new(Arc::clone(needles));
    let mut out = Vec::new();
    for piece in pieces {
        out.extend_from_slice(&stream.push(&Bytes::copy_from_slice(piece)));
    }
    out.extend_from_slice(&stream.finish());
    out
}

const OTHERS: [&str; 3] = [
    "pa+ss/word=with\"all\\of'it&0123456789",
    "0123456789abcdef0123456789abcdef",
    "wxyz two words & more 12345",
];

#[test]
fn an_echo_is_scrubbed_in_every_spelling_cut_at_every_byte() {
    for value in [TOKEN].into_iter().chain(OTHERS) {
        let key = key("K", value, binding(&["a.example.com"], &[]));
        let shown = key.placeholder().as_str().as_bytes().to_vec();
        let needles = scrubber(vec![key]);
        for ((name, spelled), (_, wanted)) in spellings(value.as_bytes()).into_iter().zip(spellings(&shown)) {
            let around = |text: &[u8]| [b"{\"you sent\": \"", text, b"\", \"n\": 1}\n\n"].concat();
            let (echo, wanted) = (around(&spelled), around(&wanted));
            for cut in 0..=echo.len() {
                let out = passed(&needles, &[&echo[..cut], &echo[cut..]]);
                let same =
                    String::from_utf8_lossy(&out).eq_ignore_ascii_case(&String::from_utf8_lossy(&wanted));
                assert!(
                    same,
                    "{name}, cut at {cut}:\n{}\n{}",
                    String::from_utf8_lossy(&out),
                    String::from_utf8_lossy(&wanted)
                );
            }
            let bytes: Vec<&[u8]> = echo.chunks(1).collect();
            assert!(passed(&needles, &bytes).eq_ignore_ascii_case(&wanted), "{name}, byte by byte");
        }
    }
}

#[test]
fn only_a_true_beginning_is_held_and_never_the_end_of_a_line() {
    let needles = scrubber(vec![key("K", TOKEN, binding(&["a.example.com"], &[]))]);
    let mut stream = Stream::new(needles);
    let push = |stream: &mut Stream, text: &str| stream.push(&Bytes::copy_from_slice(text.as_bytes())).len();
    for event in
        ["data: {\"x\": \"ghp_\"}\n\n", "event: ping\ndata: 100% \\n & more\n\n", ": keep-alive\n\n", "{}\n"]
    {
        assert_eq!(push(&mut stream, event), event.len(), "{event}");
        assert_eq!(stream.held(), 0);
    }
    assert_eq!(push(&mut stream, "token=ghp_c4"), 6);
    assert_eq!(stream.held(), 6);
    assert_eq!(push(&mut stream, "X"), 7);
    assert_eq!(push(&mut stream, "ghp_%63"), 0);
    assert_eq!(push(&mut stream, "!"), 8);
}

#[test]
fn a_piece_without_anything_is_passed_as_it_is() {
    let mut stream = Stream::new(scrubber(vec![key("K", TOKEN, binding(&["a.example.com"], &[]))]));
    let piece = Bytes::from(vec![b'.'; 4096]);
    let place = piece.as_ptr();
    assert_eq!(stream.push(&piece).as_ptr(), place);
}

#[test]
fn two_keys_with_the_same_beginning_are_told_apart() {
    let (a, b) = ("ghp_SAMEbeginning0000AAAA1111", "ghp_SAMEbeginning0000AAAA1111andmore2");
    let keys = [("A", a), ("B", b)].map(|(name, value)| key(name, value, binding(&["a.example.com"], &[])));
    let shown = keys.each_ref().map(|key| key.placeholder().to_string());
    let needles = scrubber(keys.into());
    let text = format!("{b} {a} {a}x {b}");
    let wanted = format!("{} {} {}x {}", shown[1], shown[0], shown[0], shown[1]);
    for cut in 0..=text.len() {
        let out = passed(&needles, &[&text.as_bytes()[..cut], &text.as_bytes()[cut..]]);
        assert_eq!(String::from_utf8(out).unwrap(), wanted, "{cut}");
    }
}
