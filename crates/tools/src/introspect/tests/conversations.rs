//! What a server says of its own accord while it is read, and changes of the lists.

use super::*;

fn changed(list: &str) -> Value {
    json!({ "jsonrpc": "2.0", "method": format!("notifications/{list}/list_changed") })
}

#[test]
fn requests_of_the_server_are_answered_by_the_profile() {
    let request = |method: &str| json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": {} });
    let refused = Err(json!(-32601));
    for (profile, method, wanted) in [
        ("plain", "ping", Ok(json!({}))),
        ("plain", "roots/list", refused.clone()),
        ("plain", "elicitation/create", refused.clone()),
        ("plain", "sampling/createMessage", refused.clone()),
        ("plain", "x", refused.clone()),
        ("roots", "roots/list", Ok(json!({ "roots": [] }))),
        ("roots", "elicitation/create", refused.clone()),
        ("elicitation", "elicitation/create", Ok(json!({ "action": "cancel" }))),
        ("elicitation+roots", "sampling/createMessage", refused.clone()),
    ] {
        let mut reading = Introspection::new(&profile.parse().unwrap(), "t-");
        reading.begin();
        let answers = reading.push(&request(method));
        let [answer] = &answers[..] else { panic!("{method}: {answers:?}") };
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(7)));
        let got = answer.get("result").cloned().ok_or_else(|| answer["error"]["code"].clone());
        assert_eq!(got, wanted, "{profile} {method}");
    }
    let mut reading = plain();
    reading.begin();
    assert_eq!(reading.push(&json!({ "id": "t-0", "method": "ping" }))[0]["id"], "t-0");
    assert!(reading.push(&json!({ "id": null, "method": "ping" })).is_empty());
    assert!(reading.push(&json!({ "id": {}, "method": "ping" })).is_empty());
}

#[test]
fn what_is_said_in_between_is_of_no_account() {
    let chatter = [
        json!({ "method": "notifications/message", "params": { "level": "info", "data": "starting" } }),
        json!({ "method": "notifications/progress", "params": { "progressToken": 1, "progress": 1 } }),
        json!({ "method": "notifications/resources/updated", "params": { "uri": "a:b" } }),
        json!({ "method": "notifications/unknown" }),
        json!([{ "method": "notifications/tools/list_changed" }]),
        json!("text"),
        json!({}),
        json!({ "id": 1 }),
        json!({ "id": ["t-1"], "result": {} }),
        Value::Null,
    ];
    let (mut quiet, mut talking) = (plain(), plain());
    drive(&mut quiet, ordinary);
    drive(&mut talking, |message| {
        let answers = ordinary(message).into_iter();
        chatter.iter().cloned().chain(answers).chain(chatter.iter().cloned()).collect()
    });
    assert!(talking.has_settled());
    assert_eq!(talking.result(), quiet.result());
}

/// A change that comes while the pages are read: what was read so far may be half of the old and half of the new.
#[test]
fn a_reading_that_a_change_overtook_is_none() {
    let mut reading = plain();
    let mut tools = vec![tool("a")];
    drive(&mut reading, |message| match message["method"].as_str() {
        Some("tools/list") => {
            let answer = result(message, json!({ "tools": tools }));
            tools.push(tool("b"));
            vec![changed("tools"), answer]
        }
        _ => ordinary(message),
    });
    assert!(!reading.has_settled() && reading.wants_again() && reading.result().is_none());
    let asked = reading.again();
    assert!(!reading.has_settled() && !reading.wants_again());
    for request in &asked {
        let answer = match request["method"].as_str() {
            Some("tools/list") => result(request, json!({ "tools": tools })),
            _ => ordinary(request).remove(0),
        };
        assert!(reading.push(&answer).is_empty());
    }
    assert!(reading.has_settled());
    assert_eq!(reading.result().unwrap().unwrap().tools().len(), 2);
}

#[test]
fn a_change_after_the_reading_asks_for_another() {
    for (list, counts) in [("tools", true), ("prompts", true), ("resources", true), ("roots", false)] {
        let mut reading = plain();
        drive(&mut reading, ordinary);
        let before = reading.result();
        assert!(reading.push(&changed(list)).is_empty());
        assert_eq!((reading.has_settled(), reading.wants_again()), (!counts, counts), "{list}");
        assert_eq!(reading.result(), before);
        let asked = reading.again();
        assert_eq!(asked.len(), 4);
        assert!(!reading.has_settled() && reading.result() == before);
        for request in &asked {
            assert!(reading.is_ours(&result(request, json!({}))));
            reading.push(&ordinary(request).remove(0));
        }
        assert!(reading.has_settled() && reading.result() == before);
    }
}

/// A server without prompts cannot keep a reading from settling by saying that they changed.
#[test]
fn a_change_of_a_list_that_is_not_there_is_none() {
    let mut reading = plain();
    drive(&mut reading, |message| match message["method"].as_str() {
        Some("initialize") => vec![result(message, greeting(&json!({ "tools": {} })))],
        _ => [changed("prompts"), changed("resources")].into_iter().chain(ordinary(message)).collect(),
    });
    assert!(reading.has_settled());
}

#[test]
fn answers_to_an_earlier_reading_are_ours_and_forgotten() {
    let mut reading = plain();
    let hello = reading.begin();
    assert!(reading.again().is_empty());
    let first = reading.push(&result(&hello[0], everything()));
    let second = reading.again();
    for request in &first[1..] {
        let late = result(
            request,
            json!({ "tools": [tool("late")], "prompts": [], "resources": [], "resourceTemplates": [] }),
        );
        assert!(reading.is_ours(&late) && reading.push(&late).is_empty() && !reading.has_settled());
    }
    for request in &second {
        reading.push(&ordinary(request).remove(0));
    }
    assert!(reading.has_settled());
    let surface = reading.result().unwrap().unwrap();
    assert!(surface.tools().iter().all(|tool| tool["name"] != "late"));
}

#[test]
fn a_server_that_never_rests_is_given_up() {
    let mut reading = plain();
    let mut outbox = reading.begin();
    let mut readings = 0;
    while reading.result().is_none() {
        for message in std::mem::take(&mut outbox) {
            for said in [changed("tools")].into_iter().chain(ordinary(&message)) {
                outbox.extend(reading.push(&said));
            }
        }
        if reading.wants_again() {
            readings += 1;
            outbox.extend(reading.again());
        }
        assert!(readings <= MAX_READINGS);
    }
    assert_eq!(failure(&reading), SurfaceError::Unsettled(MAX_READINGS));
    assert_eq!(readings, MAX_READINGS);
}
