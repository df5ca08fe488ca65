use proptest::prelude::*;
use serde_json::json;

use super::*;

fn claims(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is no object"),
    }
}

#[test]
fn a_claim_is_found_by_its_dotted_path() {
    let claims = claims(json!({
        "sub": "ann",
        "realm_access": { "roles": ["a"] },
        "https://example.com/tenant": "t1",
        "https://example.com/app": { "tenant": "t2" },
        "a": { "b": { "c": 1 } },
    }));
    for (path, value) in [
        ("sub", Some(json!("ann"))),
        ("realm_access.roles", Some(json!(["a"]))),
        ("https://example.com/tenant", Some(json!("t1"))),
        ("https://example.com/app.tenant", Some(json!("t2"))),
        ("a.b.c", Some(json!(1))),
        ("a.b.d", None),
        ("sub.x", None),
        ("", None),
        ("a.", None),
        (".a", None),
    ] {
        assert_eq!(claim_at(&claims, path), value.as_ref(), "{path}");
    }
}

#[test]
fn a_path_that_can_be_read_in_two_ways_is_none() {
    let claims = claims(json!({ "org": { "tenant": "one" }, "org.tenant": "two" }));
    assert_eq!(claim_at(&claims, "org.tenant"), None);
}

#[test]
fn a_path_of_many_dots_ends() {
    let claims = claims(json!({ "a": { "a": { "a": 1 } } }));
    assert_eq!(claim_at(&claims, &"a.".repeat(10_000)), None);
}

#[test]
fn nobody_is_somebody_of_another_source() {
    let known = Known { subject: "ann".to_owned(), ..Known::default() };
    let all = [
        Principal::local("ann"),
        Principal::peer(1000, known.clone()),
        Principal::of_key("ann", known.clone(), None),
        Principal::peer(1000, Known { tenant: Some(String::new()), ..known.clone() }),
        Principal::peer(1000, Known { tenant: Some("t".to_owned()), ..known }),
    ];
    let keys: BTreeSet<String> = all.iter().map(Principal::key).collect();
    assert_eq!(keys.len(), all.len());
    assert!(keys.iter().all(|key| key.len() == 64 && key.bytes().all(|b| b.is_ascii_hexdigit())));
}

proptest! {
    #[test]
    fn two_callers_have_one_key_exactly_if_they_are_one(
        a in ("[ab]{0,2}", "[ab]{0,2}", proptest::option::of("[ab]{0,2}")),
        b in ("[ab]{0,2}", "[ab]{0,2}", proptest::option::of("[ab]{0,2}")),
    ) {
        let make = |(issuer, subject, tenant): &(String, String, Option<String>)| {
            let known = Known { subject: subject.clone(), tenant: tenant.clone(), roles: BTreeSet::new() };
            Principal::known(issuer, known, How::Token, None).key()
        };
        prop_assert_eq!(make(&a) == make(&b), a == b);
    }
}
