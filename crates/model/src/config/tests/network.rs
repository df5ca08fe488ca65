//! Hosts, the operator's way out, and who may say what about either.

use insta::assert_snapshot;

use super::*;
use crate::name::ServerName;

fn hosts(text: &str) -> Vec<String> {
    let project = project(&format!("[servers.a]\ncommand = ['x']\n{text}"));
    Plan::server("a", Some(&project), &Operator::default(), &Flags::default()).unwrap().hosts().to_vec()
}

fn name(text: &str) -> ServerName {
    ServerName::new(text).unwrap()
}

fn typed(hosts: &[&str]) -> Flags {
    let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
    Flags::parse(&FlagTexts { hosts: &hosts, ..FlagTexts::default() }, &place()).unwrap()
}

/// Knows one rule.
struct OnlyGood;

impl NetworkCheck for OnlyGood {
    fn host(&self, rule: &str) -> Result<(), Objection> {
        self.proxy(rule)
    }

    fn upstream(&self, name: &str, _: &str, _: bool) -> Result<(), Objection> {
        self.proxy(name)
    }

    fn proxy(&self, url: &str) -> Result<(), Objection> {
        let wrong = || Objection { message: format!("`{url}` is bad"), help: Some("be good".to_owned()) };
        (url == "good").then_some(()).ok_or_else(wrong)
    }
}

#[test]
fn ports_are_raw_tcp_on_hosts_that_are_names_alone() {
    assert_eq!(
        hosts("hosts = ['db.corp.example', '*.example.com', 'x.example:8443']\nports = [5432, 6379]"),
        [
            "db.corp.example",
            "*.example.com",
            "x.example:8443",
            "tcp://db.corp.example:5432",
            "tcp://db.corp.example:6379"
        ]
    );
}

#[test]
fn without_hosts_nothing_is_reached() {
    assert!(hosts("").is_empty());
    let plan = Plan::code(&name("x"), vec!["x".to_owned()], &Operator::default(), &Flags::default()).unwrap();
    assert!(plan.hosts().is_empty() && !plan.proxy_env());
}

