use std::sync::Arc;

use super::*;
use crate::credential::key::tests::{TOKEN, binding, key};
use crate::credential::needle;
use crate::credential::search::Needles;

/// A text in which `P` stands for the placeholder, after it was cut at `cut`; `V` stands for the value in the result.
fn written(make: fn(Stream) -> Regions, text: &str, cut: usize) -> String {
    let key = Arc::new(key("K", TOKEN, binding(&["a.example.com"], &["json", "form"])));
    let shown = key.placeholder().as_str().to_owned();
    let text = text.replace('P', &shown);
    let cut = cut * text.len() / 100;
    let mut regions = make(Stream::new(Arc::new(Needles::new(needle::writing(&[key], <[u8]>::to_vec)))));
    let mut out = regions.push(Bytes::copy_from_slice(&text.as_bytes()[..cut])).to_vec();
    out.extend_from_slice(&regions.push(Bytes::copy_from_slice(&text.as_bytes()[cut..])));
    out.extend_from_slice(&regions.finish());
    assert_eq!(out.len(), text.len());
    String::from_utf8(out).unwrap().replace(TOKEN, "V").replace(&shown, "P")
}

#[test]
fn text_values_of_json_and_nothing_else() {
    for (text, wanted) in [
        (r#"{"a": "P"}"#, r#"{"a": "V"}"#),
        (r#"{"P": "P", "b": ["P", {"c": "xPy"}]}"#, r#"{"P": "V", "b": ["V", {"c": "xVy"}]}"#),
        (r#"["P"]"#, r#"["V"]"#),
        (r#""P""#, r#""V""#),
        (r#"{"a": "\"P\\", "P": 1}"#, r#"{"a": "\"V\\", "P": 1}"#),
        (r#"{"a": "P": "P"}"#, r#"{"a": "V": "V"}"#),
        (r#"{"a": P}"#, r#"{"a": P}"#),
        (r#"{"a": 1]} "P""#, r#"{"a": 1]} "P""#),
        (r#"{"a": {}, "P": ["x"], "b": "P"}"#, r#"{"a": {}, "P": ["x"], "b": "V"}"#),
        ("", ""),
    ] {
        for cut in 0..=100 {
            assert_eq!(written(Regions::json, text, cut), wanted, "{cut}");
        }
    }
    let deep = format!("{}\"P\"", "[".repeat(2000));
    assert_eq!(written(Regions::json, &deep, 50), deep);
}

#[test]
fn values_of_a_form_and_nothing_else() {
    for (text, wanted) in
        [("a=P", "a=V"), ("P=P&b=xPy&P", "P=V&b=xVy&P"), ("a=b=P&=P&&c", "a=b=V&=V&&c"), ("P", "P")]
    {
        for cut in 0..=100 {
            assert_eq!(written(Regions::form, text, cut), wanted, "{cut}");
        }
    }
}
