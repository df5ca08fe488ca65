use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

fn server(name: &str) -> ServerName {
    ServerName::new(name).unwrap()
}

#[test]
fn a_name_that_fits_is_itself() {
    for (name, tool, public_name) in [
        ("weather", "forecast", "weather__forecast"),
        ("my-server_2", "get-Order_now", "my-server_2__get-Order_now"),
        ("w", "_private", "w___private"),
        ("w", "a__b", "w__a__b"),
        ("weather", &"t".repeat(55), &format!("weather__{}", "t".repeat(55))),
    ] {
        assert_eq!(public(&server(name), tool), public_name);
    }
}

#[test]
fn a_name_that_does_not_fit_begins_like_itself() {
    for (name, tool, beginning) in [
        ("weather", "get.order", "weather__get-order_"),
        ("weather", "", "weather___"),
        ("weather", "預報", "weather__--_"),
        ("weather", "forecast_0123456789", "weather__forecast-0123456789_"),
        ("io.example", "forecast", "io-example_"),
        ("a__b", "c", "a--b_"),
        ("a_", "c", "a-_"),
    ] {
        let name = public(&server(name), tool);
        assert!(name.starts_with(beginning), "{name}");
        assert!(name.len() <= MAX_LEN);
    }
}

#[test]
fn names_never_change() {
    // Policies and prompts of others hold these.
    for (name, tool, public_name) in [
        ("io.example", "get.order", "io-example_01d3dfa1c6__get-order_a045e0a853"),
        ("weather", &"t".repeat(56), "weather__tttttttttttttttttttttttttttttttttttttttttttt_525ebaf758"),
    ] {
        assert_eq!(public(&server(name), tool), public_name);
    }
}

#[test]
fn a_server_cannot_take_the_name_of_a_tool_of_another() {
    for ((one, its), (other, tool)) in [
        (("a", "b__c"), ("a__b", "c")),
        (("a", "_b"), ("a_", "b")),
        (("a", "__b"), ("a__", "b")),
        (("io.x", "t"), ("io-x", "t")),
        (("io.x", "t"), ("io_x", "t")),
        (("a", "get.order"), ("a", "get-order")),
    ] {
        assert_ne!(public(&server(one), its), public(&server(other), tool));
    }
    let imitated = public(&server("a"), "get.order");
    let plain = imitated.strip_prefix("a__").unwrap();
    assert_ne!(public(&server("a"), plain), imitated);
    let imitated = public(&server("io.x"), "t");
    let (name, _) = imitated.split_once("__").unwrap();
    assert_ne!(public(&server(name), "t"), imitated);
}

#[test]
fn an_address_leads_back() {
    let public_uri = uri(&server("files"), "file:///a/b?c#d");
    assert_eq!(public_uri, "fumehood://files/file:///a/b?c#d");
    assert_eq!(plain_uri(&public_uri), Some((server("files"), "file:///a/b?c#d")));
    for text in ["file:///a", "fumehood:/files/x", "fumehood://files", "fumehood://-x/y", "fumehood:///y", ""]
    {
        assert_eq!(plain_uri(text), None, "{text}");
    }
}

/// Few letters, so that equal beginnings, separators and hash-like ends meet often.
fn server_names() -> impl Strategy<Value = String> {
    prop_oneof!["[ab][ab_.-]{0,5}", "a_[0-9a]{10}", "[ab][ab_-]{30,63}", "[a-z][a-zA-Z0-9._-]{0,63}"]
}

fn tool_names() -> impl Strategy<Value = String> {
    prop_oneof!["[ab_]{0,5}", "[ab.]{0,2}_[0-9a]{10}", "[ab_-]{10,80}", ".{0,80}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_two_tools_share_a_name(pairs in prop::collection::vec((server_names(), tool_names()), 2..60)) {
        let mut seen: HashMap<String, (String, String)> = HashMap::new();
        for (name, tool) in pairs {
            let public_name = public(&server(&name), &tool);
            prop_assert!(public_name.len() <= MAX_LEN);
            prop_assert!(public_name.bytes().all(is_plain));
            prop_assert!(public_name.as_bytes()[0].is_ascii_alphanumeric());
            let pair = (name, tool);
            if let Some(other) = seen.insert(public_name, pair.clone()) {
                prop_assert_eq!(other, pair);
            }
        }
    }

    #[test]
    fn a_public_name_of_one_server_is_none_of_another(one in server_names(), other in server_names(), tool in tool_names(), more in tool_names()) {
        prop_assume!(one != other);
        prop_assert_ne!(public(&server(&one), &tool), public(&server(&other), &more));
    }

    #[test]
    fn every_address_leads_back(name in server_names(), plain in ".{0,60}") {
        let name = server(&name);
        let public_uri = uri(&name, &plain);
        prop_assert_eq!(plain_uri(&public_uri), Some((name, plain.as_str())));
    }
}
