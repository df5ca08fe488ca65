//! Remote servers that are declared: from the first word about one to a call, and what one can do to its user on the way.

use std::fs;

use super::{
    far::{Client, FORGED, Far, Manner},
    *,
};
use crate::{
    canary::{Search, processes},
    scene::{API, OTHER, TOKEN, VALUE},
};

/// The words, the environment and the memory of the process in the cell that speaks to the server; and where in them the
/// key is.
fn inside(far: &Far) -> (Vec<String>, String, Vec<String>) {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let read = |pid: i32, name: &str| text(fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default());
    let words = |pid: i32| read(pid, "cmdline").split('\0').map(str::to_owned).collect::<Vec<_>>();
    let bridges: Vec<i32> = processes()
        .into_iter()
        .filter(|pid| words(*pid).get(1..3) == Some(&["bridge".to_owned(), far.url.clone()]))
        .collect();
    let [bridge] = bridges.as_slice() else { panic!("{bridges:?}") };
    let (words, environment) = (words(*bridge), read(*bridge, "environ"));
    let mut search = Search::of(VALUE);
    search.bytes("words", words.join(" ").as_bytes());
    search.bytes("environment", environment.as_bytes());
    search.memory(*bridge);
    let variable = environment.split('\0').find_map(|line| line.strip_prefix("TOKEN="));
    (words, variable.unwrap_or_default().to_owned(), search.found)
}

