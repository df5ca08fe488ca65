//! What holds for calls of tools, whose cell a server runs in, and what of it a project may say.

use insta::assert_snapshot;
use serde_json::json;

use super::*;
use crate::secret::{Per, SecretUse};
use crate::tier::Tier;

fn plan(server: &str) -> Plan {
    let project = project(&format!("[servers.a]\ncommand = ['x']\n{server}"));
    Plan::server("a", Some(&project), &Operator::default(), &Flags::default()).unwrap()
}

#[test]
fn without_a_word_a_tool_changes_something_and_all_callers_have_one_cell() {
    let plan = plan("");
    assert!(plan.tools().is_empty() && !plan.is_pass_through());
    assert_eq!((plan.cell(), ToolRule::default().tier()), (&Whose::Server, Tier::Two));
}

#[test]
fn everything_of_a_tool_can_be_said() {
    let plan = plan(
        "cell = 'user'\nsecrets.TOKEN = { name = 'T', per = 'user' }\nsecrets.OTHER = 'O'\nsecrets.THIRD = { name = 'X' }\n\
         [servers.a.tools.get_order]\ntier = 1\nbind.user_id = 'claims.sub'\nbind.tenant_id = 'tenant'\nbind.iss = 'issuer'\n\
         bind.who = 'subject'\ndefaults.limit = 20\ndefaults.deep = { a = [1.5, true, 'x'] }\nmax_bytes = '64 KiB'\n\
         concurrency = 4\nrate = '60/m'\ntime = '30s'\n[servers.a.tools.\"x.y/z\"]\ntier = 3\n",
    );
    let rule = &plan.tools()["get_order"];
    let bind: Vec<String> = rule.bind().iter().map(|(name, from)| format!("{name}={from}")).collect();
    assert_eq!(bind, ["iss=issuer", "tenant_id=tenant", "user_id=claims.sub", "who=subject"]);
    assert_eq!(rule.defaults()["limit"], json!(20));
    assert_eq!(rule.defaults()["deep"], json!({"a": [1.5, true, "x"]}));
    assert_eq!((rule.tier(), rule.max_bytes()), (Tier::One, Some(64 << 10)));
    assert_eq!(rule.concurrency().map(std::num::NonZeroU32::get), Some(4));
    let rate = rule.rate().unwrap();
    assert_eq!((rate.count.get(), rate.per.as_secs(), rate.to_string().as_str()), (60, 60, "60/m"));
    assert_eq!(rule.time().map(|time| time.as_secs()), Some(30));
    assert_eq!((plan.tools()["x.y/z"].tier(), plan.cell()), (Tier::Three, &Whose::User));
    let whose = |one: &SecretUse| (one.variable.clone(), one.name.to_string(), one.per);
    assert_eq!(
        plan.secrets().iter().map(whose).collect::<Vec<_>>(),
        [
            ("OTHER".to_owned(), "O".to_owned(), Per::Everyone),
            ("THIRD".to_owned(), "X".to_owned(), Per::Everyone),
            ("TOKEN".to_owned(), "T".to_owned(), Per::User),
        ]
    );
}

#[test]
fn a_cell_has_an_owner() {
    assert_eq!(plan("cell = 'server'").cell(), &Whose::Server);
    let group = plan("cell = 'group:support.emea'");
    assert_eq!(group.cell().to_string(), "group:support.emea");
    let operators = operator(
        "[servers.a]\ncommand = ['x']\nprofile = 'pass-through'\n[servers.b]\ncommand = ['x']\nprofile = 'guarded'",
    );
    let of = |name| Plan::server(name, None, &operators, &Flags::default()).unwrap().is_pass_through();
    assert!(of("a") && !of("b"));
}

#[test]
fn everything_that_is_wrong_with_a_tool_is_told() {
    assert_snapshot!(complaints(
        "[servers.a]\ncommand = ['x']\ncell = 'everyone'\n\
         [servers.a.tools.t]\ntier = 4\nbind.x = 'claims.'\nbind.y = 'user'\nbind.z = 'claims.sub'\ndefaults.z = 1\ndefaults.n = nan\n\
         defaults.d = 1979-05-27\nmax_bytes = 1\nconcurrency = 0\nrate = '60 per minute'\ntime = '1ms'\nretries = 3\n\
         [servers.a.tools.u]\nrate = '0/s'\nconcurrency = 100000\ntier = '1'\n\
         [servers.a.tools.'']\ntier = 1\n\
         [servers.b]\ncommand = ['x']\ncell = 'group:'\nsecrets.T = { name = 'T', per = 'user' }\n\
         [servers.c]\ncommand = ['x']\nsecrets.T = { name = 'T', per = 'group' }\nsecrets.U = 7\nsecrets.V = { per = 'user' }\n",
    ), @r#"
    3:8 ['everyone'] `everyone` says of nobody whose cell it is (write `server`, `user` or `group:NAME`)
    5:8 [4] `4` is not a tier (write 1 where it only reads, 2 where it changes something, 3 where a person is asked before)
    6:10 ['claims.'] `` names no claim (write names with dots between them, such as `realm_access.roles`; a name that has dots stands in double quotes)
    7:10 ['user'] `user` is nothing that is known of a caller (write `subject`, `tenant`, `issuer`, or `claims.NAME` for a claim of the token)
    9:10 [z] `z` is bound and has a default (a bound parameter always has a value: remove the default)
    10:14 [nan] JSON has no such number (write a finite one)
    11:14 [1979-05-27] expected any valid JSON value, found a date
    12:13 [1] `max_bytes` cannot be 1 B (from 2 B to 64 MiB)
    13:15 [0] this is no number of calls (write 1 to 10000)
    14:8 ['60 per minute'] `60 per minute` is not a rate (write a number up to 1000000 and a unit, `60/m`: s, m, h or d)
    15:8 ['1ms'] `time` cannot be 1ms (from 10ms to 1d)
    16:1 [retries] unknown key `retries` (known here: `tier`, `bind`, `defaults`, `max_bytes`, `concurrency`, `rate`, `time`)
    18:8 ['0/s'] `0/s` is not a rate (write a number up to 1000000 and a unit, `60/m`: s, m, h or d)
    19:15 [100000] this is no number of calls (write 1 to 10000)
    20:8 ['1'] expected a whole number, found a string
    21:18 [''] `` is not a name of a tool (use 1 to 256 bytes without control characters)
    25:8 ['group:'] `group:` says of nobody whose cell it is (write `server`, `user` or `group:NAME`)
    26:33 ['user'] `T` would be in a cell that others use too (a value of each caller's own needs `cell = "user"`)
    29:33 ['group'] unknown value `group` (known here: `user`)
    30:13 [7] expected a secret's name, or a table with `name` and `per`, found the number `7`
    31:13 [{ per = 'user' }] the key `name` is missing
    "#);
}
