//! Java's own key store format, JKS, with nothing but trusted certificates in it.
//!
//! As `sun.security.provider.JavaKeyStore` of OpenJDK reads it: big-endian, texts in modified UTF-8 behind a 16-bit length.

use rustls_pki_types::CertificateDer;
use sha1::{Digest, Sha1};

const MAGIC: u32 = 0xFEED_FEED;
const VERSION: u32 = 2;
/// An entry with a certificate and no key.
const TRUSTED: u32 = 2;
/// What everybody's key store of roots is closed with; it keeps nothing secret, and readers seldom check it.
const PASSWORD: &str = "changeit";
/// What the digest holds between password and contents.
const WHITENER: &[u8] = b"Mighty Aphrodite";

/// The store up to its last certificate, which is to come.
pub(super) fn begin(certificates: &[CertificateDer<'_>]) -> Vec<u8> {
    let mut store = Vec::new();
    for word in [MAGIC, VERSION, number(certificates.len().saturating_add(1))] {
        store.extend(word.to_be_bytes());
    }
    for (at, certificate) in certificates.iter().enumerate() {
        entry(&mut store, &format!("root-{at}"), certificate);
    }
    store
}

/// What follows on that: the last certificate, and the digest of everything.
pub(super) fn finish(begun: &[u8], last: &[u8]) -> Vec<u8> {
    let mut end = Vec::new();
    entry(&mut end, "fumehood", last);
    let mut digest = Sha1::new();
    for unit in PASSWORD.encode_utf16() {
        digest.update(unit.to_be_bytes());
    }
    digest.update(WHITENER);
    digest.update(begun);
    digest.update(&end);
    end.extend_from_slice(&digest.finalize());
    end
}

fn entry(store: &mut Vec<u8>, name: &str, certificate: &[u8]) {
    store.extend(TRUSTED.to_be_bytes());
    text(store, name);
    // When it was put in; nobody asks.
    store.extend(0_u64.to_be_bytes());
    text(store, "X.509");
    store.extend(number(certificate.len()).to_be_bytes());
    store.extend_from_slice(certificate);
}

/// Only for plain ASCII of a few bytes, where both kinds of UTF-8 are the same.
fn text(store: &mut Vec<u8>, text: &str) {
    store.extend(u16::try_from(text.len()).unwrap_or(u16::MAX).to_be_bytes());
    store.extend_from_slice(text.as_bytes());
}

fn number(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
