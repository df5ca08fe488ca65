//! How the service is reached, and the record.

use insta::assert_snapshot;

use super::*;

#[test]
fn without_a_word_it_is_reached_from_this_machine_alone() {
    let serve = operator("").serve().clone();
    assert_eq!(serve, Serve::default());
    assert!(serve.listen().ip().is_loopback() && serve.listen().port() == Serve::PORT);
    assert!(serve.hosts().is_empty() && serve.origins().is_empty() && serve.url().is_none());
    assert!(serve.idle_freeze() < serve.idle_stop());
    assert_eq!(operator("").audit(), &AuditSettings::default());
}

#[test]
fn what_is_written_is_kept() {
    let operator = operator(
        "[serve]\nlisten = '0.0.0.0:8443'\nurl = 'https://MCP.example.com/base'\nhosts = ['b.example:81', 'A.example']\n\
         origins = ['https://App.example.com:8443']\nmax_body = '1 MiB'\ndrain = '0s'\nidle_freeze = '90s'\nidle_stop = '2h'\n\
         max_sessions = 7\n[identity.corp]\nissuer = 'https://idp.example.com'\n\
         [audit]\ncheckpoints = '~/checkpoints'\nbodies = true\n",
    );
    let serve = operator.serve();
    assert_eq!(serve.listen().to_string(), "0.0.0.0:8443");
    assert_eq!(serve.url(), Some("https://MCP.example.com/base"));
    assert_eq!(serve.hosts(), ["a.example", "b.example:81", "mcp.example.com"]);
    assert_eq!(serve.origins(), ["https://app.example.com:8443"]);
    assert_eq!((serve.max_body(), serve.max_sessions()), (1 << 20, 7));
    let seconds = [serve.drain(), serve.idle_freeze(), serve.idle_stop()].map(|time| time.as_secs());
    assert_eq!(seconds, [0, 90, 7200]);
    assert_eq!(operator.audit().checkpoints().unwrap(), Path::new("/home/ann/checkpoints"));
    assert!(operator.audit().bodies());
    assert_eq!(operator.identities()["corp"].audience(), ["https://MCP.example.com/base"]);
}

