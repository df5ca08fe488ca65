use http::Response;

use super::*;
use crate::credential::key::tests::{TOKEN, binding, key};
use crate::credential::stream::tests::spellings;

fn scrub(foreign: bool) -> (Scrub, String) {
    let mut bound = binding(&["a.example.com"], &[]);
    if foreign {
        bound.foreign = model::secret::Foreign::Allow;
    }
    let key = key("K", TOKEN, bound);
    let shown = key.placeholder().to_string();
    let ring = Keyring::new().with(key).unwrap();
    (Scrub::new(&ring, ring.keys()), shown)
}

fn head(headers: &[(&str, &str)]) -> Parts {
    let mut response = Response::builder();
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    response.body(()).unwrap().into_parts().0
}

#[test]
fn every_header_is_scrubbed_in_every_spelling() {
    let (scrub, shown) = scrub(true);
    for ((name, spelled), (_, wanted)) in
        spellings(TOKEN.as_bytes()).into_iter().zip(spellings(shown.as_bytes()))
    {
        let (spelled, wanted) = (String::from_utf8(spelled).unwrap(), String::from_utf8(wanted).unwrap());
        let location = format!("https://a.example.com/?t={spelled}");
        let mut parts = head(&[
            ("location", &location),
            ("set-cookie", &spelled),
            ("set-cookie", "x"),
            ("x-y", &spelled),
        ]);
        scrub_head(&mut parts, &scrub).unwrap();
        for header in ["location", "set-cookie", "x-y"] {
            let value = parts.headers[header].to_str().unwrap();
            assert!(value.to_ascii_lowercase().ends_with(&wanted.to_ascii_lowercase()), "{name}: {value}");
        }
        assert_eq!(parts.headers.get_all("set-cookie").iter().count(), 2);
    }
}

#[test]
fn a_session_made_with_the_key_stays_outside() {
    let (scrub, _) = scrub(false);
    let mut parts = head(&[("set-cookie", "session=abc"), ("set-cookie", "b=c"), ("x-y", "1")]);
    scrub_head(&mut parts, &scrub).unwrap();
    assert!(!parts.headers.contains_key("set-cookie") && parts.headers.contains_key("x-y"));
}

#[test]
fn the_name_of_a_header_and_the_reason_tell_nothing() {
    let (scrub, _) = scrub(false);
    let mut parts = head(&[(&format!("x-{}", TOKEN.to_ascii_lowercase()), "1"), ("x-y", "1")]);
    parts.extensions.insert(ReasonPhrase::try_from(format!("No {TOKEN}").into_bytes()).unwrap());
    scrub_head(&mut parts, &scrub).unwrap();
    assert_eq!(parts.headers.len(), 1);
    assert!(parts.extensions.get::<ReasonPhrase>().is_none());
    parts.extensions.insert(ReasonPhrase::from_static(b"Fine"));
    scrub_head(&mut parts, &scrub).unwrap();
    assert!(parts.extensions.get::<ReasonPhrase>().is_some());
}

#[test]
fn codings_are_taken_off_or_refused() {
    let (scrub, _) = scrub(false);
    let mut parts = head(&[("content-encoding", "gzip"), ("content-length", "5")]);
    assert!(!scrub_head(&mut parts, &scrub).unwrap().passes());
    assert!(parts.headers.is_empty());
    let mut parts = head(&[("content-length", "5")]);
    scrub_head(&mut parts, &scrub).unwrap();
    assert_eq!(parts.headers["content-length"], "5");
    for pair in
        [("content-encoding", "zstd"), ("content-encoding", "br, gzip"), ("sec-websocket-extensions", "x")]
    {
        assert!(scrub_head(&mut head(&[pair]), &scrub).is_err(), "{pair:?}");
    }
    let nothing = Scrub::default();
    assert!(scrub_head(&mut head(&[("content-encoding", "zstd")]), &nothing).unwrap().passes());
}
