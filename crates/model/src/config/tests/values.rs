//! What single values mean.

use std::collections::BTreeSet;
use std::path::PathBuf;

use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::limits::Requirement;
use crate::mount::Mount;

fn mounts(list: &str) -> Vec<(String, bool)> {
    let project = project(&format!("[servers.a]\ncommand = ['x']\nmounts = {list}"));
    shown(project.servers().values().next().unwrap().mounts())
}

fn shown(mounts: &[Mount]) -> Vec<(String, bool)> {
    mounts.iter().map(|mount| (mount.path.display().to_string(), mount.write)).collect()
}

fn mount_complaint(path: &str) -> String {
    complaints(&format!("[servers.a]\ncommand = ['x']\nmounts = ['{path}']"))
}

#[test]
fn a_whole_server_is_understood() {
    let project = project(
        "[servers.files]\ncommand = ['node', 'server.js', '']\nenv = { LANG = 'de_DE.UTF-8', _x9 = '' }\n\
         mounts = ['docs']\ndata = '10 MiB'\nlimits = { memory = '1 GiB', cpu = 1.5, processes = 64, open_files = 256, \
         file_size = 4096, scratch = '64KiB', scratch_files = 100, require = ['memory', 'processes'] }",
    );
    let server = &project.servers()[&crate::name::ServerName::new("files").unwrap()];
    let Start::Command(command) = server.start() else { panic!("a command") };
    assert_eq!(*command, ["node", "server.js", ""]);
    assert_eq!(server.env()["LANG"], EnvValue::Given("de_DE.UTF-8".to_owned()));
    assert_eq!(server.env()["_x9"], EnvValue::Given(String::new()));
    assert_eq!(server.data().unwrap().size(), Some(10 << 20));
    let limits: Vec<(LimitName, u64)> = server.limits().iter().collect();
    assert_eq!(
        limits,
        [
            (LimitName::Memory, 1 << 30),
            (LimitName::Cpu, 1500),
            (LimitName::Processes, 64),
            (LimitName::OpenFiles, 256),
            (LimitName::FileSize, 4096),
            (LimitName::Scratch, 65_536),
            (LimitName::ScratchFiles, 100),
        ]
    );
    assert_eq!(server.limits().require(), Some(&BTreeSet::from([Requirement::Memory, Requirement::Pids])));
}

#[test]
fn mounts_start_from_the_files_folder_and_are_sorted() {
    assert_eq!(
        mounts(
            "['z', 'a/./b/../c:rw', '/srv/app/m:ro', { path = 'a', write = false }, './q', 'with:colon', 'x:rw:ro']"
        ),
        [
            ("/srv/app/a".to_owned(), false),
            ("/srv/app/a/c".to_owned(), true),
            ("/srv/app/m".to_owned(), false),
            ("/srv/app/q".to_owned(), false),
            ("/srv/app/with:colon".to_owned(), false),
            ("/srv/app/x:rw".to_owned(), false),
            ("/srv/app/z".to_owned(), false),
        ]
    );
    assert_eq!(mounts("['.']"), [("/srv/app".to_owned(), false)]);
    assert_eq!(mounts("['']".replace("''", "'x/..'").as_str()), [("/srv/app".to_owned(), false)]);
}

#[test]
fn a_project_mounts_nothing_outside_its_folder() {
    assert_snapshot!(mount_complaint("../other"), @"3:11 ['../other'] `/srv/other` lies outside the project's folder (give it with `--mount` on the command line, or declare the server in the operator's file)");
    assert_snapshot!(mount_complaint("/srv/application"), @"3:11 ['/srv/application'] `/srv/application` lies outside the project's folder (give it with `--mount` on the command line, or declare the server in the operator's file)");
    assert_snapshot!(mount_complaint("a/../../../srv/app/../secret"), @"3:11 ['a/../../../srv/app/../secret'] `/srv/secret` lies outside the project's folder (give it with `--mount` on the command line, or declare the server in the operator's file)");
    assert_snapshot!(mount_complaint("~/notes"), @"3:11 ['~/notes'] `~` means somebody else's home on every machine (a project's file mounts folders of the project; for another one use `--mount` on the command line or the operator's file)");
    assert_snapshot!(mount_complaint("~bob/notes"), @"3:11 ['~bob/notes'] `~` for another user is not understood (write the absolute path, or `./~…` for a name that begins like that)");
}

