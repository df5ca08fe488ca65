use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use model::needle::{Needle, NeedleKey};
use proptest::prelude::*;
use serde_json::json;

use super::*;

const VALUE: &str = "ghp_q7Xk2/Lm+9\" \\ÄsT>?~";

fn screen_for(value: &str) -> Screen {
    let key = NeedleKey::new([7; 32]);
    let needle = Needle::of(value.as_bytes(), &key).unwrap();
    Screen::new(key, vec![("GITHUB".to_owned(), needle)])
}

fn found(value: &Value) -> Option<(String, String)> {
    screen_for(VALUE).find(value).map(|Finding { path, what }| (path, what))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

fn percent(text: &str) -> String {
    text.bytes().fold(String::new(), |encoded, byte| match byte {
        letter if letter.is_ascii_alphanumeric() => encoded + &char::from(letter).to_string(),
        other => encoded + &format!("%{other:02X}"),
    })
}

/// Every spelling of a value that is looked for.
fn spellings(value: &str) -> Vec<(&'static str, String)> {
    let escaped = serde_json::to_string(value).unwrap();
    let unicode = value.chars().fold(String::new(), |text, c| text + &format!("\\u{:04x}", u32::from(c)));
    let mime = STANDARD
        .encode(format!("user:{value}"))
        .as_bytes()
        .chunks(8)
        .map(|row| String::from_utf8_lossy(row).into_owned() + "\r\n")
        .collect();
    vec![
        ("as it is", value.to_owned()),
        ("in a sentence", format!("use {value}, please")),
        ("base64", STANDARD.encode(value)),
        ("base64, one before", STANDARD.encode(format!("u{value}z"))),
        ("base64, two before", STANDARD.encode(format!("u:{value}zz"))),
        ("base64, three before", STANDARD.encode(format!("us:{value}zzz"))),
        ("base64 behind a letter", format!("x{}", STANDARD_NO_PAD.encode(value))),
        ("base64 behind two letters", format!("xx{}", STANDARD_NO_PAD.encode(value))),
        ("base64 behind three letters", format!("xxx{}", STANDARD_NO_PAD.encode(value))),
        ("base64url", URL_SAFE_NO_PAD.encode(value)),
        ("base64 in lines", mime),
        ("percent", percent(value)),
        (
            "percent, all of it",
            value.bytes().fold(String::new(), |text, byte| text + &format!("%{byte:02x}")),
        ),
        ("hex", hex(value.as_bytes())),
        ("HEX", hex(value.as_bytes()).to_uppercase()),
        ("hex behind a digit", format!("0{}", hex(value.as_bytes()))),
        ("JSON", escaped.clone()),
        ("JSON escapes", unicode),
        ("JSON in JSON", serde_json::to_string(&escaped).unwrap()),
        ("base64 of base64", STANDARD.encode(STANDARD.encode(value))),
        ("percent of base64", percent(&STANDARD.encode(value))),
        ("base64 of hex", STANDARD.encode(hex(value.as_bytes()))),
    ]
}

#[test]
fn a_value_is_found_in_every_spelling() {
    for (name, text) in spellings(VALUE) {
        assert_eq!(
            found(&json!({"a": ["x", {"b": text}]})),
            Some(("a[1].b".to_owned(), "the secret `GITHUB`".to_owned())),
            "{name}: {text}"
        );
    }
}

#[test]
fn a_value_is_found_in_keys_and_as_a_number() {
    assert_eq!(found(&json!({"a": {VALUE: 1}})), Some(("a".to_owned(), "the secret `GITHUB`".to_owned())));
    assert_eq!(found(&json!({VALUE: 1})).unwrap().0, "the arguments");
    let found = screen_for("4929135824").find(&json!({"pin": [4_929_135_824_u64]})).unwrap();
    assert_eq!(found.path, "pin[0]");
}

#[test]
fn what_only_looks_like_it_is_let_through() {
    let other = VALUE.replace('7', "8");
    for (name, text) in spellings(&other) {
        assert_eq!(found(&json!({"a": text})), None, "{name}");
    }
    let honest = json!({
        "query": "How do I rotate a private key? grep -r 'BEGIN RSA PRIVATE KEY-----' .",
        "code": "if line.startswith(\"-----BEGIN PRIVATE KEY-----\"):\n    raise ValueError(line)\n-----END PRIVATE KEY-----",
        "certificate": format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----", "MIIB".repeat(16)),
        "public": {"kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"},
        "text": "{\"kty\":\"EC\",\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\"} and d is a letter",
        "image": STANDARD.encode([0x89; 3000]),
        "age": "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p, not AGE-SECRET-KEY-1 itself",
        "d": "a letter", "k": "another",
    });
    assert_eq!(found(&honest), None);
}

#[test]
fn private_keys_are_found_without_needles() {
    let body = "MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF";
    let pem = |label: &str| format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n");
    let openssh = STANDARD.encode(b"openssh-key-v1\0\0\0\0\x04none\0\0\0\x04none");
    let age = format!("AGE-SECRET-KEY-1{}", "GQ9778VQXMMJVE8SK7J6VT8UJ4HDQAJUVSFCWCM02D8GEWQ72PVQ2Y5J33");
    let jwk = json!({"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "d": "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"});
    for (key, kind) in [
        (json!(pem("PRIVATE KEY")), "PEM"),
        (json!(pem("RSA PRIVATE KEY")), "PEM"),
        (json!(pem("ENCRYPTED PRIVATE KEY")), "PEM"),
        (json!(pem("OPENSSH PRIVATE KEY")), "PEM"),
        (json!(pem("OPENSSH PRIVATE KEY").replace('\n', "\\n")), "PEM"),
        (json!(format!("key: {}", pem("EC PRIVATE KEY").replace('\n', "\r\n  "))), "PEM"),
        (
            json!(format!(
                "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n{body}"
            )),
            "PEM",
        ),
        (json!(format!("-----BEGIN PGP PRIVATE KEY BLOCK-----\nComment: x\n\n{body}\n")), "PGP"),
        (json!(STANDARD.encode(pem("PRIVATE KEY"))), "PEM"),
        (json!(openssh), "OpenSSH"),
        (json!(age), "age"),
        (json!(age.to_lowercase()), "age"),
        (jwk.clone(), "JWK"),
        (json!({"keys": [jwk]}), "JWK"),
        (json!(jwk.to_string()), "JWK"),
        (json!(serde_json::to_string_pretty(&jwk).unwrap()), "JWK"),
        (json!(json!(jwk.to_string()).to_string()), "JWK"),
        (json!({"kty": "oct", "k": "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75"}), "JWK"),
        (
            json!({"kty": "oct", "k": "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75"})
                .to_string()
                .into(),
            "JWK",
        ),
    ] {
        let found = Screen::none().find(&json!({"key": key})).unwrap_or_else(|| panic!("{key}"));
        assert_eq!(found.what, format!("a private key ({kind})"), "{key}");
        assert!(found.path.starts_with("key"), "{}", found.path);
    }
}

#[test]
fn a_finding_says_nothing_of_the_value() {
    for (_, text) in spellings(VALUE) {
        let (path, what) = found(&json!({"a": text, "b": {text.clone(): 1}})).unwrap();
        assert!(!path.contains("q7Xk2") && !what.contains("q7Xk2"), "{path} {what}");
    }
}

proptest! {
    #[test]
    fn a_generated_value_is_found_in_every_spelling(value in "[!-~]{8,64}", before in "[ -~]{0,9}", behind in "[ -~]{0,9}") {
        let screen = screen_for(&value);
        for (name, text) in spellings(&value) {
            // What stands beside a spelling must not read as more of it.
            let text = match name {
                "as it is" => format!("{before}{text}{behind}"),
                _ => format!("{before}. {text} .{behind}"),
            };
            // A value that itself looks encoded can be read out of the text by taking off what belongs to it.
            prop_assert!(screen.find(&json!({"x": text})).is_some(), "{}: {}", name, text);
        }
    }

    #[test]
    fn searching_never_fails(text in "\\PC{0,300}", bytes: Vec<u8>) {
        let screen = screen_for(VALUE);
        prop_assert_eq!(screen.find(&json!([text, String::from_utf8_lossy(&bytes)])), None);
    }
}