#[test]
fn a_server_elsewhere_is_added_accepted_and_used_and_its_key_stays_at_the_edge() {
    for caller in Caller::all() {
        let Some(far) = Far::start(caller) else { return };
        far.add();
        let early = far.run(None, "", &["run", "--strict", "far"]);
        assert_eq!((early.code, early.stdout.as_str()), (Some(11), ""), "{caller:?}: {early:?}");
        far.accept("");
        let read = far.asked().len();
        assert!(read > 5, "{caller:?}: it was read with its key");

        let mut client = far.client(None, "", &[]);
        let tools = client.ask("list", "tools/list", &json!({}));
        let names: Vec<&Value> =
            tools["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        assert!(names.len() > 5 && names.contains(&&json!("echo")), "{caller:?}: {names:?}");
        let said = client.echo("and back");
        assert_eq!(said["result"]["content"][0]["text"], "Echo: and back", "{caller:?}: {said}");
        let sum = json!({ "name": "get-sum", "arguments": { "a": 2, "b": 3 } });
        let said = client.ask("sum", "tools/call", &sum);
        assert!(said["result"].to_string().contains("is 5"), "{caller:?}: {said}");
        let lost = client.ask("no", "tools/call", &json!({ "name": "no-such-tool", "arguments": {} }));
        assert!(lost["error"].is_object() || lost["result"]["isError"] == true, "{caller:?}: {lost}");

        let (words, variable, found) = inside(&far);
        assert_eq!(words.get(3..5).unwrap(), ["--header", "authorization=Bearer ${TOKEN}"], "{caller:?}");
        assert!(variable.starts_with("ghp_") && variable.len() == VALUE.len(), "{caller:?}: {variable}");
        assert!(found.is_empty(), "{caller:?}: {found:#?}");
        let (code, told) = client.end();
        assert_eq!(code, Some(0), "{caller:?}: {told}");

        // What is no tool is not asked for; all that was came as a stream of events, and the session was ended.
        let kinds = far.answers("tools/call");
        assert!(kinds.len() == 2 && kinds.iter().all(|kind| kind == "text/event-stream"), "{kinds:?}");
        let asked = far.asked();
        assert!(asked.len() > read && asked.last().unwrap().head.starts_with("DELETE "), "{asked:?}");

        // The control: the same look finds the key where the cell was given it.
        let given = ["--expose", TOKEN, "--expose-yes-really", TOKEN];
        let client = far.client(Some("declaration"), "", &given);
        let exposed = look_until_there(&far, &client);
        assert!(exposed.iter().any(|place| place.starts_with("environment ")), "{caller:?}: {exposed:?}");
        assert!(exposed.iter().any(|place| place.starts_with("memory of ")), "{caller:?}: {exposed:?}");
        drop(client);
    }
}

/// Where the key is, once the cell has begun.
fn look_until_there(far: &Far, client: &Client) -> Vec<String> {
    let deadline = std::time::Instant::now() + PATIENCE;
    loop {
        let begun = processes().into_iter().any(|pid| {
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&words).contains(&format!("bridge\0{}", far.url))
        });
        if begun {
            return inside(far).2;
        }
        assert!(std::time::Instant::now() < deadline, "no cell began: {}", client.told());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_remote_server_that_changes_its_tools_is_caught_at_the_next_start() {
    for caller in Caller::all() {
        let Some(far) = Far::start(caller) else { return };
        far.add();
        far.accept("");
        far.works("");
        far.becomes(Manner::Forges);
        // Where nothing is compared, a call passes; what is listed is what was accepted all the same.
        let mut client = far.client(Some("front-comparison"), "", &[]);
        assert!(client.echo("unnoticed").to_string().contains("Echo: unnoticed"), "{caller:?}");
        client.end();

        let mut client = far.client(None, "", &[]);
        let said = client.echo("noticed").to_string();
        assert!(said.contains("FH-NOT-ACCEPTED") && !said.contains("Echo: "), "{caller:?}: {said}");
        let tools = client.ask("list", "tools/list", &json!({})).to_string();
        assert!(tools.contains("fumehood_status") && !tools.contains(FORGED), "{caller:?}: {tools}");
        let (code, told) = client.end();
        assert!(code == Some(10) && told.contains("`fumehood review far`"), "{caller:?}: {told}");
        // Going back does not make up for it.
        far.becomes(Manner::Honest);
        let before = far.asked().len();
        let later = far.run(None, "", &["run", "far"]);
        assert_eq!((later.code, later.stdout.as_str()), (Some(10), ""), "{caller:?}: {later:?}");
        assert_eq!(far.asked().len(), before, "{caller:?}: nothing is asked of it before a person decides");
        let shown = far.run(None, "", &["review", "far"]);
        assert!(shown.code == Some(10) && shown.stdout.contains("+~/.ssh/id_rsa+"), "{caller:?}: {shown:?}");
    }
}

#[test]
fn a_remote_server_that_forgets_the_session_ends_it_and_says_so() {
    for caller in Caller::all() {
        let Some(far) = Far::start(caller) else { return };
        far.add();
        far.accept("");
        far.becomes(Manner::Forgets);
        let mut client = far.client(None, "", &[]);
        let said = client.echo("and back")["error"]["message"].to_string();
        assert!(said.contains("the remote server has ended the session"), "{caller:?}: {said}");
        let (code, told) = client.end();
        assert_eq!(code, Some(1), "{caller:?}: {told}");
        let log = far.run(None, "", &["logs", "far"]);
        assert!(log.stdout.contains("has ended the session"), "{caller:?}: {log:?} {told}");
        // It is no change: the next session begins anew.
        far.becomes(Manner::Honest);
        far.works("");
    }
}

#[test]
fn a_remote_server_leads_nobody_elsewhere() {
    for caller in Caller::all() {
        let Some(far) = Far::start(caller) else { return };
        // It may go there, and does not.
        far.declare(&format!(
            "[servers.far]\nsource = {:?}\nsecrets = [\"TOKEN\"]\nhosts = [\"* {OTHER}\"]\n",
            far.url
        ));
        far.run(None, "", &["lock", "far"]);
        far.accept("");
        far.becomes(Manner::Leads);
        let mut client = far.client(None, "", &[]);
        let said = client.echo("and back")["error"]["message"].to_string();
        let words = format!("leads to `https://{OTHER}/mcp");
        assert!(said.contains(&words) && said.contains("no redirect is followed"), "{caller:?}: {said}");
        assert!(far.scene.other.asked().is_empty(), "{caller:?}");
        let (code, told) = client.end();
        assert_eq!(code, Some(0), "{caller:?}: one call has failed, and nothing else: {told}");
        far.becomes(Manner::Honest);
        far.works("");
    }
}

#[test]
fn what_is_no_declaration_of_a_remote_server_is_refused_with_what_helps() {
    let far = Far::start(Caller::all().into_iter().next().unwrap());
    let Some(far) = far else { return };
    let file = far.scene.world.path("config/fumehood/config.toml");
    let before = fs::read_to_string(&file).unwrap();
    let with_user = far.url.replace("https://", "https://me:secret@");
    for (source, words, help) in [
        (far.url.replace("https:", "http:").as_str(), "is no source", "is reached by `https://`"),
        (with_user.as_str(), "is not a URL of a server", "tokens are secrets"),
        ("https://", "is not a URL of a server", "write `https://HOST/PATH`"),
        (API, "is no source", "`https://HOST/PATH`"),
    ] {
        let refused = far.run(None, "", &["add", "far", source, "--secret", TOKEN]);
        assert_eq!(refused.code, Some(2), "{source}: {refused:?}");
        assert!(refused.stderr.contains(words) && refused.stderr.contains(help), "{source}: {refused:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), before, "{source}");
    }
    for (headers, words) in [
        ("{ \"a b\" = \"x\" }", "`a b` is not a name of a header"),
        ("{ \"\" = \"x\" }", "`` is not a name of a header"),
        ("{ \"x-y\" = \"a\\nb\" }", "the value of the header `x-y` cannot be"),
        ("{ host = \"${TOKEN}\" }", "the header `host` is set by the protocol"),
        ("{ \"Mcp-Session-Id\" = \"${TOKEN}\" }", "the header `mcp-session-id` is set by the protocol"),
        ("{ x = \"${TOKEN\" }", "is not `NAME:VARIABLE`"),
        ("{ x = \"${NOTHING}\" }", "wants the variable `NOTHING`, which is not set"),
    ] {
        far.scene.world.make_file("config/fumehood/config.toml", &before, 0o600).unwrap();
        far.declare(&format!(
            "[servers.far]\nsource = {:?}\nsecrets = [\"TOKEN\"]\nheaders = {headers}\n",
            far.url
        ));
        let refused = far.run(None, "", &["lock", "far"]);
        assert!(refused.code != Some(0) && refused.stderr.contains(words), "{headers}: {refused:?}");
    }
    assert!(far.scene.api.asked().is_empty(), "none of it was spoken to");
}

#[test]
fn a_remote_server_is_sent_each_of_its_headers_and_each_key_at_its_place() {
    let second = "ghp_An0therValue0fAnotherKey01234567890";
    for caller in Caller::all() {
        let Some(far) = Far::start(caller) else { return };
        far.scene.set("SECOND", second, &["--host", API, "--header", "x-api-key"]);
        far.declare(&format!(
            "[servers.far]\nsource = {:?}\nsecrets = [\"TOKEN\", \"SECOND\"]\n\
             headers = {{ Authorization = \"Bearer ${{TOKEN}}\", \"X-Api-Key\" = \"${{SECOND}}\", \"X-Region\" = \"eu: 1\" }}\n",
            far.url
        ));
        far.run(None, "", &["lock", "far"]);
        far.accept("");
        far.works("");
        let asked = far.asked();
        assert!(asked.len() > 10, "{caller:?}: {asked:?}");
        for asked in asked {
            assert_eq!(asked.header("x-api-key"), Some(second), "{caller:?}");
            assert_eq!(asked.header("x-region"), Some("eu: 1"), "{caller:?}");
        }
        // What a header says is part of what was accepted.
        let before = far.asked().len();
        far.redeclare("\"eu: 1\"", "\"us: 2\"");
        let refused = far.run(None, "", &["run", "--strict", "far"]);
        assert!(refused.code == Some(11) && refused.stderr.contains("headers"), "{caller:?}: {refused:?}");
        assert_eq!(far.asked().len(), before, "{caller:?}");
        // The control: where nobody compares the declaration, it is sent.
        let mut client = far.client(Some("declaration"), "", &[]);
        client.echo("and back");
        client.end();
        assert!(far.asked().len() > before, "{caller:?}");
    }
}

#[test]
fn a_projects_remote_server_reaches_nothing_before_its_file_is_trusted() {
    for caller in Caller::all() {
        let Some(far) = Far::start(caller) else { return };
        far.scene.world.make_folder("project").unwrap();
        let file = format!("[servers.far]\nsource = {:?}\nsecrets = [\"TOKEN\"]\n", far.url);
        far.scene.world.make_file("project/fumehood.toml", &file, 0o644).unwrap();
        for (words, code) in
            [(&["run", "--strict", "far"][..], 11), (&["review", "far"], 11), (&["lock", "far"], 1)]
        {
            let refused = far.run(None, "project", words);
            assert_eq!((refused.code, refused.stdout.as_str()), (Some(code), ""), "{caller:?}: {refused:?}");
            assert!(refused.stderr.contains("fumehood trust"), "{caller:?} {words:?}: {refused:?}");
        }
        let mut client = far.client(None, "project", &[]);
        let said = client.echo("and back").to_string();
        assert!(!said.contains("Echo: "), "{caller:?}: {said}");
        client.end();
        assert!(far.asked().is_empty(), "{caller:?}");
        // The control: where nobody asks whether it is trusted, it is read, with the key.
        let read = far.run(Some("project-trust"), "project", &["review", "far", "--json"]);
        assert_eq!(read.code, Some(0), "{caller:?}: {read:?}");
        assert!(!far.asked().is_empty(), "{caller:?}");

        let told = far.run(None, "project", &["trust", "--json"]);
        let told: Value = serde_json::from_str(&told.stdout).unwrap();
        let trusted = far.run(None, "project", &["trust", "--accept", told["digest"].as_str().unwrap()]);
        assert_eq!(trusted.code, Some(0), "{caller:?}: {trusted:?}");
        far.accept("project");
        far.works("project");
    }
}
