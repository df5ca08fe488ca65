//! Which argument of a known interpreter's command line is the code it runs.

/// One interpreter's command line, as far as it matters here.
#[derive(Debug)]
struct Manner {
    /// Program names; a version may follow (`python3.12`).
    names: &'static [&'static str],
    /// Words that may stand before the script (`deno run x.ts`).
    words: &'static [&'static str],
    /// Flags after which the program text or a module follows, so that there is no script.
    no_script: &'static [&'static str],
    /// Flags that take the next argument.
    valued: &'static [&'static str],
    /// Flags whose value (next argument, or after `=`) is a file of code.
    code: &'static [&'static str],
    /// Flags whose value is the script itself, after which nothing more is looked for.
    script: &'static [&'static str],
    /// Whether single-letter flags may be joined (`python -um x`).
    joined: bool,
}

const NODE_VALUED: &[&str] = &[
    "-C",
    "--conditions",
    "--title",
    "--inspect-port",
    "--debug-port",
    "--icu-data-dir",
    "--openssl-config",
    "--redirect-warnings",
    "--report-dir",
    "--report-directory",
    "--diagnostic-dir",
    "--env-file",
    "--env-file-if-exists",
    "--experimental-default-type",
    "--input-type",
    "--dns-result-order",
    "--disable-warning",
    "--unhandled-rejections",
    "--stack-trace-limit",
    "--tls-cipher-list",
    "--watch-path",
    "--tsconfig",
];
const NODE_CODE: &[&str] = &["-r", "--require", "--import", "--loader", "--experimental-loader"];

const MANNERS: &[Manner] = &[
    Manner {
        names: &["node", "nodejs", "tsx", "ts-node", "ts-node-esm", "electron"],
        words: &["watch", "inspect"],
        no_script: &["-e", "--eval", "-p", "--print", "-pe", "--run", "--test"],
        valued: NODE_VALUED,
        code: NODE_CODE,
        script: &[],
        joined: false,
    },
    Manner {
        names: &["bun"],
        words: &["run"],
        no_script: &["-e", "--eval", "-p", "--print", "x", "install", "add"],
        valued: &[
            "-c",
            "--config",
            "--cwd",
            "--env-file",
            "--tsconfig-override",
            "-d",
            "--define",
            "-l",
            "--loader",
        ],
        code: &["-r", "--preload", "--require", "--import"],
        script: &[],
        joined: false,
    },
    Manner {
        names: &["deno"],
        words: &["run", "serve"],
        no_script: &["eval", "repl", "task", "x", "install", "cache"],
        valued: &["-L", "--log-level", "--location", "--seed", "--cert", "--ext", "--port", "--host"],
        code: &["-c", "--config", "--import-map", "--lock", "--preload"],
        script: &[],
        joined: false,
    },
    Manner {
        names: &["python", "pypy", "graalpy"],
        words: &[],
        no_script: &["-c", "-m"],
        valued: &["-W", "-X", "--check-hash-based-pycs"],
        code: &[],
        script: &[],
        joined: true,
    },
    Manner {
        names: &["ruby"],
        words: &[],
        no_script: &["-e"],
        valued: &["-I", "-r", "-C", "-E", "-F"],
        code: &[],
        script: &[],
        joined: true,
    },
    Manner {
        names: &["perl"],
        words: &[],
        no_script: &["-e", "-E"],
        valued: &["-I"],
        code: &[],
        script: &[],
        joined: true,
    },
    Manner {
        names: &["sh", "bash", "dash", "zsh", "ksh"],
        words: &[],
        no_script: &["-c", "-s"],
        valued: &["-o", "-O", "+o", "+O"],
        code: &["--rcfile", "--init-file"],
        script: &[],
        joined: true,
    },
    Manner {
        names: &["php"],
        words: &[],
        no_script: &["-r", "-B", "-R", "-E", "-S"],
        valued: &["-c", "-d", "-z"],
        code: &[],
        script: &["-f", "--file", "-F", "--process-file"],
        joined: false,
    },
    Manner {
        names: &["java"],
        words: &[],
        no_script: &["-m", "--module"],
        valued: &["-cp", "-classpath", "--class-path", "-p", "--module-path", "--add-modules"],
        code: &[],
        script: &["-jar"],
        joined: false,
    },
    Manner {
        names: &["lua", "luajit"],
        words: &[],
        no_script: &["-e"],
        valued: &["-l"],
        code: &[],
        script: &[],
        joined: false,
    },
];

