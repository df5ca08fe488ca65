//! Help, usage, and what is wrong with a configuration: nothing is started.

use insta::assert_snapshot;

use super::world::World;

#[test]
fn help() {
    assert_snapshot!(World::new().said(&["--help"]), @r##"
    exit code 0
    --- stdout
    Runs the tools of an AI agent in cells: without your keys, your files and your network

    Usage: fumehood <COMMAND>

    Commands:
      run          Run an MCP server in a cell; stdin and stdout carry the protocol
      exec         Run any command in a throw-away cell; memory and process ceilings must be held by the
                   kernel
      add          Declare a server, install it, read what it offers, and ask whether it is accepted
      remove       Take a server out of its file and its lock
      list         List the servers, and whether each is accepted
      review       Show what a model would read of a server, or what has changed of it, and accept or
                   reject that
      trust        Show what a project's fumehood.toml asks for, and let its servers be used
      lock         Pin every declared server anew where it is not, or check that all are as they are
                   pinned
      outdated     Show which packages have newer versions
      update       Install the newest version of a package beside the one in use, show what would
                   change, and swap on a yes
      store        See, check and clean the store of packages
      fingerprint  Print the fingerprint of a server, or of a file with its tools
      serve        Put all servers behind one address, and judge and record every call
      policy       Say what would happen to a call of a tool, and which rule decides
      audit        See what was recorded of calls, and check that it is as it was written
      allow        Let a server reach a host: its running cells at once, later ones by its configuration
      deny         Take a host from a server, and cut what is open to it
      egress       Show what was let out of cells and what was not, and ask what would be
      secret       Keep keys in a vault, bound to the hosts they are for; cells get placeholders
      ps           List the running cells
      logs         Show what a server wrote to stderr
      doctor       Try every layer on this host, and say what would improve it
      completions  Print a completion script for a shell

    Options:
      -h, --help     Print help
      -V, --version  Print version
    "##);
}

#[test]
fn help_of_run() {
    assert_snapshot!(World::new().said(&["run", "-h"]), @r##"
    exit code 0
    --- stdout
    Run an MCP server in a cell; stdin and stdout carry the protocol

    Usage: fumehood run [OPTIONS] <NAME | COMMAND>...

    Arguments:
      <NAME | COMMAND>...  A server of fumehood.toml or of the operator's file, or a command; after `--`
                           always a command

    Options:
          --name <NAME>
              Name to list and log it under
          --mount <PATH[:rw]>
              Make a folder or file visible at its own path, read-only unless `:rw` follows
          --env <NAME[=VALUE]>
              Set a variable, or pass on your own value of it
          --data <NAME[:SIZE]>
              Mount a folder at /data that stays; cells that give the same name share it
          --limit <NAME=VALUE>
              Set a ceiling: memory, cpu, processes, open_files, file_size, scratch, scratch_files,
              require
          --host <RULE>
              Let it reach a host: `api.example.com`, `*.example.com`, `host:8443`, `http://host:8080`,
              `tcp://host:5432`, 'GET,HEAD host/v1/*'
          --secret <NAME[=VARIABLE]>
              Let it use a secret: the variable holds a placeholder, the value is written into requests
              to the secret's hosts
          --expose <NAME[=VARIABLE]>
              Give it the real value of a secret, where nothing else works; asks you to type its name
          --expose-yes-really <NAME>
              Do not ask about this secret of `--expose`
      -v, --verbose
              Say what the cell sees, and pass the program's stderr on
          --grace <SECONDS>
              Seconds the server has to end by itself after stdin is closed [default: 5]
          --publish <[127.0.0.1:]PORT:INSIDE>
              Listen on a port of this machine's loopback (0 for any) and lead it to a port inside the
              cell
          --strict
              Fail where it is not accepted, has changed or is not installed, instead of asking or
              letting the client wait
          --unreviewed
              Let the lists of a program of this machine pass as they are: for whoever is writing it
      -h, --help
              Print help
    "##);
}

#[test]
fn help_of_serve() {
    assert_snapshot!(World::new().said(&["serve", "-h"]), @r"
    exit code 0
    --- stdout
    Put all servers behind one address, and judge and record every call

    Usage: fumehood serve [OPTIONS]

    Options:
          --check                  Read everything, say all that is wrong and which servers are ready,
                                   and start nothing
          --install                As root: make it a service of this machine, with a user of its own
                                   and a systemd unit
          --new-key <NAME>         Make a key for a caller, and print it once, with the lines that let
                                   it in
          --listen <ADDRESS:PORT>  Listen there instead of where the configuration says; port 0 for any
          --socket <PATH>          Put the Unix socket there
          --project <FOLDER>       Offer the servers of this project too, instead of those of the one
                                   around the working folder
          --json                   Write each line of the log, and what is printed, as JSON
          --root <FOLDER>          With `--install`: lay the files down below this folder, for a package
                                   or an image
          --dry-run                With `--install`: print what would be done, and do nothing
      -h, --help                   Print help
    ");
}

#[test]
fn a_verb_that_does_not_exist() {
    assert_snapshot!(World::new().said(&["rum", "x"]), @r##"
    exit code 2
    --- stderr
    error: unrecognized subcommand 'rum'

      tip: a similar subcommand exists: 'run'

    Usage: fumehood <COMMAND>

    For more information, try '--help'.
    "##);
}

#[test]
fn run_without_anything_to_run() {
    assert_snapshot!(World::new().said(&["run", "--mount", "."]), @r##"
    exit code 2
    --- stderr
    error: the following required arguments were not provided:
      <NAME | COMMAND>...

    Usage: fumehood run --mount <PATH[:rw]> <NAME | COMMAND>...

    For more information, try '--help'.
    "##);
}

#[test]
fn all_problems_of_a_project_at_once() {
    let world = World::new();
    world.write(
        "project/fumehood.toml",
        "[servers.weather]\ncomand = [\"node\"]\nmounts = [\"/etc\"]\n\n[servers.other]\ncommand = \"node\"\n",
    );
    assert_snapshot!(world.said(&["run", "weather"]), @r##"
    exit code 2
    --- stderr
    error: unknown key `comand`
     --> fumehood.toml:2:1
      |
    2 | comand = ["node"]
      | ^^^^^^
      = help: did you mean `command`?

    error: the cell has a `/etc` of its own
     --> fumehood.toml:3:11
      |
    3 | mounts = ["/etc"]
      |           ^^^^^^
      = help: mount a folder below it, or another one

    error: expected an array, found a string
     --> fumehood.toml:6:11
      |
    6 | command = "node"
      |           ^^^^^^
    "##);
}

#[test]
fn a_project_has_no_say_in_a_command() {
    let world = World::new();
    world.write("project/fumehood.toml", "not even TOML");
    let said = world.said(&["run", "--", "no-such-program"]);
    assert!(!said.contains("fumehood.toml"), "{said}");
}

#[test]
fn a_server_nobody_declared() {
    let world = World::new();
    world.write("project/fumehood.toml", "[servers.weather]\ncommand = [\"cat\"]\n");
    assert_snapshot!(world.said(&["run", "wether"]), @r##"
    exit code 2
    --- stderr
    fumehood: no server is called `wether`
    fumehood: help: did you mean `weather`?
    "##);
}

#[test]
fn every_wrong_flag_is_told() {
    let arguments = [
        "run",
        "--mount",
        "/run/x",
        "--env",
        "A B=c",
        "--limit",
        "memory=lots",
        "--data",
        "../x",
        "--",
        "true",
    ];
    assert_snapshot!(World::new().said(&arguments), @r##"
    exit code 2
    --- stderr
    fumehood: `--mount /run/x`: nothing of `/run` is mounted
    fumehood: help: it holds sockets, devices or other processes of the host
    fumehood: `--env A B=…`: `A B` is not a name of an environment variable
    fumehood: help: use letters, digits and `_`, not beginning with a digit
    fumehood: `--data ../x`: `../x` is not a name of a data folder
    fumehood: help: use 1 to 64 letters, digits, `.`, `_` or `-`, beginning with a letter or digit: it is a name, not a path
    fumehood: `--limit memory=lots`: `lots` is not a size
    fumehood: help: write a number and a unit: B, KiB, MiB, GiB, TiB (powers of 1024), KB, MB, GB, TB (of 1000); for example `512MiB`
    "##);
}

#[test]
fn a_variable_that_is_not_there() {
    assert_snapshot!(World::new().said(&["run", "--env", "NOT_SET", "--", "true"]), @r##"
    exit code 2
    --- stderr
    fumehood: `--env NOT_SET`: there is no such variable here
    fumehood: help: set it, or write `--env NOT_SET=VALUE`
    "##);
}

#[test]
fn more_than_the_operator_allows() {
    let world = World::new();
    world.write("config/fumehood/config.toml", "maximum.memory = \"64MiB\"\n");
    assert_snapshot!(world.said(&["exec", "--limit", "memory=1GiB", "--", "true"]), @r##"
    exit code 12
    --- stderr
    fumehood: `memory` of 1 GiB, asked for by the command line, is above the operator's maximum of 64 MiB
    fumehood: help: ask for less, or raise the value in `[maximum]` of the operator's file
    "##);
}

#[test]
fn no_home_at_all() {
    let world = World::new();
    let mut command = world.command(&["ps"]);
    for name in ["HOME", "XDG_STATE_HOME"] {
        command.env_remove(name);
    }
    assert_snapshot!(world.shown(&command.output().unwrap()), @r##"
    exit code 2
    --- stderr
    fumehood: neither `XDG_STATE_HOME` nor `HOME` names an absolute path
    fumehood: help: set `HOME`
    "##);
}

#[test]
fn completions_name_the_verbs_and_hide_the_supervisor() {
    let said = World::new().said(&["completions", "bash"]);
    assert!(said.contains("doctor") && said.contains("--follow"), "{said}");
    let help = World::new().said(&["--help"]);
    assert!(!help.contains("Supervise"), "{help}");
}

#[test]
fn a_supervisor_without_a_connection() {
    assert_snapshot!(World::new().said(&["cell", "--owner-fd", "77"]), @r##"
    exit code 2
    --- stderr
    fumehood: --owner-fd 77: no such descriptor was inherited
    fumehood: help: this verb is for `fumehood run` and the like
    "##);
}
