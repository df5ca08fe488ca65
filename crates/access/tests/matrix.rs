//! The authorization matrix: every actor, everything that the servers of a fixture offer, every door, and what comes of it.
//! `docs/reference/authorization-matrix.md` is for people, `crates/gateway/tests/matrix/cases.tsv` for the tests of the faces; with
//! `FUMEHOOD_BLESS=1` both are written anew.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "the code of tests may panic"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use access::judge::{Authorizer, Facts, judge};
use access::principal::{Known, Principal};
use access::{Bound, Completes, Object, Refusal, Rules, Screen, ToolGate, Verb, screened};
use model::config::{Operator, ToolRule};
use model::name::ServerName;
use serde_json::{Value, json};

#[path = "../../gateway/tests/matrix/table.rs"]
mod table;

use table::{Case, cases};

/// Who asks, and how he is described.
const ACTORS: [(&str, &str); 8] = [
    ("nobody", "has no role"),
    ("ann", "customer, tenant acme"),
    ("bob", "customer, no tenant"),
    ("sue", "support, tenant acme"),
    ("root", "admin, tenant acme"),
    ("ops", "auditor and support, no tenant"),
    ("ci", "admin, tenant acme, key for `crm` only"),
    ("owner", "runs the server with `fumehood run`"),
];

/// Doors. The owner comes by stdio only, all others by any but that one.
const FACES: [&str; 4] = ["mcp", "mcp-one", "messages", "stdio"];

/// Begins as what customers may read, and is what they may not.
const WANDERING: &str = "file:///handbook/%2e%2e/payroll/2026.csv";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../gateway/tests/matrix")
}

struct Fixture {
    operator: Operator,
    surfaces: BTreeMap<ServerName, Value>,
    rules: Rules,
    owner: Rules,
}

impl Fixture {
    fn read() -> Self {
        let read = |name: &str| std::fs::read(folder().join(name)).unwrap();
        let operator = Operator::resolve("config.toml", &read("config.toml"), None).unwrap();
        let surfaces = serde_json::from_slice(&read("surfaces.json")).unwrap();
        let tools = || operator.servers().iter().map(|(name, server)| (name, server.tools()));
        let (rules, owner) = (Rules::new(&operator, tools()), Rules::owner(tools()));
        Self { operator, surfaces, rules, owner }
    }

    fn principal(&self, actor: &str) -> Principal {
        if actor == "owner" {
            return Principal::local("owner");
        }
        let key = &self.operator.keys()[actor];
        Principal::of_key(actor, Known::from(key), key.server().cloned())
    }

    fn rules(&self, actor: &str) -> &Rules {
        if actor == "owner" { &self.owner } else { &self.rules }
    }

    fn gate(&self, server: &ServerName, tool: &str) -> Option<ToolGate> {
        let tools = self.surfaces[server]["tools"].as_array()?;
        let value = tools.iter().find(|value| value["name"] == tool)?;
        let rule = self.operator.servers()[server].tools().get(tool).cloned();
        Some(ToolGate::new(server, value, &rule.unwrap_or_else(ToolRule::default), false).unwrap())
    }

    /// Everything that there is, and for each kind something that there is not.
    fn objects(&self) -> Vec<(Object, Value)> {
        let mut objects = Vec::new();
        for (server, surface) in &self.surfaces {
            let list = |key: &str, name: &str| -> Vec<String> {
                let values = surface[key].as_array().into_iter().flatten();
                values.map(|value| value[name].as_str().unwrap().to_owned()).collect()
            };
            let of = |verb: Verb, name: &str| Object { verb, server: server.clone(), name: name.to_owned() };
            for tool in list("tools", "name").into_iter().chain(["no_such_tool".to_owned()]) {
                objects.push((of(Verb::CallTool, &tool), arguments(&tool)));
            }
            for prompt in list("prompts", "name") {
                objects.push((of(Verb::GetPrompt, &prompt), json!({})));
                objects.push((Object::completion(server.clone(), Completes::Prompt(&prompt)), json!({})));
            }
            let uris = list("resources", "uri");
            let elsewhere = uris.iter().any(|uri| uri.contains("payroll")).then(|| WANDERING.to_owned());
            for uri in uris.into_iter().chain(elsewhere) {
                objects.push((of(Verb::ReadResource, &uri), json!({})));
                objects.push((of(Verb::Subscribe, &uri), json!({})));
            }
            for template in list("resourceTemplates", "uriTemplate") {
                objects.push((Object::completion(server.clone(), Completes::Template(&template)), json!({})));
            }
        }
        objects
    }

