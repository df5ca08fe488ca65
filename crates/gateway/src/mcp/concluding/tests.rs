use access::refusal::Code;
use store::audit::CallId;

use super::*;

fn about(verb: Verb, scope: &Scope, modern: bool) -> About<'_> {
    About { verb, name: "asked", scope, server: None, pass_through: false, modern }
}

fn concluded(end: End) -> Concluded {
    Concluded { call: CallId::new(), end, subscription: None }
}

fn outcome(about: &About<'_>, end: End) -> Outcome {
    match told(about, Some(concluded(end))) {
        Told::Outcome(outcome) => outcome,
        Told::InputRequired(_) => panic!("questions"),
    }
}

#[test]
fn a_hidden_refusal_says_no_more_than_an_unknown_name() {
    for (verb, modern, code, text) in [
        (Verb::CallTool, true, INVALID_PARAMS, "Unknown tool: asked"),
        (Verb::CallTool, false, INVALID_PARAMS, "Unknown tool: asked"),
        (Verb::GetPrompt, true, INVALID_PARAMS, "Unknown prompt: asked"),
        (Verb::Complete, true, INVALID_PARAMS, "Unknown prompt or resource: asked"),
        (Verb::ReadResource, true, INVALID_PARAMS, "Resource not found"),
        (Verb::ReadResource, false, RESOURCE_NOT_FOUND, "Resource not found"),
        (Verb::Subscribe, false, RESOURCE_NOT_FOUND, "Resource not found"),
    ] {
        let refusal = Refusal::unknown(verb).rule("roles.support").remedy("ask");
        let fault = outcome(&about(verb, &Scope::All, modern), End::Refused(Box::new(refusal))).unwrap_err();
        assert_eq!((fault.code, fault.message.as_str()), (code, text));
        assert_eq!(fault, unknown(verb, "asked", modern));
        assert!(!fault.message(None).to_string().contains("roles.support"));
    }
}

#[test]
fn a_refusal_is_never_a_success() {
    let refusal =
        || Refusal::new(Code::TIER_3, "a person has to approve").rule("servers.x.tools.y").remedy("ask one");
    for modern in [true, false] {
        let about = about(Verb::CallTool, &Scope::All, modern);
        let result = outcome(&about, End::Refused(Box::new(refusal()))).unwrap();
        assert_eq!(result["isError"], true);
        assert_eq!(result["content"][0]["text"], "FH-TIER-3: a person has to approve. ask one");
        assert_eq!(result["_meta"][REFUSAL]["code"], "FH-TIER-3");
        assert!(result["_meta"][REFUSAL]["call"].is_string());
        assert!(!Value::Object(result).to_string().contains("servers.x"));
    }
    for verb in [Verb::GetPrompt, Verb::ReadResource, Verb::Complete, Verb::Subscribe] {
        let fault = outcome(&about(verb, &Scope::All, true), End::Refused(Box::new(refusal()))).unwrap_err();
        assert_eq!((fault.code, fault.data.unwrap()["code"].clone()), (REFUSED, json!("FH-TIER-3")));
    }
    let broken = told(&about(Verb::CallTool, &Scope::All, true), None);
    assert!(matches!(broken, Told::Outcome(Err(_))));
    let odd = outcome(&about(Verb::CallTool, &Scope::All, true), End::Done(json!("text")));
    assert_eq!(odd.unwrap_err().code, INTERNAL_ERROR);
}

#[test]
fn results_in_the_words_of_each_era() {
    let theirs = json!({
        "contents": [{"uri": "file:///a", "text": "t"}],
        "resultType": "complete", "ttlMs": 5, "cacheScope": "public",
        "vendor/unknown": 1,
    });
    let scope = Scope::All;
    let modern = outcome(&about(Verb::ReadResource, &scope, true), End::Done(theirs.clone())).unwrap();
    assert_eq!((&modern["ttlMs"], &modern["cacheScope"]), (&json!(5), &json!("private")));
    assert_eq!(modern["vendor/unknown"], 1);
    let legacy = outcome(&about(Verb::ReadResource, &scope, false), End::Done(theirs)).unwrap();
    assert!(MODERN.iter().all(|name| !legacy.contains_key(*name)));
    assert_eq!(legacy["vendor/unknown"], 1);
    let task = json!({"resultType": "task", "taskId": "1"});
    assert!(outcome(&about(Verb::CallTool, &scope, true), End::Done(task)).is_err());
    let mut result = Map::new();
    complete(&mut result, &json!({"name": "n"}));
    assert_eq!(
        Value::Object(result),
        json!({"resultType": "complete", "_meta": {SERVER_INFO: {"name": "n"}}})
    );
}

#[test]
fn errors_in_the_words_of_each_era() {
    let scope = Scope::All;
    for (code, modern, becomes, status) in [
        (-32002, true, -32602, 200),
        (-32002, false, -32002, 200),
        (-32042, true, -32603, 200),
        (-32042, false, -32042, 200),
        (-32021, true, -32021, 400),
        (-32021, false, -32021, 200),
        (7, true, 7, 200),
    ] {
        let error = json!({"code": code, "message": "no\u{1b}[2J", "data": {"uri": "file:///theirs"}});
        let fault = outcome(&about(Verb::ReadResource, &scope, modern), End::Failed(error)).unwrap_err();
        assert_eq!((fault.code, fault.status.as_u16()), (becomes, status));
        assert_eq!(fault.message, "no<U+001B>[2J");
        assert_eq!(fault.data.unwrap()["uri"], "asked");
    }
}

#[test]
fn addresses_are_those_of_the_scope() {
    let server = ServerName::new("docs").unwrap();
    let call = json!({"content": [
        {"type": "resource_link", "uri": "file:///a", "name": "a"},
        {"type": "resource", "resource": {"uri": "file:///b", "text": "t"}},
        {"type": "text", "text": "file:///c"},
        {"type": "unknown/new", "uri": "file:///d"},
    ]});
    let prompt = json!({"messages": [
        {"role": "user", "content": {"type": "resource", "resource": {"uri": "file:///b", "text": "t"}}},
    ]});
    let alone = Scope::Server(server.clone());
    for (scope, prefix) in [(&Scope::All, "fumehood://docs/"), (&alone, "")] {
        let about = |verb| About { server: Some(&server), ..about(verb, scope, true) };
        let result = outcome(&about(Verb::CallTool), End::Done(call.clone())).unwrap();
        assert_eq!(result["content"][0]["uri"], format!("{prefix}file:///a"));
        assert_eq!(result["content"][1]["resource"]["uri"], format!("{prefix}file:///b"));
        assert_eq!(result["content"][2]["text"], "file:///c");
        assert_eq!(result["content"][3]["uri"], "file:///d");
        let result = outcome(&about(Verb::GetPrompt), End::Done(prompt.clone())).unwrap();
        assert_eq!(result["messages"][0]["content"]["resource"]["uri"], format!("{prefix}file:///b"));
    }
}
