//! Who has the last word.

use std::collections::BTreeSet;
use std::path::Path;

use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::limits::{Limits, Requirement};
use crate::name::ServerName;

fn none() -> Flags {
    Flags::default()
}

fn name(text: &str) -> ServerName {
    ServerName::new(text).unwrap()
}

fn command() -> Vec<String> {
    vec!["x".to_owned()]
}

const SERVER: &str = "[servers.a]\ncommand = ['x']\n";

#[test]
fn without_a_word_the_built_in_holds() {
    let plan = Plan::server("a", Some(&project(SERVER)), &Operator::default(), &none()).unwrap();
    assert_eq!(plan.limits(), &Limits::server());
    assert_eq!(plan.data(), None);
    let plan = Plan::code(&name("code"), command(), &Operator::default(), &none()).unwrap();
    assert_eq!(plan.limits(), &Limits::code());
    let plan = Plan::command(&name("x"), command(), &Operator::default(), &none()).unwrap();
    assert_eq!((plan.limits(), plan.origin()), (&Limits::server(), Origin::CommandLine));
}

#[test]
fn each_layer_covers_the_one_below() {
    // Layer n says every limit from the n-th on, so each layer's word is the last one about exactly one limit.
    let operator = operator("[limits]\nmemory = '1GiB'\ncpu = 2\nprocesses = 200\nopen_files = 100\n");
    let project = project(&format!(
        "[limits]\ncpu = 3\nprocesses = 300\nopen_files = 300\n{SERVER}limits = {{ processes = 400, open_files = 400 }}"
    ));
    let flags = flags(&[], &[], None, &["open_files=500"]).unwrap();
    let plan = Plan::server("a", Some(&project), &operator, &flags).unwrap();
    let limits = plan.limits();
    assert_eq!((limits.scratch, limits.memory, limits.cpu_milli), (Limits::server().scratch, 1 << 30, 3000));
    assert_eq!((limits.processes, limits.open_files), (400, 500));
}

#[test]
fn code_and_undeclared_servers_have_their_own_defaults() {
    let operator = operator("[limits]\ncpu = 2\n[code.limits]\ncpu = 0.1\nrequire = ['landlock']");
    let plan = Plan::code(&name("code"), command(), &operator, &none()).unwrap();
    assert_eq!(plan.limits().cpu_milli, 100);
    assert_eq!(plan.limits().require, BTreeSet::from([Requirement::Landlock]));
    assert_eq!(Plan::command(&name("x"), command(), &operator, &none()).unwrap().limits().cpu_milli, 2000);
}

