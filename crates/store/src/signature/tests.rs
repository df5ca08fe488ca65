//! Signatures of reviewers, and what is none.

use std::{
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt, symlink},
};

use super::*;

const FINGERPRINT: &str = "v1:sha256:0000000000000000000000000000000000000000000000000000000000000000";

/// RFC 8032, 7.1: secret key, public key, message, signature.
const VECTORS: [[&str; 4]; 3] = [
    [
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ],
    [
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ],
    [
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ],
];

fn bytes(hex: &str) -> Vec<u8> {
    let pair = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    hex.as_bytes().chunks(2).map(pair).collect()
}

fn table() -> Digest {
    Digest::of(b"a table")
}

fn signed(key: &ReviewerKey) -> SignedAcceptance {
    key.sign(&table(), FINGERPRINT).unwrap()
}

/// A key's file with this secret key, as OpenSSL writes it.
fn pem(seed: &str) -> String {
    let document = bytes(&format!("302e020100300506032b657004220420{seed}"));
    format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", BASE64_STANDARD.encode(document))
}

#[test]
fn a_key_is_read_and_signs_as_rfc_8032_says() {
    let folder = tempfile::tempdir().unwrap();
    for (at, [seed, public, message, signature]) in VECTORS.into_iter().enumerate() {
        let path = folder.path().join(at.to_string());
        fs::write(&path, pem(seed)).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o400)).unwrap();
        let key = ReviewerKey::read(&path).unwrap();
        assert_eq!(key.public().bytes().as_slice(), bytes(public));
        assert_eq!(key.pair.try_sign(&bytes(message)).unwrap().as_ref(), bytes(signature));
        assert!(!format!("{key:?}").contains(seed.get(..8).unwrap()));
    }
}

#[test]
fn a_signature_is_over_one_table_with_one_fingerprint() {
    let key = ReviewerKey::make().unwrap();
    let one = signed(&key);
    assert_eq!(one.key(), key.public());
    assert!(one.is_over(&table(), FINGERPRINT));
    assert!(!one.is_over(&Digest::of(b"another"), FINGERPRINT));
    assert!(!one.is_over(&table(), &FINGERPRINT.replace("v1", "v2")) && !one.is_over(&table(), ""));
    assert_eq!(
        String::from_utf8(message(&table(), FINGERPRINT)).unwrap(),
        format!("fumehood-acceptance/1\n{}\n{FINGERPRINT}\n", table())
    );
    let other = SignedAcceptance { key: *ReviewerKey::make().unwrap().public(), ..one.clone() };
    assert!(!other.is_over(&table(), FINGERPRINT));
    for at in 0..64 * 8 {
        let mut flipped = one.clone();
        flipped.signature.0[at / 8] ^= 1 << (at % 8);
        assert!(!flipped.is_over(&table(), FINGERPRINT), "bit {at}");
    }
}

/// Why [`PublicKey`] is none of these: for the neutral element, a signature of nothing fits every message.
#[test]
fn without_the_check_of_its_order_a_key_would_fit_everybodys_signature() {
    let mut neutral = [0; 32];
    neutral[0] = 1;
    let mut forged = [0; 64];
    forged[0] = 1;
    let fits = UnparsedPublicKey::new(&ED25519, neutral).verify(b"anything", &forged).is_ok();
    assert!(fits, "the library refuses such a key by now");
    assert!(PublicKey::new(neutral).is_err());
}

#[test]
fn the_file_has_one_line_for_each_reviewer() {
    let keys = [ReviewerKey::make().unwrap(), ReviewerKey::make().unwrap()];
    let mut all = Signatures::default();
    assert_eq!(Signatures::parse(all.to_text().as_bytes()).unwrap(), all);
    for key in &keys {
        all.add(signed(key)).unwrap();
    }
    all.add(signed(&keys[0])).unwrap();
    assert_eq!((all.iter().count(), all.to_text().lines().count()), (2, 4));
    assert_eq!(Signatures::parse(all.to_text().as_bytes()).unwrap(), all);
    let later = keys[0].sign(&Digest::of(b"later"), FINGERPRINT).unwrap();
    all.add(later.clone()).unwrap();
    all.keep_over(&Digest::of(b"later"), FINGERPRINT);
    assert_eq!(all.iter().collect::<Vec<_>>(), [&later]);
}

