use model::secret::Foreign;

use super::*;

fn name(text: &str) -> SecretName {
    SecretName::new(text).unwrap()
}

fn user(digit: char, tenant: Option<&str>) -> User {
    User {
        key: UserKey::new(digit.to_string().repeat(64)).unwrap(),
        issuer: "https://idp.example".into(),
        subject: format!("auth0|{digit}"),
        tenant: tenant.map(str::to_owned),
    }
}

fn binding() -> Binding {
    let hosts = vec!["api.example.com".to_owned()];
    Binding { hosts, methods: vec![], paths: vec![], places: vec![], foreign: Foreign::Refuse }
}

fn set(vault: &mut Vault, secret: &str, of: &User, value: &str) {
    vault.set_for(name(secret), of.clone(), binding(), Plaintext::copied(value.as_bytes()), 7).unwrap();
}

fn value(vault: &mut Vault, secret: &str, of: &User) -> Option<String> {
    let entry = vault.take_for(&name(secret), &of.key)?;
    Some(String::from_utf8(entry.value.expose().to_vec()).unwrap())
}

fn read_again(vault: &Vault) -> Vault {
    let mut bytes = Vec::new();
    vault.write_content(&mut bytes).unwrap();
    Vault::from_content(&bytes).unwrap()
}

#[test]
fn each_user_has_a_value_of_its_own_and_nobody_anothers() {
    let (a, b, c) = (user('a', None), user('b', Some("acme")), user('c', None));
    let mut vault = Vault::default();
    vault.set(name("TOKEN"), binding(), Plaintext::copied(b"the value of everybody"), 1).unwrap();
    set(&mut vault, "TOKEN", &b, "the value of user b");
    set(&mut vault, "TOKEN", &a, "the value of user a");
    set(&mut vault, "OTHER", &a, "another of user a");
    let mut vault = read_again(&vault);
    let of_token: Vec<String> =
        vault.users_of(&name("TOKEN")).map(|kept| kept.user.subject.clone()).collect();
    assert_eq!(of_token, ["auth0|a", "auth0|b"]);
    assert!(vault.has_for(&name("TOKEN"), &a.key) && !vault.has_for(&name("OTHER"), &b.key));
    assert_eq!(value(&mut vault, "TOKEN", &a).as_deref(), Some("the value of user a"));
    assert_eq!(value(&mut vault, "TOKEN", &b).as_deref(), Some("the value of user b"));
    // No other user's, and not everybody's.
    assert_eq!((value(&mut vault, "TOKEN", &c), value(&mut vault, "OTHER", &b)), (None, None));
    assert!(vault.entries().contains_key(&name("TOKEN")));
}

#[test]
fn a_users_value_is_changed_and_removed_alone() {
    let (a, b) = (user('a', None), user('b', None));
    let mut vault = Vault::default();
    set(&mut vault, "TOKEN", &a, "the value of user a");
    set(&mut vault, "TOKEN", &b, "the value of user b");
    vault.rotate_for(&name("TOKEN"), &a, Plaintext::copied(b"a new one of user a"), 9).unwrap();
    assert!(vault.rotate_for(&name("OTHER"), &a, Plaintext::copied(b"a new one of user a"), 9).is_err());
    vault.remove_for(&name("TOKEN"), &b).unwrap();
    assert!(vault.remove_for(&name("TOKEN"), &b).is_err());
    let mut vault = read_again(&vault);
    assert_eq!(vault.users().map(|(_, kept)| (kept.entry.created, kept.entry.rotated)).next(), Some((7, 9)));
    assert_eq!(value(&mut vault, "TOKEN", &a).as_deref(), Some("a new one of user a"));
    assert_eq!(value(&mut vault, "TOKEN", &b), None);
}

#[test]
fn keys_and_users_that_cannot_be_are_refused() {
    for text in ["", "a", &"A".repeat(64), &"g".repeat(64), &"a".repeat(65), "../../../etc/passwd"] {
        assert!(UserKey::new(text).is_err(), "{text}");
    }
    let mut vault = Vault::default();
    for (issuer, subject) in [("", "x"), ("x", ""), ("x", "a\nb"), (&*"i".repeat(1025), "x")] {
        let wrong = User { issuer: issuer.into(), subject: subject.into(), ..user('a', None) };
        let set = vault.set_for(name("TOKEN"), wrong, binding(), Plaintext::copied(&[b'x'; 20]), 1);
        assert!(matches!(set, Err(VaultError::Value(ValueError::User))));
    }
}
