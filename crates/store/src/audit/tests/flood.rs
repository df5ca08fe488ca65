use super::*;

#[tokio::test]
async fn a_flood_of_refusals_takes_few_rows_and_all_are_counted() {
    let world = World::new();
    let audit = world.open().await;
    for n in 0..20_000 {
        let call = CallId::new();
        audit
            .note(Event { code: Some("FH-TIER-3".to_owned()), kind: Kind::Denied, ..intent(&call, n) })
            .await;
    }
    audit.close().await;
    let rows = world.rows().await;
    let counted: u64 = rows.iter().filter_map(|row| row.event.details.get("count")?.as_u64()).sum();
    let alone = rows.iter().filter(|row| row.event.kind == Kind::Denied).count() as u64;
    assert_eq!(alone + counted, 20_000);
    // At most so many in each second that it took.
    let seconds = rows.last().unwrap().event.at.duration_since(rows[0].event.at).unwrap().as_secs() + 1;
    assert!(rows.len() as u64 <= 23 * (seconds + 1), "{} rows in {seconds} s", rows.len());
    assert!(world.verify().await.is_whole());
}
