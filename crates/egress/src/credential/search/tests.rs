use crate::credential::key::tests::{TOKEN, binding, key};
use crate::credential::stream::tests::scrubber;

#[test]
fn bits_beside_a_value_in_base64_stay_the_neighbours() {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    let key = key("K", TOKEN, binding(&["a.example.com"], &[]));
    let shown = key.placeholder().as_str().to_owned();
    let needles = scrubber(vec![key]);
    for before in ["", "A", "zz", "~~~", "user:"] {
        for after in ["", "\u{7f}", "~~", "\0\0\0"] {
            let echo = STANDARD.encode(format!("{before}{TOKEN}{after}"));
            let out = needles.edited(echo.as_bytes()).unwrap_or_default();
            let out = STANDARD.decode(out).unwrap_or_default();
            assert_eq!(String::from_utf8_lossy(&out), format!("{before}{shown}{after}"));
        }
    }
}

#[test]
fn a_value_between_its_own_beginnings_is_found() {
    let key = key("K", "ababababababababc0123", binding(&["a.example.com"], &[]));
    let shown = key.placeholder().as_str().to_owned();
    let needles = scrubber(vec![key]);
    let out = needles.edited(b"abababababababababababc0123 ab%61b").unwrap_or_default();
    assert_eq!(String::from_utf8_lossy(&out), format!("ababab{shown} ab%61b"));
}

#[test]
fn what_can_be_read_in_two_ways_is_read_in_both() {
    let value = "100%41sure\\\\u0041&amp;#x41;end";
    let key = key("K", value, binding(&["a.example.com"], &[]));
    let needles = scrubber(vec![key]);
    let coded: String = value.bytes().map(|byte| format!("%{byte:02x}")).collect::<Vec<_>>().concat();
    for text in [
        value.to_owned(),
        coded,
        value.replace('%', "%25"),
        value.replace('1', "%31"),
        value.replace('&', "&amp;"),
    ] {
        let out = needles.edited(text.as_bytes());
        assert!(out.is_some_and(|out| out.len() == text.len()), "{text}");
    }
}

#[test]
fn long_runs_of_almost_matches_end() {
    let value = format!("{}b", "a%".repeat(4000));
    let value: String = value.chars().take(8000).collect();
    let needles = scrubber(vec![key("K", &value, binding(&["a.example.com"], &[]))]);
    let text = "a%61%25".repeat(300);
    assert!(needles.edited(text.as_bytes()).is_none());
}
