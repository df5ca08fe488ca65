use proptest::prelude::*;

use super::*;

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
