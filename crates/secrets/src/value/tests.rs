use super::*;

fn binding(hosts: &[&str], places: &[&str]) -> Binding {
    Binding {
        hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
        methods: Vec::new(),
        paths: Vec::new(),
        places: places.iter().map(|place| Place::parse(place).unwrap()).collect(),
        foreign: model::secret::Foreign::Refuse,
    }
}

fn judged(value: &[u8], hosts: &[&str], places: &[&str]) -> Result<(), ValueError> {
    check(&Plaintext::copied(value), &binding(hosts, places))
}

const HOST: &[&str] = &["api.example.com"];

#[test]
fn what_is_written_into_requests_is_long_enough_and_fits_a_line() {
    assert_eq!(judged(&[b'x'; 15], HOST, &[]), Err(ValueError::Short(15)));
    assert_eq!(judged(&[b'x'; 16], HOST, &[]), Ok(()));
    assert_eq!(judged(&vec![b'x'; MAX_VALUE], HOST, &[]), Ok(()));
    assert_eq!(judged(&vec![b'x'; MAX_VALUE + 1], HOST, &[]), Err(ValueError::Long));
    for control in [b'\n', b'\r', 1, 127] {
        let mut value = [b'x'; 20];
        value[10] = control;
        for places in [&[][..], &["basic"], &["path", "json"]] {
            assert_eq!(judged(&value, HOST, places), Err(ValueError::Control), "{control} {places:?}");
        }
        assert_eq!(judged(&value, HOST, &["json", "form"]), Ok(()));
    }
    assert_eq!(judged(&[0; 20], HOST, &["json"]), Err(ValueError::Nul));
}

#[test]
fn what_is_only_handed_over_may_be_anything_a_variable_can_hold() {
    assert_eq!(judged(b"pw", &[], &[]), Ok(()));
    assert_eq!(judged(b"-----BEGIN\nx\n", &[], &[]), Ok(()));
    assert_eq!(judged(b"", &[], &[]), Err(ValueError::Empty));
    assert_eq!(judged(b"a\0b", &[], &[]), Err(ValueError::Nul));
    assert_eq!(judged(&vec![b'x'; MAX_VALUE + 1], &[], &[]), Err(ValueError::Long));
}

#[test]
fn a_binding_has_hosts_that_can_be_and_not_without_end() {
    for host in ["", "https://x.example", "x.example/path", "a b", "x\u{e9}.example"] {
        assert_eq!(judged(&[b'x'; 20], &[host], &[]), Err(ValueError::Host(host.into())), "{host}");
    }
    for host in ["x.example:8443", "*.example.com"] {
        assert_eq!(judged(&[b'x'; 20], &[host], &[]), Ok(()), "{host}");
    }
    let many = vec!["x.example"; MOST_TERMS + 1];
    assert_eq!(judged(&[b'x'; 20], &many, &[]), Err(ValueError::Terms("hosts")));
}
