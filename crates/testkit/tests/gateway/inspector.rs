//! The Inspector's command line, in both eras, at both addresses.

use serde_json::Value;

use crate::service::{Fixture, KEY, packages};

fn inspect(fixture: &Fixture, path: &str, era: &str, words: &[&str]) -> (Option<i32>, Value) {
    let launcher =
        packages().join("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    let url = format!("{}{path}", fixture.service.as_ref().unwrap());
    let (launcher, key) = (launcher.display().to_string(), format!("Authorization: Bearer {KEY}"));
    let first = [
        &launcher,
        "--cli",
        &url,
        "--transport",
        "http",
        "--protocol-era",
        era,
        "--header",
        &key,
        "--format",
        "json",
    ];
    let ran = fixture.run(&[&first[..], words].concat());
    assert!(!ran.late, "{ran:?}");
    let told = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    (ran.code, told)
}

#[test]
fn the_inspector_sees_the_same_in_both_eras_and_at_both_addresses() {
    let fixture = Fixture::confined("");
    for (era, version) in [("legacy", "2025-11-25"), ("modern", "2026-07-28")] {
        for (path, prefix) in [("/mcp", "fixture__"), ("/servers/fixture/mcp", "")] {
            let ask = |words: &[&str]| inspect(&fixture, path, era, words);
            let (code, told) = ask(&["--method", "initialize"]);
            assert_eq!(
                (code, &told["result"]["protocolVersion"]),
                (Some(0), &Value::from(version)),
                "{told}"
            );
            // Strict: what is not portable in a schema is an exit code of its own.
            let (code, told) = ask(&["--method", "tools/list", "--strict"]);
            let tools = told["result"]["tools"].as_array().unwrap_or_else(|| panic!("{told}"));
            assert_eq!((code, tools.len()), (Some(0), 31));
            assert!(
                tools.iter().all(|tool| tool["name"]
                    .as_str()
                    .unwrap()
                    .starts_with(&format!("{prefix}test_"))
                    || tool["name"] == format!("{prefix}json_schema_2020_12_tool"))
            );
            let called = |name: &str| {
                ask(&[
                    "--method",
                    "tools/call",
                    "--tool-name",
                    &format!("{prefix}{name}"),
                    "--tool-args-json",
                    "{}",
                ])
            };
            let (code, told) = called("test_simple_text");
            let text = "This is a simple text response for testing.";
            assert_eq!((code, &told["result"]["content"][0]["text"]), (Some(0), &Value::from(text)));
            let (code, told) = called("test_error_handling");
            assert_eq!((code, &told["result"]["isError"]), (Some(5), &Value::Bool(true)), "{told}");
        }
    }
}
