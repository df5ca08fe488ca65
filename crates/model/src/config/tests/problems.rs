//! How problems read, and that none hides another.

use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;

#[test]
fn a_problem_shows_its_place_and_a_remedy() {
    let text = "[servers.weather]\ncommand = [\"node\", \"server.js\"]\n\n[servers.weather.limits]\nmemry = \"1GiB\"\n";
    let problems = Project::resolve("app/fumehood.toml", text.as_bytes(), &place()).unwrap_err();
    assert_snapshot!(problems.to_string(), @r#"
        error: unknown key `memry`
         --> app/fumehood.toml:5:1
          |
        5 | memry = "1GiB"
          | ^^^^^
          = help: did you mean `memory`?
    "#);
}

#[test]
fn several_problems_are_told_in_the_order_of_their_places() {
    let text = "[servers.a]\ncommand = []\nmounts = ['/etc/ssh', '~/x']\n[servers.b]\ncommand = ['x']\nlimits.cpu = 0\n";
    let problems = Project::resolve("fumehood.toml", text.as_bytes(), &place()).unwrap_err();
    assert_snapshot!(problems.to_string(), @r#"
        error: the command has no program
         --> fumehood.toml:2:11
          |
        2 | command = []
          |           ^^
          = help: name one, for example `["node", "server.js"]`

        error: `/etc/ssh` lies outside the project's folder
         --> fumehood.toml:3:11
          |
        3 | mounts = ['/etc/ssh', '~/x']
          |           ^^^^^^^^^^
          = help: give it with `--mount` on the command line, or declare the server in the operator's file

        error: `~` means somebody else's home on every machine
         --> fumehood.toml:3:23
          |
        3 | mounts = ['/etc/ssh', '~/x']
          |                       ^^^^^
          = help: a project's file mounts folders of the project; for another one use `--mount` on the command line or the operator's file

        error: `cpu` cannot be 0 cores
         --> fumehood.toml:6:14
          |
        6 | limits.cpu = 0
          |              ^
          = help: from 0.01 cores to 1024 cores
    "#);
}

#[test]
fn no_problem_hides_another() {
    let text = "\
colour = 'red'
[limits]
memory = 5
cpu = 'all'
processes = -1
require = ['memory', 'pid', 7]
[servers.'../x']
command = ['x']
[servers.a]
command = 'node server.js'
env = { HOME = '/x', 'A-B' = 'c', OK = 1, LANG = 'C' }
mounts = 'docs'
data = 1.5
[servers.b]
mounts = [1, '/', 'a', './a/', 'b:rw', 'b:rox', { path = 'c', mode = 'rw' }, { write = true }]
data = { size = '1' }
limits = { scratch = '1 zib', file_size = '99 TiB' }
[servers.c]
comand = ['x']
[servers.d]
command = 5
";
    assert_snapshot!(complaints(text), @r#"
        1:1 [colour] unknown key `colour` (known here: `servers`, `limits`)
        3:10 [5] `memory` cannot be 5 B (from 8 MiB to 16 TiB)
        4:7 ['all'] expected a number, found a string
        5:13 [-1] `processes` cannot be negative (from 1 to 4194304)
        6:22 ['pid'] unknown value `pid` (did you mean `pids`?)
        6:29 [7] expected a string, found the number `7`
        7:10 ['../x'] `../x` is not a server name (use 1 to 64 letters, digits, `.`, `_` or `-`, beginning with a letter or digit)
        10:11 ['node server.js'] expected an array, found a string
        11:9 [HOME] `HOME` cannot be changed (it is always `/home/tool` inside)
        11:22 ['A-B'] `A-B` is not a name of an environment variable (use letters, digits and `_`, not beginning with a digit)
        11:40 [1] expected a string, found the number `1`
        12:10 ['docs'] expected an array, found a string
        13:8 [1.5] expected `true`, `false`, a size such as "1GiB" or a table with `size`, found the number `1.5`
        14:10 [b] the server `b` has no `command` (add the program and its arguments: `command = ["node", "server.js"]`, or a package: `source = "npx:NAME@VERSION"`)
        15:11 [1] expected a path or a table with `path` and `write`, found the number `1`
        15:14 ['/'] the whole file system is never mounted (name the folder that is needed)
        15:24 ['./a/'] `/srv/app/a` is mounted twice (keep one of the two)
        15:40 ['b:rox'] `:rox` is no access (end with `:ro` to read or `:rw` to write; a name that itself ends in `:rox` needs one of them behind it)
        15:63 [mode] unknown key `mode` (known here: `path`, `write`)
        15:78 [{ write = true }] the key `path` is missing
        16:17 ['1'] `data` cannot be 1 B (from 1 MiB to 64 TiB)
        17:22 ['1 zib'] `1 zib` is not a size (write a number and a unit: B, KiB, MiB, GiB, TiB (powers of 1024), KB, MB, GB, TB (of 1000); for example `512MiB`)
        17:43 ['99 TiB'] `file_size` cannot be 99 TiB (from 4 KiB to 16 TiB)
        19:1 [comand] unknown key `comand` (did you mean `command`?)
        21:11 [5] expected an array, found the number `5`
    "#);
}

#[test]
fn broken_syntax_is_told_line_by_line() {
    assert_snapshot!(complaints("[servers.a\ncommand = ['x']\nenv = { A = }\n\nlimits = = 5\n"), @"
        1:11 [] unclosed table, expected `]`
        5:10 [=] extra `=`, expected nothing
    ");
    assert_snapshot!(complaints("[limits]\ncpu = 1\ncpu = 2\n"), @"3:1 [cpu] duplicate key");
    assert_snapshot!(complaints("[limits]\nmemory = \"1GiB"), @r#"2:15 [] invalid basic string, expected `"`"#);
}

#[test]
fn columns_count_characters() {
    assert_snapshot!(complaints("[servers.a]\ncommand = ['grüße→', 'x']\nenv = { 'Ü' = 'ä', HOME = '/' }\n"), @"
        3:9 ['Ü'] `Ü` is not a name of an environment variable (use letters, digits and `_`, not beginning with a digit)
        3:20 [HOME] `HOME` cannot be changed (it is always `/home/tool` inside)
    ");
    let text = "[servers.a]\ncommand = ['x']\nenv = { ÜÜ = 'a' }\n";
    let problems = Project::resolve("fumehood.toml", text.as_bytes(), &place()).unwrap_err();
    assert_snapshot!(problems.to_string(), @"
        error: invalid unquoted key, expected letters, numbers, `-`, `_`
         --> fumehood.toml:3:9
          |
        3 | env = { ÜÜ = 'a' }
          |         ^^
    ");
}

#[test]
fn a_file_that_is_not_text_or_too_large_is_refused() {
    let problems = Project::resolve("f", b"[limits]\ncpu = 1 # \xff\xfe\n", &place()).unwrap_err();
    assert_snapshot!(problems.to_string(), @"
        error: the file is not UTF-8
         --> f:2:11
          |
        2 | cpu = 1 # ��
          |           ^
    ");
    let problems = Project::resolve("f", &vec![b'\n'; (1 << 20) + 1], &place()).unwrap_err();
    assert_eq!(problems.as_slice()[0].message(), "the file is larger than 1 MiB");
}

#[test]
fn a_long_line_is_shown_around_the_place() {
    let padding = "x".repeat(5000);
    let text = format!("[servers.a]\ncommand = ['{padding}', 7, '{padding}']\n");
    let problems = Project::resolve("f", text.as_bytes(), &place()).unwrap_err();
    let rendered = problems.to_string();
    assert!(rendered.lines().all(|line| line.chars().count() < 160), "{rendered}");
    let lines: Vec<&str> = rendered.lines().collect();
    let caret = lines[4].chars().position(|c| c == '^').unwrap();
    assert_eq!(lines[3].chars().nth(caret), Some('7'), "{rendered}");
}

#[test]
fn problems_are_counted_up_to_a_most() {
    let text = (0..500).map(|n| format!("[servers.s{n}]")).collect::<Vec<_>>().join("\n");
    let problems = Project::resolve("f", text.as_bytes(), &place()).unwrap_err();
    assert_eq!(problems.as_slice().len(), Problems::MOST);
    let text = (0..500).map(|n| format!("unknown{n} = 1")).collect::<Vec<_>>().join("\n");
    let problems = Project::resolve("f", text.as_bytes(), &place()).unwrap_err();
    assert_eq!(problems.as_slice().len(), Problems::MOST);
}

#[test]
fn a_hostile_file_cannot_speak_to_the_terminal() {
    // Escapes in strings, raw control characters (a syntax error), bidirectional overrides in a comment.
    for text in [
        "[servers.\"\\u001b[2J\"]\ncommand = [\"\\u001b]0;x\\u0007\"]\nenv = { \"\\u009b1m\" = 'x' }",
        "[limits]\n\u{1b}[31m = 1",
        "cpu = 1 # \u{202e}txet",
        "mounts = ['\u{7f}']",
    ] {
        let problems = Project::resolve("f\u{1b}[1m", text.as_bytes(), &place()).unwrap_err();
        let rendered = problems.to_string();
        let spoken = |text: &str| text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}');
        assert!(!spoken(&rendered), "{rendered:?}");
        for problem in problems.as_slice() {
            assert!(
                !spoken(problem.text()) && !spoken(problem.file()) && !spoken(problem.message()),
                "{problem:?}"
            );
        }
    }
}

#[test]
fn offending_text_is_made_harmless_too() {
    let mut source = problem::Source::new("f", "a\u{1b}]0;b\nc");
    source.add(0..8, &complaint::Complaint::new("no"));
    let problems = source.finish(Some(())).unwrap_err();
    assert_eq!(problems.as_slice()[0].text(), "a\u{fffd}]0;b");
}

#[test]
fn problems_are_data_too() {
    let problems = Project::resolve("f", b"limit = 1", &place()).unwrap_err();
    assert_eq!(
        serde_json::to_value(&problems).unwrap(),
        serde_json::json!([{
            "file": "f", "line": 1, "column": 1, "text": "limit", "message": "unknown key `limit`",
            "help": "did you mean `limits`?",
        }])
    );
}

proptest! {
    /// What serde reads from plain TOML and what the collecting reader reads are the same, where nothing is wrong.
    #[test]
    fn the_collecting_reader_reads_what_serde_reads(
        cpu in 0.01_f64..1000.0, processes in 1_i64..1000, args in proptest::collection::vec("[a-z]{1,5}", 1..4),
        write: bool, size in 1_i64..100, path in "[a-z]{1,5}(/[a-z]{1,5}){0,2}",
    ) {
        let command = args.iter().map(|arg| format!("'{arg}'")).collect::<Vec<_>>().join(", ");
        let text = format!(
            "[servers.a]\ncommand = [{command}]\nmounts = ['{path}', {{ path = '{path}/x', write = {write} }}]\n\
             data.size = '{size}MiB'\n[limits]\ncpu = {cpu}\nprocesses = {processes}\nrequire = ['pids']"
        );
        let plain: written::Project = toml::from_str(&text).unwrap();
        let mut read = None;
        read::file("f", text.as_bytes(), |written: written::Project, _| read = Some(written)).unwrap();
        prop_assert_eq!(read, Some(plain));
    }

    /// Mending what is told ends: a file is never refused without a problem, nor accepted with one.
    #[test]
    fn every_unknown_key_is_always_told(keys in proptest::collection::btree_set("[k-z]{3,9}x", 1..20)) {
        let text = keys.iter().map(|key| format!("{key} = 1")).collect::<Vec<_>>().join("\n");
        let problems = Project::resolve("f", text.as_bytes(), &place()).unwrap_err();
        let told: Vec<&str> = problems.as_slice().iter().map(Problem::text).collect();
        prop_assert_eq!(told, keys.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

#[test]
fn a_server_has_a_command_or_a_source() {
    let both = "[servers.a]\ncommand = ['x']\nsource = 'npx:x'";
    assert_eq!(
        complaints(both),
        "2:11 [['x']] the server `a` has a `command` and a `source` (keep one of the two)"
    );
    let args = "[servers.a]\ncommand = ['x']\nargs = ['y']";
    assert_eq!(
        complaints(args),
        "3:8 [['y']] `args` belongs to a `source` (write the arguments into `command`)"
    );
    let headers = "[servers.a]\nsource = 'https://a.example/'\nheaders = { 'a b' = 'x', c = \"\\n\", Host = 'x' }\n[servers.b]\ncommand = ['x']\n\
                   headers = { a = 'x' }";
    let told = complaints(headers);
    for line in [
        "3:13 ['a b'] `a b` is not a name",
        "3:30",
        "[Host] the header `host` is set by the protocol",
        "6:13 [a] `headers` are for a server elsewhere",
    ] {
        assert!(told.contains(line), "{told}");
    }
    let wrong = "[servers.a]\nsource = 'github:a/b'\nclient = 'sampling'";
    let told = complaints(wrong);
    assert!(told.contains("2:10 ['github:a/b'] `github:a/b` is no source"), "{told}");
    assert!(told.contains("3:10 ['sampling'] `sampling` is not a client profile"), "{told}");
    assert!(operator_complaints("packages.min_age_days = -1").contains("this is no age of a release"));
}