#[test]
fn nobody_mounts_what_holds_the_keys() {
    let refused = |path: &str| flags(&[path], &[], None, &[]).unwrap_err().to_string();
    for path in [
        "/",
        "/..",
        "/run/docker.sock",
        "/var/run",
        "/proc/1",
        "/sys",
        "/dev/sda",
        "/home",
        "/home/ann",
        "~",
        "~/",
        "~/.",
        "/root",
        "/home/bob",
        "/tmp",
        "/etc",
        "/data",
    ] {
        assert!(refused(path).contains("--mount"), "{path}");
        assert!(refused(&format!("{path}:rw")).contains("--mount"), "{path}:rw");
    }
    let elsewhere = Place { folder: Path::new("/srv"), home: Some(Path::new("/srv/people/./ann")) };
    for path in ["/srv", "/srv/people", "/srv/people/ann", "people", "~"] {
        let mounts = [path.to_owned()];
        assert!(
            Flags::parse(&FlagTexts { mounts: &mounts, ..FlagTexts::default() }, &elsewhere).is_err(),
            "{path}"
        );
    }
    assert_snapshot!(refused("~/"), @"
        `--mount ~/`: `/home/ann` is a home folder, or holds one
          help: keys and histories lie there: mount the folder inside it that is needed
    ");
    assert_snapshot!(refused("/run/user/1000/bus:rw"), @"
        `--mount /run/user/1000/bus:rw`: nothing of `/run` is mounted
          help: it holds sockets, devices or other processes of the host
    ");
    assert_snapshot!(refused("/etc"), @"
        `--mount /etc`: the cell has a `/etc` of its own
          help: mount a folder below it, or another one
    ");
    for path in ["/home/ann/src", "~/src", "/tmp/x", "/data/x", "relative", "../up", "/root/x"] {
        assert!(flags(&[path], &[], None, &[]).is_ok(), "{path}");
    }
}

#[test]
fn the_operators_mounts_are_absolute_or_below_home() {
    let operator = operator("[servers.a]\ncommand = ['x']\nmounts = ['~/notes:rw', '/srv/x']");
    let server = operator.servers().values().next().unwrap();
    assert_eq!(shown(server.mounts()), [("/home/ann/notes".to_owned(), true), ("/srv/x".to_owned(), false)]);
    assert_snapshot!(operator_complaints("[servers.a]\ncommand = ['x']\nmounts = ['notes']"), @"3:11 ['notes'] `notes` is a relative path (write the absolute path, or one that begins with `~/`)");
    let homeless =
        Operator::resolve("c", b"[servers.a]\ncommand = ['x']\nmounts = ['~/x']", None).unwrap_err();
    assert_snapshot!(listed(homeless), @"3:11 ['~/x'] it is not known which folder `~` is (write the absolute path)");
}

#[test]
fn a_value_the_kernel_would_not_take_is_refused() {
    // 128 KiB hold the name, `=`, the value and a NUL.
    let of = |len: usize| flags(&[], &[&format!("A={}", "x".repeat(len))], None, &[]);
    assert!(of(131_072 - 3).is_ok());
    assert!(of(131_072 - 2).is_err());
    assert_snapshot!(complaints("[servers.a]\ncommand = ['x', \"a\\u0000b\"]\nenv.A = \"\\u0000\""), @r#"
        2:17 ["a\u0000b"] an argument cannot hold a NUL character (remove it)
        3:9 ["\u0000"] the value of `A` holds a NUL character (remove it)
    "#);
    assert_snapshot!(complaints("[servers.a]\ncommand = ['', 'x']"), @r#"2:11 [['', 'x']] the command has no program (name one, for example `["node", "server.js"]`)"#);
}

#[test]
fn flags_are_told_all_at_once_without_the_values_of_variables() {
    let errors = flags(
        &["/srv/x", "/srv/x:rw", "", "/srv/y:wr"],
        &["A=1", "A=2", "9A=geheim", "HOME=/x", "B C", "=v"],
        Some("../data"),
        &[
            "memory=1",
            "memry=1GiB",
            "cpu=0",
            "cpu=two",
            "cpu",
            "require=memory,seccomp",
            "processes=1.5",
            "open-files=64",
            "open_files=64",
            "bananas=1",
            "cpu=nan",
        ],
    )
    .unwrap_err();
    assert!(!errors.to_string().contains("geheim"));
    assert_snapshot!(errors.to_string(), @"
        `--mount /srv/x:rw`: `/srv/x` is mounted once read-only and once writable
          help: keep one of the two
        `--mount `: the path is empty
          help: name a folder or a file of the host
        `--mount /srv/y:wr`: `:wr` is no access
          help: end with `:ro` to read or `:rw` to write; a name that itself ends in `:wr` needs one of them behind it
        `--env A=…`: `A` is given twice
          help: give each variable once
        `--env 9A=…`: `9A` is not a name of an environment variable
          help: use letters, digits and `_`, not beginning with a digit
        `--env HOME=…`: `HOME` cannot be changed
          help: it is always `/home/tool` inside
        `--env B C`: `B C` is not a name of an environment variable
          help: use letters, digits and `_`, not beginning with a digit
        `--env =…`: `` is not a name of an environment variable
          help: use letters, digits and `_`, not beginning with a digit
        `--data ../data`: `../data` is not a name of a data folder
          help: use 1 to 64 letters, digits, `.`, `_` or `-`, beginning with a letter or digit: it is a name, not a path
        `--limit memory=1`: `memory` cannot be 1 B
          help: from 8 MiB to 16 TiB
        `--limit memry=1GiB`: there is no limit `memry`
          help: did you mean `memory`?
        `--limit cpu=0`: `cpu` cannot be 0 cores
          help: from 0.01 cores to 1024 cores
        `--limit cpu=two`: `two` is not a number of cores
          help: from 0.01 cores to 1024 cores
        `--limit cpu`: there is no `=` in it
          help: write `--limit NAME=VALUE`, for example `--limit memory=1GiB`
        `--limit require=memory,seccomp`: `seccomp` is no layer that can be required
          help: a list of memory, cpu, pids, landlock with commas between, or `none`
        `--limit processes=1.5`: `1.5` is not a whole number
          help: from 1 to 4194304
        `--limit open_files=64`: `open_files` is given twice
          help: give each limit once
        `--limit bananas=1`: there is no limit `bananas`
          help: limits are `memory`, `cpu`, `processes`, `open_files`, `file_size`, `scratch`, `scratch_files`, `require`
        `--limit cpu=nan`: `cpu` cannot be `NaN`
          help: from 0.01 cores to 1024 cores
    ");
}

#[test]
fn flags_are_understood() {
    let flags = flags(
        &["docs:rw"],
        &["A=b=c", "KEY", "EMPTY="],
        Some("notes:2 GiB"),
        &["memory=1GiB", "cpu=0.25", "open-files=64", "require=memory,processes"],
    )
    .unwrap();
    assert_eq!(flags.mounts(), [Mount { path: PathBuf::from("/srv/app/docs"), write: true }]);
    assert_eq!(flags.env()["A"], EnvValue::Given("b=c".to_owned()));
    assert_eq!(flags.env()["KEY"], EnvValue::FromCaller);
    assert_eq!(flags.env()["EMPTY"], EnvValue::Given(String::new()));
    assert_eq!(flags.data().map(|data| (data.name.as_str(), data.size)), Some(("notes", Some(2 << 30))));
    assert_eq!(flags.limits().get(LimitName::Cpu), Some(250));
    assert_eq!(flags.limits().require(), Some(&BTreeSet::from([Requirement::Memory, Requirement::Pids])));
    assert_eq!(
        super::flags(&[], &[], None, &["require=none"]).unwrap().limits().require(),
        Some(&BTreeSet::new())
    );
}

#[test]
fn variables_are_not_printed() {
    let flags = flags(&[], &["KEY=hunter2"], None, &[]).unwrap();
    assert!(!format!("{flags:?}").contains("hunter2"));
}

proptest! {
    /// Whatever a project writes, what it gets lies below its folder and is no special folder.
    #[test]
    fn a_projects_mount_never_leaves_its_folder(path in "(/|\\./|\\.\\./|srv/|app/|app|~|[a-z]|:rw|é){1,12}") {
        let text = format!("[servers.a]\ncommand = ['x']\nmounts = ['{path}']");
        if let Ok(project) = Project::resolve("f", text.as_bytes(), &place()) {
            for mount in project.servers().values().flat_map(Server::mounts) {
                prop_assert!(mount.path.starts_with("/srv/app"), "{:?}", mount.path);
                let normal = mount.path.components().skip(1).all(|c| matches!(c, std::path::Component::Normal(_)));
                prop_assert!(normal, "{:?}", mount.path);
            }
        }
    }

    /// A limit that passed lies within its bounds, whatever was typed.
    #[test]
    fn a_limit_never_leaves_its_bounds(name in 0_usize..7, value in "-?[0-9]{1,9}(\\.[0-9]{1,4})?(KiB|MiB|GiB|TiB)?") {
        let name = LimitName::ALL[name];
        if let Ok(flags) = flags(&[], &[], None, &[&format!("{name}={value}")]) {
            prop_assert!(name.bounds().contains(&flags.limits().get(name).unwrap()));
        }
    }
}
