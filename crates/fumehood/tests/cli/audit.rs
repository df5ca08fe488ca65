//! `fumehood audit`, over a record as the service writes it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::{
    fs,
    io::{BufRead, BufReader},
    time::{Duration, SystemTime},
};

use model::digest::Digest;
use serde_json::{Map, Value, json};
use store::audit::{Audit, CallId, Event, Kind, Outcome, Settings, Who};

use super::world::World;

/// A time that stands in the rows: 2026-11-30T13:00:00Z and so many milliseconds.
fn at(ms: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_hours(498_901) + Duration::from_millis(ms)
}

/// A call of tier 2 that was performed, with a request and a key, between rows of others, and one that was refused.
struct Recorded {
    world: World,
    call: CallId,
    refused: CallId,
}

fn recorded() -> Recorded {
    let (world, call, refused) = (World::new(), CallId::new(), CallId::new());
    let who = Who {
        issuer: "https://idp.example.com".to_owned(),
        subject: "alice".to_owned(),
        tenant: Some("acme".to_owned()),
        how: "token".to_owned(),
        client: Some("agent\u{1b}[2J".to_owned()),
        ..Who::default()
    };
    let of = |kind, call: &CallId, ms| Event { call: Some(call.clone()), at: at(ms), ..Event::new(kind) };
    let asked = |event: Event, name: &str| Event {
        face: Some("mcp".to_owned()),
        principal: Some(who.clone()),
        server: Some("orders".to_owned()),
        verb: Some("call_tool".to_owned()),
        name: Some(name.to_owned()),
        ..event
    };
    let details = |pairs: &[(&str, Value)]| {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect::<Map<_, _>>()
    };
    let events = [
        Event { at: at(0), details: details(&[("what", json!("started"))]), ..Event::new(Kind::Service) },
        asked(
            Event {
                tier: Some(2),
                arguments: Some(Digest::of(b"a")),
                bound: vec!["user_id".to_owned()],
                ..of(Kind::Intent, &call, 10)
            },
            "cancel_order",
        ),
        asked(Event { code: Some("FH-TIER-3".to_owned()), ..of(Kind::Denied, &refused, 11) }, "drop_all"),
        Event { details: details(&[("host", json!("api.example.com"))]), ..of(Kind::Egress, &call, 15) },
        Event { details: details(&[("secret", json!("orders-key"))]), ..of(Kind::KeyUse, &call, 16) },
        Event {
            outcome: Some(Outcome::Ok),
            duration_us: Some(12_345),
            trace: Some("4bf92f3577b34da6a3ce929d0e0e4736".to_owned()),
            ..of(Kind::Outcome, &call, 23)
        },
    ];
    let settings = Settings {
        checkpoints: Some(world.data().join("elsewhere")),
        ..Settings::new(world.data().join("audit"))
    };
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let audit = Audit::open(settings).await.unwrap();
        for event in events {
            audit.commit(event).await.unwrap();
        }
        audit.close().await;
    });
    Recorded { world, call, refused }
}

fn stdout(world: &World, arguments: &[&str]) -> (Option<i32>, String) {
    let output = world.run_with("", arguments);
    assert!(output.stderr.is_empty(), "{}", world.shown(&output));
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn everything_of_a_call_is_shown_in_its_order() {
    let Recorded { world, call, .. } = recorded();
    let (code, text) = stdout(&world, &["audit", "show", call.as_str()]);
    assert_eq!(code, Some(0));
    let begin = format!("call {call}\n\npermitted and recorded (row 2), 2026-11-30T13:00:00.010000Z\n");
    assert!(text.starts_with(&begin), "{text}");
    let parts = [
        "  what       orders/cancel_order\n",
        "  who        alice of acme (token)\n",
        "  client     agent<U+001B>[2J (by its own word)\n",
        "  tier       2\n",
        "  bound      user_id\n",
        "\nrequest (row 4), +5.000 ms\n  detail     host = \"api.example.com\"\n",
        "\nkey used (row 5), +6.000 ms\n  detail     secret = \"orders-key\"\n",
        "\noutcome (row 6), +13.000 ms\n  outcome    ok\n  took       12.345 ms\n",
    ];
    let places: Vec<usize> =
        parts.iter().map(|part| text.find(part).unwrap_or_else(|| panic!("{part:?} in {text}"))).collect();
    assert!(places.is_sorted(), "{text}");

    let (_, lines) = stdout(&world, &["audit", "show", call.as_str(), "--json"]);
    let kinds: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["record"]["kind"].clone())
        .collect();
    assert_eq!(kinds, ["intent", "egress", "key_use", "outcome"]);
    let none = world.run_with("", &["audit", "show", CallId::new().as_str()]);
    assert_eq!(none.status.code(), Some(1));
    assert_eq!(world.run_with("", &["audit", "show", "x"]).status.code(), Some(2));
}

