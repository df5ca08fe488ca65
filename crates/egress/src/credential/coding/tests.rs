use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

use super::*;

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn bare(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Brotli without compressing (RFC 7932 §9.2): one block of at most 65536 bytes as they are.
pub(crate) fn brotli(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len() - 1).unwrap();
    assert!(length < 0x1_0000);
    // A window of 16 bits; not the last; four nibbles of length; uncompressed; padding.
    let bits = length << 4 | 1 << 20;
    let mut out = bits.to_le_bytes()[..3].to_vec();
    out.extend_from_slice(bytes);
    out.push(3);
    out
}

fn decoded(coding: Coding, bytes: &[u8], piece: usize) -> io::Result<Vec<u8>> {
    let mut decoder = Decoder::new(coding);
    let mut out = Vec::new();
    for piece in bytes.chunks(piece) {
        out.extend(decoder.push(piece)?);
    }
    out.extend(decoder.finish()?);
    Ok(out)
}

#[test]
fn each_coding_is_taken_off_however_it_is_cut() {
    let text = "an answer of some length, ".repeat(100).into_bytes();
    let all = [
        (Coding::Gzip, gzip(&text)),
        (Coding::Deflate, zlib(&text)),
        (Coding::Deflate, bare(&text)),
        (Coding::Brotli, brotli(&text)),
    ];
    for (coding, bytes) in all {
        for piece in [1, 2, 7, 4096] {
            assert_eq!(decoded(coding, &bytes, piece).unwrap(), text, "{coding:?} {piece}");
        }
        let short = bytes.get(..bytes.len() / 2).unwrap();
        assert!(decoded(coding, short, 4096).is_err(), "{coding:?}");
        assert!(decoded(coding, b"\x1f\x8bgarbage, not in any coding", 4096).is_err(), "{coding:?}");
        assert_eq!(decoded(coding, b"", 4096).unwrap(), b"");
    }
    let twice = [gzip(b"one "), gzip(b"two")].concat();
    assert_eq!(decoded(Coding::Gzip, &twice, 5).unwrap(), b"one two");
}

#[test]
fn a_body_that_swells_without_bound_is_an_error() {
    let bomb = gzip(&vec![0; 64 * 1024 * 1024]);
    assert!(bomb.len() < 100_000);
    let error = decoded(Coding::Gzip, &bomb, 4096).unwrap_err();
    assert!(error.to_string().contains("too large"));
}

#[test]
fn what_nobody_here_takes_off_is_named() {
    let headers = |pairs: &[(&'static str, &'static str)]| {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_static(value));
        }
        Coding::of(&headers)
    };
    assert_eq!(headers(&[]), Ok(None));
    assert_eq!(headers(&[("content-encoding", "identity")]), Ok(None));
    assert_eq!(headers(&[("content-encoding", "GZip")]), Ok(Some(Coding::Gzip)));
    assert_eq!(headers(&[("content-encoding", " br ")]), Ok(Some(Coding::Brotli)));
    for pair in [
        ("content-encoding", "zstd"),
        ("content-encoding", "gzip, br"),
        ("content-encoding", "x, gzip"),
        ("transfer-encoding", "gzip, chunked"),
        ("grpc-encoding", "gzip"),
    ] {
        assert!(headers(&[pair]).is_err(), "{pair:?}");
    }
    assert!(headers(&[("content-encoding", "gzip"), ("content-encoding", "br")]).is_err());
}
