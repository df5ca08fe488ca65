//! Whose reviews count.

use insta::assert_snapshot;

use super::*;

const ANN: &str = "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
const BEN: &str = "ed25519:PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=";

#[test]
fn only_the_operators_file_names_reviewers() {
    let keys = format!("[review]\nkeys = ['{BEN}', '{ANN}']\n");
    let named: Vec<String> = operator(&keys).reviewers().iter().map(ToString::to_string).collect();
    assert_eq!(named, [BEN, ANN]);
    assert!(operator("[review]\nkeys = []").reviewers().is_empty() && operator("").reviewers().is_empty());
    assert_snapshot!(
        complaints(&keys),
        @"1:2 [review] unknown key `review` (known here: `servers`, `limits`)"
    );
}

#[test]
fn every_wrong_key_is_told_at_its_place() {
    let zeros = format!("ed25519:{}=", "A".repeat(43));
    let text = format!(
        "[review]\nkeys = [\n'{ANN}',\n'{}',\n'ed25519:AAAA',\n7,\n'{zeros}',\n'{ANN}']\nkey = 1\n",
        ANN.trim_start_matches("ed25519:")
    );
    assert_snapshot!(operator_complaints(&text), @r"
    4:1 ['11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='] a reviewer's key begins with `ed25519:` (write the key as `fumehood review --new-key FILE` prints it)
    5:1 ['ed25519:AAAA'] after `ed25519:` stand 32 bytes in Base64, 44 characters with the `=` at the end (write the key as `fumehood review --new-key FILE` prints it)
    6:1 [7] expected a string, found the number `7`
    7:1 ['ed25519:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='] this is nobody's key: anybody can make signatures that fit it (put the reviewer's key in its place)
    8:1 ['ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='] this key is given twice (keep one of the two)
    9:1 [key] unknown key `key` (did you mean `keys`?)
    ");
    let bytes = |at: u8| {
        let mut bytes = [0x55; 32];
        bytes[0] = at;
        crate::reviewer::PublicKey::new(bytes).unwrap()
    };
    let listed = |count| {
        let keys: Vec<String> = (0..count).map(|at| format!("'{}'", bytes(at))).collect();
        format!("review.keys = [{}]", keys.join(","))
    };
    assert_eq!(operator(&listed(64)).reviewers().len(), 64);
    assert!(operator_complaints(&listed(65)).contains("more than 64 keys (leave out"));
}
