use serde_json::json;

use super::*;

fn written(text: &str) -> String {
    String::from_utf8(canonical(&parse(text.as_bytes()).unwrap()).unwrap()).unwrap()
}

/// RFC 8785, sections 3.2.2 and 3.2.4.
#[test]
fn the_example_of_the_rfc() {
    let text = r#"{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    }"#;
    let wanted = r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#;
    assert_eq!(written(text), wanted);
}

/// RFC 8785, section 3.2.3: by UTF-16 code units, so the emoji stands before the Hebrew letter.
#[test]
fn the_order_of_keys_of_the_rfc() {
    let text = r#"{
        "\u20ac": "Euro Sign",
        "\r": "Carriage Return",
        "\ufb33": "Hebrew Letter Dalet With Dagesh",
        "1": "One",
        "\ud83d\ude00": "Emoji: Grinning Face",
        "\u0080": "Control",
        "\u00f6": "Latin Small Letter O With Diaeresis"
    }"#;
    let wanted = [
        "Carriage Return",
        "One",
        "Control",
        "Latin Small Letter O With Diaeresis",
        "Euro Sign",
        "Emoji: Grinning Face",
        "Hebrew Letter Dalet With Dagesh",
    ];
    let written = written(text);
    let places: Vec<usize> = wanted.iter().map(|word| written.find(word).unwrap()).collect();
    assert!(places.is_sorted(), "{written}");
}

/// RFC 8785, appendix B: bits of a double and how they are written.
#[test]
fn the_numbers_of_the_rfc() {
    for (bits, text) in [
        (0x0000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ] {
        let number = f64::from_bits(bits);
        assert_eq!(canonical(&json!(number)).unwrap(), text.as_bytes());
        let read = parse(text.as_bytes()).unwrap().as_f64().unwrap();
        // Both zeros are written alike.
        assert!(read.to_bits() == bits || (read == 0.0 && number == 0.0), "{text}");
    }
}

#[test]
fn a_key_that_stands_twice_is_named_with_its_place() {
    for (text, line, path) in [
        (r#"{"a":1,"a":1}"#, 1, "a"),
        ("{\"a\":1,\n\"b\":{\"c\":[0,{\"d\":1,\"e\":{},\n\"d\":2}]}}", 3, "b.c[1].d"),
        (r#"[{"a":{"x":1}},{"a":{"x":1,"\u0078":2}}]"#, 1, "[1].a.x"),
        ("{\"\\u001b[2J\":1,\"\\u001b[2J\":1}", 1, "<U+001B>[2J"),
    ] {
        assert_eq!(parse(text.as_bytes()), Err(JsonError::Duplicate { line, path: path.to_owned() }));
    }
    assert!(parse(br#"{"a":{"a":1},"b":[{"a":1},{"a":1}]}"#).is_ok());
}

#[test]
fn what_readers_could_disagree_about_is_refused() {
    let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    assert!(parse(deep(MAX_DEPTH).as_bytes()).is_ok());
    assert!(parse(b" {\"a\": [1.0e0, -0, 18446744073709551616, \"\\ud83d\\ude00\"]}\r\n").is_ok());
    for text in [
        "",
        " ",
        "{",
        "[1,]",
        "{}{}",
        "nul",
        "NaN",
        "01",
        "1e400",
        "-1e400",
        "'a'",
        "\u{feff}{}",
        "// a\n1",
        r#""\ud800""#,
        r#""\udc00\ud800""#,
        "\"\n\"",
        &deep(MAX_DEPTH + 1),
        &deep(100_000),
        &r#"{"a":"#.repeat(MAX_DEPTH + 1),
    ] {
        let Err(error @ JsonError::Syntax { .. }) = parse(text.as_bytes()) else { panic!("{text:.40}") };
        assert!(!error.to_string().chars().any(char::is_control) && !error.hint().is_empty());
    }
    assert!(matches!(parse(b"\"\xff\""), Err(JsonError::Syntax { .. })));
    assert_eq!(parse(b"{\n  \"a\": x}").unwrap_err().to_string(), "line 2, column 8: expected value");
}
