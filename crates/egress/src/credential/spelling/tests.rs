use super::*;

fn read(text: &str) -> (Vec<(u8, usize)>, bool) {
    let mut units = Vec::new();
    let unfinished = escapes(text.as_bytes(), &mut units);
    (units.iter().map(|unit| (unit.byte, unit.length)).collect(), unfinished)
}

#[test]
fn each_spelling_is_read() {
    for (text, byte) in [
        ("%67", b'g'),
        ("%2567", b'g'),
        ("%252567", b'g'),
        ("%2f", b'/'),
        (r"\u0067", b'g'),
        (r"\u002F", b'/'),
        (r"\\u0067", b'g'),
        (r"\\\\u0067", b'g'),
        (r"\x67", b'g'),
        (r"\/", b'/'),
        (r#"\\\""#, b'"'),
        ("&#x67;", b'g'),
        ("&#X0067;", b'g'),
        ("&#103;", b'g'),
        ("&#0103;", b'g'),
        ("&amp;#x67;", b'g'),
        ("&amp;", b'&'),
        ("&quot;", b'"'),
    ] {
        let (units, unfinished) = read(text);
        assert!(units.contains(&(byte, text.len())), "{text} {units:?}");
        assert!(!unfinished || text == "&amp;", "{text}");
    }
}

#[test]
fn every_beginning_of_a_spelling_is_unfinished_and_other_text_is_not() {
    for text in ["%67", "%2567", r"\u0067", r"\\u0067", r"\x67", "&#x0067;", "&#103;", "&amp;#x67;", "&quot;"]
    {
        for length in 1..text.len() {
            let part = text.get(..length).unwrap_or_default();
            assert!(read(part).1, "{part}");
        }
    }
    for text in ["%zz", "% ", r"\n", r"\u1", r"\u0167", "& ", "&nbsp", "&#x;", "&#;", "g", ""] {
        assert_eq!(read(text), (Vec::new(), false), "{text}");
    }
}

#[test]
fn no_spelling_is_longer_than_the_longest() {
    for text in ["%2525252567", r"\\\\\\\\u0067", "&amp;amp;#x000067;", "&amp;amp;#0000103;"] {
        let (units, _) = read(text);
        assert!(units.iter().all(|(_, length)| *length <= LONGEST), "{text}");
    }
}

#[test]
fn another_byte_is_spelled_alike() {
    for (text, new) in [
        ("%67", "%6B"),
        ("%6f", "%6b"),
        ("%2567", "%256B"),
        (r"\u0067", r"\u006b"),
        (r"\u006F", r"\u006B"),
        (r"\x67", r"\x6b"),
        ("&#x67;", "&#x6b;"),
        ("&#0103;", "&#0107;"),
        ("&#112;", "&#107;"),
    ] {
        let mut units = Vec::new();
        escapes(text.as_bytes(), &mut units);
        let unit = units.iter().find(|unit| unit.length == text.len()).copied().unwrap_or(Unit::raw(0));
        let mut out = b"before".to_vec();
        unit.write(text.as_bytes(), b'k', &mut out);
        assert_eq!(String::from_utf8_lossy(&out), format!("before{new}"));
    }
}