#[test]
fn what_cannot_be_is_told_where_it_stands() {
    assert_snapshot!(complaints(
        "[servers.a]\ncommand = ['x']\nhosts = ['', 'a b', 7]\nports = [0]\n\
         [servers.b]\ncommand = ['x']\nhosts = ['*.x.example']\nports = [5432]\ntransport = 'http'\n\
         [servers.c]\ncommand = ['x']\nport = 80\n\
         [servers.d]\ncommand = ['x']\ntransport = 'htp'\nport = 70000\n"
    ), @r##"
    3:10 [''] the host is empty (write `api.example.com`, `*.example.com`, `GET api.example.com/v1/*` or `tcp://db.example.com:5432`)
    3:14 ['a b'] a host holds no blanks and no control characters (write `api.example.com`, `*.example.com`, `GET api.example.com/v1/*` or `tcp://db.example.com:5432`)
    3:21 [7] expected a string, found the number `7`
    4:10 [0] this is not a port (write a number from 1 to 65535)
    8:10 [5432] `ports` opens 5432 on no host (`ports` is about the hosts that are written as a name alone; write `"tcp://HOST:5432"` in `hosts`)
    9:13 ['http'] the server `b` has no `port` (say on which port it listens inside: `port = 8080`)
    12:8 [80] `port` is for a server that listens inside its cell (add `transport = "http"`, or remove it)
    15:13 ['htp'] unknown value `htp` (did you mean `http`?)
    16:8 [70000] `port` is for a server that listens inside its cell (add `transport = "http"`, or remove it)
    "##);
}

#[test]
fn a_project_cannot_say_where_names_lead() {
    assert_snapshot!(complaints(
        "[upstreams.'x.example']\naddress = '10.0.0.1:443'\n[egress]\nupstream_proxy = 'http://x:1'\n[allow]\na = ['x']\n"
    ), @r##"
    1:2 [upstreams] `upstreams` is said by the operator's file alone (where a name leads is not for a project to say, else it could lead into your network: put it into `config.toml`)
    3:2 [egress] `egress` is said by the operator's file alone (where a name leads is not for a project to say, else it could lead into your network: put it into `config.toml`)
    5:2 [allow] `allow` is said by the operator's file alone (in a project, each server's table has its own `hosts`)
    "##);
}

#[test]
fn rules_are_judged_by_whoever_knows_them_and_told_with_their_place() {
    let text = b"[servers.a]\ncommand = ['x']\nhosts = ['good', 'evil']\n";
    let problems = Project::resolve_with("fumehood.toml", text, &place(), &OnlyGood).unwrap_err();
    assert_snapshot!(problems.to_string(), @r##"
    error: `evil` is bad
     --> fumehood.toml:3:18
      |
    3 | hosts = ['good', 'evil']
      |                  ^^^^^^
      = help: be good
    "##);
    let text = b"[upstreams.evil]\naddress = 'x'\n[egress]\nupstream_proxy = 'bad'\n[allow]\na = ['worse']\n";
    let problems = Operator::resolve_with("config.toml", text, None, &OnlyGood).unwrap_err();
    assert_snapshot!(listed(problems), @r##"
    2:11 ['x'] `evil` is bad (be good)
    4:18 ['bad'] `bad` is bad (be good)
    6:6 ['worse'] `worse` is bad (be good)
    "##);
    let hosts = ["good".to_owned(), "ugly".to_owned()];
    let texts = FlagTexts { hosts: &hosts, ..FlagTexts::default() };
    let errors = Flags::parse_with(&texts, &place(), &OnlyGood).unwrap_err();
    assert_snapshot!(errors.to_string(), @r##"
    `--host ugly`: `ugly` is bad
      help: be good
    "##);
}

#[test]
fn the_operators_way_out() {
    let operator = operator(
        "[upstreams.'ghe.corp']\naddress = '10.1.2.3:443'\nloopback = true\nca = '~/ca.pem'\n\
         [egress]\nupstream_proxy = 'http://proxy.corp:3128'\nproxy_resolves = true\nextra_roots = ['/etc/corp.pem']\n",
    );
    let upstream = &operator.upstreams()["ghe.corp"];
    assert_eq!((upstream.address.as_str(), upstream.loopback), ("10.1.2.3:443", true));
    assert_eq!(upstream.ca.as_deref(), Some(Path::new("/home/ann/ca.pem")));
    let egress = operator.egress();
    assert_eq!(egress.upstream_proxy.as_deref(), Some("http://proxy.corp:3128"));
    assert_eq!(egress.extra_roots, [Path::new("/etc/corp.pem")]);
    assert!(egress.proxy_resolves);
    assert_snapshot!(operator_complaints(
        "[upstreams.x]\nloopback = true\n[egress]\nextra_roots = ['here.pem']\n[allow]\n'-x' = ['y']\n"
    ), @r##"
    1:12 [x] the upstream `x` has no `address` (write `address = "10.1.2.3:443"`)
    4:16 ['here.pem'] `here.pem` is a relative path (write the absolute path, or one that begins with `~/`)
    6:1 ['-x'] `-x` is not a server name (use 1 to 64 letters, digits, `.`, `_` or `-`, beginning with a letter or digit)
    "##);
}

#[test]
fn hosts_of_the_operators_list_go_to_servers_that_no_project_declares() {
    let operator = operator(
        "[allow]\na = ['allowed.example']\nb = ['allowed.example']\n[servers.b]\ncommand = ['x']\nhosts = ['own.example']",
    );
    let project = project("[servers.a]\ncommand = ['x']\nhosts = ['own.example']");
    let command = || vec!["x".to_owned()];
    let flags = typed(&["typed.example"]);
    let declared = Plan::server("a", Some(&project), &operator, &flags).unwrap();
    assert_eq!(declared.hosts(), ["own.example", "typed.example"]);
    let operators = Plan::server("b", Some(&project), &operator, &flags).unwrap();
    assert_eq!(operators.hosts(), ["own.example", "allowed.example", "typed.example"]);
    let undeclared = Plan::command(&name("a"), command(), &operator, &flags).unwrap();
    assert_eq!(undeclared.hosts(), ["allowed.example", "typed.example"]);
    let code = Plan::code(&name("a"), command(), &operator, &flags).unwrap();
    assert_eq!(code.hosts(), ["typed.example"]);
}

#[test]
fn a_server_that_listens_inside() {
    let project = project("[servers.a]\ncommand = ['x']\ntransport = 'http'\nport = 8080\nproxy_env = true");
    let plan = Plan::server("a", Some(&project), &Operator::default(), &Flags::default()).unwrap();
    assert_eq!(plan.transport(), Transport::Http { port: 8080.try_into().unwrap() });
    assert!(plan.proxy_env());
}

#[test]
fn a_table_of_hosts_becomes_a_rule_for_each_path() {
    assert_eq!(
        hosts(
            "hosts.'api.github.com' = { methods = ['post', 'GET'], paths = ['/repos/acme/*', '/user'] }\n\
             hosts.'a.example' = {}\n\
             hosts.'b.example:8443' = { inspect = 'always' }\n\
             hosts.'https://c.example' = { paths = ['/'] }\n\
             hosts.'*.d.example' = { methods = ['HEAD'] }\n\
             hosts.'e.example' = [{ methods = ['GET'] }, { methods = ['PUT'], paths = ['/a', '/b'] }, {}]\n\
             ports = [5432]"
        ),
        [
            "HEAD *.d.example",
            "a.example",
            "POST,GET api.github.com/repos/acme/*",
            "POST,GET api.github.com/user",
            "* b.example:8443",
            "GET e.example",
            "PUT e.example/a",
            "PUT e.example/b",
            "e.example",
            "* https://c.example/",
            "tcp://a.example:5432",
            "tcp://api.github.com:5432",
            "tcp://e.example:5432",
        ]
    );
    assert_eq!(
        hosts(
            "hosts = ['GET,HEAD https://a.example/v1/*', '* b.example', 'c.example/x', 'd.example']\nports = [22]"
        ),
        ["GET,HEAD https://a.example/v1/*", "* b.example", "c.example/x", "d.example", "tcp://d.example:22"]
    );
}

#[test]
fn all_that_is_wrong_in_a_table_of_hosts_is_told_at_its_place() {
    assert_snapshot!(complaints(
        "[servers.a]\ncommand = ['x']\n[servers.a.hosts]\n\
        'a.example' = { methods = ['TRACE', 'GET', ''], paths = ['a', '/b', '/c?d'] }\n\
        'b.example' = { methods = [] }\n\
        'GET c.example' = {}\n\
        'd.example/v1' = { methods = ['GET'] }\n\
        'e.example' = { inspect = 'never' }\n\
        'f.example' = { path = '/x' }\n\
        'g.example' = []\n'h.example' = [{ methods = ['A B'] }, { paths = [] }]\n'i.example' = 7\n"
    ), @r##"
    4:28 ['TRACE'] `TRACE` is not a method such as `GET` or `POST`; `TRACE` and `CONNECT` are never passed on
    4:44 [''] `` is not a method such as `GET` or `POST`; `TRACE` and `CONNECT` are never passed on
    4:58 ['a'] `a` is not a pattern of paths such as `/repos/acme/*`: it does not begin with `/` (a `*` at the end is everything below, as in `/repos/acme/*`)
    4:69 ['/c?d'] `/c?d` is not a pattern of paths such as `/repos/acme/*`: it holds a blank, a control character, or one of `? # \ ; %` (a `*` at the end is everything below, as in `/repos/acme/*`)
    5:27 [[]] `methods` is empty (leave it out if any may be asked for)
    6:1 ['GET c.example'] a host of a table is written without methods and path (write `"api.example.com" = { methods = ["GET"], paths = ["/v1/*"] }`)
    7:1 ['d.example/v1'] a host of a table is written without methods and path (write `"api.example.com" = { methods = ["GET"], paths = ["/v1/*"] }`)
    8:27 ['never'] unknown value `never` (known here: `always`)
    9:17 [path] unknown key `path` (did you mean `paths`?)
    10:1 ['g.example'] the host has an empty list of requests (write `{}` for any request)
    11:29 ['A B'] `A B` is not a method such as `GET` or `POST`; `TRACE` and `CONNECT` are never passed on
    11:49 [[]] `paths` is empty (leave it out if any may be asked for)
    12:15 [7] expected a table such as `{ methods = ["GET"], paths = ["/v1/*"] }`, or a list of such tables, found the number `7`
    "##);
}
