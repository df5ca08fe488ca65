use std::collections::HashSet;

use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::pki_types::{ServerName, UnixTime};

use super::*;

fn verifies(authority: &Authority, leaf: &CertifiedKey, name: &str, at: SystemTime) -> bool {
    let mut roots = RootCertStore::empty();
    roots.add(authority.certificate_der().to_vec().into()).unwrap();
    let provider = Arc::new(default_provider());
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let at = UnixTime::since_unix_epoch(at.duration_since(UNIX_EPOCH).unwrap());
    verifier.verify_server_cert(&leaf.cert[0], &[], &name, &[], at).is_ok()
}

#[test]
fn a_certificate_is_for_its_name_only_and_holds_days_ago_and_long_from_now() {
    let authority = Authority::new().unwrap();
    let now = SystemTime::now();
    let leaf = authority.inner.leaf("API.example.com", now).unwrap();
    for at in [now - 6 * DAY, now, now + 60 * DAY] {
        assert!(verifies(&authority, &leaf, "api.example.com", at));
    }
    assert!(!verifies(&authority, &leaf, "www.example.com", now));
    assert!(!verifies(&authority, &leaf, "x.api.example.com", now));
    assert!(!verifies(&authority, &leaf, "api.example.com", now + LEAF + DAY));
    assert!(!verifies(&Authority::new().unwrap(), &leaf, "api.example.com", now));
}

#[test]
fn a_certificate_is_kept_until_its_end_comes_near_and_then_made_anew() {
    let authority = Authority::new().unwrap();
    let now = SystemTime::now();
    let first = authority.inner.leaf("a.example.com", now).unwrap();
    let same = authority.inner.leaf("A.EXAMPLE.com", now + 59 * DAY).unwrap();
    assert!(Arc::ptr_eq(&first, &same));
    let later = now + 61 * DAY;
    let next = authority.inner.leaf("a.example.com", later).unwrap();
    assert!(!Arc::ptr_eq(&first, &next));
    assert!(verifies(&authority, &next, "a.example.com", later + 60 * DAY));
}

#[test]
fn only_so_many_certificates_are_kept_and_each_has_a_number_of_its_own() {
    let authority = Authority::new().unwrap();
    let now = SystemTime::now();
    let mut seen = HashSet::new();
    for at in 0..LEAVES + 20 {
        let time = now + Duration::from_secs(at as u64);
        let leaf = authority.inner.leaf(&format!("h{at}.example.com"), time).unwrap();
        assert!(seen.insert(leaf.cert[0].to_vec()));
    }
    assert_eq!(authority.leaves(), LEAVES);
    let serials: HashSet<Vec<u8>> = (0..100).map(|_| serial().unwrap().to_bytes()).collect();
    assert_eq!(serials.len(), 100);
}

#[test]
fn a_name_too_long_for_a_common_name_has_a_certificate_too() {
    let authority = Authority::new().unwrap();
    let name = format!("{}.{}.example.com", "a".repeat(60), "b".repeat(60));
    let now = SystemTime::now();
    let leaf = authority.inner.leaf(&name, now).unwrap();
    assert!(verifies(&authority, &leaf, &name, now));
}

#[test]
fn the_text_of_the_certificate_reads_as_the_certificate() {
    let authority = Authority::new().unwrap();
    let read = certificates(authority.certificate_pem().as_bytes()).unwrap();
    assert_eq!(read, [CertificateDer::from(authority.certificate_der().to_vec())]);
    assert!(authority.certificate_pem().lines().all(|line| line.len() <= 64));
    assert!(!format!("{authority:?}").contains("PRIVATE"));
}