#[test]
fn what_is_asked_for_above_the_maximum_is_refused() {
    let operator = operator(
        "[maximum]\nmemory = '1GiB'\ncpu = 2\nprocesses = 64\ndata = '1 MiB'\n[servers.own]\ncommand = ['x']\nlimits.cpu = 4",
    );
    let greedy = project(&format!("{SERVER}data = '10MiB'\nlimits = {{ memory = '2 GiB', cpu = 2 }}"));
    let flags = flags(&[], &[], None, &["processes=65"]).unwrap();
    let error = Plan::server("a", Some(&greedy), &operator, &flags).unwrap_err();
    assert_snapshot!(format!("{error}\n{}", error.hint().unwrap()), @"
        `memory` of 2 GiB, asked for by the project's file, is above the operator's maximum of 1 GiB; `processes` of 65, asked for by the command line, is above the operator's maximum of 64; `data` of 10 MiB, asked for by the project's file, is above the operator's maximum of 1 MiB
        ask for less, or raise the value in `[maximum]` of the operator's file
    ");

    // Nobody asked for the built-in 128 processes and 1 GiB of data: they are lowered.
    let modest = project(&format!("{SERVER}data = true"));
    let plan = Plan::server("a", Some(&modest), &operator, &none()).unwrap();
    assert_eq!((plan.limits().processes, plan.data().unwrap().size), (64, 1 << 20));
    // The operator's own server is the operator's own word.
    assert_eq!(Plan::server("own", None, &operator, &none()).unwrap().limits().cpu_milli, 4000);
    // What the command line lowers again is not asked for.
    let lowered = super::flags(&[], &[], Some("d:1MiB"), &["memory=512MiB"]).unwrap();
    assert!(Plan::server("a", Some(&greedy), &operator, &lowered).is_ok());
}

#[test]
fn defaults_above_the_maximum_contradict_it() {
    let text = "[limits]\nmemory = '2GiB'\n[code]\nlimits = { cpu = 3 }\n[maximum]\nmemory = '1GiB'\ncpu = 2";
    assert_snapshot!(operator_complaints(text), @"
        2:10 ['2GiB'] `memory` of 2 GiB is above the maximum of 1 GiB (lower it, or raise the value in `[maximum]`)
        4:18 [3] `cpu` of 3 cores is above the maximum of 2 cores (lower it, or raise the value in `[maximum]`)
    ");
}

#[test]
fn a_project_adds_to_what_is_required_and_only_the_command_line_takes_away() {
    let operator = operator("[limits]\nrequire = ['memory']");
    let project = project(&format!("[limits]\nrequire = []\n{SERVER}limits.require = ['landlock']"));
    let plan = Plan::server("a", Some(&project), &operator, &none()).unwrap();
    assert_eq!(plan.limits().require, BTreeSet::from([Requirement::Memory, Requirement::Landlock]));
    let flags = flags(&[], &[], None, &["require=none"]).unwrap();
    assert_eq!(
        Plan::server("a", Some(&project), &operator, &flags).unwrap().limits().require,
        BTreeSet::new()
    );
    assert_eq!(
        Plan::code(&name("c"), command(), &operator, &flags).unwrap().limits().require,
        BTreeSet::new()
    );
}

#[test]
fn the_command_line_adds_mounts_and_variables_and_replaces_equal_ones() {
    let project =
        project(&format!("{SERVER}env = {{ A = '1', B = '2' }}\nmounts = ['docs', 'out:rw', 'out/keep']"));
    let flags = flags(&["docs:rw", "/srv/shared"], &["B=3", "C"], None, &[]).unwrap();
    let plan = Plan::server("a", Some(&project), &Operator::default(), &flags).unwrap();
    let mounts: Vec<(&str, bool, bool)> = plan
        .mounts()
        .iter()
        .map(|planned| (planned.mount.path.to_str().unwrap(), planned.mount.write, planned.beneath.is_some()))
        .collect();
    assert_eq!(
        mounts,
        [
            ("/srv/app/docs", true, false),
            ("/srv/app/out", true, true),
            ("/srv/app/out/keep", false, true),
            ("/srv/shared", false, false),
        ]
    );
    assert_eq!(plan.mounts()[1].beneath.as_deref(), Some(Path::new("/srv/app")));
    let env: Vec<&str> = plan.env().keys().map(String::as_str).collect();
    assert_eq!(env, ["A", "B", "C"]);
    assert_eq!(plan.env()["B"], EnvValue::Given("3".to_owned()));
}

#[test]
fn data_of_two_projects_is_never_shared() {
    let text = format!("{SERVER}data = '5 MiB'");
    let elsewhere = Place { folder: Path::new("/srv/other"), home: None };
    let other = Project::resolve("f", text.as_bytes(), &elsewhere).unwrap();
    let own = operator(&text.replace("servers.a", "servers.b"));
    let nobody = Operator::default();
    let of = |name: &str, project: Option<&Project>, operator: &Operator, flags: &Flags| {
        Plan::server(name, project, operator, flags).unwrap().data().unwrap().clone()
    };
    let ours = of("a", Some(&project(&text)), &nobody, &none());
    let theirs = of("a", Some(&other), &nobody, &none());
    assert_ne!(ours.name, theirs.name);
    assert_ne!(ours.name.as_str(), "a");
    assert_eq!(ours, of("a", Some(&project(&text)), &nobody, &none()));
    assert_eq!(of("b", None, &own, &none()).name.as_str(), "b");

    let flags = flags(&[], &[], Some("a"), &[]).unwrap();
    let typed = of("a", Some(&project(&text)), &nobody, &flags);
    assert_eq!((typed.name.as_str(), typed.size), ("a", 5 << 20));
}

#[test]
fn a_name_must_be_declared_and_once() {
    let project = project("[servers.weather]\ncommand = ['x']");
    let operator = operator("[servers.weather]\ncommand = ['y']\n[servers.files]\ncommand = ['y']");
    let tell = |name: &str, project: Option<&Project>, operator: &Operator| {
        let error = Plan::server(name, project, operator, &none()).unwrap_err();
        format!("{error}: {}", error.hint().unwrap())
    };
    assert_snapshot!(tell("weather", Some(&project), &operator), @"the server `weather` is declared by the project's file and by the operator's: rename one of the two");
    assert_snapshot!(tell("whether", Some(&project), &Operator::default()), @"no server is called `whether`: did you mean `weather`?");
    assert_snapshot!(tell("database", Some(&project), &operator), @"no server is called `database`: declared are `files`, `weather`");
    assert_snapshot!(tell("weather", None, &Operator::default()), @"no server is called `weather`: no file declares any: write `-- COMMAND` to run one that is not declared");
    assert_eq!(Plan::server("files", Some(&project), &operator, &none()).unwrap().program(), ["y"]);
}

#[test]
fn a_command_needs_a_program() {
    for command in [vec![], vec![String::new()], vec!["x\0".to_owned()]] {
        assert!(matches!(
            Plan::code(&name("c"), command, &Operator::default(), &none()),
            Err(PlanError::Command { .. })
        ));
    }
}

proptest! {
    /// No project and no command line gets above a maximum, whatever each layer says.
    #[test]
    fn a_maximum_is_never_exceeded(
        maximum in 1_u64..300, theirs in 1_u64..300, of_file in proptest::option::of(1_u64..300),
        of_server in proptest::option::of(1_u64..300), typed in proptest::option::of(1_u64..300),
    ) {
        let line = |value: Option<u64>| value.map(|value| format!("limits.processes = {value}\n")).unwrap_or_default();
        let operator = operator(&format!("maximum.processes = {maximum}\nlimits.processes = {}", theirs.min(maximum)));
        let project = project(&format!("{}{SERVER}{}", line(of_file), line(of_server)));
        let typed: Vec<String> = typed.iter().map(|value| format!("processes={value}")).collect();
        let typed = Flags::parse(&FlagTexts { limits: &typed, ..FlagTexts::default() }, &place()).unwrap();
        match Plan::server("a", Some(&project), &operator, &typed) {
            Ok(plan) => prop_assert!(u64::from(plan.limits().processes) <= maximum),
            Err(error) => prop_assert!(matches!(error, PlanError::TooMuch(_))),
        }
    }
}

#[test]
fn a_package_becomes_the_call_of_its_runner_and_a_server_elsewhere_reaches_its_own_host() {
    let file = "[servers.a]\nsource = 'npx:@acme/x@1.2.3'\nargs = ['--port', '1']\nclient = 'roots'\nlists = 'keys'\nstart = 'lazy'\n\
                allow_scripts = ['native']\n[servers.b]\nsource = 'https://mcp.example.com:8443/mcp'\nhosts = ['b.example']\n\
                headers = { 'X-Key' = '${T}' }";
    let project = project(file);
    let plan = |name| Plan::server(name, Some(&project), &Operator::default(), &Flags::default()).unwrap();
    let a = plan("a");
    assert_eq!(a.program(), ["npx", "--yes", "@acme/x@1.2.3", "--port", "1"]);
    assert_eq!(
        (a.client().to_string().as_str(), a.reads_with_keys(), a.scripts()),
        ("roots", true, &["native".to_owned()][..])
    );
    assert!(a.is_lazy());
    let b = plan("b");
    assert!(!b.is_lazy());
    let Start::Remote { url, headers } = b.start() else { panic!("elsewhere") };
    assert_eq!(url, "https://mcp.example.com:8443/mcp");
    assert_eq!(headers["x-key"], "${T}");
    assert_eq!(b.hosts(), ["mcp.example.com:8443", "b.example"]);
    assert!(b.program().is_empty() && b.client() == &crate::profile::Profile::plain());
    let operator = operator("packages.min_age_days = 3");
    assert_eq!(operator.min_age(), std::time::Duration::from_hours(3 * 24));
}
