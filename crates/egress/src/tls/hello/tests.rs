use super::*;

/// A ClientHello of these extensions, in one record.
fn hello(extensions: &[(u16, Vec<u8>)]) -> Vec<u8> {
    record(&message(extensions))
}

fn message(extensions: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut body = vec![3, 3];
    body.extend([7; 32]);
    body.push(0);
    body.extend([0, 2, 0x13, 1]);
    body.extend([1, 0]);
    let list: Vec<u8> = extensions
        .iter()
        .flat_map(|(kind, value)| [&kind.to_be_bytes()[..], &length16(value), value].concat())
        .collect();
    body.extend(length16(&list));
    body.extend(list);
    let mut message = vec![1, 0];
    message.extend(length16(&body));
    message.extend(body);
    message
}

fn record(bytes: &[u8]) -> Vec<u8> {
    [&[22, 3, 1][..], &length16(bytes), bytes].concat()
}

fn length16(bytes: &[u8]) -> [u8; 2] {
    u16::try_from(bytes.len()).unwrap().to_be_bytes()
}

fn server_name(name: &[u8]) -> (u16, Vec<u8>) {
    let entry = [&[0][..], &length16(name), name].concat();
    (0, [&length16(&entry)[..], &entry].concat())
}

fn complete(bytes: &[u8]) -> Hello {
    match parse(bytes) {
        Ok(Progress::Complete(hello)) => hello,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_name_and_protocols_are_read() {
    let bytes = hello(&[server_name(b"api.example.com"), (16, b"\0\x0c\x02h2\x08http/1.1".to_vec())]);
    let read = complete(&bytes);
    assert_eq!(read.sni.as_deref(), Some("api.example.com"));
    assert_eq!(read.alpn, [b"h2".to_vec(), b"http/1.1".to_vec()]);
    assert!(!read.ech);
    assert_eq!(read.length, bytes.len());
}

#[test]
fn without_extensions_there_is_no_name() {
    assert_eq!(complete(&hello(&[])).sni, None);
    let mut message = message(&[]);
    message.truncate(message.len() - 2);
    message[3] -= 2;
    assert_eq!(complete(&record(&message)).sni, None);
}

#[test]
fn every_prefix_waits_for_more_and_never_for_too_much() {
    let bytes = hello(&[server_name(b"a.example"), (21, vec![0; 1_700])]);
    for end in 0..bytes.len() {
        match parse(&bytes[..end]) {
            Ok(Progress::Incomplete { need }) => assert!(need > end && need <= bytes.len(), "{end}: {need}"),
            other => panic!("{end}: {other:?}"),
        }
    }
    assert_eq!(complete(&bytes).sni.as_deref(), Some("a.example"));
}

#[test]
fn a_message_split_into_records_is_put_together() {
    let message = message(&[server_name(b"a.example"), (21, vec![0; 600])]);
    let bytes: Vec<u8> = message.chunks(30).flat_map(record).collect();
    let read = complete(&bytes);
    assert_eq!(read.sni.as_deref(), Some("a.example"));
    assert_eq!(read.length, bytes.len());
    let many: Vec<u8> = message.chunks(4).flat_map(record).collect();
    assert_eq!(parse(&many), Err(HelloError::TooLong));
}

#[test]
fn what_follows_is_not_part_of_it() {
    let bytes = hello(&[server_name(b"a.example")]);
    let more = [&bytes[..], &[20, 3, 3, 0, 1, 1]].concat();
    assert_eq!(complete(&more).length, bytes.len());
}

#[test]
fn an_encrypted_hello_is_seen() {
    assert!(complete(&hello(&[server_name(b"front.example"), (0xfe0d, vec![0; 40])])).ech);
    assert!(complete(&hello(&[(0xffce, vec![0; 40])])).ech);
}

#[test]
fn ambiguous_or_malformed_hellos_are_refused() {
    let two_names = {
        let entry = [&[0][..], &length16(b"a.b"), b"a.b", &[0], &length16(b"c.d"), b"c.d"].concat();
        (0, [&length16(&entry)[..], &entry].concat())
    };
    let other_type = (0, vec![0, 6, 1, 0, 3, b'a', b'.', b'b']);
    let name = HelloError::Name;
    let twice = HelloError::Malformed("an extension twice");
    let cases: [(&str, Vec<u8>, HelloError); 12] = [
        ("two names in the list", hello(&[two_names]), name),
        ("a name of another type", hello(&[other_type]), name),
        ("an empty name", hello(&[server_name(b"")]), name),
        ("NUL in the name", hello(&[server_name(b"a.example\0.evil.example")]), name),
        ("not ASCII", hello(&[server_name("ä.example".as_bytes())]), name),
        ("user information", hello(&[server_name(b"u@a.example")]), name),
        ("a name extension twice", hello(&[server_name(b"a.b"), server_name(b"c.d")]), twice),
        ("HTTP", b"GET / HTTP/1.1\r\n".to_vec(), HelloError::NotTls),
        ("application data", vec![23, 3, 3, 0, 1, 0], HelloError::NotTls),
        ("an empty record", vec![22, 3, 1, 0, 0], HelloError::Malformed("an empty record")),
        ("a ServerHello", record(&[2, 0, 0, 1, 0]), HelloError::NotHello),
        ("a huge record", vec![22, 3, 1, 0x48, 0], HelloError::TooLong),
    ];
    for (what, bytes, error) in cases {
        assert_eq!(parse(&bytes), Err(error), "{what}");
    }
    let trailing = record(&[message(&[server_name(b"a.b")]), message(&[server_name(b"c.d")])].concat());
    assert!(matches!(parse(&trailing), Err(HelloError::Malformed(_))));
    let mut long = message(&[server_name(b"a.b")]);
    long[1] = 1;
    assert_eq!(parse(&record(&long)), Err(HelloError::TooLong));
}

#[test]
fn no_change_of_one_byte_reads_past_the_end() {
    let bytes = hello(&[server_name(b"a.example"), (16, b"\0\x03\x02h2".to_vec())]);
    for at in 0..bytes.len() {
        for value in [0, 1, 127, 255] {
            let mut changed = bytes.clone();
            changed[at] = value;
            if let Ok(Progress::Complete(hello)) = parse(&changed) {
                assert!(hello.length <= changed.len(), "{at} {value}");
            }
        }
    }
}
