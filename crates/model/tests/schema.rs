//! The checked-in JSON Schemas are the generated ones, and say about a file what the program says about it.
//! With `FUMEHOOD_BLESS=1` the files are written instead of compared.

use std::path::{Path, PathBuf};

use model::config::{LimitName, Operator, Place, Project, schema};
use serde_json::{Value, json};

fn place() -> Place<'static> {
    Place { folder: Path::new("/srv/app"), home: Some(Path::new("/home/ann")) }
}

#[test]
fn the_checked_in_schemas_are_the_generated_ones() {
    for (name, text) in [("fumehood", schema::project()), ("config", schema::operator())] {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../schema/{name}.schema.json"));
        if std::env::var_os("FUMEHOOD_BLESS").is_some_and(|bless| bless == "1") {
            std::fs::write(&path, &text).unwrap();
        }
        let there = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(there == text, "{} is stale: run this test with FUMEHOOD_BLESS=1", path.display());
    }
}

/// TOML samples: valid by the program and by the schema, or by neither. The program checks more than a schema can say
/// (paths, sizes), so what only it refuses is not among them.
#[test]
fn schema_and_program_agree() {
    let validator = jsonschema::validator_for(&json(&schema::project())).unwrap();
    let samples: &[(bool, &str)] = &[
        (true, ""),
        (true, "[servers.a]\ncommand = ['x']"),
        (
            true,
            "[limits]\nmemory = '1 GiB'\ncpu = 1\nrequire = ['pids', 'landlock']\n[servers.a]\ncommand = ['x', 'y']\n\
             env = { A_1 = 'b', PATH = '/usr/bin' }\nmounts = ['a', 'b:rw', { path = 'c', write = true }, { path = 'd' }]\n\
             data = true\nlimits = { cpu = 0.5, processes = 10, memory = 536870912, open_files = 64, file_size = '1KB', \
             scratch = '1.5MiB', scratch_files = 100 }"
                .trim_end(),
        ),
        (true, "[servers.a]\ncommand = ['x']\ndata = '10 MiB'"),
        (true, "[servers.a]\ncommand = ['x']\ndata = 10485760"),
        (true, "[servers.a]\ncommand = ['x']\ndata = { size = '10 MiB' }"),
        (true, "[servers.a]\ncommand = ['x']\ndata = {}"),
        (
            true,
            "[servers.a]\ncommand = ['x']\nhosts = ['a.example', 'tcp://b.example:1']\nports = [5432]\n\
             proxy_env = true\ntransport = 'http'\nport = 8080",
        ),
        (true, "[servers.a]\ncommand = ['x']\ntransport = 'stdio'"),
        (
            true,
            "[servers.a]\ncommand = ['x']\nhosts = ['GET,HEAD https://a.example/v1/*', '* b.example']",
        ),
        (
            true,
            "[servers.a]\ncommand = ['x']\nhosts.'a.example' = { methods = ['GET'], paths = ['/v1/*'] }\n\
             hosts.'b.example:1' = { inspect = 'always' }\nhosts.'tcp://c.example:1' = {}",
        ),
        (true, "[servers.a]\nsource = 'npx:x@1'\nargs = ['y']\nclient = 'plain'\nlists = 'keys'\nstart = 'lazy'\nallow_scripts = ['z']"),
        (true, "[servers.a]\nsource = 'https://a.example/mcp'\nheaders = { authorization = 'Bearer ${T}' }"),
        (false, "[servers.a]\nsource = 'https://a.example/mcp'\nheaders = { 'a b' = 'x' }"),
        (false, "[servers.a]\nsource = 'github:x'"),
        (false, "[servers.a]\ncommand = ['x']\nsource = 'npx:x'"),
        (false, "[servers.a]\ncommand = ['x']\nargs = ['y']"),
        (false, "[servers.a]\ncommand = ['x']\nclient = 'sampling'"),
        (false, "[servers.a]\ncommand = ['x']\nlists = 'online'"),
        (false, "[servers.a]\ncommand = ['x']\nstart = 'later'"),
        (false, "[servers.a]\ncommand = ['x']\nhosts = ['get a.example']"),
        (false, "[servers.a]\ncommand = ['x']\nhosts.'a.example' = { methods = [] }"),
        (false, "[servers.a]\ncommand = ['x']\nhosts.'a.example' = { paths = ['a'] }"),
        (false, "[servers.a]\ncommand = ['x']\nhosts.'a.example' = { inspect = 'never' }"),
        (false, "[servers.a]\ncommand = ['x']\nhosts.'a.example' = { method = ['GET'] }"),
        (false, "[servers.a]\ncommand = ['x']\nhosts.'a b' = {}"),
        (true, "[servers.a]\ncommand = ['x']\nhosts.'a.example' = [{ methods = ['GET'] }, { paths = ['/v1/*'] }, {}]"),
        (false, "[servers.a]\ncommand = ['x']\nhosts.'a.example' = []"),
        (false, "[servers.a]\ncommand = ['x']\nhosts.'a.example' = 'GET'"),
        (false, "[servers.a]\ncommand = ['x']\nhosts = ['a b']"),
        (false, "[servers.a]\ncommand = ['x']\nhosts = ['']"),
        (false, "[servers.a]\ncommand = ['x']\nhosts = 'a.example'"),
        (false, "[servers.a]\ncommand = ['x']\nhosts = ['a.example']\nports = [0]"),
        (false, "[servers.a]\ncommand = ['x']\ntransport = 'sse'"),
        (false, "[servers.a]\ncommand = ['x']\ntransport = 'http'\nport = 65536"),
        (false, "[upstreams.'a.example']\naddress = '10.0.0.1'"),
        (false, "[egress]\nproxy_resolves = true"),
        (
            true,
            "[servers.a]\ncommand = ['x']\ncell = 'user'\nsecrets.T = { name = 'T', per = 'user' }\nsecrets.U = 'U'\n\
             [servers.a.tools.t]\ntier = 1\nbind = { u = 'claims.sub', t = 'tenant' }\ndefaults = { a = 1, b = ['x'] }\n\
             max_bytes = '1 KiB'\nconcurrency = 1\nrate = '6/m'\ntime = '30 s'\n[servers.a.tools.'x.y']",
        ),
        (true, "[servers.a]\ncommand = ['x']\ncell = 'group:b'"),
        (false, "[servers.a]\ncommand = ['x']\ncell = 'group:'"),
        (false, "[servers.a]\ncommand = ['x']\nprofile = 'pass-through'"),
        (false, "[servers.a]\ncommand = ['x']\nsecrets.T = { per = 'user' }"),
        (false, "[servers.a]\ncommand = ['x']\nsecrets.T = { name = 'T', per = 'group' }"),
        (false, "[servers.a]\ncommand = ['x']\ntools.t.tier = 4"),
        (false, "[servers.a]\ncommand = ['x']\ntools.t.bind.x = 'user'"),
        (false, "[servers.a]\ncommand = ['x']\ntools.t.rate = '6 per minute'"),
        (false, "[servers.a]\ncommand = ['x']\ntools.t.time = '30'"),
        (false, "[servers.a]\ncommand = ['x']\ntools.t.retries = 1"),
        (false, "[servers.a]\ncommand = ['x']\ntools.'' = {}"),
        (false, "[roles.a]\ntools = ['*']"),
        (false, "[allow]\na = ['a.example']"),
        (false, "server = 1"),
        (false, "[servers.a]"),
        (false, "[servers.a]\ncommand = []"),
        (false, "[servers.a]\ncommand = 'x'"),
        (false, "[servers.a]\ncommand = ['x', 1]"),
        (false, "[servers.a]\ncommand = ['x']\ncomand = ['x']"),
        (false, "[servers.'-a']\ncommand = ['x']"),
        (false, "[servers.a]\ncommand = ['x']\nenv = { 'A-B' = 'x' }"),
        (false, "[servers.a]\ncommand = ['x']\nenv = { HOME = '/x' }"),
        (false, "[servers.a]\ncommand = ['x']\nenv = { A = 1 }"),
        (false, "[servers.a]\ncommand = ['x']\nmounts = 'a'"),
        (false, "[servers.a]\ncommand = ['x']\nmounts = ['']"),
        (false, "[servers.a]\ncommand = ['x']\nmounts = [{ write = true }]"),
        (false, "[servers.a]\ncommand = ['x']\nmounts = [{ path = 'a', writable = true }]"),
        (false, "[servers.a]\ncommand = ['x']\ndata = 'much'"),
        (false, "[servers.a]\ncommand = ['x']\ndata = { quota = 1 }"),
        (false, "[servers.a]\ncommand = ['x']\ndata = -1"),
        (false, "[limits]\ncpu = 0"),
        (false, "[limits]\ncpu = 'all'"),
        (false, "[limits]\nprocesses = 0"),
        (false, "[limits]\nmemory = '1 gib of it'"),
        (false, "[limits]\nrequire = ['seccomp']"),
        (false, "[maximum]\ncpu = 1"),
    ];
    for (valid, text) in samples {
        let value: Value = toml::from_str(text).unwrap();
        assert_eq!(validator.is_valid(&value), *valid, "the schema about\n{text}");
        let resolved = Project::resolve("fumehood.toml", text.as_bytes(), &place());
        // `file_size = '1KB'` is below the bound that only the program knows.
        if !text.contains("1KB") {
            assert_eq!(resolved.is_ok(), *valid, "the program about\n{text}\n{resolved:?}");
        }
    }
}

