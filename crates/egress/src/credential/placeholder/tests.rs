use proptest::prelude::*;

use super::*;

fn shown(value: &str) -> Placeholder {
    Placeholder::for_value(&Plaintext::new(value.as_bytes().to_vec()))
}

fn class(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        other => other,
    }
}

#[test]
fn the_form_that_clients_look_at_is_kept() {
    for (value, prefix) in [
        ("ghp_c4Nq81ZbT0kXw7LmV2sRjPe9UyHd6GfAoI3t", "ghp_"),
        ("github_pat_11ABCDEFG0abcdefghijklmnop_qrstuvwxyz0123456789", "github_pat_"),
        ("sk-ant-api03-c4Nq81ZbT0kXw7LmV2sRjPe9UyHd6GfAoI3t-AA", "sk-ant-api03-"),
        ("sk-c4Nq81ZbT0kXw7LmV2sRjPe9UyHd6GfAoI3t", "sk-"),
        ("xoxb-123456789012-1234567890123-c4Nq81ZbT0kXw7LmV2sRjPe9", "xoxb-"),
        ("AKIAIOSFODNN7EXAMPLEKEY", "AKIA"),
        ("glpat-c4Nq81ZbT0kXw7LmV2sR", "glpat-"),
        ("npm_c4Nq81ZbT0kXw7LmV2sRjPe9UyHd6GfAoI3t", "npm_"),
        (
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
            "eyJhbGciOiJIUzI1NiJ9.eyJ",
        ),
        ("110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw", ""),
    ] {
        let shown = shown(value);
        assert!(shown.as_str().starts_with(prefix), "{shown}");
        assert_ne!(shown.as_str(), value);
        assert_eq!(shown.as_str().len(), value.len());
        let classes = |text: &str| text.bytes().map(class).collect::<Vec<_>>();
        assert_eq!(classes(shown.as_str()), classes(value), "{shown}");
        assert!(shown.bits() >= Placeholder::MIN_BITS);
    }
}

#[test]
fn hexadecimal_stays_hexadecimal() {
    for value in ["0123456789abcdef0123456789abcdef", "0123456789ABCDEF0123456789ABCDEF"] {
        let text = shown(value);
        assert!(text.as_str().bytes().all(|byte| byte.is_ascii_hexdigit()), "{text}");
        assert_eq!(text.as_str().to_ascii_lowercase() == text.as_str(), value.to_ascii_lowercase() == value);
    }
}

#[test]
fn two_of_one_value_differ() {
    let value = "ghp_c4Nq81ZbT0kXw7LmV2sRjPe9UyHd6GfAoI3t";
    assert_ne!(shown(value), shown(value));
}

#[test]
fn what_is_said_to_be_random_is_what_is_drawn() {
    // Each place of a number takes every digit, about as often.
    let mut counts = [0_u32; 10];
    for _ in 0..200 {
        let text = shown("xyzw0000000000000000000000000000");
        text.as_str()
            .bytes()
            .filter(u8::is_ascii_digit)
            .for_each(|digit| counts[usize::from(digit - b'0')] += 1);
    }
    let all: u32 = counts.iter().sum();
    assert_eq!(all, 200 * 28);
    assert!(counts.iter().all(|count| (all / 20..all / 5).contains(count)), "{counts:?}");
    assert_eq!(millibits(26), 4700);
    assert!(f64::from(millibits(62)) <= 1000.0 * 62_f64.log2());
}

proptest! {
    #[test]
    fn every_value_of_a_key_has_one_of_its_shape(value in "[ -~]{16,80}") {
        let text = shown(&value);
        let (new, old) = (text.as_str().as_bytes(), value.as_bytes());
        prop_assert_eq!(new.len(), old.len());
        for (new, old) in new.iter().zip(old) {
            prop_assert!(new == old || (new.is_ascii_alphanumeric() && old.is_ascii_alphanumeric()));
        }
        prop_assert_eq!(new[0] >> 4, old[0] >> 4);
        prop_assert!(text.bits() < Placeholder::MIN_BITS || text.as_str() != value);
    }
}
