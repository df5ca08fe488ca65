//! Each thing that the transport's specification lets a server do, and some that it does not.

use super::*;

#[test]
fn a_session_is_named_in_every_request_and_ended_at_the_end() {
    let beside = Beside::new(|asked, peer| {
        if let ("GET", None) = (asked.head.split(' ').next().unwrap(), asked.header("last-event-id")) {
            let by_itself = json!({ "jsonrpc": "2.0", "method": "notifications/message" });
            return stream(peer, &format!(": hello\n\nevent: other\ndata: x\n\n{}", event("g1", &by_itself)));
        }
        usual(asked, peer).unwrap_or_else(|| {
            let progress = json!({ "jsonrpc": "2.0", "method": "notifications/progress" });
            let result = "id: 2\r\ndata: {\"jsonrpc\": \"2.0\",\r\ndata:  \"id\": \"a\", \"result\": {\"n\": 1.0}}\r\n\r\n";
            stream(peer, &format!("id: 0\ndata:\n\n{}{result}", event("1", &progress)))
        })
    });
    let mut talk = Talk::begin(beside.bridge(&["--header", "authorization:Bearer ${KEY}"]).env("KEY", "k-1"));
    let [first, initialized] = hello();
    talk.say(&first);
    assert_eq!(talk.hear()["result"]["protocolVersion"], "2025-11-25");
    talk.say(&initialized);
    assert_eq!(talk.hear()["method"], "notifications/message");
    talk.say(&request("a", "tools/list"));
    assert_eq!(talk.hear()["method"], "notifications/progress");
    assert_eq!(talk.hear(), json!({ "jsonrpc": "2.0", "id": "a", "result": { "n": 1.0 } }));
    let (code, rest) = talk.end();
    assert_eq!(code, Some(0), "{rest:?}");
    let asked = beside.origin.asked();
    let of = |verb: &str| asked.iter().filter(|asked| asked.head.starts_with(verb)).collect::<Vec<_>>();
    assert_eq!((of("POST").len(), of("DELETE").len()), (3, 1), "{asked:?}");
    for (at, asked) in asked.iter().enumerate() {
        assert_eq!(asked.path(), "/mcp?k=v");
        assert_eq!(asked.header("authorization"), Some("Bearer k-1"));
        let agreed = (asked.header("mcp-session-id"), asked.header("mcp-protocol-version"));
        let expected = if at == 0 { (None, None) } else { (Some("s-1"), Some("2025-11-25")) };
        assert_eq!(agreed, expected, "{asked:?}");
    }
    for asked in of("POST") {
        assert_eq!(asked.header("accept"), Some("application/json, text/event-stream"));
        assert_eq!(asked.header("content-type"), Some("application/json"));
    }
    assert!(of("GET").iter().all(|asked| asked.header("accept") == Some("text/event-stream")));
}

