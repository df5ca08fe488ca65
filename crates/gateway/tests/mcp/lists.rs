//! Lists, as each caller gets them.

use gateway::call::Scope;
use model::name::ServerName;
use serde_json::{Value, json};
use tools::surface::Kind;

use crate::{CONFIG, Client, Scripted, World, world};

async fn names(client: &Client, method: &str, list: &str, key: &str) -> Vec<String> {
    let result = client.ask(method, json!({})).await.result();
    result[list].as_array().unwrap().iter().map(|entry| entry[key].as_str().unwrap().to_owned()).collect()
}

async fn tools(client: &Client) -> Vec<String> {
    names(client, "tools/list", "tools", "name").await
}

#[tokio::test]
async fn each_caller_has_its_own() {
    let (_world, client) = world().await;
    let (alice, bob, eve) =
        (client.who("alice", "all"), client.who("bob", "part"), client.who("eve", "nothing"));
    for _ in 0..2 {
        let all = tools(&alice).await;
        assert!(all.len() > 50 && all.is_sorted(), "{all:?}");
        assert!(all.contains(&"crm__echo".to_owned()) && all.contains(&"free__echo".to_owned()));
        assert_eq!(tools(&bob).await, ["crm__ask", "crm__echo"]);
        assert_eq!(tools(&bob.of("crm")).await, ["ask", "echo"]);
        assert_eq!(tools(&eve).await, Vec::<String>::new());
        let resources = names(&bob, "resources/list", "resources", "uri").await;
        assert_eq!(resources, ["fumehood://crm/test://static-text"]);
    }
    let both = tools(&client.who("carol", "part all")).await;
    assert_eq!(both, tools(&alice).await);
    // In a session it is no other, whoever else asks meanwhile.
    let session = bob.open("2025-11-25").await;
    drop(tools(&alice).await);
    let listed = session.old(&json!(1), "tools/list", json!({})).await.result();
    let listed: Vec<_> =
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(listed, [json!("crm__ask"), json!("crm__echo")]);
}

#[tokio::test]
async fn what_is_listed_can_be_called_and_the_rest_is_unknown() {
    let (_world, client) = world().await;
    let bob = client.who("bob", "part");
    for (tool, is_known) in
        [("crm__echo", true), ("crm__silent", false), ("free__echo", false), ("crm__none", false)]
    {
        let answer = bob.call(tool, json!({})).await;
        if is_known {
            assert_eq!(answer.text(), "{}");
        } else {
            assert_eq!(
                answer.json()["error"],
                json!({ "code": -32602, "message": format!("Unknown tool: {tool}") })
            );
        }
    }
    // Byte for byte, but for the name that was asked for.
    let unseen = bob.call("crm__silent", json!({ "a": 1 })).await;
    let unknown = bob.call("crm__silenx", json!({ "a": 1 })).await;
    let text = |answer: &crate::client::Answer| String::from_utf8(answer.body.to_vec()).unwrap();
    assert_eq!(text(&unseen).replace("silent", "silenx"), text(&unknown));
    assert_eq!(unseen.status, unknown.status);
    let session = bob.open("2025-11-25").await;
    let unseen = session.old_call("crm__silent", json!({})).await;
    let unknown = session.old_call("crm__silenx", json!({})).await;
    assert_eq!(text(&unseen).replace("silent", "silenx"), text(&unknown));
}

#[tokio::test]
async fn one_look_shows_what_the_lists_have() {
    let (world, _client) = world().await;
    let crm = Scope::Server(ServerName::new("crm").unwrap());
    let everything = world::principal_of("alice", "all");
    for roles in ["all", "part", "nothing", ""] {
        let who = world::principal_of("alice", roles);
        for scope in [&Scope::All, &crm] {
            let (all, own) = (world.gateway.view(&everything, scope), world.gateway.view(&who, scope));
            for kind in Kind::ALL {
                for entry in all.list(kind) {
                    let listed = own.list(kind).iter().find(|shown| shown.name == entry.name);
                    let seen =
                        world.gateway.glimpse(&who, scope, &[kind], &entry.name).and_then(|seen| seen.shown);
                    assert_eq!(seen.map(|seen| seen.value.clone()), listed.map(|shown| shown.value.clone()));
                }
            }
        }
    }
}

