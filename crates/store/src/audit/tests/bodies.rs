use std::fs;

use super::*;
use crate::audit::sqlite::altering::{alter, number};

const SAID: &str = "what the model said";

async fn with_bodies(keep: bool) -> (World, Vec<CallId>) {
    let world = World::new();
    let audit = Audit::open(Settings { bodies: keep, ..world.settings() }).await.unwrap();
    let calls = vec![CallId::new(), CallId::new()];
    for (n, call) in calls.iter().enumerate() {
        assert_eq!(audit.keeps_bodies(), keep);
        audit.commit(Event { body: Some(json!({ "note": SAID, "n": n })), ..intent(call, n) }).await.unwrap();
        audit.note(Event { body: Some(json!({ "content": [SAID] })), ..outcome(call) }).await;
    }
    audit.close().await;
    (world, calls)
}

/// Whether a text is in any file of the record.
fn holds(world: &World, text: &str) -> bool {
    fs::read_dir(world.folder()).unwrap().any(|entry| {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}

/// The other one is the control: the search finds what is there.
#[tokio::test]
async fn bodies_are_in_no_file_unless_they_are_kept() {
    let (world, _) = with_bodies(false).await;
    assert!(!holds(&world, SAID));
    assert!(world.rows().await.iter().all(|row| row.event.body_digest.is_none()));
    let (world, _) = with_bodies(true).await;
    assert!(holds(&world, SAID));
}

#[tokio::test]
async fn bodies_are_kept_beside_rows_and_erased_without_breaking_the_chain() {
    let (world, calls) = with_bodies(true).await;
    let rows = world.rows().await;
    let mut log = Log::open(&world.folder()).await.unwrap();
    let body = log.body(1).await.unwrap().unwrap();
    assert_eq!(body, format!(r#"{{"n":0,"note":"{SAID}"}}"#));
    assert_eq!(rows[0].event.body_digest, Some(Digest::of(body.as_bytes())));
    log.close().await.unwrap();
    assert!(world.verify().await.is_whole());

    let filter = Filter { call: Some(calls[0].clone()), ..Filter::default() };
    assert_eq!(erase(world.settings(), &filter).await.unwrap(), 2);
    let after = world.rows().await;
    assert_eq!(after[..4], rows);
    let said: Vec<_> = after[4..].iter().map(|row| row.event.details["what"].clone()).collect();
    assert_eq!(said, ["erasing_bodies", "erased_bodies"]);
    assert_eq!(
        (&after[5].event.details["rows"], &after[5].event.details["of_call"]),
        (&json!(2), &json!(calls[0]))
    );
    let report = world.verify().await;
    assert!(report.is_whole() && report.sealed == 6, "{report:?}");
    assert_eq!(number(&world.folder(), "SELECT COUNT(*) FROM bodies").await, 2);
    assert!(holds(&world, SAID));
    assert_eq!(erase(world.settings(), &Filter::default()).await.unwrap(), 2);
    assert!(!holds(&world, SAID), "what was erased is still in a file");
}

#[tokio::test]
async fn a_body_that_is_another_is_named() {
    let (world, _) = with_bodies(true).await;
    alter(&world.folder(), &["UPDATE bodies SET body = '{}' WHERE seq = 3".to_owned()]).await.unwrap();
    let report = world.verify().await;
    assert_eq!(report.faults.first().map(|fault| (fault.seq, fault.how.code())), Some((Some(3), "edited")));
}

/// A record of the first form is taken over by whoever writes it next, and verified before.
#[tokio::test]
async fn a_record_of_the_first_form_goes_on() {
    let world = World::of_calls(2).await;
    let back =
        ["DROP TABLE bodies", "UPDATE about SET value = '1' WHERE name = 'version'"].map(str::to_owned);
    alter(&world.folder(), &back).await.unwrap();
    assert!(world.verify().await.is_whole());
    let audit = Audit::open(Settings { bodies: true, ..world.settings() }).await.unwrap();
    audit.commit(Event { body: Some(json!(1)), ..intent(&CallId::new(), 0) }).await.unwrap();
    audit.close().await;
    assert_eq!(number(&world.folder(), "SELECT COUNT(*) FROM bodies").await, 1);
    assert!(world.verify().await.is_whole());
    let newer = ["UPDATE about SET value = '3' WHERE name = 'version'".to_owned()];
    alter(&world.folder(), &newer).await.unwrap();
    assert!(matches!(Audit::open(world.settings()).await, Err(AuditError::Newer { version: 3, .. })));
    assert!(matches!(verify(&world.verification()).await, Err(AuditError::Newer { version: 3, .. })));
}