#[test]
fn there_is_room_for_so_many_reviewers_and_no_more() {
    let mut all = Signatures::default();
    let keys: Vec<ReviewerKey> = (0..=Signatures::MOST).map(|_| ReviewerKey::make().unwrap()).collect();
    let (last, most) = keys.split_last().unwrap();
    for key in most {
        all.add(signed(key)).unwrap();
    }
    assert_eq!(all.add(signed(last)), Err(SignaturesError::Many));
    all.add(signed(&keys[0])).unwrap();
    let text = all.to_text();
    assert!(Signatures::MOST_BYTES > text.len().try_into().unwrap());
    let line = format!("  {}\n]", serde_json::to_string(&signed(last)).unwrap());
    let more = text.trim_end().replace("\n]", &format!(",\n{line}"));
    assert_eq!(Signatures::parse(more.as_bytes()), Err(SignaturesError::Many));
}

#[test]
fn what_is_not_such_a_list_is_refused() {
    let key = ReviewerKey::make().unwrap();
    let one = serde_json::to_string(&signed(&key)).unwrap();
    let whole = format!("[{one}]");
    assert!(Signatures::parse(whole.as_bytes()).is_ok());
    assert_eq!(
        Signatures::parse(format!("[{one},{one}]").as_bytes()),
        Err(SignaturesError::Twice(*key.public()))
    );
    for other in [
        one.clone(),
        format!("{whole}{whole}"),
        whole.replace("\"key\"", "\"by\""),
        whole.replace("{\"key\"", "{\"of\":1,\"key\""),
        whole.replace("{\"key\"", &format!("{{\"key\":\"{}\",\"key\"", key.public())),
        whole.replace("\"signature\":\"", "\"signature\":\"AAAA"),
        whole.replace("ed25519:", ""),
        format!("<<<<<<< ours\n{whole}\n=======\n{whole}\n>>>>>>> theirs\n"),
    ] {
        assert!(matches!(Signatures::parse(other.as_bytes()), Err(SignaturesError::Form(_))), "{other}");
    }
    for end in 0..whole.len() {
        assert!(Signatures::parse(&whole.as_bytes()[..end]).is_err(), "cut off at {end}");
    }
    let long = format!("{whole}{}", " ".repeat(64 << 10));
    assert_eq!(Signatures::parse(long.as_bytes()), Err(SignaturesError::Long));
}

#[test]
fn a_key_stays_in_a_file_of_its_owners_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    let key = ReviewerKey::make().unwrap();
    key.write_new(&path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_to_string(&path).unwrap().len(), 119);
    let again = ReviewerKey::read(&path).unwrap();
    assert_eq!((again.public(), signed(&again)), (key.public(), signed(&key)));
    let before = fs::read(&path).unwrap();
    assert!(matches!(ReviewerKey::make().unwrap().write_new(&path), Err(KeyError::There { .. })));
    symlink(folder.path().join("nowhere"), folder.path().join("link")).unwrap();
    assert!(matches!(key.write_new(&folder.path().join("link")), Err(KeyError::There { .. })));
    assert_eq!((fs::read(&path).unwrap(), fs::read_dir(folder.path()).unwrap().count()), (before, 2));
    for mode in [0o640, 0o604, 0o620, 0o660] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        let error = ReviewerKey::read(&path).unwrap_err();
        assert!(matches!(error, KeyError::Exposed { .. }) && !error.hint().is_empty(), "{mode:o}: {error}");
    }
}

#[test]
fn what_is_no_key_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    ReviewerKey::make().unwrap().write_new(&path).unwrap();
    let whole = fs::read_to_string(&path).unwrap();
    let longer = format!("{whole}{}", "\n".repeat(4096));
    let another_kind = whole.replace("MC4CAQAwBQYDK2Vw", "MC4CAQAwBQYDK2Vu");
    assert_ne!(another_kind, whole);
    for text in ["", whole.get(..60).unwrap(), whole.get(1..).unwrap(), "\u{0}\n", &longer, &another_kind] {
        fs::write(&path, text).unwrap();
        assert!(matches!(ReviewerKey::read(&path), Err(KeyError::Form { .. })), "{text}");
    }
    fs::write(&path, [0xff; 100]).unwrap();
    assert!(matches!(ReviewerKey::read(&path), Err(KeyError::Form { .. })));
    assert!(matches!(ReviewerKey::read(folder.path()), Err(KeyError::Form { .. })));
    assert!(matches!(ReviewerKey::read(&folder.path().join("none")), Err(KeyError::Io { .. })));
}
