//! Hosts that were allowed.

use testkit::world::Caller;

use crate::{
    origin::{Origin, PAGE},
    scene::{NAME, shell, world},
};

/// Each of the three as its users call it, none told of any proxy.
const CLIENTS: [(&str, &str); 3] = [
    ("curl", "curl -sS --max-time 10 http://origin.example/"),
    (
        "python3",
        "python3 -c 'import urllib.request as r; print(r.urlopen(\"http://origin.example/\", timeout=10).read().decode())'",
    ),
    (
        "node",
        "node -e 'fetch(\"http://origin.example/\").then(async a => { console.log(await a.text()); if (!a.ok) process.exit(1) }, e => { console.error(e.cause); process.exit(1) })'",
    ),
];

#[test]
fn an_allowed_host_is_reached_by_the_clients_people_use_and_only_where_it_is_allowed() {
    let origin = Origin::web("127.0.0.1:0");
    for caller in Caller::all() {
        let world = world(caller, &origin);
        for (program, line) in CLIENTS {
            let before = origin.visits();
            let ran = shell(&world, &["--host", "http://origin.example"], line);
            assert!(ran.code == Some(0) && ran.stdout.contains(PAGE), "{caller:?} {program}: {ran:?}");
            assert_eq!(origin.visits(), before + 1, "{program}");

            let ran = shell(&world, &["--name", "curious"], line);
            assert!(ran.code != Some(0) && !ran.stdout.contains(PAGE), "{caller:?} {program}: {ran:?}");
            let remedy = format!("`fumehood allow curious {NAME}`");
            assert!(ran.stderr.contains(&remedy) && ran.stderr.contains("FH-EGRESS-HOST"), "{ran:?}");
            assert_eq!(origin.visits(), before + 1, "{program}");
        }
    }
}

#[test]
fn another_port_of_an_allowed_host_is_closed() {
    let origin = Origin::web("127.0.0.1:0");
    let world = world(Caller::Root, &origin);
    let line = "curl -sS --max-time 10 http://origin.example:81/; echo code $?";
    let ran = shell(&world, &["--host", "http://origin.example"], line);
    assert!(ran.stdout.contains("code 7"), "{ran:?}");
    assert_eq!(origin.visits(), 0);
}

#[test]
fn a_proxy_inside_leads_to_the_same_hosts_and_no_others() {
    let origin = Origin::web("127.0.0.1:0");
    for caller in Caller::all() {
        let world = world(caller, &origin);
        world
            .make_file(
                "fumehood.toml",
                "[servers.asker]\ncommand = [\"sh\", \"-c\", \"env; curl -sS --max-time 10 http://origin.example/; \
                 curl -sS -o /dev/null -w 'other %{http_code}\\\\n' --max-time 10 http://other.example/\"]\n\
                 hosts = [\"http://origin.example\"]\nproxy_env = true\nlimits.require = []\n",
                0o644,
            )
            .unwrap();
        world.trust_project().unwrap();
        let mut command = world.product(None);
        command.args(["run", "--unreviewed", "-v", "asker"]);
        crate::scene::ended(&world, &mut command);
        let mut command = world.product(None);
        let log = crate::scene::ended(&world, command.args(["logs", "asker"])).stdout;
        assert!(log.contains(PAGE) && log.contains("other 403"), "{log}");
        assert!(log.contains("http_proxy=http://198.18."), "{log}");
    }
}
