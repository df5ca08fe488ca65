use base64::engine::general_purpose::STANDARD;

use super::*;

const P: &str = "ghp_ThisIsThePlaceholder0123456789";
const EVIL: &str = "ghp_SomebodyElsesToken012345678901";

fn foreign(headers: &[(&str, &str)], target: &str) -> Option<String> {
    let mut request = http::Request::builder().uri(target);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let own = Own { placeholders: vec![P], headers: vec!["x-own"], parameters: vec!["key"] };
    place_of_foreign(&request.body(()).unwrap().into_parts().0, &own)
}

fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

#[test]
fn the_placeholder_alone_passes_and_so_does_nothing_at_all() {
    assert_eq!(foreign(&[], "/"), None);
    for value in [
        P.to_owned(),
        format!("Bearer {P}"),
        format!("token {P}"),
        format!("Token token=\"{P}\""),
        format!("GoogleLogin auth={P}"),
        basic("x-access-token", P),
        basic(P, "x-oauth-basic"),
        basic(P, ""),
        basic("somebody.with.a.long.name@a-company-of-some-length.example.com", P),
        String::new(),
    ] {
        assert_eq!(foreign(&[("authorization", &value)], "/"), None, "{value}");
    }
    assert_eq!(foreign(&[("x-own", P), ("cookie", &format!("session={P}"))], "/"), None);
    assert_eq!(foreign(&[("sec-websocket-protocol", "graphql-transport-ws, v4.channel.k8s.io")], "/"), None);
    assert_eq!(foreign(&[("x-other", EVIL)], &format!("/?q={EVIL}&key={P}&access_token=")), None);
}

#[test]
fn anything_else_in_a_place_for_credentials_is_foreign() {
    for value in [
        EVIL.to_owned(),
        format!("Bearer {EVIL}"),
        format!("Bearer {P}, Bearer {EVIL}"),
        format!("Bearer {EVIL} {P}"),
        format!("{EVIL} {P}"),
        format!("{P}{EVIL}"),
        basic("user", "password"),
        basic(EVIL, P),
        basic(P, EVIL),
        basic("0123456789abcdef0123456789abcdef01234567", P),
        format!("Basic {EVIL}"),
        "AWS4-HMAC-SHA256 Credential=AKIA/x, SignedHeaders=host, Signature=ab".into(),
        "Negotiate YII".into(),
    ] {
        for name in
            ["authorization", "proxy-authorization", "x-api-key", "private_token", "X_API_KEY", "x-own"]
        {
            assert!(foreign(&[(name, &value)], "/").is_some(), "{name}: {value}");
        }
    }
    for cookie in ["session=evil", "a=b; c=d", &format!("session={P}; other={EVIL}"), EVIL] {
        assert!(foreign(&[("cookie", cookie)], "/").is_some(), "{cookie}");
    }
    let protocol = format!("realtime, openai-insecure-api-key.{EVIL}");
    assert!(foreign(&[("sec-websocket-protocol", &protocol)], "/").is_some());
    for target in [
        format!("/?access_token={EVIL}"),
        format!("/?Access%5FToken={EVIL}"),
        format!("/?key={EVIL}"),
        format!("/?x=1&KEY={P}x"),
        format!("/?X-Amz-Signature=0123&X-Amz-Credential={EVIL}"),
        "https://user:password@a.example.com/".into(),
    ] {
        assert!(foreign(&[], &target).is_some(), "{target}");
    }
}

#[test]
fn two_headers_of_which_one_is_foreign_are_foreign() {
    let pair = [("authorization", P), ("authorization", EVIL)];
    assert!(foreign(&pair, "/").is_some());
}

#[test]
fn basic_comes_apart_and_together() {
    for (user, password) in [("", ""), ("user", ""), ("", "p:w:"), ("u", "\u{e9}")] {
        let text = STANDARD.encode(format!("{user}:{password}"));
        for text in [text.as_str(), text.trim_end_matches('=')] {
            let basic = Basic::decode(text).unwrap();
            assert_eq!(
                (basic.user.as_slice(), basic.password.as_slice()),
                (user.as_bytes(), password.as_bytes())
            );
            assert_eq!(basic.encode().trim_end_matches('='), text.trim_end_matches('='));
        }
    }
    for text in ["", "dXNlcg==", "not base64!"] {
        assert!(Basic::decode(text).is_none(), "{text}");
    }
}
