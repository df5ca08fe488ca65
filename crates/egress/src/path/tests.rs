use proptest::prelude::*;

use super::*;

#[test]
fn one_form_for_what_is_the_same() {
    for (sent, canonical) in [
        ("/", "/"),
        ("/repos/acme/x", "/repos/acme/x"),
        ("/repos/acme/", "/repos/acme/"),
        ("/re%70os/%61cme/x", "/repos/acme/x"),
        ("/a%2Db%5fc%7Ed", "/a-b_c~d"),
        ("/a%c3%a9", "/a%C3%A9"),
        ("/a%20b", "/a%20b"),
        ("/a%40b@c", "/a%40b@c"),
        ("/v1.2/a..b/...c", "/v1.2/a..b/...c"),
        ("/labels/c%23", "/labels/c%23"),
        ("/100%25", "/100%25"),
        ("/a?x=/../%2e", "/a"),
        ("/a#/../b", "/a"),
    ] {
        assert_eq!(CanonicalPath::of(sent).canonical(), Ok(canonical), "{sent}");
    }
    let path = CanonicalPath::of("/%61?b=c?d#e");
    assert_eq!((path.sent(), path.query()), ("/%61", Some("b=c?d")));
    assert_eq!((path.target(true).as_str(), path.target(false).as_str()), ("/a?b=c?d", "/%61?b=c?d"));
    assert_eq!(path.to_string(), "/%61");
}

#[test]
fn what_somebody_reads_in_a_second_way_has_no_form() {
    use PathFault::{
        Backslash, Character, Control, DotSegment, DoubleEncoding, EmptySegment, EncodedDelimiter,
        EncodedDot, EncodedSlash, Escape, NotAbsolute, NotAscii, NotUtf8, Parameter,
    };
    for (sent, fault) in [
        ("", NotAbsolute),
        ("*", NotAbsolute),
        ("repos", NotAbsolute),
        ("?/a", NotAbsolute),
        ("/repos/acme/../evil", DotSegment),
        ("/repos/acme/..", DotSegment),
        ("/repos/acme/.", DotSegment),
        ("/./a", DotSegment),
        ("/a/.../b", DotSegment),
        ("/a/..%20/b", DotSegment),
        ("/a/%20../b", DotSegment),
        ("//repos", EmptySegment),
        ("/repos//acme", EmptySegment),
        ("/repos/acme//", EmptySegment),
        ("/repos/acme/%2e%2e/evil", EncodedDot),
        ("/repos/acme/.%2E/evil", EncodedDot),
        ("/file%2ejs", EncodedDot),
        ("/repos/acme%2f..%2fevil", EncodedSlash),
        ("/repos/acme%2Fx", EncodedSlash),
        ("/repos/acme/..%5cevil", EncodedSlash),
        ("/repos/acme/%252e%252e/evil", DoubleEncoding),
        ("/a%252fb", DoubleEncoding),
        ("/a%25%32%65", DoubleEncoding),
        ("/repos/acme/..;/evil", Parameter),
        ("/repos/acme;jsessionid=1/x", Parameter),
        ("/repos/acme/..%3b/evil", EncodedDelimiter),
        ("/repos/acme/x%3f/y", EncodedDelimiter),
        ("/repos/acme\\..\\evil", Backslash),
        ("/a%00", Control),
        ("/a\0", Control),
        ("/a%0d%0aHost:x", Control),
        ("/a\u{7f}", Control),
        ("/a%", Escape),
        ("/a%2", Escape),
        ("/a%u002e", Escape),
        ("/a%+f", Escape),
        ("/caf\u{e9}", NotAscii),
        ("/a\u{2215}b", NotAscii),
        ("/a%c0%af", NotUtf8),
        ("/a%c0%ae", NotUtf8),
        ("/a%ff", NotUtf8),
        ("/a b", Character),
        ("/a\"b", Character),
        ("/a|b", Character),
        ("/a[0]", Character),
        ("/a{b}", Character),
    ] {
        assert_eq!(CanonicalPath::of(sent).canonical(), Err(fault), "{sent:?}");
    }
}

proptest! {
    #[test]
    fn the_form_of_a_form_is_itself_and_leads_nowhere_else(path in "/([a-z./%;\\\\]|%[0-9a-fA-F]{2}){0,12}") {
        let path = CanonicalPath::of(&path);
        if let Ok(form) = path.canonical() {
            let again = CanonicalPath::of(form);
            prop_assert_eq!(again.canonical(), Ok(form));
            // However often a server decodes, and whatever it takes for a separator.
            let mut read = form.to_owned();
            for _ in 0..3 {
                let below = read.split(['/', '\\']).skip(1).collect::<Vec<_>>();
                prop_assert!(below.iter().all(|segment| !matches!(*segment, "." | "..")), "{} {}", form, read);
                read = percent_encoding::percent_decode_str(&read).decode_utf8_lossy().into_owned();
            }
        }
    }
}
