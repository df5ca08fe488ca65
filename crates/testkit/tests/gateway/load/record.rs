//! What the servers and the record say of a run, once it is over.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::Stdio,
};

use serde_json::Value;

use super::{
    history::{Call, History, Line, Row},
    service::Service,
};

impl Service {
    /// Everything that is known, once it has ended.
    pub(crate) fn history(&self, calls: Vec<Call>, was_stopped: bool) -> History {
        History { calls, ledger: self.ledger(), rows: self.rows(), was_stopped }
    }

    /// All rows of the record, in its order.
    fn rows(&self) -> Vec<Row> {
        let mut search = self.asked(&["audit", "search", "--json"]);
        let mut search = search.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(search.stdout.take().unwrap()).lines();
        let rows = lines.map(|line| row(&line.unwrap())).collect();
        assert!(search.wait().unwrap().success());
        rows
    }

    /// Has the record verified, down to its last row.
    pub(crate) fn verify(&self) {
        let verified = self.asked(&["audit", "verify", "--json"]).output().unwrap();
        assert!(verified.status.success(), "{verified:?}");
    }

    /// Everything that was performed, by what the servers wrote.
    fn ledger(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        gather(&self.scene.world.path("data"), &mut lines);
        lines
    }
}

fn row(line: &str) -> Row {
    let line: Value = serde_json::from_str(line).unwrap();
    let record = &line["record"];
    let text = |name: &str| record[name].as_str().map(str::to_owned);
    Row {
        seq: record["seq"].as_u64().unwrap(),
        kind: text("kind").unwrap(),
        trace: text("trace"),
        who: record["principal"]["subject"].as_str().unwrap_or_default().to_owned(),
        code: text("code"),
        outcome: text("outcome"),
        at: micros(&text("at").unwrap()),
        count: record["details"]["count"].as_u64().unwrap_or_default(),
    }
}

/// Microseconds since 1970, of `2026-11-30T13:37:25.000001Z`.
fn micros(at: &str) -> u64 {
    let number = |range: std::ops::Range<usize>| at.get(range).unwrap().parse::<u64>().unwrap();
    let (year, month, day) = (number(0..4), number(5..7), number(8..10));
    // Days since 1970 by the civil calendar, a year beginning in March.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    let seconds = ((days - 719_468) * 24 + number(11..13)) * 3_600 + number(14..16) * 60 + number(17..19);
    seconds * 1_000_000 + number(20..26)
}

fn gather(folder: &Path, lines: &mut Vec<Line>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            gather(&path, lines);
        } else if entry.file_name() == "ledger" {
            lines.extend(fs::read_to_string(&path).unwrap().lines().map(line));
        }
    }
}

fn line(text: &str) -> Line {
    let words: Vec<&str> = text.split(' ').collect();
    let [nonce, server, who, at, _boot] = words.as_slice() else { panic!("half a line: {text:?}") };
    let word = |word: &str| word.to_owned();
    Line { nonce: word(nonce), server: word(server), who: word(who), at: at.parse().unwrap() }
}

#[test]
fn times_are_read() {
    assert_eq!(micros("1970-01-01T00:00:00.000001Z"), 1);
    assert_eq!(micros("2026-11-30T13:37:25.000001Z"), 1_796_045_845_000_001);
    assert_eq!(micros("2024-02-29T23:59:59.999999Z") + 1, micros("2024-03-01T00:00:00.000000Z"));
}
