//! Whoever changes the file is found out, at every row, and the first bad one is named.

use std::{fs, path::Path};

use super::*;
use crate::audit::{
    row::Sealed,
    sqlite::altering::{UNGUARDED, alter},
};

/// Rows of the record that is altered.
const ROWS: u64 = 12;

/// A record with checkpoints over 4, 8 and 12 rows.
async fn written() -> World {
    let world = World::new();
    for _ in 0..3 {
        let audit = world.open().await;
        for n in 0..2 {
            let call = CallId::new();
            audit.commit(intent(&call, n)).await.unwrap();
            audit.note(outcome(&call)).await;
        }
        audit.close().await;
    }
    world
}

/// A copy of the record, altered.
async fn altered(world: &World, statements: &[String]) -> World {
    let copy = copy(world);
    let all: Vec<String> =
        UNGUARDED.map(str::to_owned).into_iter().chain(statements.iter().cloned()).collect();
    alter(&copy.folder(), &all).await.unwrap();
    copy
}

fn copy(world: &World) -> World {
    let copy = World::new();
    own::make_folder(&copy.folder()).unwrap();
    for entry in fs::read_dir(world.folder()).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, copy.folder().join(path.file_name().unwrap())).unwrap();
    }
    copy
}

async fn first_fault(world: &World) -> (Option<u64>, &'static str) {
    let report = world.verify().await;
    let fault = report.faults.first().unwrap_or_else(|| panic!("nothing was found: {report:?}"));
    assert!(!fault.to_string().is_empty());
    (fault.seq, fault.how.code())
}

/// The record from a row on, as somebody writes it who knows how: every row follows the one before.
fn rewritten(rows: &[Row], from: u64, change: impl Fn(&mut Event)) -> Vec<String> {
    let mut last = Head { seq: from - 1, hash: rows[usize::try_from(from).unwrap() - 1].prev };
    let mut statements = Vec::new();
    for row in rows.iter().filter(|row| row.seq >= from) {
        let mut event = row.event.clone();
        if row.seq == from {
            change(&mut event);
        }
        let sealed = Sealed::new(last, &event).unwrap();
        last = sealed.head;
        let (record, hash) = (sealed.record.replace('\'', "''"), sealed.head.hash.hex());
        let outcome = sealed.columns.code.map_or("NULL".to_owned(), |code| format!("'{code}'"));
        statements.push(format!(
            "UPDATE events SET record = '{record}', hash = '{hash}', code = {outcome} WHERE seq = {}",
            row.seq
        ));
    }
    statements
}

#[tokio::test]
async fn an_untouched_record_is_whole_also_as_a_copy_and_by_its_public_key() {
    let world = written().await;
    let report = world.verify().await;
    assert!(report.is_whole(), "{report:?}");
    assert_eq!((report.last.seq, report.sealed), (ROWS, ROWS));
    assert!(altered(&world, &[]).await.verify().await.is_whole());

    let copied = copy(&world);
    fs::remove_file(copied.folder().join("audit.key")).unwrap();
    assert_eq!(copied.verify().await.key, None);
    let key = report.key.unwrap().to_string().parse().unwrap();
    let asked = Verification {
        key: Some(key),
        checkpoints: vec![world.folder.path().join("elsewhere")],
        ..copied.verification()
    };
    let report = verify(&asked).await.unwrap();
    assert!(report.is_whole() && report.checkpoints == 9, "{report:?}");
}

#[tokio::test]
async fn triggers_refuse_changes_and_go_on_doing_so() {
    let world = written().await;
    for (statement, why) in [
        ("UPDATE events SET code = 'x' WHERE seq = 3", "rows of the record are not changed"),
        ("DELETE FROM events WHERE seq = 12", "rows of the record are not removed"),
        ("UPDATE checkpoints SET note = ''", "checkpoints are not changed"),
        ("DELETE FROM checkpoints", "checkpoints are not removed"),
    ] {
        let refused = alter(&world.folder(), &[statement.to_owned()]).await.unwrap_err();
        assert!(refused.contains(why), "{refused}");
    }
    assert!(world.verify().await.is_whole());
}