#[test]
fn everything_that_is_wrong_with_the_service_is_told() {
    assert_snapshot!(operator_complaints(
        "[serve]\nlisten = 'localhost:8300'\nurl = 'http://mcp.example.com'\nhosts = ['*.example.com', 'a b', '']\n\
         origins = ['*', 'null', 'https://a.example/', 'a.example']\nmax_body = '1 GiB'\ndrain = '1 hour'\n\
         idle_freeze = '0s'\nidle_stop = '60 d'\nmax_sessions = 0\nport = 1\n\
         [audit]\ncheckpoints = 'here'\nbodies = 'no'\n",
    ), @r"
    2:10 ['localhost:8300'] `localhost:8300` is not an address to listen on (write an IP address and a port: `127.0.0.1:8300`, `0.0.0.0:8300`, `[::1]:8300`)
    3:7 ['http://mcp.example.com'] `http://mcp.example.com` is not encrypted (write `https://`; `http://` is for this machine alone)
    4:10 ['*.example.com'] `*.example.com` is not what a `Host` header says (write `mcp.example.com` or `mcp.example.com:8443`; there are no wildcards)
    4:27 ['a b'] `a b` is not what a `Host` header says (write `mcp.example.com` or `mcp.example.com:8443`; there are no wildcards)
    4:34 [''] `` is not what a `Host` header says (write `mcp.example.com` or `mcp.example.com:8443`; there are no wildcards)
    5:12 ['*'] `*` is not an origin (write `https://app.example.com`, with a port where it has one, and nothing behind it; there are no wildcards)
    5:17 ['null'] `null` is not an origin (write `https://app.example.com`, with a port where it has one, and nothing behind it; there are no wildcards)
    5:25 ['https://a.example/'] `https://a.example/` is not an origin (write `https://app.example.com`, with a port where it has one, and nothing behind it; there are no wildcards)
    5:47 ['a.example'] `a.example` is not an origin (write `https://app.example.com`, with a port where it has one, and nothing behind it; there are no wildcards)
    6:12 ['1 GiB'] `max_body` cannot be 1 GiB (from 1 KiB to 64 MiB)
    7:9 ['1 hour'] `1 hour` is not a time (write a number and a unit: ms, s, m, h, d; for example `30s`; from 0s to 10m)
    8:15 ['0s'] `idle_freeze` cannot be 0s (from 1s to 30d)
    9:13 ['60 d'] `idle_stop` cannot be 60d (from 1s to 30d)
    10:16 [0] `max_sessions` cannot be 0 (from 1 to 100000)
    11:1 [port] unknown key `port` (known here: `listen`, `url`, `hosts`, `origins`, `max_body`, `drain`, `idle_freeze`, `idle_stop`, `max_sessions`)
    13:15 ['here'] `here` is a relative path (write the absolute path, or one that begins with `~/`)
    14:10 ['no'] expected `true` or `false`, found a string
    ");
    assert_snapshot!(operator_complaints("[serve]\nlisten = '0.0.0.0:1'\n"), @r"2:10 ['0.0.0.0:1'] `0.0.0.0:1` is reached from other machines (add an `[identity.NAME]` with an `issuer` and `url`, by which it is reached)");
    assert_snapshot!(
        operator_complaints("[serve]\nlisten = '[::]:1'\nurl = 'https://h.example/?x'\n[identity.a]\nissuer = 'https://i.example'"),
        @r#"
    3:7 ['https://h.example/?x'] `https://h.example/?x` has a query (write `https://HOST` or `https://HOST/PATH`)
    4:11 [a] tokens of `a` would count whomever they are for (add `audience = ["…"]`, or the `url` of `[serve]`)
    "#
    );
    assert_snapshot!(operator_complaints("[serve]\nidle_freeze = '1h'\n"), @r"2:15 ['1h'] a cell would be stopped before it is frozen (write an `idle_stop` that is longer than `idle_freeze`)");
    // Who has both may be reached by others; on loopback nothing is needed.
    operator("[serve]\nlisten = '127.0.0.2:0'\n");
    operator("[serve]\nlisten = '[::1]:1'\nurl = 'http://localhost:1'\n");
}

#[test]
fn a_project_lets_nobody_in() {
    assert_snapshot!(complaints(
        "[serve]\nlisten = '0.0.0.0:1'\n[identity.a]\nissuer = 'https://i.example'\n[keys.a]\n[peers.a]\nuid = 0\n\
         [roles.a]\ntools = ['*']\n[audit]\nbodies = true\n[servers.a]\ncommand = ['x']\nprofile = 'pass-through'\n",
    ), @r"
    1:2 [serve] `serve` is said by the operator's file alone (who may do what is not for a project to say, else whoever wrote it could let himself in: put it into `config.toml`)
    3:2 [identity] `identity` is said by the operator's file alone (who may do what is not for a project to say, else whoever wrote it could let himself in: put it into `config.toml`)
    5:2 [keys] `keys` is said by the operator's file alone (who may do what is not for a project to say, else whoever wrote it could let himself in: put it into `config.toml`)
    6:2 [peers] `peers` is said by the operator's file alone (who may do what is not for a project to say, else whoever wrote it could let himself in: put it into `config.toml`)
    8:2 [roles] `roles` is said by the operator's file alone (who may do what is not for a project to say, else whoever wrote it could let himself in: put it into `config.toml`)
    10:2 [audit] `audit` is said by the operator's file alone (who may do what is not for a project to say, else whoever wrote it could let himself in: put it into `config.toml`)
    14:11 ['pass-through'] `profile` is said by the operator's file alone (remove it, or declare the server in `config.toml`)
    ");
}
