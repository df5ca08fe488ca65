//! Which argument is the script.

use crate::host::interpreter::{Named, code_of, python_module};

fn words(command: &str) -> Vec<String> {
    command.split(' ').map(str::to_owned).collect()
}

#[test]
fn the_script_is_the_first_argument_that_is_no_flag() {
    let rows: &[(&str, &[&str])] = &[
        ("node server.js --port 1", &["server.js"]),
        ("node --title x --enable-source-maps s.js", &["s.js"]),
        ("node -r ./pre.js --import=./hook.mjs s.js", &["./pre.js", "./hook.mjs", "s.js"]),
        ("node --max-old-space-size=99 -- s.js", &["s.js"]),
        ("node -e 1 x.js", &[]),
        ("node -", &[]),
        ("tsx watch s.ts", &["s.ts"]),
        ("deno run --allow-net -c deno.json s.ts", &["deno.json", "s.ts"]),
        ("deno eval 1", &[]),
        ("bun s.ts", &["s.ts"]),
        ("bun run s.ts", &["s.ts"]),
        ("python3.12 -u -W ignore s.py", &["s.py"]),
        ("python3 -Wignore -X dev s.py", &["s.py"]),
        ("python3 -um server s.py", &[]),
        ("python -c 1 s.py", &[]),
        ("ruby -I lib s.rb", &["s.rb"]),
        ("perl -Ilib s.pl", &["s.pl"]),
        ("bash -eu -o pipefail s.sh", &["s.sh"]),
        ("sh -ec s.sh", &[]),
        ("java -cp a.jar -jar s.jar x", &["s.jar"]),
        ("nodemon s.js", &[]),
        ("pythonic s.py", &[]),
        ("node", &[]),
    ];
    for (command, wanted) in rows {
        let argv = words(command);
        let found: Vec<&str> = code_of(&argv[0], &argv)
            .iter()
            .map(|Named { index, start, .. }| argv[*index].split_at(*start).1)
            .collect();
        assert_eq!(found, *wanted, "{command}");
    }
}

#[test]
fn a_module_is_named_by_m_alone() {
    let rows = [
        ("python3 -m srv x", Some("srv")),
        ("python3 -um srv.main", Some("srv.main")),
        ("python3 s.py -m x", None),
        ("node -m x", None),
        ("python3", None),
    ];
    for (command, wanted) in rows {
        let argv = words(command);
        assert_eq!(python_module(&argv[0], &argv), wanted, "{command}");
    }
}
