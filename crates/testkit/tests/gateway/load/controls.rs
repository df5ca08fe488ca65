//! The checks notice what they are there for: made-up histories, each with one thing wrong.

use super::{
    checks::problems,
    history::{Answer, Call, History, Line, Row},
};

const NONCES: [&str; 4] = ["a", "b", "c", "d"];

fn call(nonce: &str, tool: &'static str, answer: Answer) -> Call {
    Call { nonce: nonce.to_owned(), who: "alice", server: "ledger", tool, face: "mcp", answer }
}

fn row(seq: u64, kind: &str, trace: &str) -> Row {
    let outcome = matches!(kind, "outcome" | "call").then(|| "ok".to_owned());
    let trace = Some(trace.to_owned());
    Row { seq, kind: kind.to_owned(), trace, who: "alice".to_owned(), outcome, at: 10, ..Row::default() }
}

/// Two that were performed, one that only reads, one that was refused: nothing is wrong.
fn right() -> History {
    let done = |number| Answer::Done { number, boot: "x".to_owned() };
    let [a, b, c, d] = NONCES;
    let line = |nonce: &str| Line {
        nonce: nonce.to_owned(),
        server: "ledger".to_owned(),
        who: "alice".to_owned(),
        at: 20,
    };
    History {
        calls: vec![
            call(a, "append", done(1)),
            call(b, "append", Answer::Refused("FH-SERVER-ENDED".to_owned())),
            call(c, "next", done(2)),
            call(d, "append", Answer::Refused("FH-AUDIT-UNAVAILABLE".to_owned())),
        ],
        ledger: vec![line(a), line(b)],
        rows: vec![
            row(1, "intent", a),
            row(2, "intent", b),
            row(3, "outcome", a),
            Row {
                code: Some("FH-SERVER-ENDED".to_owned()),
                outcome: Some("unknown".to_owned()),
                ..row(4, "outcome", b)
            },
            row(5, "call", c),
            Row { code: Some("FH-AUDIT-UNAVAILABLE".to_owned()), ..row(6, "denied", d) },
        ],
        was_stopped: false,
    }
}

/// One thing that goes wrong.
type Change = fn(&mut History);

#[test]
fn what_goes_wrong_is_noticed() {
    assert_eq!(problems(&right()), [""; 0]);
    let cases: [(&str, Change, &str); 16] = [
        ("a client asks twice", |it| it.calls.push(it.calls[0].clone()), "asked twice"),
        ("a call is performed twice", |it| it.ledger.push(it.ledger[0].clone()), "performed 2 times"),
        (
            "one whose server ended is made again",
            |it| it.ledger.push(it.ledger[1].clone()),
            "performed 2 times",
        ),
        ("one that was told to be done is lost", |it| drop(it.ledger.remove(0)), "performed 0 times"),
        ("one that was refused is done", |it| it.ledger[1].nonce = "d".to_owned(), "performed 1 times"),
        ("something is done unasked", |it| it.ledger[1].nonce = "e".to_owned(), "never asked for"),
        ("it is done for another user", |it| it.ledger[0].who = "bob".to_owned(), "as something else"),
        ("two get one answer", |it| it.calls[2].answer = it.calls[0].answer.clone(), "one answer for two"),
        (
            "one gets another's answer",
            |it| it.calls[2].answer = Answer::Wrong("nonce".to_owned()),
            "no answer for this caller",
        ),
        (
            "a caller is left without one",
            |it| it.calls[2].answer = Answer::Closed(String::new()),
            "no answer",
        ),
        (
            "who may do everything is told that it is not there",
            |it| it.calls[2].answer = Answer::Unknown,
            "no answer",
        ),
        ("an intent is missing", |it| drop(it.rows.remove(0)), "not one intent"),
        ("an outcome is missing", |it| drop(it.rows.remove(2)), "not one intent"),
        (
            "the row of a refusal is missing",
            |it| drop(it.rows.pop()),
            "1 times with FH-AUDIT-UNAVAILABLE, and 0",
        ),
        ("it is recorded after it was done", |it| it.rows[0].at = 30, "before it was recorded"),
        ("the record tells another end", |it| it.rows[2].outcome = Some("failed".to_owned()), "another end"),
    ];
    for (what, change, told) in cases {
        let mut history = right();
        change(&mut history);
        let found = problems(&history);
        assert!(found.iter().any(|one| one.contains(told)), "{what}: {found:?}");
    }
}

#[test]
fn repeats_that_are_only_counted_are_not_missed() {
    let mut history = right();
    let refused = history.rows.pop().unwrap();
    history.rows.push(Row { kind: "coalesced".to_owned(), trace: None, count: 1, ..refused });
    assert_eq!(problems(&history), [""; 0]);
    history.rows[5].count = 2;
    assert_eq!(problems(&history).len(), 1);
}

#[test]
fn a_call_that_was_begun_is_answered_also_where_the_service_ends() {
    let mut history = right();
    history.was_stopped = true;
    history.calls[2].answer = Answer::Closed("reset".to_owned());
    assert_eq!(problems(&history).len(), 1, "it is in the record");
    history.rows.remove(4);
    assert_eq!(problems(&history), [""; 0]);
    history.calls[1].answer = Answer::Closed("reset".to_owned());
    assert_eq!(problems(&history).len(), 2, "it is in the record and in the ledger");
}
