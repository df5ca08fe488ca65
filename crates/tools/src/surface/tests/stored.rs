//! The stored form, which may have lain in a stranger's repository.

use super::*;

#[test]
fn what_was_stored_is_read_back() {
    assert!(Surface::from_parts(parts()).unwrap().to_text().contains(": 0.5"));
    let broken = json!({ "name": "broken", "inputSchema": { "type": "object", "properties": 1 } });
    let number = json!({ "name": "n", "inputSchema": { "type": "object", "x": [1e21, 0.1, 9_007_199_254_740_993_u64] } });
    for tools in [parts().tools, Vec::new(), vec![tool("a"), broken], vec![number]] {
        let surface = Surface::from_parts(with_tools(tools)).unwrap();
        assert_eq!(Surface::from_stored(surface.value().clone()).unwrap(), surface);
        assert_eq!(Surface::from_text(surface.to_text().as_bytes()).unwrap(), surface);
        let accepted = Surface::from_accepted(surface.to_text().as_bytes(), surface.fingerprint());
        assert_eq!(accepted.unwrap(), surface);
        let other = surface.to_text().replace(": 0.5", ": 5e-1").replace(": 90", ":\t9.0e1");
        assert_eq!(Surface::from_accepted(other.as_bytes(), surface.fingerprint()).unwrap(), surface);
    }
}

#[test]
fn what_was_not_accepted_is_not_taken_for_it() {
    let surface = Surface::from_parts(parts()).unwrap();
    let changed = surface.to_text().replace("Ask for a city.", "Ask for a city!");
    let other = Surface::from_text(changed.as_bytes()).unwrap();
    for (text, accepted) in [
        (&changed, surface.fingerprint()),
        (&surface.to_text(), other.fingerprint()),
        (&"{}".to_owned(), surface.fingerprint()),
        (&"{".to_owned(), surface.fingerprint()),
    ] {
        let error = Surface::from_accepted(text.as_bytes(), accepted).unwrap_err();
        assert!(matches!(error, SurfaceError::Stored(_)));
    }
}

#[test]
fn numbers_have_one_spelling_in_it() {
    let number =
        json!({ "name": "n", "inputSchema": { "type": "object", "x": [1.0, 9_007_199_254_740_993_u64] } });
    let surface = Surface::from_parts(with_tools(vec![number])).unwrap();
    assert_eq!(surface.tools()[0]["inputSchema"]["x"].to_string(), "[1,9007199254740992]");
}

/// Where it is changed, to what, and what is said.
#[test]
fn anything_else_is_refused() {
    let broken = json!({ "name": "broken", "inputSchema": { "type": "object", "properties": 1 } });
    let surface = Surface::from_parts(with_tools(vec![tool("a"), tool("b"), broken.clone()])).unwrap();
    for (pointer, value, said) in [
        ("/projection", json!("fumehood-surface/2"), "projection"),
        ("/client", json!("Plain"), "`client`"),
        ("/short", json!("1BD42917668EDE86"), "`short`"),
        ("/tools/0", broken, "held back"),
        ("/tools/0", tool("c"), "does not belong"),
        ("/tools/0", tool("b"), "two of the server's tools"),
        ("/tools/0", json!("a"), "no object"),
        ("/tools", json!({}), "`tools` is no list"),
        ("/prompts", Value::Null, "`prompts` is no list"),
        ("/instructions", Value::Null, "`instructions` is no text"),
        ("/serverInfo", json!([]), "`serverInfo` is no object"),
        ("/protocolVersion", json!("2025\n"), "`protocolVersion`"),
        ("/quarantined/0/reason", json!("other"), "another shape"),
        ("/quarantined/0/name", json!("x".repeat(MAX_NAME + 1)), "another shape"),
        ("/quarantined/0/kind", json!("server"), "another shape"),
        ("/quarantined/0/digest", json!("sha256:"), "another shape"),
    ] {
        let mut stored = surface.value().clone();
        *stored.pointer_mut(pointer).unwrap() = value;
        let error = Surface::from_stored(stored).unwrap_err();
        assert!(error.to_string().contains(said), "{pointer}: {error}");
        assert!(!error.hint().is_empty());
    }
    for key in surface.value().as_object().unwrap().keys().filter(|key| *key != "instructions") {
        let mut stored = surface.value().clone();
        stored.as_object_mut().unwrap().remove(key);
        assert!(Surface::from_stored(stored).unwrap_err().to_string().contains(&format!("no `{key}`")));
    }
    let mut stored = surface.value().clone();
    stored["more"] = json!(1);
    assert!(matches!(Surface::from_stored(stored), Err(SurfaceError::Stored(_))));
    for value in [json!([]), json!(1), Value::Null, json!({})] {
        assert!(matches!(Surface::from_stored(value), Err(SurfaceError::Stored(_))));
    }
    for text in ["", "{", r#"{"projection":1,"projection":1}"#] {
        assert!(matches!(Surface::from_text(text.as_bytes()), Err(SurfaceError::Stored(_))));
    }
}

/// What was held back is no longer at hand, so a lie about it is only seen by the fingerprint.
#[test]
fn what_is_told_of_entries_held_back_is_in_the_fingerprint() {
    let broken = json!({ "name": "broken", "inputSchema": { "type": "object", "properties": 1 } });
    let surface = Surface::from_parts(with_tools(vec![tool("a"), broken])).unwrap();
    for (pointer, value) in [
        ("/quarantined/0/digest", json!(model::digest::Digest::of(b"x"))),
        ("/quarantined/0/name", json!("other")),
        ("/quarantined/0/reason", json!("size")),
        ("/short", json!("0000000000000000")),
    ] {
        let mut stored = surface.value().clone();
        *stored.pointer_mut(pointer).unwrap() = value;
        assert_ne!(Surface::from_stored(stored).unwrap().fingerprint(), surface.fingerprint(), "{pointer}");
    }
    let whole = Surface::from_parts(with_tools(vec![tool("a")])).unwrap();
    let mut stored = whole.value().clone();
    stored["short"] = json!("0000000000000000");
    assert!(matches!(Surface::from_stored(stored), Err(SurfaceError::Stored(_))));
}
