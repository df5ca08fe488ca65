use super::*;
use crate::credential::key::tests::{TOKEN, binding, key};
use crate::credential::search::Needles;
use crate::credential::{Key, Keyring, needle};

fn frame(first: u8, mask: Option<[u8; 4]>, payload: &[u8]) -> Vec<u8> {
    let bit = if mask.is_some() { 0x80 } else { 0 };
    let mut out = vec![first];
    match payload.len() {
        short @ 0..=125 => out.push(bit | u8::try_from(short).unwrap()),
        more @ 126..=65535 => {
            out.push(bit | 0x7e);
            out.extend_from_slice(&u16::try_from(more).unwrap().to_be_bytes());
        }
        more => {
            out.push(bit | 0x7f);
            out.extend_from_slice(&(more as u64).to_be_bytes());
        }
    }
    let mask_bytes = mask.unwrap_or_default();
    out.extend(mask.into_iter().flatten());
    out.extend(payload.iter().zip(mask_bytes.into_iter().cycle()).map(|(byte, mask)| byte ^ mask));
    out
}

fn host() -> (FromHost, String) {
    let key = key("K", TOKEN, binding(&["a.example.com"], &[]));
    let shown = key.placeholder().to_string();
    let ring = Keyring::new().with(key).unwrap();
    (FromHost::new(&Scrub::new(&ring, ring.keys())), shown)
}

fn cell() -> (ToHost, String) {
    let key: Arc<Key> = Arc::new(key("K", TOKEN, binding(&["a.example.com"], &["websocket"])));
    let shown = key.placeholder().to_string();
    let names = vec![key.name().clone()];
    let needles = Arc::new(Needles::new(needle::writing(&[key], <[u8]>::to_vec)));
    (ToHost::new(Some(&Messages { needles, names })), shown)
}

const TEXT: u8 = 0x81;
const MASK: Option<[u8; 4]> = Some([0x12, 0x34, 0x56, 0x78]);

/// A message in parts cut at every byte, with a ping between, read in pieces cut at every byte.
fn conversation(mask: Option<[u8; 4]>, text: &str, cut: usize) -> Vec<u8> {
    let (one, two) = text.as_bytes().split_at(cut);
    [
        frame(0x01, mask, one),
        frame(0x89, mask, b"ping"),
        frame(0x80, mask, two),
        frame(TEXT, mask, text.as_bytes()),
    ]
    .concat()
}

#[test]
fn messages_from_the_host_are_scrubbed_however_they_are_cut() {
    let text = |token: &str| format!("{{\"echo\": \"{token}\"}}");
    for cut in 0..text(TOKEN).len() {
        for piece in [1, 2, 5, 17, 1000] {
            let (mut frames, shown) = host();
            let mut out = Vec::new();
            for piece in conversation(None, &text(TOKEN), cut).chunks(piece) {
                frames.push(piece, &mut out).unwrap();
            }
            assert_eq!(out, conversation(None, &text(&shown), cut), "{cut} {piece}");
        }
    }
}

#[test]
fn text_to_the_host_is_written_into_and_keeps_its_mask() {
    for cut in 0..TOKEN.len() {
        for piece in [1, 3, 1000] {
            let (mut frames, shown) = cell();
            let mut out = Vec::new();
            for piece in conversation(MASK, &shown, cut).chunks(piece) {
                frames.push(piece, &mut out).unwrap();
            }
            assert_eq!(out, conversation(MASK, TOKEN, cut), "{cut} {piece}");
            assert_eq!(frames.take_written(), [0, 0]);
        }
    }
    let (mut frames, shown) = cell();
    for first in [0x82, 0x89, 0x8a] {
        let bytes = frame(first, MASK, shown.as_bytes());
        let mut out = Vec::new();
        frames.push(&bytes, &mut out).unwrap();
        assert_eq!(out, bytes, "binary and control frames stay");
    }
}

#[test]
fn all_kinds_of_frames_from_the_host_are_scrubbed_at_every_length() {
    for first in [TEXT, 0x82, 0x88, 0x89, 0x8a] {
        for padding in [0, 60, 85, 86, 200, 70_000] {
            let (mut frames, shown) = host();
            let payload = |token: &str| format!("{}{token}", "x".repeat(padding));
            if first >= 0x88 && padding > 85 {
                continue;
            }
            let mut out = Vec::new();
            for piece in frame(first, None, payload(TOKEN).as_bytes()).chunks(1021) {
                frames.push(piece, &mut out).unwrap();
            }
            assert_eq!(out, frame(first, None, payload(&shown).as_bytes()), "{first:x} {padding}");
        }
    }
}

#[test]
fn a_message_that_does_not_begin_a_value_goes_on_at_once() {
    let (mut frames, _) = host();
    let mut out = Vec::new();
    let bytes = frame(0x01, None, b"first part.");
    frames.push(&bytes, &mut out).unwrap();
    assert_eq!(out, bytes);
    out.clear();
    let end = frame(0x80, None, b"ends as the value begins: ghp_");
    frames.push(&end, &mut out).unwrap();
    assert_eq!(out, end);
    out.clear();
    let open = frame(0x01, None, b"ghp_");
    frames.push(&open, &mut out).unwrap();
    assert_eq!(out, open[..2]);
    frames.finish(&mut out);
    assert_eq!(out, open);
}

#[test]
fn what_breaks_the_protocol_ends_the_stream() {
    let push = |side: &str, bytes: &[u8]| {
        let mut out = Vec::new();
        if side == "cell" { cell().0.push(bytes, &mut out) } else { host().0.push(bytes, &mut out) }
    };
    assert_eq!(push("host", &frame(0xc1, None, b"x")), Err(WebSocketError::Extension));
    assert_eq!(push("host", &frame(0x83, None, b"x")), Err(WebSocketError::Opcode));
    assert_eq!(push("host", &frame(0x80, None, b"x")), Err(WebSocketError::Order));
    assert_eq!(
        push("host", &[frame(0x01, None, b"x"), frame(0x81, None, b"x")].concat()),
        Err(WebSocketError::Order)
    );
    assert_eq!(push("host", &frame(0x09, None, b"x")), Err(WebSocketError::Control));
    assert_eq!(push("host", &frame(0x89, None, &[0; 126])), Err(WebSocketError::Control));
    assert_eq!(push("host", &frame(0x81, MASK, b"x")), Err(WebSocketError::Mask));
    assert_eq!(push("cell", &frame(0x81, None, b"x")), Err(WebSocketError::Mask));
    assert_eq!(push("host", &[0x81, 127, 0xff, 0, 0, 0, 0, 0, 0, 0]), Err(WebSocketError::Length));
    let mut flood = frame(0x01, None, b"ghp_");
    flood.extend(frame(0x89, None, &[0; 125]).repeat(9000));
    assert_eq!(push("host", &flood), Err(WebSocketError::Interleaved));
}

#[test]
fn without_keys_bytes_pass_as_they_are() {
    let mut out = Vec::new();
    ToHost::new(None).push(b"anything", &mut out).unwrap();
    FromHost::new(&Scrub::default()).push(b" at all", &mut out).unwrap();
    assert_eq!(out, b"anything at all");
}