#[tokio::test]
async fn an_edited_row_is_named() {
    let world = written().await;
    let rows = world.rows().await;
    for row in &rows {
        let seq = row.seq;
        let whole = |set: &str| vec![format!("UPDATE events SET {set} WHERE seq = {seq}")];
        for set in [
            "record = replace(record, 'T', 'U')",
            "record = record || ' '",
            "record = CAST(record AS BLOB)",
            "hash = replace(hash, substr(hash, 1, 1), 'x')",
            "at_us = at_us + 1",
            "kind = 'service'",
            "call_id = NULL",
            "server = 'other'",
            "name = 'get_order'",
            "subject = 'bob'",
            "tenant = 7",
            "code = x'00'",
        ] {
            let found = first_fault(&altered(&world, &whole(set)).await).await;
            assert_eq!(found, (Some(seq), "edited"), "{set}");
        }
        // With a hash that fits: the next row knows another. No row follows the last: a checkpoint says where to look.
        let one = rewritten(&rows, seq, |event| event.code = Some("FH-NO".to_owned()));
        let first = if seq == ROWS { 9 } else { seq };
        assert_eq!(first_fault(&altered(&world, &one[..1]).await).await, (Some(first), "replaced"));
        // And all that follow written anew: only signed checkpoints and the head know. It lies in what the last that fits
        // does not cover.
        let (found, how) = first_fault(&altered(&world, &one).await).await;
        assert_eq!((found, how), (Some((seq - 1) / 4 * 4 + 1), "replaced"));
    }
}

#[tokio::test]
async fn a_dropped_row_is_named() {
    let world = written().await;
    for seq in 1..ROWS {
        let drop = format!("DELETE FROM events WHERE seq = {seq}");
        assert_eq!(
            first_fault(&altered(&world, std::slice::from_ref(&drop)).await).await,
            (Some(seq), "dropped")
        );
        // One by one, as no two may have a number.
        let renumber = (seq + 1..=ROWS)
            .map(|after| format!("UPDATE events SET seq = {} WHERE seq = {after}", after - 1));
        let statements: Vec<String> = std::iter::once(drop).chain(renumber).collect();
        assert_eq!(first_fault(&altered(&world, &statements).await).await, (Some(seq), "dropped"));
    }
}

#[tokio::test]
async fn a_reordered_row_is_named() {
    let world = written().await;
    for (one, other) in (1..ROWS).map(|seq| (seq, seq + 1)).chain([(1, ROWS), (3, 9)]) {
        let swap = [(one, 0), (other, one), (0, other)];
        let swap = swap.map(|(from, to)| format!("UPDATE events SET seq = {to} WHERE seq = {from}"));
        assert_eq!(first_fault(&altered(&world, &swap).await).await, (Some(one), "reordered"));
    }
}

#[tokio::test]
async fn an_inserted_row_is_named() {
    let world = written().await;
    let rows = world.rows().await;
    for seq in 1..=ROWS {
        let mut statements: Vec<String> = (seq..=ROWS)
            .rev()
            .map(|before| format!("UPDATE events SET seq = {} WHERE seq = {before}", before + 1))
            .collect();
        // As somebody writes it who knows how.
        let row = &rows[usize::try_from(seq).unwrap() - 1];
        let sealed =
            Sealed::new(Head { seq: seq - 1, hash: row.prev }, &Event { code: None, ..row.event.clone() })
                .unwrap();
        let columns = "stream, at_us, kind, call_id, server, name, subject, tenant, code";
        statements.push(format!(
            "INSERT INTO events (seq, hash, record, {columns}) SELECT {seq}, '{}', '{}', {columns} FROM events WHERE seq = {}",
            sealed.head.hash.hex(),
            sealed.record,
            seq + 1,
        ));
        let (found, how) = first_fault(&altered(&world, &statements).await).await;
        // The one put in is as good as any; the next is the first that cannot stand where it does.
        assert!(found == Some(seq) || found == Some(seq + 1), "{seq}: {found:?} {how}");
    }
    let another = "INSERT INTO events SELECT 'other', seq, at_us, kind, call_id, server, name, subject, tenant, code, hash,
                   record FROM events WHERE seq = 1";
    assert_eq!(first_fault(&altered(&world, &[another.to_owned()]).await).await.1, "inserted");
}

