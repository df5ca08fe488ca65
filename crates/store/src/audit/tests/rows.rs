use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::audit::{bound::bounded, row::Sealed};

#[tokio::test]
async fn what_is_recorded_is_read_again_and_found_by_all_that_it_says() {
    let world = World::new();
    let audit = world.open().await;
    let call = CallId::new();
    let receipt = audit.commit(intent(&call, 1)).await.unwrap();
    assert_eq!(receipt.seq, 1);
    audit.note(Event { call: Some(call.clone()), ..Event::new(Kind::Egress) }).await;
    audit.note(outcome(&call)).await;
    let other = CallId::new();
    audit
        .note(Event {
            code: Some("FH-TIER-3".to_owned()),
            ..Event { kind: Kind::Denied, ..intent(&other, 2) }
        })
        .await;
    assert_eq!(audit.health(), Health::Ok);
    audit.close().await;
    assert!(matches!(audit.commit(outcome(&call)).await, Err(AuditError::Closed)));
    assert!(matches!(audit.health(), Health::Failed { .. }));

    let mut log = Log::open(&world.folder()).await.unwrap();
    let rows = log.call(&call).await.unwrap();
    let kinds: Vec<Kind> = rows.iter().map(|row| row.event.kind).collect();
    assert_eq!(kinds, [Kind::Intent, Kind::Egress, Kind::Outcome]);
    assert_eq!((rows[0].hash, rows[1].prev), (receipt.hash, receipt.hash));
    assert_eq!(rows[0].event.principal, intent(&call, 1).principal);
    assert_eq!(rows[2].event.details, outcome(&call).details);
    for (filter, found) in [
        (Filter { kind: Some(Kind::Denied), ..Filter::default() }, vec![4]),
        (Filter { code: Some("FH-TIER-3".to_owned()), ..Filter::default() }, vec![4]),
        (
            Filter {
                server: Some("orders".to_owned()),
                name: Some("cancel_order".to_owned()),
                ..Filter::default()
            },
            vec![1, 4],
        ),
        (Filter { subject: Some("alice".to_owned()), ..Filter::default() }, vec![1, 4]),
        (Filter { tenant: Some("acm".to_owned()), ..Filter::default() }, vec![]),
        (
            Filter { since: Some(rows[0].event.at), until: Some(rows[1].event.at), ..Filter::default() },
            vec![1],
        ),
    ] {
        let rows = log.after(0, &filter).await.unwrap();
        assert_eq!(rows.iter().map(|row| row.seq).collect::<Vec<_>>(), found, "{filter:?}");
    }
    let last = log.last(2, &Filter::default()).await.unwrap();
    assert_eq!(last.iter().map(|row| row.seq).collect::<Vec<_>>(), [3, 4]);
    log.close().await.unwrap();

    let report = world.verify().await;
    assert!(report.is_whole() && report.key.is_some(), "{report:?}");
    assert_eq!((report.last.seq, report.sealed), (4, 4));
}

#[tokio::test]
async fn a_commit_does_not_wait_for_more_and_notes_do() {
    let world = World::new();
    let audit = Audit::open(Settings { group: std::time::Duration::from_hours(1), ..world.settings() })
        .await
        .unwrap();
    audit.note(outcome(&CallId::new())).await;
    let receipt = audit.commit(intent(&CallId::new(), 1)).await.unwrap();
    assert_eq!(receipt.seq, 2);
    audit.note(outcome(&CallId::new())).await;
    audit.close().await;
    assert_eq!(world.rows().await.len(), 3);
}

/// The promise is about what is there by default: names and digests, and nothing that a model or a server said.
#[tokio::test]
async fn bodies_are_absent_and_long_texts_are_cut() {
    let world = World::new();
    let audit = world.open().await;
    let long = "name-of-a-tool-that-a-model-made-up ".repeat(10_000);
    let call = CallId::new();
    let mut event = Event { name: Some(long.clone()), trace: Some("a\0b".to_owned()), ..intent(&call, 3) };
    event.details.insert("much".to_owned(), Value::String(long.clone()));
    audit.commit(event).await.unwrap();
    audit.close().await;
    let [row] = world.rows().await.try_into().unwrap();
    assert!(row.record.len() < 2048, "{}", row.record.len());
    assert!(row.event.name.unwrap().ends_with(&format!(
        "({} bytes, {})",
        long.len(),
        Digest::of(long.as_bytes())
    )));
    assert_eq!(row.event.details["left_out"]["bytes"], json!(long.len() + "{'much':''}".len()));
    assert!(world.verify().await.is_whole());
    // What an event says of arguments and results has a type that holds a digest.
    let record: Value = serde_json::from_str(&row.record).unwrap();
    assert_eq!(record["arguments"], json!(Digest::of(&3_usize.to_be_bytes())));
}

