use model::secret::Foreign;

use super::*;

fn name() -> SecretName {
    SecretName::new("GITHUB_TOKEN").unwrap()
}

fn binding() -> Binding {
    Binding {
        hosts: vec!["api.github.com".into()],
        methods: Vec::new(),
        paths: Vec::new(),
        places: Vec::new(),
        foreign: Foreign::Refuse,
    }
}

fn given() -> Vec<u8> {
    let mut bytes = Vec::new();
    give(&mut bytes, &name(), &binding(), &Plaintext::new(b"ghp_0123456789abcdef".to_vec())).unwrap();
    bytes
}

#[test]
fn a_frame_is_read_as_it_was_written() {
    let bytes = given();
    let (header, body) = bytes.split_first_chunk::<HEADER>().unwrap();
    assert_eq!(body_length(*header).unwrap(), body.len());
    let Ok(Frame::Given { name: read, binding: bound, value }) = Frame::read(body) else { panic!() };
    assert_eq!((read, bound), (name(), binding()));
    assert_eq!(value.expose(), b"ghp_0123456789abcdef");
    let mut bytes = Vec::new();
    for missing in [false, true] {
        bytes.clear();
        refuse(&mut bytes, missing, "no `A`", "`fumehood secret set A`").unwrap();
        let read = Frame::read(&bytes[HEADER..]);
        let Ok(Frame::Refused { is_missing, message, hint }) = read else { panic!() };
        let told = (is_missing, message.as_str(), hint.as_str());
        assert_eq!(told, (missing, "no `A`", "`fumehood secret set A`"));
    }
}

#[test]
fn a_frame_that_ends_early_is_none() {
    let bytes = given();
    let body = &bytes[HEADER..];
    let start = body.len() - 20;
    for length in 0..start {
        assert!(Frame::read(&body[..length]).is_err(), "{length}");
    }
}

#[test]
fn a_length_that_cannot_be_is_refused_before_there_is_room_for_it() {
    for length in [0, u32::try_from(MAX_BODY).unwrap() + 1, u32::MAX] {
        assert!(body_length(length.to_be_bytes()).is_err(), "{length}");
    }
    let long = Plaintext::new(vec![b'x'; MAX_VALUE + 1]);
    let mut bytes = Vec::new();
    give(&mut bytes, &name(), &binding(), &long).unwrap();
    assert!(Frame::read(&bytes[HEADER..]).is_err());
}
