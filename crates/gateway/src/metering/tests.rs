use super::*;

/// What a scrape says after the events, with a recorder of this test's own.
fn scraped(events: &[Event]) -> String {
    let builder =
        PrometheusBuilder::new().set_buckets_for_metric(Matcher::Full(SECONDS.to_owned()), &BUCKETS).unwrap();
    let recorder = builder.build_recorder();
    let handle = recorder.handle();
    metrics::with_local_recorder(&recorder, || events.iter().for_each(recorded));
    handle.render()
}

fn ended(server: &str, name: &str, outcome: Outcome) -> Event {
    Event {
        face: Some("messages".into()),
        server: Some(server.into()),
        verb: Some("call_tool".into()),
        name: Some(name.into()),
        outcome: Some(outcome),
        duration_us: Some(20_000),
        ..Event::new(Kind::Outcome)
    }
}

#[test]
fn calls_are_counted_once_by_how_they_ended() {
    let intent =
        Event { outcome: None, ..Event { kind: Kind::Intent, ..ended("orders", "get", Outcome::Ok) } };
    let text = scraped(&[
        intent,
        ended("orders", "get", Outcome::Ok),
        Event { kind: Kind::Call, ..ended("orders", "get", Outcome::Ok) },
        ended("orders", "get", Outcome::ToolError),
    ]);
    let line = r#"fumehood_calls_total{server="orders",tool="get",face="messages",outcome="ok"} 2"#;
    assert!(text.contains(line), "{text}");
    assert!(text.contains(r#"outcome="tool_error"} 1"#), "{text}");
    assert!(
        text.contains(
            r#"fumehood_call_duration_seconds_bucket{server="orders",face="messages",le="0.025"} 3"#
        ),
        "{text}"
    );
}

#[test]
fn refusals_are_counted_by_code_and_nothing_of_the_caller_is_a_label() {
    let text = scraped(&[
        Event {
            face: Some("mcp".into()),
            server: Some("what a caller wrote".into()),
            name: Some("also-a-caller's".into()),
            verb: Some("call_tool".into()),
            code: Some("FH-TOOL-UNKNOWN".into()),
            ..Event::new(Kind::Denied)
        },
        Event { verb: Some("read_resource".into()), ..ended("files", "file:///home/alice/x", Outcome::Ok) },
        Event { face: Some("made\"up".into()), ..ended("files", "read", Outcome::Ok) },
    ]);
    assert!(text.contains(r#"fumehood_refusals_total{code="FH-TOOL-UNKNOWN",face="mcp"} 1"#), "{text}");
    assert!(text.contains(r#"server="files",tool="read",face="none""#), "{text}");
    assert!(!text.contains("caller") && !text.contains("alice") && !text.contains("made"), "{text}");
}

#[test]
fn there_is_an_end_to_the_lines() {
    let all = Mutex::new(None);
    for number in 0..5 {
        assert_eq!(known(&all, number.to_string(), 5), Some(number.to_string()));
    }
    assert_eq!(known(&all, "5".to_owned(), 5), None);
    assert_eq!(known(&all, "3".to_owned(), 5), Some("3".to_owned()));
    assert_eq!(known(&Mutex::new(None), "x".repeat(LONGEST_LABEL + 1), 5), None);
}

#[test]
fn what_is_read_anew_is_read_at_each_look() {
    let meter = Meter::install().unwrap();
    assert!(Meter::install().is_err());
    meter.before_each_look(|| {
        cells(3, 2);
        audit_queue(7);
        keys_age("corp", Some(Duration::from_secs(90)));
        keys_age("other", None);
    });
    let text = meter.text();
    for line in [
        r#"fumehood_cells{state="frozen"} 2"#,
        r#"fumehood_cells{state="running"} 3"#,
        "fumehood_audit_queue 7",
        r#"fumehood_jwks_age_seconds{issuer="corp"} 90"#,
        r#"fumehood_jwks_age_seconds{issuer="other"} NaN"#,
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}