#[test]
fn rows_are_found_by_what_they_say() {
    let Recorded { world, call, refused } = recorded();
    let tail = stdout(&world, &["audit", "tail"]).1;
    assert_eq!(tail.lines().count(), 6);
    let line = tail.lines().nth(2).unwrap();
    let wanted = format!(
        "     3  2026-11-30T13:00:00.011000Z  denied     orders/drop_all  alice of acme (token)  FH-TIER-3  {refused}"
    );
    assert_eq!(line, wanted);
    assert!(tail.lines().next().unwrap().ends_with("service    started"), "{tail}");
    assert_eq!(stdout(&world, &["audit", "tail", "-n", "2"]).1.lines().count(), 2);
    for (arguments, rows) in [
        (vec!["--tool", "drop_all"], 1),
        (vec!["--server", "orders", "--principal", "alice", "--tenant", "acme"], 2),
        (vec!["--code", "FH-TIER-3", "--kind", "denied"], 1),
        (vec!["--call", call.as_str()], 4),
        (vec!["--since", "2026-11-30T13:00:00.012Z"], 3),
        (vec!["--until", "2026-11-30T13:00:00.012Z"], 3),
        (vec!["--tenant", "other"], 0),
    ] {
        let all: Vec<&str> = ["audit", "search"].into_iter().chain(arguments).collect();
        assert_eq!(stdout(&world, &all).1.lines().count(), rows, "{all:?}");
    }
    assert_eq!(world.run_with("", &["audit", "search", "--kind", "x"]).status.code(), Some(2));
    assert_eq!(world.run_with("", &["audit", "search", "--since", "x"]).status.code(), Some(2));
}

#[test]
fn a_record_is_followed_while_it_grows() {
    let Recorded { world, .. } = recorded();
    let mut child = world.command(&["audit", "tail", "-f", "-n", "1", "--json"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next =
        || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap()["record"]["seq"].clone();
    assert_eq!(next(), 6);
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let audit = Audit::open(Settings::new(world.data().join("audit"))).await.unwrap();
        audit.commit(Event::new(Kind::Service)).await.unwrap();
        audit.close().await;
    });
    assert_eq!(next(), 7);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn verify_says_what_is_whole_and_names_what_is_not() {
    let Recorded { world, .. } = recorded();
    let (code, text) = stdout(&world, &["audit", "verify"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("rows         6 in an unbroken chain")
            && text.contains("over 6 rows; 0 rows came after"),
        "{text}"
    );
    assert!(text.ends_with("whole        nothing was changed, dropped, moved or cut off\n"), "{text}");
    let (_, json) = stdout(&world, &["audit", "verify", "--json"]);
    let report: Value = serde_json::from_str(&json).unwrap();
    let elsewhere = world.data().join("elsewhere").display().to_string();
    let known = ["audit", "verify", "--key", report["key"].as_str().unwrap(), "--checkpoints", &elsewhere];
    assert_eq!(stdout(&world, &known).0, Some(0));

    // Somebody writes over a byte of a row: the file is found out, and by its row.
    let path = world.data().join("audit/audit.db");
    let mut bytes = fs::read(&path).unwrap();
    let place = bytes.windows(8).rposition(|window| window == b"drop_all").unwrap();
    bytes[place] = b'D';
    fs::write(&path, &bytes).unwrap();
    let (code, json) = stdout(&world, &["audit", "verify", "--json"]);
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (code, &report["faults"][0]["row"], &report["faults"][0]["how"]),
        (Some(1), &json!(3), &json!("edited"))
    );
    let (code, text) = stdout(&world, &["audit", "verify"]);
    assert_eq!(code, Some(1));
    assert!(text.contains("wrong        row 3 was edited"), "{text}");
    // The whole database.
    fs::remove_file(&path).unwrap();
    assert_eq!(world.run_with("", &["audit", "verify"]).status.code(), Some(1));
}

#[test]
fn rows_are_handed_on_such_that_others_can_check_them() {
    let Recorded { world, call, .. } = recorded();
    let (_, lines) = stdout(&world, &["audit", "export"]);
    let mut prev = None;
    for line in lines.lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        let record = line.split_once("\"record\":").unwrap().1.strip_suffix('}').unwrap();
        assert_eq!(json!(Digest::of(record.as_bytes())), value["hash"]);
        assert!(prev.is_none_or(|prev| prev == value["record"]["prev"]));
        prev = Some(value["hash"].clone());
    }
    assert_eq!(lines.lines().count(), 6);

    let (_, lines) = stdout(&world, &["audit", "export", "--format", "ocsf", "--call", call.as_str()]);
    let events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let intent = &events[0];
    for (name, value) in [
        ("class_uid", json!(6003)),
        ("category_uid", json!(6)),
        ("type_uid", json!(600_399)),
        ("activity_id", json!(99)),
        ("activity_name", json!("intent")),
        ("severity_id", json!(1)),
        ("time", json!(1_796_043_600_010_u64)),
        ("src_endpoint", json!({ "svc_name": "mcp" })),
    ] {
        assert_eq!(intent[name], value, "{name}");
    }
    assert_eq!(intent["actor"]["user"], json!({ "uid": "alice", "org": { "uid": "acme" } }));
    assert_eq!(intent["api"]["operation"], "call_tool cancel_order");
    assert_eq!(intent["metadata"]["version"], "1.9.0");
    assert_eq!(intent["metadata"]["correlation_uid"], json!(call));
    let attestation = &intent["attestation_list"][0];
    let raw = intent["raw_data"].as_str().unwrap();
    assert_eq!(attestation["fingerprint"]["value"], json!(Digest::of(raw.as_bytes()).hex()));
    assert_eq!(attestation["fingerprint"], intent["raw_data_hash"]);
    let first: Value = serde_json::from_str(raw).unwrap();
    assert_eq!(
        json!(format!("sha256:{}", attestation["prev_event"]["fingerprint"]["value"].as_str().unwrap())),
        first["prev"]
    );
    let outcome = events.last().unwrap();
    assert_eq!((&outcome["status_id"], &outcome["duration"]), (&json!(1), &json!(12)));
    assert_eq!(outcome["trace"]["uid"], "4bf92f3577b34da6a3ce929d0e0e4736");
    assert!(!lines.contains("null"), "{lines}");
}

