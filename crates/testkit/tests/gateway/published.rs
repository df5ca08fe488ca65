//! Published servers behind the service: what they list bare they list there, and an application calls them all in one turn.

use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::world::Caller;

use crate::{
    client::{self, Client},
    drive::Scene,
    service::{Fixture, KEY, script_with_key},
};

type Published =
    (&'static str, &'static str, &'static [&'static str], &'static str, &'static str, &'static str);

/// Name, its program in the packages, its arguments, and a call of it with what has to be in the answer.
const SERVERS: [Published; 4] = [
    ("everything", "server-everything", &[], "echo", r#"{"message":"wide"}"#, "wide"),
    (
        "files",
        "server-filesystem",
        &["FOLDER"],
        "read_text_file",
        r#"{"path":"FOLDER/note.txt"}"#,
        "left here",
    ),
    ("memory", "server-memory", &[], "read_graph", "{}", "entities"),
    (
        "thinking",
        "server-sequential-thinking",
        &[],
        "sequentialthinking",
        r#"{"thought":"a","nextThoughtNeeded":false,"thoughtNumber":1,"totalThoughts":1}"#,
        "thoughtNumber",
    ),
];

fn packages() -> PathBuf {
    client::packages().join("npm").canonicalize().unwrap()
}

fn program(package: &str) -> String {
    let path = packages().join("node_modules/@modelcontextprotocol").join(package).join("dist/index.js");
    path.display().to_string()
}

#[test]
fn published_servers_are_used_together_through_the_service() {
    let mut folder = String::new();
    let scene = Scene::new(Caller::all()[0], |scene| {
        folder = scene.world.make_folder("notes").unwrap().display().to_string();
        scene.world.make_file("notes/note.txt", "left here", 0o644).unwrap();
        let tables = SERVERS.map(|(name, package, words, ..)| {
            let words = words.iter().map(|word| format!(", '{}'", word.replace("FOLDER", &folder)));
            let words: String = words.collect();
            let mounts = format!("mounts = ['{}', '{folder}']", packages().display());
            format!("[servers.{name}]\ncommand = ['node', '{}'{words}]\n{mounts}\n", program(package))
        });
        format!("{}{}", crate::service::CALLER.replace("DIGEST", &crate::service::digest()), tables.concat())
    });
    for (name, ..) in SERVERS {
        scene.accept(name);
    }
    let fixture = Fixture::of(scene);

    for (name, package, words, ..) in SERVERS {
        let mut bare = fixture.clients.program(std::path::Path::new("node"));
        bare.arg(program(package)).args(words.iter().map(|word| word.replace("FOLDER", &folder)));
        let bare = Client::TypeScript.speak(&fixture.clients, &bare, &json!([]));
        let (_going, url) = fixture.keyless(&format!("/servers/{name}/mcp"));
        let there = Client::TypeScript.visit(&fixture.clients, &url, &json!([]));
        let sorted = |told: &Value| {
            let mut tools = told["tools"].as_array().unwrap().clone();
            tools.sort_by_key(|tool| tool["name"].to_string());
            tools
        };
        assert_eq!(sorted(&there.told), sorted(&bare.told), "{name}");
    }

    let uses = SERVERS.map(|(name, _, _, tool, input, _)| {
        let input: Value = serde_json::from_str(&input.replace("FOLDER", &folder)).unwrap();
        json!({ "type": "tool_use", "id": name, "name": format!("{name}__{tool}"), "input": input })
    });
    let turn = json!({ "role": "assistant", "content": uses });
    let script = fixture.clients.make_file("post.mjs", script_with_key(), 0o644).unwrap();
    let url = format!("{}/v1/tool-calls", fixture.service.as_ref().unwrap());
    let ran = fixture.run(&[script.to_str().unwrap(), &url, KEY, &turn.to_string()]);
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    let results = answer["content"].as_array().unwrap_or_else(|| panic!("{answer}"));
    for (result, (name, .., wanted)) in results.iter().zip(SERVERS) {
        assert_eq!(result["tool_use_id"], name);
        assert!(result.get("is_error").is_none() && result.to_string().contains(wanted), "{result}");
    }
}
