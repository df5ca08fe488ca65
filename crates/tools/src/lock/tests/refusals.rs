//! What is refused, with the line.

use super::*;

fn refused(text: &str, line: usize, said: &str) {
    let error = Lock::parse("fumehood.lock", text.as_bytes()).unwrap_err();
    assert_eq!(error.line(), line, "{error}");
    assert!(error.to_string().starts_with(&format!("fumehood.lock:{line}: ")), "{error}");
    assert!(error.to_string().contains(said), "{error}");
    assert!(!error.to_string().chars().any(char::is_control) && !error.hint().is_empty());
}

#[test]
fn what_editors_and_version_control_do_to_it() {
    refused(&format!("\u{feff}{TEXT}"), 1, "byte order mark");
    refused(&TEXT.replace('\n', "\r\n"), 1, "carriage return");
    refused(&TEXT.replacen("[servers.weather]\n", "[servers.weather]\r\n", 1), 14, "carriage return");
    refused(&TEXT.replacen("client", "client\0", 1), 9, "U+0000");
    refused(&TEXT.replacen("  \"./server\"", "\t\"./server\"", 1), 7, "U+0009");
    refused(&TEXT.replacen("Ü", "Ü\u{1b}", 1), 43, "U+001B");
    refused(&TEXT.replacen("Ü", "Ü\u{85}", 1), 43, "U+0085");
    for marker in ["<<<<<<< HEAD", "=======", ">>>>>>> theirs", "||||||| 1a2b3c", "<<<<<<<"] {
        refused(
            &TEXT.replacen("[servers.weather]", &format!("{marker}\n[servers.weather]"), 1),
            14,
            "conflict marker",
        );
        refused(&format!("{TEXT}{marker}\n"), 48, "conflict marker");
        refused(&format!("{marker}\n{TEXT}"), 1, "conflict marker");
    }
    let bytes = [TEXT.as_bytes(), b"\xff\n"].concat();
    let error = Lock::parse("l", &bytes).unwrap_err();
    assert_eq!((error.line(), error.fault()), (48, &LockFault::NotUtf8));
    let error = Lock::parse("l", &vec![b'#'; MAX_LOCK + 1]).unwrap_err();
    assert_eq!((error.line(), error.fault()), (1, &LockFault::TooLarge));
    for text in
        [TEXT.trim_end(), &format!("{TEXT}\n"), &format!("{TEXT}# end\n"), &TEXT.replacen('\n', "\n\n", 1)]
    {
        assert_eq!(Lock::parse("l", text.as_bytes()).unwrap_err().fault(), &LockFault::Spelling);
    }
}

#[test]
fn another_version_is_refused_before_anything_else() {
    let newer = "# \nversion = 2\n[future]\nx = 1\n";
    refused(newer, 2, "version 2, and this Fumehood reads version 1");
    assert!(Lock::parse("l", newer.as_bytes()).unwrap_err().hint().contains("update Fumehood"));
    for version in ["0", "-1", "1.0", "\"1\"", "true", "99999999999999999999", "[]"] {
        refused(&TEXT.replace("version = 1\n", &format!("version = {version}\n")), 2, "`version` has to be");
    }
    refused(&TEXT.replace("version = 1\n", "version = 0x1\n"), 2, "as Fumehood has it");
    refused(&TEXT.replace("version = 1\n", "\n"), 1, "`version` is missing");
    refused("", 1, "`version` is missing");
    refused("{}", 1, "");
}

#[test]
fn what_is_nested_without_end() {
    for text in [
        "[".repeat(1 << 20),
        "{ a = ".repeat(1 << 18),
        format!("1\n[{}a]\nx = 1", "a.".repeat(1 << 20)),
        format!("1\n{}a = 1", "a.".repeat(1 << 20)),
        format!("{{ {}a = 1 }}", "a.".repeat(1 << 20)),
    ] {
        let error = Lock::parse("l", format!("version = 1\nx = {text}").as_bytes()).unwrap_err();
        assert!(error.to_string().len() < 200, "{error}");
    }
}

