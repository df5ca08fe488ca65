//! A disk without room.

use std::{
    fs::{self, File},
    io::Write,
    process::Command,
    time::{Duration, Instant},
};

use super::{
    kill::{child_of, world_of_child},
    *,
};

async fn becomes(audit: &Audit, wanted: fn(&Health) -> bool) -> Health {
    let begin = Instant::now();
    while !wanted(&audit.health()) {
        assert!(begin.elapsed() < Duration::from_mins(1), "{:?}", audit.health());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    audit.health()
}

fn egress(n: usize) -> Event {
    let details =
        serde_json::Map::from_iter([("n".to_owned(), json!(n)), ("host".to_owned(), json!("h".repeat(200)))]);
    Event { details, ..Event::new(Kind::Egress) }
}

#[tokio::test]
#[ignore = "is run by the other test, on a small disk of its own"]
async fn child_fills_its_disk() {
    let world = world_of_child();
    let audit = Audit::open(Settings::new(world.join("audit"))).await.unwrap();
    audit.commit(intent(&CallId::new(), 0)).await.unwrap();
    let mut filler = File::create(world.join("filler")).unwrap();
    while filler.write_all(&[0; 4096]).is_ok() {}
    while filler.write_all(&[0; 1]).is_ok() {}

    // What SQLite has of its own may take a few.
    let mut committed = 0;
    let refused = loop {
        match audit.commit(intent(&CallId::new(), 1)).await {
            Ok(_) => committed += 1,
            Err(error) => break error,
        }
        assert!(committed < 10_000);
    };
    assert!(matches!(refused, AuditError::Database { .. }), "{refused}");
    assert!(matches!(audit.health(), Health::Spilling { .. }), "{:?}", audit.health());

    // Room was kept for these.
    for n in 0..1_000 {
        audit.note(egress(n)).await;
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(matches!(audit.health(), Health::Spilling { .. }), "{:?}", audit.health());
    // And not for these: in the end nobody can note anything.
    let mut noted = 1_000;
    while tokio::time::timeout(Duration::from_secs(2), audit.note(egress(noted))).await.is_ok() {
        noted += 1;
        assert!(noted < 100_000);
    }
    // The one that did not come through in time is not lost either.
    noted += 1;
    assert!(matches!(audit.health(), Health::Failed { .. }), "{:?}", audit.health());
    let begin = Instant::now();
    assert!(audit.commit(intent(&CallId::new(), 2)).await.is_err());
    assert!(begin.elapsed() < Duration::from_secs(30));

    drop(filler);
    fs::remove_file(world.join("filler")).unwrap();
    becomes(&audit, |health| *health == Health::Ok).await;
    audit.commit(intent(&CallId::new(), 3)).await.unwrap();
    audit.close().await;

    let rows = all_rows(&world.join("audit")).await;
    let numbers: Vec<u64> = rows
        .iter()
        .filter(|row| row.event.kind == Kind::Egress)
        .filter_map(|row| row.event.details.get("n")?.as_u64())
        .collect();
    assert!(
        numbers.is_sorted() && numbers == (0..noted as u64).collect::<Vec<_>>(),
        "{} of {noted}",
        numbers.len()
    );
    assert_eq!(rows.iter().filter(|row| row.event.kind == Kind::Intent).count(), committed + 2);
    let brought: u64 = rows.iter().filter_map(|row| row.event.details.get("rows")?.as_u64()).sum();
    assert!(brought >= 1_000, "{brought} rows came from the spill file");
    let report = verify(&Verification { folder: world.join("audit"), key: None, checkpoints: Vec::new() })
        .await
        .unwrap();
    assert!(report.is_whole() && report.waiting == 0, "{report:?}");
    fs::write(world.join("done"), "").unwrap();
}

#[test]
fn on_a_full_disk_nothing_is_dropped_and_nothing_is_performed() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root mounts a small disk");
        return;
    }
    let world = World::new();
    let child = child_of("audit::tests::full::child_fills_its_disk", world.folder.path());
    // The disk is gone with the mount namespace.
    let script =
        r#"mount -t tmpfs -o size=24m small "$1" && shift && "$@" && test -e "$FUMEHOOD_TEST_WORLD/done""#;
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script, "sh"]).arg(world.folder.path());
    command.arg(child.get_program()).args(child.get_args()).env("FUMEHOOD_TEST_WORLD", world.folder.path());
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout)
    );
}
