use std::collections::BTreeSet;

use super::*;
use crate::object::{Completes, Verb};
use crate::principal::{Known, Proven};

fn rules(text: &str) -> (Rules, Operator) {
    let operator = Operator::resolve("config.toml", text.as_bytes(), None).unwrap();
    let tools = operator.servers().iter().map(|(name, server)| (name, server.tools()));
    (Rules::new(&operator, tools), operator.clone())
}

fn who(roles: &[&str], server: Option<&str>) -> Principal {
    let roles: BTreeSet<String> = roles.iter().map(|role| (*role).to_owned()).collect();
    let known = Known { subject: "ann".to_owned(), tenant: None, roles };
    Principal::of_key("ann", known, server.map(|name| ServerName::new(name).unwrap()))
}

fn object(verb: Verb, server: &str, name: &str) -> Object {
    Object { verb, server: ServerName::new(server).unwrap(), name: name.to_owned() }
}

const ROLES: &str = "
[roles.reader]
tools = [\"crm/find_*\", \"orders/get\"]
prompts = [\"crm/greet\"]
resources = [\"docs/file:///handbook/\"]
[roles.everything]
tools = [\"*\"]
resources = [\"docs/*\"]
[roles.nothing]
";

#[test]
fn what_no_role_names_nobody_sees() {
    let (rules, _) = rules(ROLES);
    for (roles, object, rule) in [
        (&["reader"][..], object(Verb::CallTool, "crm", "find_one"), Some("roles.reader.tools[0]")),
        (&["nothing", "reader"], object(Verb::CallTool, "orders", "get"), Some("roles.reader.tools[1]")),
        (
            &["reader", "everything"],
            object(Verb::CallTool, "crm", "find_one"),
            Some("roles.everything.tools[0]"),
        ),
        (&["reader"], object(Verb::CallTool, "orders", "get2"), None),
        (&["reader"], object(Verb::CallTool, "orders2", "get"), None),
        (&["reader"], object(Verb::CallTool, "crm", "greet"), None),
        (&["reader"], object(Verb::GetPrompt, "crm", "greet"), Some("roles.reader.prompts[0]")),
        (&["everything"], object(Verb::GetPrompt, "crm", "greet"), None),
        (&["nothing"], object(Verb::CallTool, "crm", "find_one"), None),
        (&["Reader"], object(Verb::CallTool, "crm", "find_one"), None),
        (&[], object(Verb::CallTool, "crm", "find_one"), None),
    ] {
        let caller = who(roles, None);
        assert_eq!(rules.permits(&caller, &object).as_deref(), rule, "{roles:?} {object:?}");
        assert_eq!(rules.sees(&caller, &object), rule.is_some());
    }
}

#[test]
fn a_resource_is_reached_by_no_detour() {
    let (rules, _) = rules(ROLES);
    let reads =
        |roles: &[&str], uri: &str| rules.sees(&who(roles, None), &object(Verb::ReadResource, "docs", uri));
    for uri in
        ["file:///handbook/a.md", "file:///handbook/a/..b", "file:///handbook/...", "file:///handbook/100%25"]
    {
        assert!(reads(&["reader"], uri), "{uri}");
    }
    for uri in [
        "file:///handbook/../payroll",
        "file:///handbook/./../payroll",
        "file:///handbook/%2e%2e/payroll",
        "file:///handbook/%2E./payroll",
        "file:///handbook/..%2fpayroll",
        "file:///handbook/%252e%252e/payroll",
        "file:///handbook/..\\payroll",
        "file:///handbook/..;x/payroll",
        "file:///handbook/..%00/payroll",
        "file:///handbook/a?/../../payroll",
        "file:///handbook/%25252525252e",
        "file:///handbook",
        "file:///Handbook/a.md",
    ] {
        assert!(!reads(&["reader"], uri), "{uri}");
        assert!(reads(&["everything"], uri), "{uri}");
    }
}

#[test]
fn a_completion_belongs_to_what_it_completes() {
    let (rules, _) = rules(ROLES);
    let crm = || ServerName::new("crm").unwrap();
    let docs = || ServerName::new("docs").unwrap();
    let reader = who(&["reader"], None);
    assert!(rules.sees(&reader, &Object::completion(crm(), Completes::Prompt("greet"))));
    assert!(!rules.sees(&reader, &Object::completion(crm(), Completes::Template("greet"))));
    assert!(rules.sees(&reader, &Object::completion(docs(), Completes::Template("file:///handbook/{page}"))));
    assert!(!rules.sees(&reader, &Object::completion(docs(), Completes::Prompt("file:///handbook/{page}"))));
    assert!(
        !rules.sees(&reader, &object(Verb::Complete, "crm", "greet")),
        "a name that does not say what it is"
    );
}

#[test]
fn a_key_for_one_server_is_for_no_other() {
    let (rules, _) = rules(ROLES);
    let key = who(&["everything"], Some("crm"));
    assert!(rules.sees(&key, &object(Verb::CallTool, "crm", "any")));
    assert!(!rules.sees(&key, &object(Verb::CallTool, "orders", "get")));
}

/// Whose token says that she runs the service.
fn eve() -> Principal {
    let claims = json!({"sub": "eve"});
    Principal::of_token(Proven {
        issuer: "https://idp.example.com".to_owned(),
        subject: "eve".to_owned(),
        tenant: None,
        roles: BTreeSet::from(["owner".to_owned()]),
        scopes: BTreeSet::new(),
        actors: Vec::new(),
        client: None,
        claims,
        expires: None,
    })
}

#[cfg(feature = "guard-off")]
#[test]
fn control_a_token_makes_its_bearer_the_owner() {
    let find = object(Verb::CallTool, "crm", "find_one");
    let attack = || rules(ROLES).0.sees(&eve(), &find);
    {
        let _all = guard::without(&[]);
        assert!(!attack());
    }
    let _off = guard::without(&["owner-by-token"]);
    assert!(attack(), "this fails without `owner-by-token` too");
}

#[test]
fn whoever_runs_the_service_may_use_all_of_it_and_no_token_makes_one() {
    let find = object(Verb::CallTool, "crm", "find_one");
    let eve = eve();
    for rules in [rules(ROLES).0, Rules::owner([])] {
        assert_eq!(rules.permits(&who(&["owner"], None), &find).as_deref(), Some("owner"));
        assert_eq!(rules.permits(&eve, &find), None);
        assert!(!rules.sees(&who(&["owner"], Some("orders")), &find), "a key for one server is for no other");
    }
    let owner = Rules::owner([]);
    assert!(owner.sees(&Principal::local("ann"), &object(Verb::Subscribe, "crm", "x:y")));
    assert!(!owner.sees(&who(&["reader"], None), &object(Verb::CallTool, "crm", "find_one")));
}

#[test]
fn the_version_is_of_everything_that_decides() {
    let tools = "[servers.crm]\ncommand = [\"x\"]\n[servers.crm.tools.t]\n";
    let version = |text: &str| rules(text).0.version();
    let one = version(&format!("{ROLES}{tools}tier = 1"));
    assert_eq!(one, version(&format!("{tools}tier = 1\n{ROLES}")), "the order of a file decides nothing");
    let others = [
        ROLES.to_owned(),
        format!("{ROLES}{tools}tier = 2"),
        format!("{ROLES}{tools}tier = 1\nbind.u = \"subject\""),
        format!("{ROLES}{tools}tier = 1\ndefaults.u = 1"),
        format!("{ROLES}{tools}tier = 1\nrate = \"1/m\""),
        format!("{ROLES}{tools}tier = 1\nconcurrency = 1"),
        format!("{ROLES}{tools}tier = 1\nmax_bytes = \"1 KiB\""),
        format!("{ROLES}{tools}tier = 1\ntime = \"1s\""),
        format!("{ROLES}[roles.x]\ntools = [\"*\"]\n{tools}tier = 1"),
    ];
    let versions: BTreeSet<_> = others.iter().map(|text| version(text)).collect();
    assert!(versions.len() == others.len() && !versions.contains(&one));
}
