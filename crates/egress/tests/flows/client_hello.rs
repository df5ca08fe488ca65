//! ClientHellos that no library would make.

/// A ClientHello in one record: `sni` and further extensions.
pub(crate) fn hello(sni: Option<&str>, more: &[(u16, Vec<u8>)]) -> Vec<u8> {
    record(&message(sni, more))
}

/// The same without the record around it.
pub(crate) fn message(sni: Option<&str>, more: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut body = vec![3, 3];
    body.extend([7; 32]);
    body.push(0);
    body.extend([0, 2, 0x13, 1, 1, 0]);
    let mut list = Vec::new();
    if let Some(name) = sni {
        let entry = [&[0][..], &length(name.as_bytes()), name.as_bytes()].concat();
        push(&mut list, 0, &[&length(&entry)[..], &entry].concat());
    }
    for (kind, value) in more {
        push(&mut list, *kind, value);
    }
    body.extend(length(&list));
    body.extend(list);
    [&[1, 0][..], &length(&body), &body].concat()
}

/// Bytes as a handshake record.
pub(crate) fn record(bytes: &[u8]) -> Vec<u8> {
    [&[22, 3, 1][..], &length(bytes), bytes].concat()
}

fn push(list: &mut Vec<u8>, kind: u16, value: &[u8]) {
    list.extend(kind.to_be_bytes());
    list.extend(length(value));
    list.extend(value);
}

fn length(bytes: &[u8]) -> [u8; 2] {
    u16::try_from(bytes.len()).unwrap().to_be_bytes()
}
