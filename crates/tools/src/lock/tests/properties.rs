//! Whatever is pinned is read back as it was, has its own digest, and merges.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn what_is_written_is_read_back(servers in servers()) {
        let lock = Lock { servers };
        let text = lock.to_text();
        prop_assert_eq!(Lock::parse("l", text.as_bytes()).unwrap(), lock);
        prop_assert!(!text.chars().any(|c| c != '\n' && crate::visible::is_hidden(c)), "{}", text);
    }

    #[test]
    fn two_tables_have_one_digest_only_if_they_are_the_same(
        one in (name_of(), any_pinned()),
        other in (name_of(), any_pinned()),
    ) {
        let digest = |(name, pinned): &(ServerName, Pinned)| pinned.digest(name);
        prop_assert_eq!(digest(&one) == digest(&other), one == other);
    }

    /// Each name is left alone, added, changed or taken out by one side, or by both alike.
    #[test]
    fn sides_that_do_not_meet_merge_cleanly(
        base in servers(),
        changes in btree_map(name_of(), (0..3_u8, option::of(any_pinned())), 0..6),
    ) {
        let (mut ours, mut theirs, mut wanted) = (base.clone(), base.clone(), base.clone());
        for (name, (who, pinned)) in changes {
            let on = |lock: &mut BTreeMap<ServerName, Pinned>| match &pinned {
                Some(pinned) => drop(lock.insert(name.clone(), pinned.clone())),
                None => drop(lock.remove(&name)),
            };
            if who != 0 { on(&mut ours); }
            if who != 1 { on(&mut theirs); }
            on(&mut wanted);
        }
        let text = |servers| Lock { servers }.to_text();
        let merged = merge(text(base).as_bytes(), text(ours).as_bytes(), text(theirs).as_bytes()).unwrap();
        prop_assert_eq!(merged, Merged::Clean(text(wanted)));
    }

    #[test]
    fn a_conflict_is_never_read_as_a_lock(
        base in any_pinned(),
        ours in any_pinned(),
        theirs in any_pinned(),
    ) {
        prop_assume!(ours != theirs && ours != base && theirs != base);
        let text = |pinned: &Pinned| lock([("a", pinned.clone())]).to_text();
        let merged = merge(text(&base).as_bytes(), text(&ours).as_bytes(), text(&theirs).as_bytes()).unwrap();
        let Merged::Conflict(text) = merged else { panic!("{merged:?}") };
        let error = Lock::parse("l", text.as_bytes()).unwrap_err();
        prop_assert_eq!(error.fault(), &LockFault::Conflict);
    }
}

fn name_of() -> impl Strategy<Value = ServerName> {
    "[a-c][a-c._-]{0,2}".prop_map(|text| ServerName::new(text).unwrap())
}

fn servers() -> impl Strategy<Value = BTreeMap<ServerName, Pinned>> {
    btree_map(name_of(), any_pinned(), 0..5)
}

fn any_digest() -> impl Strategy<Value = Digest> {
    any::<[u8; 4]>().prop_map(|bytes| Digest::of(&bytes))
}

fn any_pinned() -> impl Strategy<Value = Pinned> {
    let text = || "[^\0]{1,12}";
    let texts = move || vec(text(), 0..3);
    let source = prop_oneof![
        "npx:(@[a-z]{1,3}/)?[a-z]{1,3}@[0-9.]{1,4}",
        "uvx:[a-z]{1,3}==[0-9.]{1,4}",
        Just("command".to_owned())
    ];
    let first =
        (source, vec(text(), 1..4), option::of("sha512-[A-Za-z0-9+/]{1,8}={0,2}"), option::of(any_digest()));
    let second = (btree_map("[a-z0-9._-]{1,8}", any_digest(), 0..3), texts(), texts(), texts());
    let third = (
        prop_oneof![Just("plain"), Just("roots"), Just("elicitation+roots")],
        any::<bool>(),
        any_digest(),
        "[0-9a-f]{16}",
        btree_map(text(), text(), 0..3),
        btree_map(text(), select(Tier::ALL.to_vec()), 0..3),
        btree_map("[a-z]{1,4}/[a-z.]{1,4}", text(), 0..3),
    );
    (first, second, third).prop_map(|(first, second, third)| {
        let (source, command, integrity, tree) = first;
        let (content, scripts, hosts, mounts) = second;
        let (client, keys, fingerprint, short, secrets, tiers, bound) = third;
        Pinned {
            source,
            command,
            integrity,
            tree,
            content,
            scripts,
            client: client.parse().unwrap(),
            lists: if keys { Lists::Keys } else { Lists::Offline },
            fingerprint: format!("v1:{fingerprint}").parse().unwrap(),
            short,
            hosts,
            secrets,
            headers: Vec::new(),
            mounts,
            tiers,
            bound,
        }
    })
}
