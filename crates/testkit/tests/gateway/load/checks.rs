//! What must be true of a history, however a run goes. What is not is told in a sentence each.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::history::{Answer, Call, History, Row};

/// Refusals of calls that no server ever had.
const BEFORE: [&str; 3] = ["FH-AUDIT-UNAVAILABLE", "FH-LIMIT-RATE", "FH-LIMIT-CONCURRENCY"];
/// Refusals of calls that were recorded as about to be done, and that no server had.
const UNSENT: [&str; 2] = ["FH-SERVER-WITHHELD", "FH-STOPPING"];
/// Refusals of calls that a server may have had: they are done once or not at all.
const UNCERTAIN: [&str; 2] = ["FH-SERVER-ENDED", "FH-TIMEOUT"];
/// The record's name for what a caller is told does not exist.
const UNKNOWN: &str = "FH-TOOL-UNKNOWN";

/// Everything that is wrong with a history.
pub(crate) fn problems(history: &History) -> Vec<String> {
    let mut found = answers(history);
    found.extend(ledger(history));
    found.extend(record(history));
    found
}

/// What a caller may be told, by who it is: nobody is refused for what is not theirs to bear.
pub(crate) fn is_expected(call: &Call, may_be_hidden: bool, is_limited: bool, was_stopped: bool) -> bool {
    match &call.answer {
        Answer::Done { .. } => true,
        Answer::Unknown => may_be_hidden,
        Answer::Refused(code) => match code.as_str() {
            "FH-AUDIT-UNAVAILABLE" => call.tool == "append",
            "FH-LIMIT-RATE" | "FH-LIMIT-CONCURRENCY" => is_limited,
            "FH-TIMEOUT" => call.tool == "wait",
            "FH-SERVER-ENDED" | "FH-SERVER-WITHHELD" => true,
            "FH-STOPPING" => was_stopped,
            _ => false,
        },
        Answer::Closed(_) => was_stopped,
        Answer::Wrong(_) => false,
    }
}

/// Each caller gets the answer to its own question, and no two the same one.
fn answers(history: &History) -> Vec<String> {
    let mut found = Vec::new();
    let (mut nonces, mut numbers) = (BTreeSet::new(), HashMap::new());
    for call in &history.calls {
        if !nonces.insert(&call.nonce) {
            found.push(format!("asked twice: {call:?}"));
        }
        if !is_expected(call, may_be_hidden(call), is_limited(call), history.was_stopped) {
            found.push(format!("no answer for this caller: {call:?}"));
        }
        if let Answer::Done { number, boot } = &call.answer
            && let Some(other) = numbers.insert((call.server, boot, number), &call.nonce)
        {
            found.push(format!("one answer for two: {call:?} and {other}"));
        }
    }
    found
}

/// No call is performed twice, none without having been asked for, and none that was told to be done is missing.
fn ledger(history: &History) -> Vec<String> {
    let mut found = Vec::new();
    let mut performed: HashMap<&str, u32> = HashMap::new();
    let calls: HashMap<&str, &Call> = history.calls.iter().map(|call| (call.nonce.as_str(), call)).collect();
    for line in &history.ledger {
        *performed.entry(&line.nonce).or_default() += 1;
        match calls.get(line.nonce.as_str()) {
            Some(call) if call.tool == "append" && call.who == line.who && call.server == line.server => {}
            Some(call) => found.push(format!("performed as something else: {line:?}, {call:?}")),
            None => found.push(format!("performed and never asked for: {line:?}")),
        }
    }
    for call in history.calls.iter().filter(|call| call.tool == "append") {
        let times = performed.get(call.nonce.as_str()).copied().unwrap_or_default();
        let may_be = match &call.answer {
            Answer::Done { .. } => 1..=1,
            Answer::Refused(code) if UNCERTAIN.contains(&code.as_str()) => 0..=1,
            _ => 0..=0,
        };
        if !may_be.contains(&times) {
            found.push(format!("performed {times} times: {call:?}"));
        }
    }
    found
}