#[test]
fn the_operators_schema_knows_the_operators_tables() {
    let validator = jsonschema::validator_for(&json(&schema::operator())).unwrap();
    for (valid, text) in [
        (true, "[limits]\ncpu = 1\n[code.limits]\ncpu = 0.5\n[maximum]\nmemory = '4GiB'\ndata = '8GiB'"),
        (true, "[servers.a]\ncommand = ['x']\nmounts = ['~/notes', '/srv/x:rw']"),
        (true, "[upstreams.'ghe.corp']\naddress = '10.1.2.3:443'\nloopback = true\nca = '/etc/x.pem'"),
        (
            true,
            "[egress]\nupstream_proxy = 'http://p:1'\nproxy_resolves = true\nextra_roots = ['/etc/x.pem']",
        ),
        (true, "[allow]\na = ['a.example']"),
        (
            true,
            "[serve]\nlisten = '0.0.0.0:1'\nurl = 'https://h.example'\nhosts = ['a.example']\norigins = ['https://a.example']\n\
             max_body = 4096\ndrain = '0s'\nidle_freeze = '2m'\nidle_stop = '1h'\nmax_sessions = 1\n\
             [identity.a]\nissuer = 'https://i.example'\naudience = ['x']\nkeys = 'discovery'\nalgorithms = ['RS256']\n\
             claims = { subject = 'sub', tenant = 'tid', roles = 'a.b', scope = 'scope' }\nrequire_tenant = true\n\
             roles.x = ['a']\nleeway = '5s'\ntoken_types = ['at+jwt']\nextra_root = '/etc/x.pem'\n\
             [peers.a]\nuid = 0\nsubject = 's'\ntenant = 't'\nroles = ['a']\n\
             [roles.a]\ntools = ['*', 'a/*']\nprompts = ['a/b']\nresources = ['a/file:///x']\n\
             [audit]\ncheckpoints = '/srv/c'\nbodies = true\n[servers.a]\ncommand = ['x']\nprofile = 'pass-through'",
        ),
        (
            true,
            "[keys.a]\nsha256 = '0000000000000000000000000000000000000000000000000000000000000000'\nserver = 'b'\nsubject = 's'",
        ),
        (false, "[keys.a]\nsha256 = '00'"),
        (false, "[keys.a]\nsubject = 's'"),
        (false, "[peers.a]\nsubject = 's'"),
        (false, "[peers.a]\nuid = -1"),
        (false, "[identity.a]\naudience = ['x']"),
        (false, "[identity.a]\nissuer = 'https://i.example'\naudience = ['x']\nalgorithms = ['HS256']"),
        (false, "[identity.a]\nissuer = 'https://i.example'\naudience = []"),
        (false, "[serve]\nlisten = 8300"),
        (false, "[serve]\norigins = ['https://a.example/x']"),
        (false, "[roles.a]\ntools = ['orders']"),
        (false, "[roles.a]\ntools = '*'"),
        (false, "[audit]\nbodies = 1"),
        (false, "[servers.a]\ncommand = ['x']\nprofile = 'open'"),
        (false, "[upstreams.'ghe.corp']\nloopback = true"),
        (false, "[upstreams.'ghe.corp']\nadress = '10.1.2.3'"),
        (false, "[egress]\nproxy = 'http://p:1'"),
        (false, "[allow]\na = 'a.example'"),
        (false, "[allow]\na = ['']"),
        (false, "[maximum]\nrequire = ['memory']"),
        (false, "[code]\ncpu = 1"),
        (false, "[codes.limits]\ncpu = 1"),
    ] {
        let value: Value = toml::from_str(text).unwrap();
        assert_eq!(validator.is_valid(&value), valid, "the schema about\n{text}");
        assert_eq!(
            Operator::resolve("c", text.as_bytes(), place().home).is_ok(),
            valid,
            "the program about\n{text}"
        );
    }
}

