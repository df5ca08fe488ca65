use insta::assert_snapshot;

use super::*;

fn rules(texts: &[&str]) -> Vec<HostRule> {
    texts.iter().map(|text| HostRule::parse(text).unwrap()).collect()
}

const WRITTEN: &str = r#"# Ours.
[limits]
memory = "1 GiB" # plenty

[servers.weather] # the one that asks
command = ["node", "server.js"]
hosts = [
  # forecasts
  "api.example.com", # paid
  # maps
  "tiles.example.com", # free
]

[servers."a.b"]
command = ["x"] # no hosts yet
"#;

#[test]
fn a_host_is_added_and_all_else_kept() {
    let text = added(WRITTEN, List::Server("weather"), &rules(&["db.example.com"])).unwrap().unwrap();
    assert_snapshot!(text, @r##"
    # Ours.
    [limits]
    memory = "1 GiB" # plenty

    [servers.weather] # the one that asks
    command = ["node", "server.js"]
    hosts = [
      # forecasts
      "api.example.com", # paid
      # maps
      "tiles.example.com", # free
      "db.example.com",
    ]

    [servers."a.b"]
    command = ["x"] # no hosts yet
    "##);
    assert_eq!(
        removed(&text, List::Server("weather"), &rules(&["db.example.com"])).unwrap().unwrap(),
        WRITTEN
    );
}

#[test]
fn a_list_is_made_where_there_is_none() {
    let text = added(WRITTEN, List::Server("a.b"), &rules(&["db.example.com", "tcp://db.example.com:5432"]));
    let text = text.unwrap().unwrap();
    let (before, after) = text.split_at(WRITTEN.len());
    assert_eq!(before, WRITTEN);
    assert_snapshot!(after, @r##"hosts = ["db.example.com", "tcp://db.example.com:5432"]"##);
    let text = added("", List::Allow("weather"), &rules(&["a.example.com"])).unwrap().unwrap();
    assert_snapshot!(text, @r##"
    [allow]
    weather = ["a.example.com"]
    "##);
    let text = added(&text, List::Allow("x.y"), &rules(&["*.example.com"])).unwrap().unwrap();
    assert_snapshot!(text, @r##"
    [allow]
    weather = ["a.example.com"]
    "x.y" = ["*.example.com"]
    "##);
}

#[test]
fn a_host_is_taken_out_with_its_own_remark_and_no_other() {
    let text = removed(WRITTEN, List::Server("weather"), &rules(&["tiles.example.com"])).unwrap().unwrap();
    assert!(text.contains("\"api.example.com\", # paid\n]") && !text.contains("tiles"), "{text}");
    let text = removed(WRITTEN, List::Server("weather"), &rules(&["api.example.com"])).unwrap().unwrap();
    assert!(text.contains("hosts = [\n  # maps\n  \"tiles.example.com\", # free\n]"), "{text}");
}

#[test]
fn lists_on_one_line_stay_on_it() {
    let text = "servers.a = { command = [\"x\"], hosts = [ \"A.Example.com\", \"b.example.com\" ] } # a\n";
    let more = added(text, List::Server("a"), &rules(&["c.example.com", "a.example.com"])).unwrap().unwrap();
    assert_snapshot!(more, @r##"servers.a = { command = ["x"], hosts = [ "A.Example.com", "b.example.com", "c.example.com" ] } # a"##);
    let less = removed(text, List::Server("a"), &rules(&["a.example.com"])).unwrap().unwrap();
    assert_snapshot!(less, @r##"servers.a = { command = ["x"], hosts = [ "b.example.com" ] } # a"##);
    let last = removed(text, List::Server("a"), &rules(&["b.example.com"])).unwrap().unwrap();
    assert_snapshot!(last, @r##"servers.a = { command = ["x"], hosts = [ "A.Example.com" ] } # a"##);
}

#[test]
fn lines_without_a_last_comma_stay_lines() {
    let text = "[allow]\na = [\n  \"a.example.com\", # one\n  \"b.example.com\" # two\n] # all\n";
    let more = added(text, List::Allow("a"), &rules(&["c.example.com"])).unwrap().unwrap();
    assert_snapshot!(more, @r##"
    [allow]
    a = [
      "a.example.com", # one
      "b.example.com", # two
      "c.example.com"
    ] # all
    "##);
    assert_eq!(removed(&more, List::Allow("a"), &rules(&["c.example.com"])).unwrap().unwrap(), text);
}

#[test]
fn an_emptied_list_is_a_list_still() {
    let text = "[allow]\na = [\n  \"a.example.com\", # one\n]\n";
    let less = removed(text, List::Allow("a"), &rules(&["a.example.com"])).unwrap().unwrap();
    let again = added(&less, List::Allow("a"), &rules(&["b.example.com"])).unwrap().unwrap();
    assert_eq!(again.parse::<DocumentMut>().unwrap()["allow"]["a"][0].as_str(), Some("b.example.com"));
}

#[test]
fn nothing_to_change_changes_nothing() {
    assert_eq!(added(WRITTEN, List::Server("weather"), &rules(&["API.example.com."])).unwrap(), None);
    assert_eq!(removed(WRITTEN, List::Server("weather"), &rules(&["c.example.com"])).unwrap(), None);
}

#[test]
fn what_cannot_be_read_is_not_written() {
    assert!(matches!(added("a = ", List::Allow("a"), &[]), Err(EditError::Syntax(_))));
    assert!(matches!(added("[allow]\na = 1", List::Allow("a"), &[]), Err(EditError::Shape(_))));
    assert!(matches!(added("", List::Server("a"), &[]), Err(EditError::Shape(_))));
}

const TABLE: &str = r#"[servers.weather]
command = ["x"]

[servers.weather.hosts] # by host
"api.github.com" = { methods = ["GET"], paths = ["/repos/acme/*"] } # ours
"HTTPS://One.example" = { methods = ["get"] }
"any.example" = {}
"#;

#[test]
fn a_table_of_hosts_gets_hosts_methods_and_paths() {
    let list = List::Server("weather");
    let more = rules(&[
        "GET api.github.com/user",
        "POST https://one.example",
        "* seen.example",
        "tcp://db.example:5432",
        "GET,PUT new.example/v1/*",
    ]);
    let text = added(TABLE, list, &more).unwrap().unwrap();
    assert_snapshot!(text, @r##"
    [servers.weather]
    command = ["x"]

    [servers.weather.hosts] # by host
    "api.github.com" = { methods = ["GET"], paths = ["/repos/acme/*", "/user"] } # ours
    "HTTPS://One.example" = { methods = ["get", "POST"] }
    "any.example" = {}
    "seen.example" = { inspect = "always" }
    "tcp://db.example:5432" = {}
    "new.example" = { methods = ["GET", "PUT"], paths = ["/v1/*"] }
    "##);
    assert_eq!(added(&text, list, &more[..1]).unwrap(), None, "what is there is not added again");
    assert_eq!(removed(&text, list, &more).unwrap().unwrap(), TABLE);
}

#[test]
fn a_rule_that_fits_to_no_list_of_a_host_becomes_a_kind_of_request_of_its_own() {
    let list = List::Server("weather");
    for rule in
        ["GET api.github.com", "POST api.github.com/repos/acme/*", "one.example", "PUT https://one.example"]
    {
        assert_eq!(removed(TABLE, list, &rules(&[rule])).unwrap(), None, "{rule}");
    }
    let more = rules(&[
        "POST api.github.com/user",
        "PUT api.github.com/user",
        "GET any.example",
        "https://one.example",
    ]);
    let text = added(TABLE, list, &more).unwrap().unwrap();
    assert_snapshot!(text, @r##"
    [servers.weather]
    command = ["x"]

    [servers.weather.hosts] # by host
    "api.github.com" = [{ methods = ["GET"], paths = ["/repos/acme/*"] }, { methods = ["POST", "PUT"], paths = ["/user"] }] # ours
    "HTTPS://One.example" = [{ methods = ["get"] }, {}]
    "any.example" = [{}, { methods = ["GET"] }]
    "##);
    assert_eq!(added(&text, list, &more).unwrap(), None);
    assert_eq!(removed(&text, list, &more).unwrap().unwrap(), TABLE);
    let text =
        removed(TABLE, list, &rules(&["any.example", "GET api.github.com/repos/acme/*"])).unwrap().unwrap();
    assert!(
        !text.contains("any.example") && !text.contains("github") && text.contains("One.example"),
        "{text}"
    );
}

#[test]
fn a_host_with_tables_of_its_own_is_changed_or_told_of() {
    let list = List::Server("a");
    let several = "[servers.a]\n[[servers.a.hosts.'b.example']]\nmethods = ['GET']\n";
    let more = rules(&["PUT b.example/x"]);
    let text = added(several, list, &more).unwrap().unwrap();
    assert!(
        text.ends_with("[[servers.a.hosts.'b.example']]\nmethods = [\"PUT\"]\npaths = [\"/x\"]\n"),
        "{text}"
    );
    assert_eq!(removed(&text, list, &more).unwrap().unwrap(), several);
    for odd in ["hosts.'b.example' = 7\n", "hosts.'b.example'.methods = 'GET'\n", "hosts = 7\n"] {
        let error = added(&format!("[servers.a]\n{odd}"), list, &more).unwrap_err();
        assert!(matches!(error, EditError::Shape(_)), "{odd}: {error}");
    }
}

#[test]
fn a_rule_with_terms_stands_in_a_list_as_one_text() {
    let list = List::Server("weather");
    let rule = rules(&["POST https://api.github.com/repos/acme/x"]);
    let text = added(WRITTEN, list, &rule).unwrap().unwrap();
    assert!(text.contains("  \"POST https://api.github.com/repos/acme/x\",\n]"), "{text}");
    assert_eq!(removed(&text, list, &rule).unwrap().unwrap(), WRITTEN);
    let text = added(
        "[allow]\nhosted = { \"a.example\" = {} }\n",
        List::Allow("hosted"),
        &rules(&["GET b.example"]),
    );
    assert_snapshot!(text.unwrap().unwrap(), @r##"
    [allow]
    hosted = { "a.example" = {}, "b.example" = { methods = ["GET"] } }
    "##);
}