#[tokio::test]
async fn nothing_of_an_entry_is_lost_but_what_is_bound() {
    let (_world, client) = world().await;
    for (path, prefix) in [(client.clone(), "crm__"), (client.of("crm"), "")] {
        let result = path.ask("tools/list", json!({})).await.result();
        let tools = result["tools"].as_array().unwrap();
        let find = |name: &str| {
            let name = format!("{prefix}{name}");
            tools.iter().find(|tool| tool["name"] == name).unwrap().clone()
        };
        let odd = crate::fixtures::tools().into_iter().find(|tool| tool["name"] == "odd").unwrap();
        let mut expected = odd;
        expected["name"] = json!(format!("{prefix}odd"));
        assert_eq!(find("odd"), expected);
        let bound = find("test_x_mcp_header");
        assert_eq!(
            bound["inputSchema"]["properties"],
            json!({ "region": { "type": "string", "x-mcp-header": "Region" } })
        );
    }
}

#[tokio::test]
async fn what_a_list_says_of_itself() {
    let (_world, client) = world().await;
    for method in ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
        let result = client.ask(method, json!({})).await.result();
        assert_eq!(result["resultType"], "complete", "{method}");
        assert_eq!(result["cacheScope"], "private", "{method}");
        assert!(result["ttlMs"].is_u64(), "{method}");
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "fumehood", "{method}");
    }
    let session = client.open("2025-11-25").await;
    let result = session.old(&json!(1), "tools/list", json!({})).await.result();
    assert_eq!(result.as_object().unwrap().keys().collect::<Vec<_>>(), ["tools"]);
}

#[tokio::test]
async fn a_long_list_comes_in_pages() {
    let many = (0..600).map(|n| json!({ "name": format!("t{n:03}"), "inputSchema": { "type": "object" } }));
    let many = Scripted { tools: many.collect(), ..Scripted::new("crm") };
    let world = World::new(CONFIG, &[many, Scripted::new("free")]).await;
    let client = Client::new(world.address).of("crm");
    let session = client.open("2025-11-25").await;
    for in_session in [false, true] {
        let (mut all, mut cursor, mut pages) = (Vec::new(), Value::Null, 0);
        loop {
            let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
            let answer = match in_session {
                true => session.old(&json!(1), "tools/list", params).await,
                false => client.ask("tools/list", params).await,
            };
            let result = answer.result();
            all.extend(result["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()));
            pages += 1;
            cursor = result["nextCursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!((all.len(), pages), (600, 3));
        assert!(all.is_sorted_by_key(|name| name.as_str().unwrap().to_owned()));
    }
    let first = client.ask("tools/list", json!({})).await.result()["nextCursor"].clone();
    assert_eq!(client.ask("tools/list", json!({ "cursor": "x" })).await.code(), -32602);
    // Another list, another caller's: not its cursor.
    assert_eq!(client.ask("prompts/list", json!({ "cursor": first })).await.code(), -32602);
    assert_eq!(client.who("bob", "part").ask("tools/list", json!({ "cursor": first })).await.code(), -32602);
}

#[tokio::test]
async fn another_order_of_roles_is_another_list_at_once() {
    let (world, client) = world().await;
    let bob = client.who("bob", "part");
    assert_eq!(tools(&bob).await, ["crm__ask", "crm__echo"]);
    world.reload(&CONFIG.replace("'crm/echo', 'crm/ask'", "'crm/slow'"));
    assert_eq!(tools(&bob).await, ["crm__slow"]);
    assert_eq!(bob.call("crm__echo", json!({})).await.code(), -32602);
}