#[test]
fn every_object_is_closed_and_described() {
    for text in [schema::project(), schema::operator()] {
        let schema = json(&text);
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert!(schema["title"].is_string());
        let mut closed = 0;
        visit(&schema, &mut |object| {
            if let Some(Value::Object(properties)) = object.get("properties") {
                assert_eq!(object["additionalProperties"], json!(false), "{object}");
                closed += 1;
                for (name, property) in properties {
                    assert!(property["description"].is_string(), "`{name}` has no description");
                }
            }
            assert_ne!(object.get("type"), Some(&json!("null")), "TOML has no null: {object}");
        });
        assert!(closed >= 4);
    }
}

#[test]
fn every_key_is_in_the_reference() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/configuration.md");
    let reference = std::fs::read_to_string(path).unwrap();
    let words: std::collections::HashSet<&str> =
        reference.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).collect();
    for text in [schema::project(), schema::operator()] {
        visit(&json(&text), &mut |object| {
            for name in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
                assert!(words.contains(name.0.as_str()), "`{}` is not in the reference", name.0);
            }
        });
    }
}

#[test]
fn the_schema_states_the_bounds_of_the_program() {
    let schema = json(&schema::project());
    for name in [LimitName::Processes, LimitName::OpenFiles, LimitName::ScratchFiles, LimitName::Cpu] {
        let scale = if name == LimitName::Cpu { 1000.0 } else { 1.0 };
        let property = &schema["$defs"]["Limits"]["properties"][name.as_str()];
        let bounds =
            [property["minimum"].as_f64().unwrap() * scale, property["maximum"].as_f64().unwrap() * scale];
        let expected = [name.bounds().start().to_string(), name.bounds().end().to_string()];
        assert_eq!(bounds.map(|bound| bound.to_string()), expected, "{name}");
    }
}

#[expect(clippy::unwrap_used, reason = "a schema that is no JSON fails the test")]
fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn visit(value: &Value, look: &mut impl FnMut(&Value)) {
    match value {
        Value::Object(members) => {
            look(value);
            members.values().for_each(|member| visit(member, look));
        }
        Value::Array(items) => items.iter().for_each(|item| visit(item, look)),
        _ => {}
    }
}