    fn judge(&self, actor: &str, object: &Object, arguments: Value) -> Result<(), Refusal> {
        let who = self.principal(actor);
        let rules = self.rules(actor);
        let unknown = || Refusal::unknown(object.verb);
        if object.verb == Verb::CallTool {
            let gate = self.gate(&object.server, &object.name).ok_or_else(unknown)?;
            if !rules.sees(&who, object) {
                return Err(unknown());
            }
            let bound = gate.bind(arguments, &who, &Screen::none())?;
            return permitted(rules, &who, object, bound, &gate);
        }
        let bound = screened(object.clone(), arguments, &Screen::none())?;
        let tier = model::tier::Tier::One;
        judge(rules, &who, object.clone(), bound, tier, &Facts::default()).map(drop)
    }
}

fn permitted(
    rules: &Rules,
    who: &Principal,
    object: &Object,
    bound: Bound,
    gate: &ToolGate,
) -> Result<(), Refusal> {
    let permit = judge(rules, who, object.clone(), bound, gate.tier(), &Facts::default())?;
    assert_eq!((permit.object(), permit.bound().object()), (object, object));
    Ok(())
}

fn arguments(tool: &str) -> Value {
    match tool {
        "get_order" => json!({"order_id": "ORD-123456"}),
        "issue_refund" => json!({"order_id": "ORD-123456", "amount": 10}),
        "find_customer" => json!({"query": "Meier"}),
        "reset_credentials" | "delete_customer" => json!({"customer_id": "7"}),
        _ => json!({}),
    }
}

/// Whether this actor can ask for this object there at all.
fn has_face(actor: &str, face: &str, object: &Object) -> bool {
    let fits_actor = (actor == "owner") == (face == "stdio");
    fits_actor && (face != "messages" || object.verb == Verb::CallTool)
}

fn all(fixture: &Fixture) -> Vec<Case> {
    let mut all = Vec::new();
    for (actor, _) in ACTORS {
        for (object, arguments) in fixture.objects() {
            let exists =
                object.verb != Verb::CallTool || fixture.gate(&object.server, &object.name).is_some();
            let listed = exists && fixture.rules(actor).sees(&fixture.principal(actor), &object);
            let verdict = match fixture.judge(actor, &object, arguments.clone()) {
                Ok(()) => "permitted".to_owned(),
                Err(refusal) => refusal.code.to_string(),
            };
            for face in FACES.into_iter().filter(|face| has_face(actor, face, &object)) {
                all.push(Case {
                    actor: actor.to_owned(),
                    face: face.to_owned(),
                    verb: object.verb.to_string(),
                    server: object.server.to_string(),
                    name: object.name.clone(),
                    arguments: arguments.to_string(),
                    listed,
                    verdict: verdict.clone(),
                });
            }
        }
    }
    all
}

