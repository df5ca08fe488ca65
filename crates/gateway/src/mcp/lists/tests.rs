use model::name::ServerName;
use serde_json::json;

use super::*;

fn entries(count: usize) -> Vec<Arc<Shown>> {
    let entry = |at| {
        let name = format!("t{at:04}");
        Arc::new(Shown {
            value: Arc::new(json!({"name": name, "vendor/unknown": {"kept": true}})),
            server: ServerName::new("s").unwrap(),
            plain: name.clone(),
            name,
        })
    };
    (0..count).map(entry).collect()
}

fn walk(entries: &[Arc<Shown>]) -> Vec<String> {
    let (mut names, mut cursor) = (Vec::new(), None);
    for _ in 0..100 {
        let result = page(Kind::Tool, entries, cursor.as_ref()).unwrap();
        let tools = result["tools"].as_array().unwrap();
        assert!(tools.len() <= PAGE);
        names.extend(tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
        cursor = result.get("nextCursor").cloned();
        if cursor.is_none() {
            return names;
        }
    }
    panic!("it does not end")
}

#[test]
fn every_entry_is_on_one_page() {
    for count in [0, 1, PAGE - 1, PAGE, PAGE + 1, 2 * PAGE, 2 * PAGE + 7] {
        let entries = entries(count);
        let names: Vec<_> = entries.iter().map(|entry| entry.name.clone()).collect();
        assert_eq!(walk(&entries), names, "{count}");
    }
}

#[test]
fn a_cursor_is_of_one_list() {
    let all = entries(PAGE * 2);
    let cursor = page(Kind::Tool, &all, None).unwrap()["nextCursor"].clone();
    assert!(page(Kind::Tool, &all, Some(&cursor)).is_ok());
    let mut other = entries(PAGE * 2);
    other.remove(3);
    for (entries, cursor) in [
        (&other, cursor.clone()),
        (&all, json!("")),
        (&all, json!("AAAA")),
        (&all, json!(7)),
        (&all, Value::Null),
        (&all, json!("x".repeat(10_000))),
        (&all, json!(cursor_of(1, &mark(&all)))),
        (&all, json!(cursor_of(PAGE * 2, &mark(&all)))),
        (&all, json!(cursor_of(0, &mark(&all)))),
    ] {
        let fault = page(Kind::Tool, entries, Some(&cursor)).unwrap_err();
        assert_eq!(fault.code, INVALID_PARAMS, "{cursor}");
    }
}
