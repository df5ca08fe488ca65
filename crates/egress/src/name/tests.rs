use super::*;

fn parsed(text: &str) -> String {
    HostName::parse(text).unwrap().to_string()
}

#[test]
fn one_spelling_for_each_name() {
    for (text, name) in [
        ("api.github.com", "api.github.com"),
        ("API.GitHub.Com", "api.github.com"),
        ("api.github.com.", "api.github.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("ｅｘａｍｐｌｅ．ｃｏｍ", "example.com"),
        ("example。com", "example.com"),
        ("_dmarc.example.com", "_dmarc.example.com"),
        ("r3---sn-4g5e.example.com", "r3---sn-4g5e.example.com"),
        ("localhost", "localhost"),
        ("1.2.3.4.example.com", "1.2.3.4.example.com"),
        ("0x7f.example", "0x7f.example"),
    ] {
        assert_eq!(parsed(text), name, "{text}");
    }
    assert_eq!(HostName::from_wire(b"Api.GitHub.com.").unwrap(), HostName::parse("api.github.com").unwrap());
}

#[test]
fn every_spelling_of_an_address_is_none() {
    for text in [
        "127.0.0.1",
        "127.0.0.1.",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0X7F.0.0.1",
        "0177.0.0.1",
        "017700000001",
        "0x7f.0x0.0x0.0x1",
        "１２７.０.０.１",
        "127。0。0。1",
        "１２７．０．０．１",
        "①②⑦.0.0.1",
        "%31%32%37.0.0.1",
        "127.0.0.1%2e",
        "::1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "::ffff:7f00:1",
        "fe80::1%eth0",
        "[fe80::1%25eth0]",
        "0",
        "1.2.3.4.5",
        "999.999.999.999",
        "09.1.1.1",
        "example.0x7f",
        "example.1",
        "256",
        "4294967296",
    ] {
        assert!(matches!(HostName::parse(text), Err(HostNameError::Address { .. })), "{text}");
        assert!(HostName::from_wire(text.as_bytes()).is_err(), "{text}");
    }
    for text in ["127.1", "0x7f.1", "2130706433", "0177.0.0.1", "１２７．０．０．１", "%31%32%37.0.0.1"]
    {
        assert_eq!(spelled_address(text), Some(Ipv4Addr::LOCALHOST.into()), "{text}");
    }
}

#[test]
fn what_parsers_read_in_two_ways_is_read_in_none() {
    for text in [
        "",
        ".",
        "..",
        "a..b",
        ".a",
        "a...",
        "a..",
        "evil.com\0.ok.com",
        "ok.com\0",
        "ok.com%00.evil.com",
        "ok.com%2eevil.com",
        "user@ok.com",
        "ok.com:443@evil.com",
        "ok.com:443",
        "ok.com/",
        "ok.com\\evil.com",
        "ok.com#evil.com",
        "ok.com?evil.com",
        "ok.com\r\nHost: evil.com",
        "ok.com\tevil.com",
        " ok.com",
        "ok.com ",
        "ok.com,evil.com",
        "*.com",
        "a b.com",
        "-ok.com",
        "ok-.com",
        "xn--a.com",
        "xn--.com",
        "xn--BCHER-kva-.example",
        "ok\u{200d}.com",
        "\u{202e}moc.ko",
        "ok.com\u{ff0f}evil.com",
        "ok\u{2024}com\u{ff20}evil.com",
    ] {
        assert!(HostName::parse(text).is_err(), "{text:?} read as {:?}", HostName::parse(text));
        assert!(HostName::from_wire(text.as_bytes()).is_err(), "{text:?}");
    }
    let label = "a".repeat(64);
    assert!(HostName::parse(&format!("{label}.com")).is_err());
    let long = ["a".repeat(63), "b".repeat(63), "c".repeat(63), "d".repeat(62)].join(".");
    assert!(matches!(HostName::parse(&long), Err(HostNameError::TooLong { .. })), "{}", long.len());
}

#[test]
fn on_the_wire_nothing_is_mapped() {
    for text in ["bücher.example", "ｏｋ.com", "example。com", "ok.com\u{0}"] {
        assert!(HostName::from_wire(text.as_bytes()).is_err(), "{text}");
    }
    assert!(HostName::from_wire(b"ok\xff.com").is_err());
    assert!(HostName::from_wire(b"ok.com").is_ok());
}

#[test]
fn a_dot_inside_a_dns_label_does_not_part_it() {
    let read = |labels: &[&[u8]]| HostName::from_labels(labels.iter().copied());
    assert_eq!(read(&[b"ok", b"com"]).unwrap().as_str(), "ok.com");
    assert!(read(&[b"ok.com"]).is_err());
    assert!(read(&[b"evil", b"com.ok", b"com"]).is_err());
    assert!(read(&[b"com."]).is_err());
    assert!(read(&[b"ok\0", b"com"]).is_err());
    assert!(read(&[b"10", b"0", b"0", b"1"]).is_err());
    assert!(read(&[]).is_err());
    assert!(read(&[b""]).is_err());
    assert!(read(&[b"ok", b""]).is_err());
}

#[test]
fn parents_are_whole_labels() {
    let name = HostName::parse("a.bc.d").unwrap();
    assert_eq!(name.parents().collect::<Vec<_>>(), ["bc.d", "d"]);
    assert!(HostName::parse("x.localhost").unwrap().is_localhost());
    assert!(!HostName::parse("localhost.example").unwrap().is_localhost());
}

#[test]
fn what_is_shown_cannot_speak_to_a_terminal() {
    let error = HostName::parse("a\u{1b}[2Jb\r\n\u{202e}c").unwrap_err().to_string();
    assert!(!error.chars().any(|character| character.is_control() || is_direction(character)), "{error:?}");
    let error = HostName::parse(&"ä@".repeat(5000)).unwrap_err().to_string();
    assert!(error.chars().count() < 200, "{}", error.len());
}

proptest::proptest! {
    #[test]
    fn a_name_reads_as_itself_everywhere(text in "\\PC{0,60}") {
        if let Ok(name) = HostName::parse(&text) {
            proptest::prop_assert_eq!(HostName::parse(name.as_str()).unwrap(), name.clone());
            proptest::prop_assert_eq!(HostName::from_wire(name.as_str().as_bytes()).unwrap(), name.clone());
            let labels = HostName::from_labels(name.labels().map(str::as_bytes)).unwrap();
            proptest::prop_assert_eq!(labels, name.clone());
            proptest::prop_assert!(spelled_address(name.as_str()).is_none());
            proptest::prop_assert!(IpAddr::from_str(name.as_str()).is_err());
        }
    }

    #[test]
    fn every_number_of_four_bytes_spells_an_address_and_no_name(bits: u32) {
        let address = Ipv4Addr::from_bits(bits);
        for text in [format!("{address}"), format!("{bits}"), format!("0x{bits:x}"), format!("0{bits:o}")] {
            proptest::prop_assert_eq!(spelled_address(&text), Some(address.into()), "{}", text);
            proptest::prop_assert!(HostName::parse(&text).is_err());
        }
    }
}
