//! Several processes, and many callers of one, write one chain.

use std::collections::BTreeSet;

use super::{
    kill::{child_of, world_of_child},
    *,
};

const CALLS: usize = 40;

#[tokio::test]
#[ignore = "is run by the other test, several times at once"]
async fn child_writes() {
    let settings = Settings::new(world_of_child().join("audit"));
    let audit = Audit::open(settings).await.unwrap();
    for n in 0..CALLS {
        let call = CallId::new();
        audit.commit(intent(&call, n)).await.unwrap();
        audit.note(outcome(&call)).await;
    }
    audit.close().await;
}

/// Also the first moment, when none of them finds a database.
#[tokio::test]
async fn several_processes_write_one_chain() {
    let world = World::new();
    let child = || child_of("audit::tests::together::child_writes", world.folder.path()).spawn().unwrap();
    let children: Vec<_> = (0..4).map(|_| child()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let rows = world.rows().await;
    let different: BTreeSet<_> = rows.iter().map(|row| (row.event.call.clone(), row.event.kind)).collect();
    assert_eq!((rows.len(), different.len()), (4 * 2 * CALLS, 4 * 2 * CALLS));
    let report = world.verify().await;
    assert!(report.is_whole(), "{report:?}");
    assert_eq!(report.sealed, rows.len() as u64);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_callers_write_one_chain_and_each_has_its_own_row() {
    let world = World::new();
    let audit = world.open().await;
    let mut tasks = Vec::new();
    for n in 0..64 {
        let audit = audit.clone();
        tasks.push(tokio::spawn(async move {
            let mut all = Vec::new();
            for _ in 0..20 {
                let call = CallId::new();
                all.push((audit.commit(intent(&call, n)).await.unwrap(), call.clone()));
                audit.note(outcome(&call)).await;
            }
            all
        }));
    }
    let mut receipts = Vec::new();
    for task in tasks {
        receipts.extend(task.await.unwrap());
    }
    // More rows than a checkpoint takes: it is there before the end.
    let sealed = sqlite::altering::number(&world.folder(), "SELECT MAX(size) FROM checkpoints").await;
    assert!(sealed >= 1000, "{sealed}");
    audit.close().await;
    let rows = world.rows().await;
    assert_eq!(rows.len(), 2 * 64 * 20);
    for (receipt, call) in receipts {
        let row = &rows[usize::try_from(receipt.seq).unwrap() - 1];
        assert_eq!(
            (row.hash, row.event.call.as_ref(), row.event.kind),
            (receipt.hash, Some(&call), Kind::Intent)
        );
    }
    assert!(world.verify().await.is_whole());
}

/// Whoever was cut off while waiting for a place has still noted it.
#[tokio::test]
async fn a_note_whose_future_is_dropped_is_recorded() {
    let world = World::new();
    let audit = world.open().await;
    // The writer has something else to do, so that the queue is full at times.
    for _ in 0..9_000 {
        let call = CallId::new();
        let note = audit.note(Event { call: Some(call), ..Event::new(Kind::Egress) });
        tokio::time::timeout(std::time::Duration::ZERO, note).await.ok();
    }
    audit.close().await;
    assert_eq!(sqlite::altering::number(&world.folder(), "SELECT COUNT(*) FROM events").await, 9_000);
}

/// Whoever goes away while it is written down has begun nothing: the record says so, and does not leave it open.
#[tokio::test]
async fn a_caller_who_leaves_in_the_middle_of_a_commit_has_an_end_in_the_record() {
    let world = World::new();
    let audit = world.open().await;
    let calls: Vec<CallId> = (0..20).map(|_| CallId::new()).collect();
    for (n, call) in calls.iter().enumerate() {
        let left = Event { outcome: Some(Outcome::Cancelled), ..outcome(call) };
        let commit = audit.commit_or_leave(intent(call, n), left);
        // It is told to the writer, and nobody waits for more.
        tokio::select! {
            biased;
            _ = commit => {}
            () = std::future::ready(()) => {}
        }
    }
    let whole = CallId::new();
    audit.commit_or_leave(intent(&whole, 99), outcome(&whole)).await.unwrap();
    audit.close().await;
    let rows = world.rows().await;
    let kinds_of = |call: &CallId| {
        let rows = rows.iter().filter(|row| row.event.call.as_ref() == Some(call));
        rows.map(|row| row.event.kind).collect::<Vec<_>>()
    };
    let left = calls.iter().filter(|call| kinds_of(call) == [Kind::Intent, Kind::Outcome]).count();
    let open = calls.iter().filter(|call| kinds_of(call) == [Kind::Intent]).count();
    // One that was on the disk at once was not left.
    assert!(left > 0 && left + open == calls.len(), "{left} {open}");
    assert_eq!(kinds_of(&whole), [Kind::Intent]);
}