#[tokio::test]
async fn a_truncated_record_is_named_by_its_head_and_by_checkpoints() {
    let world = written().await;
    for seq in 1..=ROWS {
        let cut = [format!("DELETE FROM events WHERE seq >= {seq}")];
        let cut = altered(&world, &cut).await;
        assert_eq!(first_fault(&cut).await, (Some(seq), "truncated"));
        // Nothing is written after it, as that would hide it.
        let refused = Audit::open(cut.settings()).await.unwrap_err();
        assert!(matches!(refused, AuditError::Truncated { written: ROWS, .. }), "{refused}");

        // Whoever takes the head along is known by it, and by what was signed.
        let forget = format!("DELETE FROM checkpoints WHERE size >= {seq}");
        alter(&cut.folder(), &[forget]).await.unwrap();
        head::HeadFile::open(&cut.folder())
            .unwrap()
            .0
            .write(Head { seq: 99, hash: Digest::of(b"") })
            .unwrap();
        fs::remove_file(cut.folder().join("audit.head")).unwrap();
        let report = cut.verify().await;
        assert_eq!(
            report.faults.first().map(|fault| (fault.seq, fault.how.code())),
            Some((Some(seq), "truncated"))
        );
        let elsewhere = vec![world.folder.path().join("elsewhere")];
        fs::remove_file(cut.folder().join("audit.checkpoints")).unwrap();
        let report = verify(&Verification { checkpoints: elsewhere, ..cut.verification() }).await.unwrap();
        assert_eq!(
            report.faults.first().map(|fault| (fault.seq, fault.how.code())),
            Some((Some(seq), "truncated"))
        );
    }
    // The whole database.
    let gone = copy(&world);
    fs::remove_file(gone.folder().join("audit.db")).unwrap();
    assert!(matches!(verify(&gone.verification()).await, Err(AuditError::Truncated { found: 0, .. })));
    assert!(matches!(Audit::open(gone.settings()).await, Err(AuditError::Truncated { found: 0, .. })));
    assert!(!gone.folder().join("audit.db").exists());
}

#[tokio::test]
async fn heads_and_checkpoints_that_do_not_fit_are_told() {
    type Change = fn(&Path);
    let world = written().await;
    let changes: [(&str, &str, Change); 6] = [
        ("head_missing", "", |folder| fs::remove_file(folder.join("audit.head")).unwrap()),
        ("head_damaged", "", |folder| fs::write(folder.join("audit.head"), "0 0 0").unwrap()),
        ("checkpoints_missing", "", |folder| fs::remove_file(folder.join("audit.checkpoints")).unwrap()),
        ("checkpoint_damaged", "", |folder| replace(folder, "\n8\n", "\n8 \n")),
        ("checkpoint_signature", "", |folder| replace(folder, "\n8\n", "\n9\n")),
        ("checkpoint_foreign", "", |folder| replace(folder, "fumehood-audit/", "fumehood-audit/0")),
    ];
    for (how, _, change) in changes {
        let copied = copy(&world);
        change(&copied.folder());
        assert_eq!(first_fault(&copied).await, (None, how));
    }
    // Another key, and all checkpoints signed with it: known by whoever has the public key, or an older file.
    let forged = copy(&world);
    for name in ["audit.key", "audit.checkpoints"] {
        fs::remove_file(forged.folder().join(name)).unwrap();
    }
    let key = world.verify().await.key;
    let report = verify(&Verification { key, ..forged.verification() }).await.unwrap();
    assert_eq!(report.faults.first().map(|fault| fault.how.code()), Some("checkpoints_missing"));
    let audit = forged.open().await;
    audit.commit(outcome(&CallId::new())).await.unwrap();
    audit.close().await;
    assert_eq!(first_fault(&forged).await.1, "checkpoint_signature");
}

fn replace(folder: &Path, from: &str, to: &str) {
    let path = folder.join("audit.checkpoints");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from));
    fs::write(&path, text.replace(from, to)).unwrap();
}

/// A row replaced beneath a writer that runs: it writes nothing after it.
#[tokio::test]
async fn a_writer_notices_that_its_rows_are_gone() {
    let world = written().await;
    let audit = world.open().await;
    audit.commit(outcome(&CallId::new())).await.unwrap();
    let cut: Vec<String> = UNGUARDED
        .map(str::to_owned)
        .into_iter()
        .chain(["DELETE FROM events WHERE seq > 10".to_owned()])
        .collect();
    alter(&world.folder(), &cut).await.unwrap();
    let refused = audit.commit(outcome(&CallId::new())).await.unwrap_err();
    assert!(refused.to_string().contains("ends at row 10"), "{refused}");
    assert!(matches!(audit.health(), Health::Spilling { .. }));
    audit.note(outcome(&CallId::new())).await;
    audit.close().await;
    assert_eq!(first_fault(&world).await, (Some(11), "truncated"));
    assert_eq!(world.verify().await.waiting, 1);
}
