use model::{
    config::SecretSource,
    needle::{Found, Needles},
    secret::{Binding, Foreign},
};

use super::*;
use crate::{
    terminal::AskError,
    vault::{User, UserKey, Vault},
};

struct Nobody;

impl Opener for Nobody {
    fn passphrase(&mut self, _: &str) -> Result<Plaintext, AskError> {
        Err(AskError::NoTerminal)
    }

    fn new_passphrase(&mut self) -> Result<Plaintext, AskError> {
        Err(AskError::NoTerminal)
    }
}

const VALUES: [&str; 3] = ["the value of everybody", "the value of a user", "a token in a file"];
const SHORT: &str = "fifteen bytes..";

fn name(text: &str) -> SecretName {
    SecretName::new(text).unwrap()
}

fn binding(hosts: &[&str]) -> Binding {
    let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
    Binding { hosts, methods: vec![], paths: vec![], places: vec![], foreign: Foreign::Refuse }
}

#[test]
fn every_value_is_found_by_what_holds_none() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::at(root.path().join("vault"));
    std::fs::write(root.path().join("token"), format!("{}\n", VALUES[2])).unwrap();
    let user = User {
        key: UserKey::new("a".repeat(64)).unwrap(),
        issuer: "https://idp.example".into(),
        subject: "a".into(),
        tenant: None,
    };
    let fill = |vault: &mut Vault| {
        let text = |text: &str| Plaintext::copied(text.as_bytes());
        vault.set(name("SHARED"), binding(&["a.example"]), text(VALUES[0]), 1)?;
        vault.set_for(name("MINE"), user, binding(&["a.example"]), text(VALUES[1]), 1)?;
        vault.set(name("SHORT"), binding(&[]), text(SHORT), 1)
    };
    store.change(&mut Nobody, fill).unwrap();
    let of_file = |path: &str| DeclaredSecret {
        source: SecretSource::File(root.path().join(path)),
        binding: binding(&["a.example"]),
    };
    let declared = BTreeMap::from([(name("FILED"), of_file("token")), (name("GONE"), of_file("gone"))]);
    let made = make(&store, &declared, NeedleKey::new([9; 32]), &mut Nobody).unwrap();
    let left_out: Vec<&str> = made.left_out.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(left_out, ["GONE"]);

    // As it crosses to whoever looks.
    let text = serde_json::to_string(&made).unwrap();
    for value in VALUES.iter().chain([&SHORT]) {
        assert!(!text.contains(value), "{text}");
        assert!(!text.contains(value.get(..8).unwrap()), "{text}");
    }
    let made: Made = serde_json::from_str(&text).unwrap();
    let (names, needles): (Vec<_>, Vec<_>) = made.needles.into_iter().unzip();
    let needles = Needles::new(made.key, &needles);
    let find = |text: &str| match needles.find(text.as_bytes(), &mut usize::MAX.clone()) {
        Found::Needle(at) => Some(names[at].to_string()),
        _ => None,
    };
    assert_eq!(find(&format!("say {} to me", VALUES[0])).as_deref(), Some("SHARED"));
    assert_eq!(find(VALUES[1]).as_deref(), Some("MINE"));
    assert_eq!(find(VALUES[2]).as_deref(), Some("FILED"));
    assert_eq!(find(SHORT), None);
    assert_eq!(find("the value of nobody"), None);
}