/// For people: a row for each thing, a column for each actor.
fn page(cases: &[Case]) -> String {
    let mut text = String::from(
        "# Who may do what\n\n\
         Every actor of a fixture, everything its servers offer, and what comes of a call. The table is written by a test\n\
         (`crates/access/tests/matrix.rs`) from `crates/gateway/tests/matrix/config.toml`, and other tests send each line through\n\
         every door: MCP at `/mcp` and `/servers/NAME/mcp`, the Messages API, and stdio (`fumehood run`). **A verdict is the same at\n\
         every door**, and what is in an actor's list is what it may ask for.\n\n\
         * **yes**: listed, and done.\n\
         * **–**: not listed; asked for anyway, the answer is the one to a name that does not exist, to the last byte.\n\
         * **a person**: listed; each call needs a person's approval, and is refused until one can be asked (`FH-TIER-3`).\n\
         * **no tenant**: listed; refused, because the caller's identity lacks what the tool is bound to (`FH-BINDING-MISSING`).\n\n",
    );
    for (actor, description) in ACTORS {
        writeln!(text, "* `{actor}`: {description}").unwrap();
    }
    let mut rows: Vec<(&str, &str, &str)> = Vec::new();
    for case in cases {
        let row = (case.verb.as_str(), case.server.as_str(), case.name.as_str());
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    rows.sort_by_key(|(verb, ..)| Verb::ALL.iter().position(|known| known.as_str() == *verb));
    let header = ACTORS.map(|(actor, _)| actor).join(" | ");
    write!(text, "\n| verb | server | name | {header} |\n|---|---|---|{}\n", "---|".repeat(ACTORS.len()))
        .unwrap();
    for (verb, server, name) in rows {
        write!(text, "| {verb} | {server} | `{name}` |").unwrap();
        for (actor, _) in ACTORS {
            let here = |case: &&Case| {
                (case.actor.as_str(), case.verb.as_str(), case.server.as_str(), case.name.as_str())
                    == (actor, verb, server, name)
            };
            let mut verdicts: Vec<_> = cases.iter().filter(here).map(|case| case.verdict.as_str()).collect();
            verdicts.dedup();
            let [verdict] = verdicts.as_slice() else { panic!("{actor} {verb} {name}: {verdicts:?}") };
            let word = match *verdict {
                "permitted" => "yes",
                "FH-TOOL-UNKNOWN" => "–",
                "FH-TIER-3" => "a person",
                "FH-BINDING-MISSING" => "no tenant",
                other => panic!("a verdict that the page does not explain: {other}"),
            };
            write!(text, " {word} |").unwrap();
        }
        text.push('\n');
    }
    text
}

fn is_current(path: &Path, text: &str) {
    if std::env::var_os("FUMEHOOD_BLESS").is_some_and(|bless| bless == "1") {
        std::fs::write(path, text).unwrap();
    }
    let there = std::fs::read_to_string(path).unwrap_or_default();
    assert!(there == text, "{} is stale: run this test with FUMEHOOD_BLESS=1", path.display());
}

#[test]
fn the_matrix_is_what_is_written_down() {
    let cases = all(&Fixture::read());
    let lines = cases.iter().fold(String::new(), |text, case| text + &case.line() + "\n");
    is_current(&folder().join("cases.tsv"), &lines);
    let page_path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/authorization-matrix.md");
    is_current(&page_path, &page(&cases));
    assert_eq!(table::cases(&lines), cases);
}

#[test]
fn what_is_listed_is_what_is_not_unknown() {
    let cases = cases(&std::fs::read_to_string(folder().join("cases.tsv")).unwrap());
    assert!(cases.len() > 300);
    for case in &cases {
        assert_eq!(case.listed, case.verdict != "FH-TOOL-UNKNOWN", "{case:?}");
    }
    // Each verdict that the page explains does occur, and nothing is open to everybody or closed to all.
    for verdict in ["permitted", "FH-TOOL-UNKNOWN", "FH-TIER-3", "FH-BINDING-MISSING"] {
        assert!(cases.iter().any(|case| case.verdict == verdict), "{verdict}");
    }
}

#[test]
fn invisible_is_unknown_to_the_last_byte() {
    let fixture = Fixture::read();
    let mut compared = 0;
    for (actor, _) in ACTORS {
        for (object, arguments) in fixture.objects() {
            let none = Object { name: "no_such_thing".to_owned(), ..object.clone() };
            let there_is_none =
                fixture.judge(actor, &Object { verb: Verb::CallTool, ..none }, json!({})).unwrap_err();
            let Err(refusal) = fixture.judge(actor, &object, arguments) else { continue };
            if refusal.hidden && object.verb == Verb::CallTool {
                assert_eq!(
                    serde_json::to_vec(&refusal).unwrap(),
                    serde_json::to_vec(&there_is_none).unwrap()
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 20, "{compared}");
}
