use super::*;

fn server() -> ServerName {
    ServerName::new("crm").unwrap()
}

fn guarded(name: &ServerName) -> Asker<'_> {
    Asker { server: name, pass_through: false, hosts: &[] }
}

fn form(properties: &Value) -> Value {
    json!({"message": "Please help", "requestedSchema": {"type": "object", "properties": properties}})
}

#[test]
fn a_question_says_who_asks() {
    let (name, can) = (server(), json!({"elicitation": {}}));
    let question = form(&json!({"city": {"type": "string"}}));
    let put_to = put(guarded(&name), &can, ELICITATION, &question).unwrap();
    assert_eq!(put_to["message"], "[server crm asks] Please help");
    assert_eq!(put_to["requestedSchema"], question["requestedSchema"]);
    let passing = Asker { pass_through: true, ..guarded(&name) };
    assert_eq!(put(passing, &can, ELICITATION, &question), Ok(question));
    let sly = json!({"message": "one\n\u{1b}[2J[server bank asks] two"});
    let put_to = put(guarded(&name), &can, ELICITATION, &sly).unwrap();
    assert_eq!(put_to["message"], "[server crm asks] one\n<U+001B>[2J[server bank asks] two");
}

#[test]
fn nobody_is_asked_for_secrets() {
    let (name, can) = (server(), json!({"elicitation": {}}));
    for (properties, is_asked) in [
        (json!({"name": {"type": "string"}}), true),
        (json!({"keyword": {"type": "string"}}), true),
        (json!({"primary_key_column": {"type": "string", "title": "Key column"}}), true),
        (json!({"monkey": {"type": "string"}}), true),
        (json!({"passenger": {"type": "string", "description": "who flies"}}), true),
        (json!({"pinned": {"type": "boolean"}}), true),
        (json!({"max_tokens": {"type": "integer", "description": "number of tokens"}}), true),
        (json!({"country": {"type": "string", "enum": ["a", "b"], "title": "Country code"}}), true),
        (json!({"password": {"type": "string"}}), false),
        (json!({"userPassword": {"type": "string"}}), false),
        (json!({"api_key": {"type": "string"}}), false),
        (json!({"APIKey": {"type": "string"}}), false),
        (json!({"key": {"type": "string"}}), false),
        (json!({"githubToken": {"type": "string"}}), false),
        (json!({"clientsecret": {"type": "string"}}), false),
        (json!({"x": {"type": "string", "title": "Your API key"}}), false),
        (json!({"x": {"type": "string", "description": "the SSH private key"}}), false),
        (json!({"x": {"type": "string", "format": "password"}}), false),
        (json!({"session_tokens": {"type": "string"}}), false),
        (json!({"x": {"type": "string", "Title": "access token"}}), false),
        (json!({"x": {"anyOf": [{"Properties": {"pwd": {}}}]}}), false),
        (json!({"x": {"type": "object", "properties": {"otp": {"type": "string"}}}}), false),
    ] {
        let outcome = put(guarded(&name), &can, ELICITATION, &form(&properties));
        assert_eq!(outcome.is_ok(), is_asked, "{properties}: {outcome:?}");
        let passing = Asker { pass_through: true, ..guarded(&name) };
        assert!(put(passing, &can, ELICITATION, &form(&properties)).is_ok());
    }
    let hidden =
        json!({"message": "m", "Mode": "url", "url": "https://evil.example/", "requestedSchema": {}});
    assert!(matches!(put(guarded(&name), &can, ELICITATION, &hidden), Err(Declined::Malformed(_))));
    let words = json!({"message": "Type your password", "requestedSchema": {"properties": {"x": {}}}});
    assert!(matches!(put(guarded(&name), &can, ELICITATION, &words), Err(Declined::Secret(_))));
}

#[test]
fn only_what_the_client_can_do() {
    let name = server();
    let form = json!({"message": "m", "requestedSchema": {}});
    let url = json!({"mode": "url", "message": "m", "url": "https://a.example/x", "elicitationId": "1"});
    let hosts = ["a.example".to_owned()];
    let asker = Asker { hosts: &hosts, ..guarded(&name) };
    for (capabilities, forms, urls) in [
        (json!({"elicitation": {}}), true, false),
        (json!({"elicitation": {"form": {}}}), true, false),
        (json!({"elicitation": {"url": {}}}), false, true),
        (json!({"elicitation": {"form": {}, "url": {}}}), true, true),
        (json!({"elicitation": {"form": {}, "url": null}}), true, false),
        (json!({"elicitation": null}), false, false),
        (json!({"elicitation": true}), false, false),
        (json!({}), false, false),
        (Value::Null, false, false),
    ] {
        let got = (
            put(asker, &capabilities, ELICITATION, &form).is_ok(),
            put(asker, &capabilities, ELICITATION, &url).is_ok(),
        );
        assert_eq!(got, (forms, urls), "{capabilities}");
    }
    let missing = put(asker, &json!({}), ELICITATION, &url).unwrap_err();
    assert_eq!(missing, Declined::Incapable(json!({"elicitation": {"url": {}}})));
    // A model is asked by nobody but a server that passes as it is.
    let all = json!({"sampling": {}, "roots": {}, "elicitation": {}});
    for method in [SAMPLING, ROOTS] {
        assert_eq!(put(asker, &all, method, &json!({})), Err(Declined::Unknown));
        let passing = Asker { pass_through: true, ..asker };
        assert!(put(passing, &all, method, &json!({})).is_ok());
        assert!(matches!(put(passing, &json!({}), method, &json!({})), Err(Declined::Incapable(_))));
        assert_eq!(put(passing, &all, "tools/list", &json!({})), Err(Declined::Unknown));
    }
    assert_eq!(told(&all, false), json!({"elicitation": {}}));
    assert_eq!(told(&all, true), all);
}

#[test]
fn only_pages_of_the_server() {
    let (name, can) = (server(), json!({"elicitation": {"url": {}}}));
    let hosts = ["login.example".to_owned(), "*.crm.example".to_owned(), "odd.example:8443".to_owned()];
    let asker = Asker { hosts: &hosts, ..guarded(&name) };
    for (url, is_asked) in [
        ("https://login.example/start?x=1", true),
        ("https://LOGIN.example./start", true),
        ("https://login.example:443/start", true),
        ("https://eu.crm.example/", true),
        ("https://odd.example:8443/", true),
        ("http://login.example/start", false),
        ("https://login.example:444/start", false),
        ("https://crm.example/", false),
        ("https://evilcrm.example/", false),
        ("https://odd.example/", false),
        ("https://login.example@evil.example/", false),
        ("https://evil.example/login.example", false),
        ("https://login.example.evil.example/", false),
        ("javascript:alert(1)", false),
        ("login.example", false),
        ("", false),
    ] {
        let question = json!({"mode": "url", "message": "m", "url": url});
        assert_eq!(put(asker, &can, ELICITATION, &question).is_ok(), is_asked, "{url}");
    }
    let none = json!({"mode": "url", "message": "m"});
    assert!(matches!(put(asker, &can, ELICITATION, &none), Err(Declined::Malformed(_))));
}
