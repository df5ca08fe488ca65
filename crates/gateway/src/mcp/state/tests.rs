use super::*;

fn state() -> State {
    State {
        principal: "alice".to_owned(),
        request: "r".to_owned(),
        round: Round::Again {
            server: ServerName::new("weather").unwrap(),
            state: Some("theirs".to_owned()),
            asked: vec!["name".to_owned()],
        },
    }
}

#[test]
fn a_state_is_taken_once_by_its_caller_for_its_request() {
    let (seal, now) = (Seal::new().unwrap(), SystemTime::now());
    let text = seal.seal(state(), now).unwrap();
    assert!(!text.contains("theirs"));
    for (principal, request) in [("bob", "r"), ("alice", "s"), ("", ""), ("alice", "")] {
        assert_eq!(seal.open(&text, principal, request, now), Err(StateError::Foreign));
    }
    assert_eq!(seal.open(&text, "alice", "r", now + LIFE), Err(StateError::Expired));
    let almost = now + LIFE - Duration::from_secs(1);
    assert_eq!(seal.open(&text, "alice", "r", almost), Ok(state().round));
    assert_eq!(seal.open(&text, "alice", "r", now), Err(StateError::Used));
}

#[test]
fn every_changed_byte_is_noticed() {
    let (seal, now) = (Seal::new().unwrap(), SystemTime::now());
    let text = seal.seal(state(), now).unwrap();
    let bytes = URL_SAFE_NO_PAD.decode(&text).unwrap();
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        let changed = URL_SAFE_NO_PAD.encode(changed);
        assert_eq!(seal.open(&changed, "alice", "r", now), Err(StateError::Unsealed), "byte {at}");
    }
    for end in 0..text.len() {
        assert!(seal.open(text.get(..end).unwrap(), "alice", "r", now).is_err(), "cut at {end}");
    }
    for changed in [format!("{text}-TAMPERED"), format!("{text}="), format!(" {text}"), text.to_uppercase()] {
        assert_eq!(seal.open(&changed, "alice", "r", now), Err(StateError::Unsealed));
    }
    // Of another process.
    let other = Seal::new().unwrap();
    assert_eq!(other.open(&text, "alice", "r", now), Err(StateError::Unsealed));
    assert!(seal.open(&text, "alice", "r", now).is_ok());
}

#[test]
fn one_state_is_never_written_twice_alike() {
    let (seal, now) = (Seal::new().unwrap(), SystemTime::now());
    assert_ne!(seal.seal(state(), now).unwrap(), seal.seal(state(), now).unwrap());
}

#[test]
fn parts_of_a_request_do_not_run_together() {
    assert_ne!(digest_of(&[b"ab", b"c"]), digest_of(&[b"a", b"bc"]));
    assert_ne!(digest_of(&[b"ab"]), digest_of(&[b"ab", b""]));
}
