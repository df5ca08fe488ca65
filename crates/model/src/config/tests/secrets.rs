//! Secrets of a server, of the command line, and of the operator's file.

use insta::assert_snapshot;

use super::*;
use crate::secret::SecretUse;

fn typed(secrets: &[&str], exposed: &[&str]) -> Result<Flags, FlagErrors> {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let (secrets, exposed) = (owned(secrets), owned(exposed));
    Flags::parse(&FlagTexts { secrets: &secrets, exposed: &exposed, ..FlagTexts::default() }, &place())
}

fn planned(server: &str, flags: &Flags) -> Result<Vec<String>, PlanError> {
    let project = project(&format!("[servers.a]\ncommand = ['x']\n{server}"));
    let plan = Plan::server("a", Some(&project), &Operator::default(), flags)?;
    let show = |one: &SecretUse| {
        format!("{}={}{}", one.variable, one.name, if one.expose { " exposed" } else { "" })
    };
    Ok(plan.secrets().iter().map(show).collect())
}

#[test]
fn a_server_names_its_secrets_as_a_list_or_by_variable() {
    let none = Flags::default();
    assert_eq!(planned("secrets = ['A', 'B']", &none).unwrap(), ["A=A", "B=B"]);
    assert_eq!(planned("secrets = { TOKEN = 'A', KEY = 'A' }", &none).unwrap(), ["KEY=A", "TOKEN=A"]);
    assert!(planned("", &none).unwrap().is_empty());
}

#[test]
fn the_command_line_replaces_a_variable_and_exposes_a_secret_wherever_it_is_used() {
    let flags = typed(&["B=TOKEN", "C"], &[]).unwrap();
    assert_eq!(planned("secrets = { TOKEN = 'A' }", &flags).unwrap(), ["TOKEN=B", "C=C"]);
    let flags = typed(&[], &["A"]).unwrap();
    assert_eq!(planned("secrets = { TOKEN = 'A', B = 'B' }", &flags).unwrap(), ["B=B", "TOKEN=A exposed"]);
    assert_eq!(planned("secrets = ['A']", &flags).unwrap(), ["A=A exposed"]);
    assert_eq!(planned("", &flags).unwrap(), ["A=A exposed"]);
    let flags = typed(&[], &["A=PGPASSWORD"]).unwrap();
    assert_eq!(planned("secrets = ['A']", &flags).unwrap(), ["A=A exposed", "PGPASSWORD=A exposed"]);
}