#[tokio::test]
async fn what_is_not_its_readers_alone_is_not_opened() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::of_calls(1).await;
    for name in [".", "audit.db", "audit.head", "audit.key"] {
        let path = world.folder().join(name);
        let before = std::fs::metadata(&path).unwrap().permissions();
        assert_eq!(before.mode() & 0o077, 0, "{name}");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(before.mode() | 0o040)).unwrap();
        let error = Audit::open(world.settings()).await.unwrap_err();
        assert!(matches!(error, AuditError::Exposed { .. } | AuditError::Key { .. }), "{name}: {error}");
        assert!(!error.hint().is_empty());
        std::fs::set_permissions(&path, before).unwrap();
    }
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(world.folder().join("audit.db"), Some(1), None).unwrap();
        assert!(matches!(Log::open(&world.folder()).await, Err(AuditError::Foreign { owner: 1, .. })));
    }
    let none = World::new();
    assert!(matches!(Log::open(&none.folder()).await, Err(AuditError::Missing(_))));
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(any::<String>(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn any_event() -> impl Strategy<Value = Event> {
    let texts = prop::collection::vec(prop::option::of(any::<String>()), 8);
    let details = prop::collection::hash_map(any::<String>(), any_value(), 0..4);
    (texts, details, 0..Kind::ALL.len(), any::<u64>(), prop::option::of(any::<u64>())).prop_map(
        |(mut texts, details, kind, at, duration)| {
            let mut text = || texts.pop().flatten();
            Event {
                at: std::time::UNIX_EPOCH + std::time::Duration::from_micros(at),
                face: text(),
                server: text(),
                name: text(),
                code: text(),
                principal: text().map(|subject| Who { subject, ..Who::default() }),
                bound: text().into_iter().collect(),
                trace: text(),
                rule: text(),
                duration_us: duration,
                details: details.into_iter().collect(),
                ..Event::new(Kind::ALL[kind])
            }
        },
    )
}

proptest! {
    /// Whatever is in it: the text that is hashed is RFC 8785, reads back as the same event, and any other event has another.
    #[test]
    fn the_text_of_a_row_is_canonical_and_says_everything(one in any_event()) {
        let first = Head::first("a");
        let one = bounded(one);
        let sealed = Sealed::new(first, &one).unwrap();
        let value = model::json::parse(sealed.record.as_bytes()).unwrap();
        prop_assert_eq!(model::json::canonical(&value).unwrap(), sealed.record.as_bytes());
        prop_assert_eq!(sealed.head.hash, Digest::of(sealed.record.as_bytes()));
        let row = Row::read(1, &sealed.head.hash.hex(), sealed.record.clone()).unwrap();
        prop_assert_eq!(row.prev, first.hash);
        let again = Sealed::new(first, &row.event).unwrap();
        prop_assert_eq!(&again.record, &sealed.record);
        prop_assert_eq!(again.columns, sealed.columns);

        let rule = format!("{}!", row.event.rule.clone().unwrap_or_default());
        let other = Sealed::new(first, &Event { rule: Some(rule), ..row.event }).unwrap();
        prop_assert_ne!(other.head.hash, sealed.head.hash);
        let later = Sealed::new(Head { seq: 1, hash: first.hash }, &one).unwrap();
        prop_assert_ne!(later.head.hash, sealed.head.hash);
    }
}

/// A second place that is not there is told, in the record itself, and made up for.
#[tokio::test]
async fn a_second_place_that_cannot_be_written_is_told_once() {
    let world = World::new();
    let gone = world.folder.path().join("not-mounted");
    let settings = Settings { checkpoints: Some(gone.join("checkpoints")), ..world.settings() };
    for mounted in [false, false, true] {
        if mounted {
            std::fs::create_dir(&gone).unwrap();
        }
        let audit = Audit::open(settings.clone()).await.unwrap();
        for _ in 0..3 {
            audit.commit(intent(&CallId::new(), 0)).await.unwrap();
        }
        audit.close().await;
    }
    let rows = world.rows().await;
    let told: Vec<_> = rows.iter().filter(|row| row.event.kind == Kind::Service).collect();
    assert_eq!(told.len(), 2, "once in each process");
    assert_eq!(told[0].event.details["what"], json!("checkpoint_failed"));
    assert!(told[0].event.details["reason"].as_str().unwrap().contains("not-mounted"));
    let asked = Verification { checkpoints: vec![gone.join("checkpoints")], ..world.verification() };
    let report = verify(&asked).await.unwrap();
    assert!(report.is_whole() && report.sealed == 11, "{report:?}");
}