/// A line of the file, what stands in its place, and what is said of it there.
#[test]
fn values_out_of_shape() {
    let lines: Vec<&str> = TEXT.lines().collect();
    let digest = "has to be `sha256:` and 64 lower-case hexadecimal digits";
    for (line, instead, said) in [
        (4, "[servers.\"no/name\"]", "has to have a server's name"),
        (4, "[servers.weather]", ""),
        (4, "[server.\"notes.local\"]", "unknown key `server`"),
        (5, "source = \"npm:x@1\"", "`source` has to be"),
        (5, "source = \"npx:@acme\"", "`source` has to be"),
        (5, "source = \"uvx:x@1\"", "`source` has to be"),
        (5, "source = \"http://\"", "`source` has to be"),
        (5, "source = 1", "`source` has to be"),
        (5, "sauce = \"command\"", "unknown key `sauce`"),
        (5, "\"\\u001b[1m\" = 1", "unknown key `<U+001B>[1m`"),
        (7, "  1,", "`command` has to be a list of texts"),
        (7, "  \"\",", "`command` has to be a list of texts"),
        (7, "  \"a\\u0000\",", "`command` has to be a list of texts"),
        (9, "client = \"sampling\"", "`client` has to be a client profile"),
        (9, "client = \"plain\" # mine", "as Fumehood has it"),
        (9, "client  = \"plain\"", "as Fumehood has it"),
        (9, "client = 'plain'", "as Fumehood has it"),
        (10, "lists = \"online\"", "`lists` has to be `offline` or `keys`"),
        (11, "fingerprint = \"1bd42917668ede86\"", "`fingerprint` has to be"),
        (12, "short = \"1BD42917668EDE86\"", "`short` has to be"),
        (12, "client = \"plain\"", ""),
        (21, "integrity = \"\"", "`integrity` has to be"),
        (21, "integrity = \"md5-x\"", "`integrity` has to be"),
        (22, "tree = \"dc9c\"", digest),
        (22, &lines[21].to_uppercase().replace("TREE = \"SHA256", "tree = \"sha256"), digest),
        (23, "content.linux-arm64 = 1", digest),
        (23, "content = \"x\"", ""),
        (
            23,
            "content.\"a b\" = \"sha256:a1fce4363854ff888cff4b8e7875d600c2682390412a8cf79b37d0b11148b0fa\"",
            digest,
        ),
        (27, "  [],", "`scripts` has to be a list of texts"),
        (37, "secrets.WEATHER_KEY = \"\"", "has to be a variable with the name of a secret"),
        (37, "secrets = []", "`secrets` has to be a variable with the name of a secret"),
    ] {
        let mut changed = lines.clone();
        changed[line - 1] = instead;
        let text = changed.join("\n") + "\n";
        let error = Lock::parse("fumehood.lock", text.as_bytes()).unwrap_err();
        assert!(error.to_string().contains(said), "{instead}: {error}");
        // A table that stands twice, or a value in place of a table, is seen at the second of the two.
        assert!(error.line() == line || said.is_empty(), "{instead}: {error}");
    }
}

#[test]
fn a_key_that_is_missing_is_told_at_its_table() {
    for key in ["source", "client", "lists", "fingerprint", "short"] {
        let (before, weather) = TEXT.split_once("[servers.weather]").unwrap();
        let wanted = format!("{key} = ");
        let kept: String = weather.split_inclusive('\n').filter(|line| !line.starts_with(&wanted)).collect();
        assert_ne!(kept, weather);
        refused(&format!("{before}[servers.weather]{kept}"), 14, &format!("`{key}` is missing"));
    }
    let text = TEXT.replace("command = [\n  \"./server\",\n]\n", "");
    refused(&text, 4, "`command` has to have a word at least");
}

#[test]
fn what_is_empty_is_left_out() {
    for key in ["scripts", "hosts", "headers", "mounts"] {
        let text = TEXT.replacen("client = \"plain\"", &format!("{key} = []\nclient = \"plain\""), 1);
        refused(&text, 9, "as Fumehood has it");
    }
}

#[test]
fn a_tier_is_one_of_three_and_a_bound_parameter_names_its_tool() {
    let line = |text: &str| text.lines().position(|line| line.starts_with("tiers.forecast")).unwrap() + 1;
    for wrong in ["\"0\"", "\"4\"", "\"one\"", "1", "\"\""] {
        let text = TEXT.replace("tiers.forecast = \"1\"", &format!("tiers.forecast = {wrong}"));
        refused(&text, line(&text), "`tiers.forecast` has to be a tool with `1`, `2` or `3`");
    }
    let text = TEXT.replace("bound.\"forecast/user_id\"", "bound.user_id");
    refused(
        &text,
        line(TEXT) + 2,
        "`bound.user_id` has to be `TOOL/PARAMETER` with where its value comes from",
    );
}

#[test]
fn a_server_elsewhere_has_no_command() {
    let remote =
        Pinned { source: "https://mcp.example.com/mcp".to_owned(), command: Vec::new(), ..command() };
    let lock = lock([("remote", remote)]);
    assert_eq!(Lock::parse("l", lock.to_text().as_bytes()).unwrap(), lock);
    let both = TEXT.replacen("source = \"command\"", "source = \"https://mcp.example.com/mcp\"", 1);
    refused(&both, 6, "`command` has no place beside a URL");
}