/// Where code is named in a command line: the argument's place, and where in it the path begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Named {
    /// Index into the command.
    pub(crate) index: usize,
    /// First byte of the path in that argument (behind `--import=`).
    pub(crate) start: usize,
    /// Whether it is the entry script rather than something loaded before it.
    pub(crate) entry: bool,
}

/// What code a command line names, if its program (a base name) is a known interpreter.
pub(crate) fn code_of(program: &str, command: &[String]) -> Vec<Named> {
    let Some(manner) = MANNERS.iter().find(|manner| manner.names.iter().any(|name| is_name(program, name)))
    else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut arguments = command.iter().enumerate().skip(1);
    let mut word_allowed = true;
    while let Some((index, argument)) = arguments.next() {
        if argument == "--" {
            found.extend(arguments.next().map(|(index, _)| Named { index, start: 0, entry: true }));
            break;
        }
        if manner.no_script.contains(&argument.as_str()) || argument == "-" {
            break;
        }
        if !argument.starts_with(['-', '+']) {
            if std::mem::take(&mut word_allowed) && manner.words.contains(&argument.as_str()) {
                continue;
            }
            found.push(Named { index, start: 0, entry: true });
            break;
        }
        match manner.flag(argument) {
            Flag::Alone => {}
            Flag::Ends => break,
            Flag::Value => drop(arguments.next()),
            Flag::Code => {
                found.extend(arguments.next().map(|(index, _)| Named { index, start: 0, entry: false }));
            }
            Flag::CodeAt(start) => found.push(Named { index, start, entry: false }),
            Flag::Script => {
                found.extend(arguments.next().map(|(index, _)| Named { index, start: 0, entry: true }));
                break;
            }
        }
    }
    found
}

/// The module of `python -m MODULE`, which is looked for in the working folder.
pub(crate) fn python_module<'a>(program: &str, command: &'a [String]) -> Option<&'a str> {
    if !["python", "pypy"].iter().any(|name| is_name(program, name)) {
        return None;
    }
    let at = command.iter().skip(1).position(|argument| {
        argument.starts_with('-') && !argument.starts_with("--") && argument.ends_with('m')
    })?;
    let before = command.iter().skip(1).take(at);
    // A script before it means that `-m` is the script's own.
    if before.clone().any(|argument| !argument.starts_with('-')) {
        return None;
    }
    command.get(at + 2).map(String::as_str)
}

enum Flag {
    Alone,
    Ends,
    Value,
    Code,
    CodeAt(usize),
    Script,
}

impl Manner {
    fn flag(&self, argument: &str) -> Flag {
        let is = |list: &[&str]| list.contains(&argument);
        if is(self.script) {
            return Flag::Script;
        }
        if is(self.code) {
            return Flag::Code;
        }
        if is(self.valued) {
            return Flag::Value;
        }
        if let Some((flag, _)) = argument.split_once('=')
            && self.code.contains(&flag)
        {
            return Flag::CodeAt(flag.len() + 1);
        }
        if self.joined && !argument.starts_with("--") {
            return self.letters(argument);
        }
        Flag::Alone
    }

    /// Joined letters: the first that ends the search or takes a value decides.
    fn letters(&self, argument: &str) -> Flag {
        let mut letters = argument.chars();
        let sign = letters.next().unwrap_or('-');
        while let Some(letter) = letters.next() {
            let flag = format!("{sign}{letter}");
            if self.no_script.contains(&flag.as_str()) {
                return Flag::Ends;
            }
            if self.valued.contains(&flag.as_str()) {
                return if letters.as_str().is_empty() { Flag::Value } else { Flag::Alone };
            }
        }
        Flag::Alone
    }
}

fn is_name(program: &str, name: &str) -> bool {
    program.strip_prefix(name).is_some_and(|version| {
        version.chars().all(|letter| letter.is_ascii_digit() || matches!(letter, '.' | 't'))
    })
}
