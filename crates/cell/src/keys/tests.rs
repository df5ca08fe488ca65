use model::secret::{Binding, Per};

use super::*;

const VALUE: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

fn name(text: &str) -> SecretName {
    SecretName::new(text).unwrap()
}

fn granted(secret: &str, value: &str, hosts: &[&str]) -> Granted {
    let binding: Binding = serde_json::from_value(serde_json::json!({ "hosts": hosts })).unwrap();
    Granted { name: name(secret), binding, value: Plaintext::new(value.as_bytes().to_vec()) }
}

fn used(secret: &str, variable: &str, expose: bool) -> SecretUse {
    SecretUse { name: name(secret), variable: variable.into(), expose, per: Per::Everyone }
}

fn keys(uses: &[SecretUse], granted: Vec<Granted>) -> Result<Keys, ErrorBody> {
    let (ours, _theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    Keys::of(uses, granted, Link::over(ours.into()))
}

#[test]
fn the_cell_gets_a_placeholder_and_the_value_only_where_that_was_asked_for() {
    let given = vec![granted("A", VALUE, &["api.github.com"]), granted("B", "p@ss word of a database", &[])];
    let keys = keys(&[used("A", "TOKEN", false), used("B", "PGPASSWORD", true)], given).unwrap();
    let token = keys.variables.0.get("TOKEN").unwrap();
    assert!(token.starts_with("ghp_") && token.len() == VALUE.len() && token != VALUE);
    assert_eq!(keys.variables.0.get("PGPASSWORD").unwrap(), "p@ss word of a database");
    let states: Vec<_> = keys.infos.iter().map(|info| (info.state, info.hosts.as_slice())).collect();
    assert_eq!(
        states,
        [(SecretState::Placeholder, ["api.github.com".to_owned()].as_slice()), (SecretState::Exposed, &[])]
    );
    // An exposed one is no key: nothing is written or looked for on its account.
    assert_eq!(keys.ring.names().collect::<Vec<_>>(), [&name("A")]);
    let printed = format!("{keys:?}");
    assert!(!printed.contains("p@ss") && !printed.contains("0123456789abc"), "{printed}");
}

#[test]
fn one_secret_may_be_both_and_is_said_for_what_it_is_in_each_variable() {
    let uses = [used("A", "TOKEN", false), used("A", "RAW", true), used("A", "AGAIN", false)];
    let keys = keys(&uses, vec![granted("A", VALUE, &["api.github.com"])]).unwrap();
    let value = |variable: &str| keys.variables.0.get(variable).unwrap().as_str();
    assert_eq!(value("RAW"), VALUE);
    assert!(value("TOKEN") == value("AGAIN") && value("TOKEN") != VALUE);
    let states: Vec<_> = keys.infos.iter().map(|info| info.state).collect();
    assert_eq!(states, [SecretState::Placeholder, SecretState::Exposed, SecretState::Placeholder]);
}

#[test]
fn what_cannot_be_a_key_is_refused_with_a_word_that_says_nothing_of_the_value() {
    let refused = |uses: &[SecretUse], granted| {
        let refusal = keys(uses, granted).unwrap_err();
        assert_eq!(refusal.code, ErrorCode::Secret);
        refusal.message
    };
    let one = [used("A", "TOKEN", false)];
    assert_eq!(refused(&one, Vec::new()), "the broker gave no secret `A`");
    let short = refused(&one, vec![granted("A", "hunter2", &["api.github.com"])]);
    assert!(short.contains("7 bytes") && !short.contains("hunter2"), "{short}");
    assert!(refused(&one, vec![granted("A", VALUE, &[])]).contains("no host"));
    let raw = [used("A", "TOKEN", true)];
    assert!(refused(&raw, vec![granted("A", "a\0b", &[])]).contains("no text"));
}

#[test]
fn a_cell_with_secrets_and_no_broker_does_not_start() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let refusal = runtime.block_on(take(None, &[used("A", "TOKEN", false)])).unwrap_err();
    assert_eq!(refusal.code, ErrorCode::Secret);
    assert!(runtime.block_on(take(None, &[])).unwrap().infos.is_empty());
}

#[test]
fn a_broker_that_ends_is_told_and_no_thread_stays() {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    drop(theirs);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let refusal = runtime.block_on(take(Some(ours.into()), &[used("A", "TOKEN", false)])).unwrap_err();
    assert_eq!(refusal.message, "the broker of the vault has ended");
}