#[test]
fn a_record_that_is_not_there_or_not_ones_own_is_told() {
    let world = World::new();
    let none = world.shown(&world.run_with("", &["audit", "tail"]));
    assert!(
        none.contains("exit code 1") && none.contains("there is no record in `ROOT/data/fumehood/audit`"),
        "{none}"
    );
    let Recorded { world, .. } = recorded();
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(world.data().join("audit"), Some(1), None).unwrap();
        for verb in [["audit", "tail"], ["audit", "verify"], ["audit", "export"]] {
            let told = world.shown(&world.run_with("", &verb));
            assert!(told.contains("exit code 1") && told.contains("belongs to user 1"), "{told}");
        }
    } else {
        fs::set_permissions(
            world.data().join("audit/audit.db"),
            std::os::unix::fs::PermissionsExt::from_mode(0o644),
        )
        .unwrap();
        assert!(world.shown(&world.run_with("", &["audit", "tail"])).contains("open to others"));
    }
}

#[test]
fn what_was_kept_is_shown_when_it_is_asked_for_and_erased() {
    let (world, call) = (World::new(), CallId::new());
    let settings = Settings { bodies: true, ..Settings::new(world.data().join("audit")) };
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let audit = Audit::open(settings).await.unwrap();
        let body = Some(json!({ "arguments": { "note": "said\u{1b}[2J" } }));
        audit.commit(Event { call: Some(call.clone()), body, ..Event::new(Kind::Intent) }).await.unwrap();
        audit.close().await;
    });
    let said = r#"{"arguments":{"note":"said\u001b[2J"}}"#;
    assert!(!stdout(&world, &["audit", "show", call.as_str()]).1.contains("said"));
    assert!(stdout(&world, &["audit", "show", call.as_str(), "--bodies"]).1.contains(said));
    let (_, json) = stdout(&world, &["audit", "show", call.as_str(), "--bodies", "--json"]);
    assert_eq!(json.lines().nth(1), Some(format!(r#"{{"seq":1,"body":{said}}}"#).as_str()));

    assert_eq!(world.run_with("", &["audit", "erase"]).status.code(), Some(2));
    assert_eq!(world.run_with("", &["audit", "erase", "--all", "--tenant", "a"]).status.code(), Some(2));
    let erased = stdout(&world, &["audit", "erase", "--call", call.as_str()]).1;
    assert_eq!(erased, "erased the bodies of 1 rows; the rows are as they were\n");
    assert!(!stdout(&world, &["audit", "show", call.as_str(), "--bodies"]).1.contains("said"));
    assert_eq!(stdout(&world, &["audit", "verify"]).0, Some(0));
    assert_eq!(stdout(&world, &["audit", "search", "--kind", "service"]).1.lines().count(), 2);
}
