use std::{io::Write, os::unix::net::UnixStream};

use model::secret::Foreign;

use super::*;

fn pair() -> (UnixStream, Link) {
    let (broker, supervisor) = UnixStream::pair().unwrap();
    (broker, Link::over(supervisor.into()))
}

fn binding() -> Binding {
    Binding {
        hosts: vec!["api.example.com".into()],
        methods: Vec::new(),
        paths: Vec::new(),
        places: Vec::new(),
        foreign: Foreign::Refuse,
    }
}

fn name(text: &str) -> SecretName {
    SecretName::new(text).unwrap()
}

fn value(text: &str) -> Plaintext {
    Plaintext::new(text.as_bytes().to_vec())
}

const SOON: Duration = Duration::from_secs(10);

#[test]
fn everything_is_given_then_changes_are_told() {
    let (mut broker, mut link) = pair();
    wire::give(&mut broker, &name("A"), &binding(), &value("first")).unwrap();
    wire::give(&mut broker, &name("B"), &binding(), &value("other")).unwrap();
    wire::complete(&mut broker).unwrap();
    let all = link.first(SOON).unwrap();
    let seen: Vec<_> = all.iter().map(|granted| (granted.name.as_str(), granted.value.expose())).collect();
    assert_eq!(seen, [("A", &b"first"[..]), ("B", b"other")]);
    assert!(link.try_next().unwrap().is_none());
    wire::give(&mut broker, &name("A"), &binding(), &value("second")).unwrap();
    wire::take(&mut broker, &name("B")).unwrap();
    let Ok(Some(Notice::Given(granted))) = link.try_next() else { panic!() };
    assert_eq!(granted.value.expose(), b"second");
    let Ok(Some(Notice::Taken(taken))) = link.try_next() else { panic!() };
    assert_eq!(taken.as_str(), "B");
    assert!(link.try_next().unwrap().is_none());
    drop(broker);
    assert!(matches!(link.try_next(), Err(LinkError::Gone)));
}

#[test]
fn frames_may_come_in_any_pieces() {
    let (mut broker, mut link) = pair();
    let mut bytes = Vec::new();
    wire::give(&mut bytes, &name("A"), &binding(), &value("a value")).unwrap();
    wire::take(&mut bytes, &name("B")).unwrap();
    let mut told = Vec::new();
    for byte in bytes {
        broker.write_all(&[byte]).unwrap();
        told.extend(link.try_next().unwrap());
    }
    assert!(matches!(told.as_slice(), [Notice::Given(_), Notice::Taken(_)]), "{told:?}");
}

#[test]
fn a_broker_that_refuses_is_heard() {
    let (mut broker, mut link) = pair();
    wire::refuse(&mut broker, false, "there is no secret `A`", "set it").unwrap();
    let error = link.first(SOON).unwrap_err();
    assert_eq!((error.to_string().as_str(), error.hint()), ("there is no secret `A`", "set it"));
}

#[test]
fn a_silent_broker_is_not_waited_for_and_an_ended_one_neither() {
    let (broker, mut link) = pair();
    assert!(matches!(link.first(Duration::from_millis(20)), Err(LinkError::Late(_))));
    drop(broker);
    assert!(matches!(link.first(SOON), Err(LinkError::Gone)));
}

#[test]
fn a_length_that_cannot_be_is_an_error_at_once() {
    let (mut broker, mut link) = pair();
    broker.write_all(&u32::MAX.to_be_bytes()).unwrap();
    assert!(matches!(link.try_next(), Err(LinkError::Frame(_))));
}

#[test]
fn what_is_printed_of_a_grant_holds_no_value() {
    let granted = Granted { name: name("A"), binding: binding(), value: value("hunter2hunter2") };
    let shown = format!("{:?}", Notice::Given(granted));
    assert!(shown.contains("\"A\"") && !shown.contains("hunter2") && !shown.contains("104"), "{shown}");
}
