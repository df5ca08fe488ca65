//! Servers that would read on for ever, or until the memory is full. Each ends after a bounded number of messages.

use super::*;

/// Reads a server whose `tools/list` answers as the function says, given how often it was asked; the failure, and how
/// often it was asked.
fn read(mut answer: impl FnMut(usize) -> Value) -> (SurfaceError, usize) {
    let mut reading = plain();
    let mut asked = 0;
    drive(&mut reading, |message| match message["method"].as_str() {
        Some("tools/list") => {
            asked += 1;
            vec![result(message, answer(asked))]
        }
        _ => ordinary(message),
    });
    (failure(&reading), asked)
}

#[test]
fn pages_without_end() {
    let empty = |asked: usize| json!({ "tools": [], "nextCursor": asked.to_string() });
    assert_eq!(read(empty), (SurfaceError::TooManyPages(Kind::Tool), MAX_PAGES));
    let one = |asked: usize| json!({ "tools": [tool(&asked.to_string())], "nextCursor": asked.to_string() });
    assert_eq!(read(one), (SurfaceError::TooManyPages(Kind::Tool), MAX_PAGES));
}

/// As many pages as are allowed, so that the bound above is not met by accident.
#[test]
fn many_pages_with_an_end() {
    let mut reading = plain();
    let mut asked = 0;
    drive(&mut reading, |message| match message["method"].as_str() {
        Some("tools/list") => {
            asked += 1;
            let mut page = json!({ "tools": [tool(&asked.to_string())] });
            if asked < MAX_PAGES {
                page["nextCursor"] = json!(asked.to_string());
            }
            vec![result(message, page)]
        }
        _ => ordinary(message),
    });
    assert_eq!(reading.result().unwrap().unwrap().tools().len(), MAX_PAGES);
}

#[test]
fn pages_in_a_circle() {
    let same = |asked: usize| json!({ "tools": [tool(&asked.to_string())], "nextCursor": "same" });
    assert_eq!(read(same), (SurfaceError::RepeatedCursor(Kind::Tool), 2));
    let empty = |_| json!({ "tools": [], "nextCursor": "" });
    assert_eq!(read(empty), (SurfaceError::RepeatedCursor(Kind::Tool), 2));
    let three = |asked: usize| json!({ "tools": [], "nextCursor": (asked % 3).to_string() });
    assert_eq!(read(three), (SurfaceError::RepeatedCursor(Kind::Tool), 4));
}

#[test]
fn ten_thousand_tools() {
    let at_once =
        |_| json!({ "tools": (0..10_000).map(|number| tool(&number.to_string())).collect::<Vec<_>>() });
    assert_eq!(read(at_once), (SurfaceError::TooManyEntries(Kind::Tool), 1));
    let paged = |asked: usize| {
        let tools: Vec<Value> = (0..500).map(|number| tool(&format!("{asked}-{number}"))).collect();
        json!({ "tools": tools, "nextCursor": asked.to_string() })
    };
    assert_eq!(read(paged), (SurfaceError::TooManyEntries(Kind::Tool), MAX_ENTRIES / 500 + 1));
}

#[test]
fn a_description_of_five_mebibytes() {
    let long =
        json!({ "name": "long", "description": "x".repeat(5 << 20), "inputSchema": { "type": "object" } });
    let mut reading = plain();
    drive(&mut reading, |message| match message["method"].as_str() {
        Some("tools/list") => vec![result(message, json!({ "tools": [tool("a"), long] }))],
        _ => ordinary(message),
    });
    let surface = reading.result().unwrap().unwrap();
    assert_eq!((surface.tools().len(), surface.quarantined().len()), (1, 1));
    assert_eq!(
        (surface.quarantined()[0].name.as_str(), surface.quarantined()[0].reason.code()),
        ("long", "text")
    );
    assert!(surface.to_text().len() < 10_000);
    let (error, asked) = read(|asked| {
        let mut long = long.clone();
        long["name"] = json!(asked.to_string());
        json!({ "tools": [long], "nextCursor": asked.to_string() })
    });
    assert_eq!((error, asked), (SurfaceError::TooLarge, 2));
}

#[test]
fn an_error_is_the_end() {
    let mut reading = plain();
    let sent = drive(&mut reading, |message| match message["method"].as_str() {
        Some("tools/list") => vec![result(message, json!({}))],
        _ => ordinary(message),
    });
    assert!(matches!(failure(&reading), SurfaceError::Malformed { .. }));
    assert!(reading.again().is_empty() && !reading.wants_again());
    assert!(reading.push(&ordinary(&sent[2]).remove(0)).is_empty());
    assert!(reading.push(&json!({ "method": "notifications/tools/list_changed" })).is_empty());
    assert!(matches!(failure(&reading), SurfaceError::Malformed { .. }));
}
