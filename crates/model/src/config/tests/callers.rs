//! Whose tokens count, keys, peers and roles.

use insta::assert_snapshot;
use serde_json::json;

use super::*;
use crate::digest::Digest;
use crate::name::ServerName;

const ROLES: &str = "[roles.support]\ntools = ['orders/get_*']\n[roles.admin]\ntools = ['*']\n";

#[test]
fn an_issuer_with_no_more_than_its_name_is_judged_strictly() {
    let operator =
        operator("[identity.corp]\nissuer = 'https://idp.example.com/realms/a'\naudience = ['x']\n");
    let corp = &operator.identities()["corp"];
    assert_eq!((corp.issuer(), corp.audience()), ("https://idp.example.com/realms/a", &["x".to_owned()][..]));
    assert_eq!(corp.keys(), &KeySource::Discovery);
    let algorithms: Vec<&str> = corp.algorithms().iter().map(|algorithm| algorithm.as_str()).collect();
    assert_eq!(algorithms, ["RS256", "PS256", "ES256", "EdDSA"]);
    let paths = corp.claims();
    let shown = [&paths.subject, &paths.roles, &paths.scope].map(ToString::to_string);
    assert_eq!((shown, paths.tenant.as_ref()), (["sub", "roles", "scope"].map(str::to_owned), None));
    assert!(!corp.require_tenant() && corp.roles().is_none() && corp.leeway().is_zero());
    assert!(corp.extra_root().is_none());
    for (typ, is_taken) in [
        (None, true),
        (Some("JWT"), true),
        (Some("at+jwt"), true),
        (Some("application/AT+JWT"), true),
        (Some("id+jwt"), false),
        (Some("logout+jwt"), false),
        (Some(""), false),
    ] {
        assert_eq!(corp.takes_type(typ), is_taken, "{typ:?}");
    }
}

#[test]
fn everything_of_an_issuer_can_be_said() {
    let operator = operator(&format!(
        "{ROLES}[identity.corp]\nissuer = 'http://127.0.0.1:9'\naudience = ['a', 'b']\nkeys = '~/jwks.json'\n\
         algorithms = ['ES384']\nclaims.subject = 'oid'\nclaims.tenant = '\"https://acme.example/tid\".id'\n\
         claims.roles = 'realm_access.roles'\nleeway = '30s'\ntoken_types = ['application/at+jwt']\n\
         extra_root = '/etc/ca.pem'\nroles.corp-admins = ['admin', 'support']\n\
         [identity.other]\nissuer = 'https://o.example'\naudience = ['a']\nkeys = 'https://o.example/jwks.json'\n\
         claims.tenant = 'tid'\nrequire_tenant = false\n",
    ));
    let corp = &operator.identities()["corp"];
    assert_eq!(corp.keys(), &KeySource::File("/home/ann/jwks.json".into()));
    assert_eq!(corp.algorithms().iter().copied().collect::<Vec<_>>(), [Algorithm::Es384]);
    let claims =
        json!({"https://acme.example/tid": {"id": "t1"}, "realm_access": {"roles": ["corp-admins"]}});
    assert_eq!(corp.claims().tenant.as_ref().unwrap().find(&claims), Some(&json!("t1")));
    assert_eq!(corp.claims().roles.find(&claims), Some(&json!(["corp-admins"])));
    assert!(corp.require_tenant());
    let held: Vec<&str> = corp.roles().unwrap()["corp-admins"].iter().map(RoleName::as_str).collect();
    assert_eq!(held, ["admin", "support"]);
    assert!(corp.takes_type(Some("at+jwt")) && !corp.takes_type(None) && !corp.takes_type(Some("JWT")));
    assert_eq!(
        (corp.leeway().as_secs(), corp.extra_root().unwrap().as_path()),
        (30, Path::new("/etc/ca.pem"))
    );
    let other = &operator.identities()["other"];
    assert_eq!(other.keys(), &KeySource::Url("https://o.example/jwks.json".to_owned()));
    assert!(!other.require_tenant());
}