#[test]
fn a_variable_holds_one_thing() {
    let error = planned("env = { A = 'x' }\nsecrets = ['A']", &Flags::default()).unwrap_err();
    assert_eq!(error.to_string(), "the variable `A` is to hold the secret `A`, and is set by `env` as well");
    assert!(error.hint().unwrap().contains("placeholder"));
    let errors = typed(&["A", "B=A"], &["A", "1X", "B=HOME", "B=x-y"]).unwrap_err();
    assert_snapshot!(errors, @r"
    `--secret B=A`: `A` is given twice
      help: give each variable one secret, either by `--secret` or by `--expose`
    `--expose A`: `A` is given twice
      help: give each variable one secret, either by `--secret` or by `--expose`
    `--expose 1X`: `1X` is not a secret's name
      help: use 1 to 64 letters, digits or `_`, not beginning with a digit, such as `GITHUB_TOKEN`
    `--expose B=HOME`: `HOME` cannot be changed
      help: it is always `/home/tool` inside
    `--expose B=x-y`: `x-y` is not a name of an environment variable
      help: use letters, digits and `_`, not beginning with a digit
    ");
}

#[test]
fn what_a_project_says_of_secrets_is_checked() {
    let told = complaints(
        "[servers.a]\ncommand = ['x']\nsecrets = ['A', 'no-name', 'A']\n\
         [servers.b]\ncommand = ['x']\nsecrets = { HOME = 'A', B = '1' }\n\
         [servers.c]\ncommand = ['x']\nsecrets = 'A'\n\
         [secrets.A]\nenv = 'A'\n",
    );
    assert_snapshot!(told, @r"
    3:17 ['no-name'] `no-name` is not a secret's name (use 1 to 64 letters, digits or `_`, not beginning with a digit, such as `GITHUB_TOKEN`)
    3:28 ['A'] `A` is given twice (name each secret once)
    6:13 [HOME] `HOME` cannot be changed (it is always `/home/tool` inside)
    6:29 ['1'] `1` is not a secret's name (use 1 to 64 letters, digits or `_`, not beginning with a digit, such as `GITHUB_TOKEN`)
    9:11 ['A'] expected a list of secrets, or a table with a secret for each variable, found a string
    10:2 [secrets] unknown key `secrets` (known here: `servers`, `limits`)
    ");
}

#[test]
fn a_secret_of_the_operators_file_comes_from_one_place_and_is_bound() {
    let operator = operator(
        "[secrets.A]\nenv = 'GH_TOKEN'\nhosts = ['api.github.com']\nmethods = ['get']\npaths = ['/repos/*']\n\
         places = ['basic', 'header:X-Key']\nforeign = 'allow'\n\
         [secrets.B]\nfile = '~/token'\n\
         [secrets.C]\ncommand = ['op', 'read']\npass_env = ['HOME']\ntimeout = 30\n\
         [secrets.D]\ncommand = ['pass', 'show', 'x']\n",
    );
    let texts: Vec<String> = operator
        .secrets()
        .iter()
        .map(|(name, secret)| {
            let binding = serde_json::to_string(&secret.binding).unwrap();
            format!("{name}: {:?} {binding}", secret.source)
        })
        .collect();
    assert_snapshot!(texts.join("\n"), @r#"
    A: Env("GH_TOKEN") {"hosts":["api.github.com"],"methods":["GET"],"paths":["/repos/*"],"places":["basic","header:x-key"],"foreign":"allow"}
    B: File("/home/ann/token") {"hosts":[],"foreign":"refuse"}
    C: Command(SecretCommand { command: ["op", "read"], pass_env: ["HOME"], timeout_s: 30 }) {"hosts":[],"foreign":"refuse"}
    D: Command(SecretCommand { command: ["pass", "show", "x"], pass_env: [], timeout_s: 10 }) {"hosts":[],"foreign":"refuse"}
    "#);
}

#[test]
fn what_an_operator_says_of_secrets_is_checked() {
    let told = operator_complaints(
        "[secrets.A]\nhosts = ['api.github.com']\n\
         [secrets.B]\nenv = 'X'\nfile = '/x'\n\
         [secrets.C]\nenv = 'X'\npass_env = ['HOME']\n\
         [secrets.D]\ncommand = ['x']\ntimeout = 600\n\
         [secrets.no-name]\nenv = 'X'\n\
         [secrets.E]\nenv = '1'\nhosts = ['https://x.example']\nmethods = ['TRACE']\npaths = ['x']\nplaces = ['body']\n\
         [secrets.F]\nfile = 'relative'\n\
         [secrets.G]\ncommand = []\nvalue = 'x'\n",
    );
    assert_snapshot!(told, @r#"
    1:10 [A] the secret `A` comes from nowhere (write one of `env = "VARIABLE"`, `file = "/path"` and `command = ["program", "argument"]`)
    3:10 [B] the secret `B` comes from more than one place (write one of `env = "VARIABLE"`, `file = "/path"` and `command = ["program", "argument"]`)
    8:13 ['HOME'] `pass_env` and `timeout` are for a `command` (remove it)
    11:11 [600] this is not a time that a program may take (write seconds from 1 to 120)
    12:10 [no-name] `no-name` is not a secret's name (use 1 to 64 letters, digits or `_`, not beginning with a digit, such as `GITHUB_TOKEN`)
    15:7 ['1'] `1` is not a name of an environment variable (use letters, digits and `_`, not beginning with a digit)
    16:10 ['https://x.example'] `https://x.example` is not a host of a secret (write `api.example.com`, `api.example.com:8443` or `*.example.com`; it is always HTTPS)
    17:12 ['TRACE'] `TRACE` is not a method such as `GET` or `POST`; `TRACE` and `CONNECT` are never passed on
    18:10 ['x'] `x` is not a pattern of paths such as `/repos/acme/*`: it does not begin with `/`
    19:11 ['body'] `body` is not a place for a key: use `header:NAME`, `basic`, `query:NAME`, `path`, `json`, `form` or `websocket`
    21:8 ['relative'] `relative` is a relative path (write the absolute path, or one that begins with `~/`)
    23:11 [[]] the command has no program (name one, for example `["node", "server.js"]`)
    24:1 [value] unknown key `value` (known here: `env`, `file`, `command`, `pass_env`, `timeout`, `hosts`, `methods`, `paths`, `places`, `foreign`)
    "#);
}