/// Every call has its rows, in their order, and every refusal is counted.
fn record(history: &History) -> Vec<String> {
    let mut found = Vec::new();
    let mut rows: HashMap<&str, Vec<&Row>> = HashMap::new();
    for row in &history.rows {
        if let Some(trace) = &row.trace {
            rows.entry(trace).or_default().push(row);
        }
    }
    let none = Vec::new();
    let mut refused: BTreeMap<(String, String), (u64, u64)> = BTreeMap::new();
    for call in &history.calls {
        let own = rows.get(call.nonce.as_str()).unwrap_or(&none);
        if let Some(why) = amiss(call, own) {
            found.push(format!("{why}: {call:?}, {own:?}"));
        }
        if let Some(code) = denied(call) {
            refused.entry((call.who.to_owned(), code.to_owned())).or_default().0 += 1;
        }
    }
    for row in &history.rows {
        let count = match row.kind.as_str() {
            "denied" => 1,
            "coalesced" => row.count,
            _ => continue,
        };
        let code = row.code.clone().unwrap_or_default();
        refused.entry((row.who.clone(), code)).or_default().1 += count;
    }
    for ((who, code), (told, written)) in refused {
        if told != written {
            found
                .push(format!("{who} was refused {told} times with {code}, and {written} are in the record"));
        }
    }
    for line in &history.ledger {
        let intent = rows.get(line.nonce.as_str()).unwrap_or(&none).iter().find(|row| row.kind == "intent");
        if intent.is_none_or(|row| row.at > line.at) {
            found.push(format!("performed before it was recorded: {line:?}, {intent:?}"));
        }
    }
    found
}

/// The code of a refusal that leaves a row of a refusal.
fn denied(call: &Call) -> Option<&str> {
    match &call.answer {
        Answer::Unknown => Some(UNKNOWN),
        Answer::Refused(code) if BEFORE.contains(&code.as_str()) => Some(code),
        _ => None,
    }
}

/// What is wrong with the rows of one call.
fn amiss(call: &Call, rows: &[&Row]) -> Option<&'static str> {
    let of = |kind: &str| rows.iter().filter(|row| row.kind == kind).copied().collect::<Vec<_>>();
    let (intents, outcomes, wholes) = (of("intent"), of("outcome"), of("call"));
    if denied(call).is_some() || matches!(call.answer, Answer::Closed(_)) {
        // A refusal may stand in a number of repeats.
        let is_done = !intents.is_empty() || !outcomes.is_empty() || !wholes.is_empty();
        return is_done.then_some("recorded as done");
    }
    let last = match call.tool {
        "append" => match (intents.as_slice(), outcomes.as_slice()) {
            ([intent], [outcome]) if intent.seq < outcome.seq && wholes.is_empty() => outcome,
            _ => return Some("not one intent and one outcome after it"),
        },
        _ => match wholes.as_slice() {
            [whole] if intents.is_empty() && outcomes.is_empty() => whole,
            _ => return Some("not one row"),
        },
    };
    let outcome = last.outcome.as_deref().unwrap_or_default();
    let is_right = match &call.answer {
        Answer::Done { .. } => outcome == "ok" && last.code.is_none(),
        Answer::Refused(code) if last.code.as_ref() != Some(code) => false,
        Answer::Refused(code) if UNSENT.contains(&code.as_str()) => outcome == "failed",
        Answer::Refused(_) => outcome == "failed" || outcome == "unknown",
        _ => false,
    };
    (!is_right).then_some("another end in the record than was told")
}

/// Carol may only ask for numbers; what Bob may do is changed in the middle.
fn may_be_hidden(call: &Call) -> bool {
    match call.who {
        "carol" => call.tool != "next",
        "bob" => matches!((call.server, call.tool), ("ledger", _) | ("web", "append")),
        _ => false,
    }
}

/// The limits that come and go.
fn is_limited(call: &Call) -> bool {
    matches!((call.server, call.tool), ("counter", "next") | ("slow", "wait"))
}
