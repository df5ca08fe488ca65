use model::secret::Foreign;
use proptest::prelude::*;

use super::*;

fn vault(secrets: &[(&str, &[u8])]) -> Vault {
    let mut vault = Vault::default();
    for (name, value) in secrets {
        let hosts = if value.len() == 16 { vec!["api.example.com".to_owned()] } else { vec![] };
        let binding =
            Binding { hosts, methods: vec![], paths: vec![], places: vec![], foreign: Foreign::Refuse };
        vault.set(SecretName::new(*name).unwrap(), binding, Plaintext::copied(value), 1_700_000_000).unwrap();
    }
    vault
}

fn written(vault: &Vault) -> Vec<u8> {
    let mut bytes = Vec::new();
    vault.write_content(&mut bytes).unwrap();
    bytes
}

fn shown(vault: &Vault) -> Vec<(String, Binding, Vec<u8>, u64, u64)> {
    let show = |(name, entry): (&SecretName, &Entry)| {
        let value = entry.value.expose().to_vec();
        (name.to_string(), entry.binding.clone(), value, entry.created, entry.rotated)
    };
    vault.entries().iter().map(show).collect()
}

#[test]
fn what_was_written_is_read() {
    let mut before = vault(&[("A", b"0123456789abcdef"), ("B", b"pw"), ("C", &[7; 300])]);
    let own = Recipient::parse("age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p").unwrap();
    assert!(before.add_recipient(own.clone()).unwrap());
    assert!(!before.add_recipient(own).unwrap());
    let after = Vault::from_content(&written(&before)).unwrap();
    assert_eq!(shown(&after), shown(&before));
    assert_eq!(after.recipients(), before.recipients());
}

#[test]
fn content_that_ends_early_or_late_or_is_of_another_version_is_none() {
    let bytes = written(&vault(&[("A", b"0123456789abcdef"), ("B", b"another value of a secret")]));
    assert!(Vault::from_content(&bytes).is_ok());
    for length in 0..bytes.len() {
        assert!(Vault::from_content(&bytes[..length]).is_err(), "{length}");
    }
    let mut longer = bytes.clone();
    longer.push(b'x');
    assert!(Vault::from_content(&longer).is_err());
    let mut newer = bytes;
    newer[15] = b'2';
    let error = Vault::from_content(&newer).err().unwrap();
    assert_eq!(error.to_string(), "it is not a vault of this version");
}

proptest! {
    #[test]
    fn any_values_survive(values in proptest::collection::vec(proptest::collection::vec(1_u8.., 1..200), 0..6)) {
        let names: Vec<String> = (0..values.len()).map(|n| format!("NAME_{n}")).collect();
        let mut before = Vault::default();
        for (name, value) in names.iter().zip(&values) {
            let binding = Binding { hosts: vec![], methods: vec![], paths: vec![], places: vec![], foreign: Foreign::Allow };
            before.set(SecretName::new(name.as_str()).unwrap(), binding, Plaintext::copied(value), 1).unwrap();
        }
        let after = Vault::from_content(&written(&before)).unwrap();
        prop_assert_eq!(shown(&after), shown(&before));
    }
}
