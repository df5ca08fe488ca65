//! Lists of several pages, in order and out of it.

use proptest::prelude::*;

use super::*;

/// The pages of a list: each but the last leads to the next.
fn page(entries: &[Value], per_page: usize, message: &Value) -> Value {
    let start: usize = message["params"]["cursor"].as_str().map_or(0, |cursor| cursor.parse().unwrap());
    let end = entries.len().min(start + per_page);
    let mut page = json!({ "tools": entries[start..end] });
    if end < entries.len() {
        page["nextCursor"] = json!(end.to_string());
    }
    result(message, page)
}

fn read(entries: &[Value], per_page: usize) -> Surface {
    let mut reading = plain();
    drive(&mut reading, |message| match message["method"].as_str() {
        Some("tools/list") => vec![page(entries, per_page, message)],
        _ => ordinary(message),
    });
    assert!(reading.has_settled());
    reading.result().unwrap().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn how_a_list_is_cut_into_pages_is_no_change(
        (tools, shuffled) in (1..40_usize).prop_flat_map(|count| {
            let tools: Vec<Value> = (0..count).map(|number| tool(&format!("t{number}"))).collect();
            (Just(tools.clone()), Just(tools).prop_shuffle())
        }),
        per_page in 1..12_usize,
    ) {
        let (whole, cut) = (read(&tools, 100), read(&shuffled, per_page));
        prop_assert_eq!(whole.tools().len(), tools.len());
        prop_assert_eq!(whole, cut);
    }
}

#[test]
fn a_new_page_is_a_change() {
    let tools: Vec<Value> = (0..20).map(|number| tool(&format!("t{number}"))).collect();
    let (one, two) = (read(&tools[..10], 10), read(&tools, 10));
    assert_eq!((one.tools().len(), two.tools().len()), (10, 20));
    assert_ne!(one.fingerprint(), two.fingerprint());
    assert_ne!(one.short(), two.short());
}

#[test]
fn a_name_on_two_pages_has_no_surface() {
    let mut reading = plain();
    drive(&mut reading, |message| match message["method"].as_str() {
        Some("tools/list") => vec![page(&[tool("a"), tool("b"), tool("a")], 2, message)],
        _ => ordinary(message),
    });
    assert_eq!(failure(&reading), SurfaceError::Duplicate { kind: Kind::Tool, name: "a".to_owned() });
}

/// Answers that come in another order, twice, late, or for nobody.
#[test]
fn only_answers_that_are_awaited_count() {
    let mut reading = plain();
    let hello = reading.begin();
    assert!(reading.push(&result(&json!({ "id": "t-7" }), everything())).is_empty());
    assert!(reading.push(&result(&json!({ "id": 0 }), everything())).is_empty());
    assert!(!reading.has_settled() && reading.result().is_none());
    let asked = reading.push(&result(&hello[0], everything()));
    assert!(reading.push(&result(&hello[0], json!({}))).is_empty());
    let foreign = json!({ "id": "client-1" });
    assert!(reading.push(&result(&foreign, json!({ "tools": [tool("foreign")] }))).is_empty());
    assert!(reading.push(&error(&foreign, -1, "not ours")).is_empty());
    for request in asked[1..].iter().rev() {
        assert!(!reading.has_settled());
        let answer = ordinary(request).remove(0);
        assert!(reading.is_ours(&answer) && reading.push(&answer).is_empty());
        assert!(reading.push(&result(request, json!({ "tools": [tool("again")] }))).is_empty());
    }
    let surface = reading.result().unwrap().unwrap();
    let names: Vec<&Value> = surface.tools().iter().map(|tool| &tool["name"]).collect();
    assert!(reading.has_settled());
    assert_eq!(names, ["a", "b"]);
    for (message, ours) in [
        (result(&asked[1], json!({})), true),
        (error(&asked[4], 1, ""), true),
        (result(&json!({ "id": "t-5" }), json!({})), false),
        (result(&json!({ "id": "t-" }), json!({})), false),
        (result(&json!({ "id": "t-+1" }), json!({})), false),
        (result(&json!({ "id": "1" }), json!({})), false),
        (result(&json!({ "id": 1 }), json!({})), false),
        (json!({ "id": "t-1", "method": "ping" }), false),
        (json!({ "method": "notifications/message" }), false),
        (json!([]), false),
    ] {
        assert_eq!(reading.is_ours(&message), ours, "{message}");
    }
}

#[test]
fn a_page_out_of_shape_is_refused() {
    for (answer, said) in [
        (json!({}), "it has no list `tools`"),
        (json!({ "tools": {} }), "it has no list `tools`"),
        (json!({ "tools": null }), "it has no list `tools`"),
        (json!({ "tools": [1] }), "an entry of `tools` is no object"),
        (json!({ "tools": [], "nextCursor": 1 }), "`nextCursor`"),
        (json!({ "tools": [], "nextCursor": "x".repeat(MAX_TEXT + 1) }), "`nextCursor`"),
        (json!([]), "no `result` that is an object"),
    ] {
        let mut reading = plain();
        drive(&mut reading, |message| match message["method"].as_str() {
            Some("tools/list") => vec![result(message, answer.clone())],
            _ => ordinary(message),
        });
        let failure = failure(&reading);
        assert!(
            failure.to_string().contains("`tools/list`") && failure.to_string().contains(said),
            "{failure}"
        );
    }
    let mut reading = plain();
    drive(&mut reading, |message| match message["method"].as_str() {
        Some("tools/list") => vec![result(message, json!({ "tools": [tool("a")], "nextCursor": null }))],
        _ => ordinary(message),
    });
    assert_eq!(reading.result().unwrap().unwrap().tools().len(), 1);
}