#[test]
fn everything_that_is_wrong_with_an_issuer_is_told() {
    assert_snapshot!(operator_complaints(&format!(
        "{ROLES}[identity.a]\naudience = ['x']\n\
         [identity.b]\nissuer = 'http://idp.example.com'\naudience = []\nalgorithms = ['HS256', 'none', 'eddsa', 'RS265']\n\
         [identity.c]\nissuer = 'https://idp.example.com?x'\naudience = [' ']\nkeys = 'jwks.json'\nalgorithms = []\n\
         claims.subject = 'a..b'\nclaims.email = 'x'\n\
         [identity.d]\nissuer = 'https://d.example'\n\
         [identity.e]\nissuer = 'https://e.example'\naudience = ['x']\nkeys = 'http://e.example/jwks'\nrequire_tenant = true\n\
         leeway = '10m'\ntoken_types = ['a b']\nextra_root = 'ca.pem'\nroles.x = ['suport', 'none-such']\n\
         [identity.f]\nissuer = 'https://e.example'\naudience = ['x']\ntoken_types = []\n\
         [identity.'-g']\nissuer = 'https://g.example'\naudience = ['x']\n",
    )), @r#"
    5:11 [a] the identity provider `a` has no `issuer` (write `issuer = "https://idp.example.com"`, as its tokens say it in `iss`)
    8:10 ['http://idp.example.com'] `http://idp.example.com` is not encrypted (write `https://`; `http://` is for this machine alone)
    9:12 [[]] tokens for nobody would count (write what `aud` of a token for this service says, most often its URL)
    10:15 ['HS256'] `HS256` is not taken (whoever can check such a token can make one: let the issuer sign with RS256, ES256 or EdDSA)
    10:24 ['none'] `none` is no signature (anybody could write such a token: remove it)
    10:32 ['eddsa'] `eddsa` is not a signature that is known (write `EdDSA`)
    10:41 ['RS265'] `RS265` is not a signature that is known (known are `RS256`, `RS384`, `RS512`, `PS256`, `PS384`, `PS512`, `ES256`, `ES384`, `EdDSA`)
    12:10 ['https://idp.example.com?x'] `https://idp.example.com?x` is not an issuer (an issuer's URL has no query)
    13:13 [' '] this is no audience (write what `aud` of a token for this service says, most often its URL)
    14:8 ['jwks.json'] `jwks.json` is not where keys are (write `discovery`, `https://HOST/jwks.json`, or the path of a file)
    15:14 [[]] no signature would count (name one, or remove the key)
    16:18 ['a..b'] `a..b` names no claim (write names with dots between them, such as `realm_access.roles`; a name that has dots stands in double quotes)
    17:8 [email] unknown key `email` (known here: `subject`, `tenant`, `roles`, `scope`)
    18:11 [d] tokens of `d` would count whomever they are for (add `audience = ["…"]`, or the `url` of `[serve]`)
    23:8 ['http://e.example/jwks'] `http://e.example/jwks` is not encrypted (write `https://`; `http://` is for this machine alone)
    24:18 [true] no claim says the tenant (add the claim that has it, such as `claims.tenant = "tid"`)
    25:10 ['10m'] `leeway` cannot be 10m (from 0s to 5m)
    26:16 ['a b'] `a b` is not a type of a token (write `at+jwt`, or what the issuer's tokens have as `typ`)
    27:14 ['ca.pem'] `ca.pem` is a relative path (write the absolute path, or one that begins with `~/`)
    28:12 ['suport'] no role is called `suport` (did you mean `support`?)
    28:22 ['none-such'] no role is called `none-such` (declared are `admin`, `support`)
    30:10 ['https://e.example'] `https://e.example` is the issuer of `e` as well (keep one of the two: a token has one issuer)
    32:15 [[]] no token would count (name a type such as `at+jwt`, or remove the key)
    33:11 ['-g'] `-g` is not a name of an identity provider (use 1 to 64 letters, digits, `.`, `_` or `-`, beginning with a letter or digit)
    "#);
}

#[test]
fn keys_and_peers_have_the_roles_that_are_said_and_no_others() {
    let key = Digest::of(b"fh_key").hex();
    let operator = operator(&format!(
        "{ROLES}[keys.ci]\nsha256 = '{key}'\nroles = ['support']\nserver = 'weather'\ntenant = 't1'\n\
         [keys.bare]\nsha256 = '{}'\n[peers.alice]\nuid = 1000\nsubject = 'alice@example.com'\nroles = ['admin']\n",
        "0".repeat(64)
    ));
    let ci = &operator.keys()["ci"];
    assert_eq!((ci.name(), ci.subject(), ci.tenant()), ("ci", "ci", Some("t1")));
    assert_eq!(
        (ci.digest(), ci.server()),
        (&Digest::of(b"fh_key"), Some(&ServerName::new("weather").unwrap()))
    );
    assert!(ci.roles().contains("support") && ci.roles().len() == 1);
    assert!(operator.keys()["bare"].roles().is_empty());
    let alice = &operator.peers()["alice"];
    assert_eq!(
        (alice.uid(), alice.subject(), alice.name(), alice.tenant()),
        (1000, "alice@example.com", "alice", None)
    );
}

#[test]
fn everything_that_is_wrong_with_keys_and_peers_is_told() {
    let key = Digest::of(b"fh_key").hex();
    assert_snapshot!(operator_complaints(&format!(
        "{ROLES}[keys.a]\nsubject = 'x'\n\
         [keys.b]\nsha256 = 'fh_theKeyItself'\nroles = ['supprt']\nserver = '../x'\n\
         [keys.c]\nsha256 = '{key}'\nsubject = ''\ntenant = \"a\\nb\"\n\
         [keys.d]\nsha256 = '{key}'\nkey = 'x'\n\
         [peers.a]\nroles = ['admin']\n\
         [peers.b]\nuid = 4294967295\n\
         [peers.c]\nuid = -1\n\
         [peers.d]\nuid = 7\n\
         [peers.e]\nuid = 7\nroles = ['root']\n\
         [peers.'a b']\nuid = 8\n",
    )).replace(&key, "KEY"), @r#"
    5:7 [a] the key `a` has no `sha256` (make a key: `fumehood serve --new-key a` prints what to write)
    8:10 ['fh_theKeyItself'] this is not the SHA-256 of a key (write its 64 lower-case hexadecimal digits; the key itself does not belong into a file)
    9:10 ['supprt'] no role is called `supprt` (did you mean `support`?)
    10:10 ['../x'] `../x` is not a server name (use 1 to 64 letters, digits, `.`, `_` or `-`, beginning with a letter or digit)
    13:11 [''] nobody is called that (use 1 to 256 bytes without control characters, and no blank at either end)
    14:10 ["a\nb"] nobody is called that (use 1 to 256 bytes without control characters, and no blank at either end)
    16:10 ['KEY'] this is the key `c` as well (make one for each caller: `fumehood serve --new-key NAME`)
    17:1 [key] unknown key `key` (known here: `sha256`, `subject`, `tenant`, `roles`, `server`)
    18:8 [a] the peer `a` has no `uid` (write the user's number, as `id -u NAME` tells it)
    21:7 [4294967295] `4294967295` is no user's number (write it as `id -u NAME` tells it)
    23:7 [-1] `-1` is no user's number (write it as `id -u NAME` tells it)
    27:7 [7] the user 7 is the peer `d` as well (keep one of the two, with the roles of both)
    28:10 ['root'] no role is called `root` (declared are `admin`, `support`)
    29:8 ['a b'] `a b` is not a name of a peer (use 1 to 64 letters, digits, `.`, `_` or `-`, beginning with a letter or digit)
    "#);
    assert_snapshot!(operator_complaints("[peers.a]\nuid = 1\nroles = ['admin']\n"), @r"3:10 ['admin'] no role is called `admin` (declare it: `[roles.admin]` with the `tools` it may call)");
}

#[test]
fn a_key_in_the_place_of_its_digest_is_shown_to_nobody() {
    let key = "fh_AVSqveuPIb-YxnyFZN8BMfkyi7VIxxNJCPmARpgDtlE";
    for line in
        ["sha256 = 'KEY'", "key = 'KEY'", "subject = \"KEY\\n\"", "roles = ['KEY', 'fh_short']", "KEY = 1"]
    {
        let text = format!("[keys.ci]\n{}\n", line.replace("KEY", key));
        let problems = Operator::resolve("config.toml", text.as_bytes(), None).unwrap_err();
        let told = format!("{problems}\n{}", serde_json::to_string(&problems).unwrap());
        assert!(!told.contains("AVSqveuPIb") && told.contains("fh_*****"), "{told}");
        assert_eq!(told.contains("fh_short"), line.contains("fh_short"), "{told}");
    }
}

#[test]
fn a_role_names_what_it_may_use() {
    let operator = operator(
        "[roles.support]\ntools = ['orders/get_order', 'crm/*']\nprompts = ['crm/greet']\n\
         resources = ['docs/file:///public/']\n[roles.\"Corp Admins\"]\ntools = ['*']\n[roles.nothing]\n",
    );
    let server = |name: &str| ServerName::new(name).unwrap();
    let support = &operator.roles()["support"];
    let covers = |patterns: &[Pattern], name: &str, what: &str| {
        patterns.iter().any(|pattern| pattern.covers(&server(name), what))
    };
    assert!(covers(support.tools(), "orders", "get_order") && covers(support.tools(), "crm", "x"));
    assert!(!covers(support.tools(), "orders", "get_orders") && !covers(support.tools(), "crm2", "x"));
    assert!(covers(support.prompts(), "crm", "greet") && !covers(support.prompts(), "crm", "greet2"));
    assert!(covers(support.resources(), "docs", "file:///public/a"));
    assert!(!covers(support.resources(), "docs", "file:///private/a"));
    assert!(covers(operator.roles()["Corp Admins"].tools(), "any", "thing"));
    assert!(operator.roles()["Corp Admins"].prompts().is_empty());
    assert_eq!(operator.roles()["nothing"], Role::default());
    assert_snapshot!(operator_complaints(
        "[roles.a]\ntools = ['orders', 'orders/', '/x', '**', 'a b/x', 'a/**', 7]\nprompt = ['x/*']\n\
         [roles.' b']\nresources = ['docs']\n",
    ), @r"
    2:10 ['orders'] `orders` is not a pattern of names: there is no `/` in it (write `SERVER/NAME`, `SERVER/*`, `SERVER/get_*`, or `*` for everything)
    2:20 ['orders/'] `orders/` is not a pattern of names: nothing stands behind the `/` (write `SERVER/NAME`, `SERVER/*`, `SERVER/get_*`, or `*` for everything)
    2:31 ['/x'] `/x` is not a pattern of names: what stands before the `/` cannot be a server's name (write `SERVER/NAME`, `SERVER/*`, `SERVER/get_*`, or `*` for everything)
    2:37 ['**'] `**` is not a pattern of names: there is no `/` in it (write `SERVER/NAME`, `SERVER/*`, `SERVER/get_*`, or `*` for everything)
    2:43 ['a b/x'] `a b/x` is not a pattern of names: what stands before the `/` cannot be a server's name (write `SERVER/NAME`, `SERVER/*`, `SERVER/get_*`, or `*` for everything)
    2:52 ['a/**'] `a/**` is not a pattern of names: one `*` stands for any number of characters (write `SERVER/NAME`, `SERVER/*`, `SERVER/get_*`, or `*` for everything)
    2:60 [7] expected a string, found the number `7`
    3:1 [prompt] unknown key `prompt` (did you mean `prompts`?)
    4:8 [' b'] ` b` is not a role's name (use 1 to 128 bytes without control characters, and no blank at either end)
    5:14 ['docs'] `docs` is not a pattern of names: there is no `/` in it (write `SERVER/NAME`, `SERVER/*`, `SERVER/get_*`, or `*` for everything)
    ");
}