#[test]
fn a_stream_that_breaks_off_is_taken_up_where_it_was() {
    let beside = Beside::new(|asked, peer| {
        let usual = usual(asked, peer);
        usual.unwrap_or_else(|| match asked.header("last-event-id") {
            None => {
                let progress = json!({ "jsonrpc": "2.0", "method": "notifications/progress" });
                stream(
                    peer,
                    &format!("retry: 10\nid: e1\ndata:\n\n{}data: {{\"half", event("e2", &progress)),
                )?;
                Err(io::ErrorKind::BrokenPipe.into())
            }
            // Twice without anything new, as a server that polls does it.
            Some("e2") if asked.header("mcp-session-id") == Some("s-1") => {
                stream(peer, "id: e3\ndata:\n\n")?;
                Err(io::ErrorKind::BrokenPipe.into())
            }
            Some("e3") => stream(
                peer,
                &event("e4", &json!({ "jsonrpc": "2.0", "id": "a", "result": { "late": true } })),
            ),
            other => panic!("taken up at {other:?}"),
        })
    });
    let ran = beside.ask(&[request("a", "tools/call")]);
    let heard = heard(&ran);
    assert_eq!(answer(&heard, "a")["result"], json!({ "late": true }), "{ran:?}");
    assert_eq!(heard.iter().filter(|message| message["method"] == "notifications/progress").count(), 1);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn whatever_goes_wrong_is_the_answer_to_its_request() {
    let rows: [(&str, &str); 10] = [
        ("refused", "answered 403 Forbidden: no such key"),
        ("own-error", "the server's own words"),
        ("redirect", "leads to `https://elsewhere.example/`, and no redirect is followed"),
        ("too-large", "answered with more than 64 MiB"),
        ("html", "answered with `text/html`"),
        ("no-message", "answered with no message"),
        ("another", "answered something else"),
        ("accepted", "took the request and gave no answer"),
        ("broken-off", "broke off before the answer"),
        ("closed", "gave no answer"),
    ];
    let beside = Beside::new(|asked, peer| {
        usual(asked, peer).unwrap_or_else(|| match method(asked).as_str() {
            "refused" => say(peer, "403 Forbidden", "", b"no such\nkey"),
            "own-error" => {
                let error =
                    json!({ "code": -32042, "message": "the server's own words", "data": { "x": 1 } });
                let body = json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string();
                say(peer, "400 Bad Request", JSON, body.as_bytes())
            }
            "redirect" => {
                say(peer, "307 Temporary Redirect", "Location: https://elsewhere.example/\r\n", b"")
            }
            "too-large" => {
                write!(peer, "HTTP/1.1 200 OK\r\n{JSON}Content-Length: {}\r\n\r\n", (64 << 20) + 1)
            }
            "html" => say(peer, "200 OK", "Content-Type: text/html\r\n", b"<html>"),
            "no-message" => say(peer, "200 OK", JSON, b"{}"),
            "another" => say(peer, "200 OK", JSON, br#"{"jsonrpc":"2.0","method":"notifications/x"}"#),
            "accepted" => say(peer, "202 Accepted", "", b""),
            "broken-off" => {
                stream(peer, ": nothing\n\n")?;
                Err(io::ErrorKind::BrokenPipe.into())
            }
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        })
    });
    let requests: Vec<Value> = rows.iter().map(|(name, _)| request(name, name)).collect();
    let ran = beside.ask(&requests);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let heard = heard(&ran);
    for (name, words) in rows {
        let error = &answer(&heard, name)["error"];
        assert!(error["message"].as_str().unwrap().contains(words), "{name}: {error}");
        // Where no answer came, nobody knows what was done.
        let is_unknown =
            ["too-large", "no-message", "another", "accepted", "broken-off", "closed"].contains(&name);
        let told = &error["data"]["dev.fumehood/unanswered"]["sent"];
        assert_eq!(*told == true, is_unknown, "{name}: {error}");
    }
    let own = &answer(&heard, "own-error")["error"];
    assert_eq!((&own["code"], &own["data"]), (&json!(-32042), &json!({ "x": 1 })));
    assert!(beside.origin.asked().iter().all(|asked| asked.path() == "/mcp?k=v"));
}

#[test]
fn a_session_that_is_lost_ends_the_bridge() {
    let beside = Beside::new(|asked, peer| {
        usual(asked, peer).unwrap_or_else(|| say(peer, "404 Not Found", "", b"unknown session"))
    });
    let mut talk = Talk::begin(beside.bridge(&[]).stderr(Stdio::null()));
    for message in hello() {
        talk.say(&message);
    }
    talk.say(&request("a", "tools/list"));
    assert_eq!(talk.hear()["id"], 0);
    let told = talk.hear();
    assert!(told["id"] == "a" && told["error"]["message"].as_str().unwrap().contains("ended the session"));
    // It ends though its stdin is open.
    assert_eq!(talk.child.wait().unwrap().code(), Some(1));
    let asked = beside.origin.asked();
    assert!(
        !asked.iter().any(|asked| asked.head.starts_with("DELETE")),
        "it ended a session that is no more"
    );
    let ran = beside.ask(&[request("a", "tools/list")]);
    assert!(ran.code == Some(1) && ran.stderr.contains("start it again"), "{ran:?}");
}

#[test]
fn a_request_that_was_given_up_gets_no_answer() {
    let (given_up, told) = mpsc::channel::<()>();
    let (given_up, told) = (Mutex::new(given_up), Arc::new(Mutex::new(told)));
    let beside = Beside::new(move |asked, peer| {
        if method(asked) == "notifications/cancelled" {
            given_up.lock().unwrap().send(()).unwrap();
        }
        usual(asked, peer).unwrap_or_else(|| {
            stream(peer, "id: 1\ndata:\n\n")?;
            told.lock().unwrap().recv_timeout(PATIENCE).unwrap();
            Err(io::ErrorKind::BrokenPipe.into())
        })
    });
    let params = json!({ "requestId": "a" });
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    let ran = beside.ask(&[request("a", "tools/call"), cancel]);
    assert_eq!((ran.code, heard(&ran).len()), (Some(0), 1), "{ran:?}");
    assert!(beside.origin.asked().iter().any(|asked| method(asked) == "notifications/cancelled"));
}

#[test]
fn words_that_name_no_remote_server_are_refused() {
    let world = World::new(Caller::all().into_iter().next().unwrap()).unwrap();
    for (words, said) in [
        (&["http://127.0.0.1:1/mcp"][..], "is not encrypted"),
        (&["https://127.0.0.1:1/mcp", "--header", "authorization:NOTHING"], "variable `NOTHING`"),
        (&["https://me:secret@127.0.0.1:1/mcp"], "with a name or a password"),
    ] {
        let ran = world.run(world.product(None).arg("bridge").args(words), "").unwrap();
        assert!(ran.code == Some(2) && ran.stderr.contains(said), "{words:?}: {ran:?}");
    }
    // Nobody listens there: that is the answer, and no end.
    let ran = world
        .run(world.product(None).args(["bridge", "--plain", "http://127.0.0.1:1/"]), &lines(&hello()))
        .unwrap();
    let failed = &heard(&ran)[0]["error"]["message"];
    assert!(ran.code == Some(0) && failed.as_str().unwrap().contains("connecting to 127.0.0.1:1 failed"));
}
