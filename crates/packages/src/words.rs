//! Reading the command line of a package runner.

use std::path::Path;

/// Who fetches packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Client {
    /// `npx`, `npm exec`.
    Npm,
    /// `uvx`, `uv tool run`.
    Uv,
}

/// What a package runner is asked to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Who is asked.
    pub client: Client,
    /// The program whose configuration counts, beside the one that runs.
    pub program: String,
    /// The packages, as written.
    pub packages: Vec<String>,
    /// Which of them has the program that is run, as written.
    pub main: Option<String>,
    /// The program, where it is named apart from the package.
    pub bin: Option<String>,
    /// The program's arguments.
    pub arguments: Vec<String>,
    /// The runner's own flags, each followed by its value; without those that name packages or say yes.
    pub flags: Vec<Flag>,
}

/// A flag of a runner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    /// As written, as `--python`.
    pub name: String,
    /// What it was given.
    pub value: Option<String>,
}

/// What is asked for, where the command is that of a package runner.
pub fn read(command: &[String]) -> Option<Asked> {
    let (program, rest) = command.split_first()?;
    let path = Path::new(program);
    let name = path.file_name()?.to_str()?;
    let words: Vec<&str> = rest.iter().map(String::as_str).collect();
    let (client, words) = match (name, words.as_slice()) {
        ("npx", words) | ("npm", ["exec" | "x", words @ ..]) => (Client::Npm, words),
        ("uvx", words) | ("uv", ["tool", "run", words @ ..]) => (Client::Uv, words),
        _ => return None,
    };
    // The one beside it, where it was named by its place.
    let beside = path.with_file_name(client.program());
    let program =
        if program.contains('/') { beside.to_str()?.to_owned() } else { client.program().to_owned() };
    Some(take_apart(client, program, words))
}

/// `uvx` starts the `uv` beside it, which inside need not be there: that one is started at once.
pub fn make_whole(command: &mut Vec<String>, asked: &Asked) {
    let is_uvx = command.first().is_some_and(|program| Path::new(program).ends_with("uvx"));
    if is_uvx {
        command.splice(..1, [asked.program.clone(), "tool".to_owned(), "run".to_owned()]);
    }
}

impl Asked {
    /// The same, of this version of the package that is run, or of whichever is the newest.
    #[must_use]
    pub fn at(&self, version: Option<&str>) -> Self {
        let mut asked = self.clone();
        let Some(main) = &self.main else { return asked };
        // A scope begins with `@` too.
        let ends = |sign: char| match self.client {
            Client::Npm => sign == '@',
            Client::Uv => "=<>!~@; ".contains(sign),
        };
        let end = main.char_indices().skip(1).find(|(_, sign)| ends(*sign)).map_or(main.len(), |(at, _)| at);
        let name = main.get(..end).unwrap_or(main);
        let said = match (version, self.client) {
            (None, _) => name.to_owned(),
            (Some(version), Client::Npm) => format!("{name}@{version}"),
            (Some(version), Client::Uv) => format!("{name}=={version}"),
        };
        for package in asked.packages.iter_mut().filter(|package| *package == main) {
            package.clone_from(&said);
        }
        asked.main = Some(said);
        asked
    }

    /// The value of a flag, by any of its names; the last one counts.
    pub fn flag(&self, names: &[&str]) -> Option<&str> {
        self.flags.iter().rev().find(|flag| names.contains(&flag.name.as_str()))?.value.as_deref()
    }
}

impl Client {
    /// The program that knows the configuration.
    pub(crate) fn program(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Uv => "uv",
        }
    }

    /// The runner, as a source begins.
    pub fn runner(self) -> &'static str {
        match self {
            Self::Npm => "npx",
            Self::Uv => "uvx",
        }
    }

    /// Flags by which a runner is told to ask nothing.
    fn yes_flags(self) -> &'static [&'static str] {
        match self {
            Self::Npm => &["-y", "--yes"],
            Self::Uv => &[],
        }
    }

    /// The packages that a flag names: `--with` takes several, whose own commas follow a bracket or a comparison.
    fn named<'v>(self, flag: &str, value: &'v str) -> Vec<&'v str> {
        if self == Self::Uv && flag == "--from" {
            return vec![value];
        }
        let mut depth = 0_usize;
        let mut begin = 0;
        let mut named = Vec::new();
        for (at, letter) in value.char_indices() {
            match letter {
                '[' => depth += 1,
                ']' => depth = depth.saturating_sub(1),
                ',' if depth == 0 => {
                    let (one, rest) = (value.get(begin..at), value.get(at + 1..).unwrap_or_default());
                    if !rest.trim_start().starts_with(['<', '>', '=', '!', '~']) {
                        named.extend(one);
                        begin = at + 1;
                    }
                }
                _ => {}
            }
        }
        named.extend(value.get(begin..));
        named
    }

    /// Flags that say which package, in place of the first word.
    fn package_flags(self) -> &'static [&'static str] {
        match self {
            Self::Npm => &["-p", "--package"],
            Self::Uv => &["--from", "--with", "-w"],
        }
    }

    /// Other flags that take the next word.
    fn value_flags(self) -> &'static [&'static str] {
        match self {
            Self::Npm => &[
                "-c",
                "--call",
                "--registry",
                "--cache",
                "-w",
                "--workspace",
                "--userconfig",
                "--prefix",
                "--before",
                "--tag",
                "--omit",
                "--include",
                "--min-release-age",
                "--loglevel",
                "--node-options",
                "--script-shell",
            ],
            Self::Uv => &[
                "-p",
                "--python",
                "--index",
                "--default-index",
                "-i",
                "--index-url",
                "--extra-index-url",
                "-f",
                "--find-links",
                "--cache-dir",
                "--with-requirements",
                "--with-editable",
                "-c",
                "--constraints",
                "--overrides",
                "--python-platform",
                "--resolution",
                "--prerelease",
                "--exclude-newer",
                "--index-strategy",
                "--keyring-provider",
                "--link-mode",
                "--env-file",
                "--directory",
                "--project",
                "--config-file",
                "--color",
                "--refresh-package",
                "--reinstall-package",
                "-P",
                "--upgrade-package",
                "--no-build-package",
                "--no-binary-package",
                "--config-setting",
                "-C",
                "--allow-insecure-host",
                "-b",
                "--build-constraints",
                "--excludes",
                "--exclude-newer-package",
                "--prerelease-package",
                "--no-sources-package",
                "--fork-strategy",
                "--torch-backend",
                "--cert",
            ],
        }
    }
}

fn take_apart(client: Client, program: String, words: &[&str]) -> Asked {
    let mut asked = Asked {
        client,
        program,
        packages: Vec::new(),
        main: None,
        bin: None,
        arguments: Vec::new(),
        flags: Vec::new(),
    };
    let mut words = words.iter().copied();
    let first = loop {
        let Some(word) = words.next() else { break None };
        let (flag, joined) = match word.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => (flag, Some(value)),
            _ => (word, None),
        };
        if client.package_flags().contains(&flag) {
            let named =
                joined.or_else(|| words.next()).map(|value| client.named(flag, value)).unwrap_or_default();
            // `uvx --with x y` runs y still.
            if client == Client::Npm || flag == "--from" {
                asked.main = asked.main.or_else(|| named.first().map(|name| (*name).to_owned()));
            }
            asked.packages.extend(named.into_iter().map(str::to_owned));
        } else if word == "--" {
            break words.next();
        } else if !flag.starts_with('-') {
            break Some(word);
        } else if !client.yes_flags().contains(&flag) {
            let value = match joined {
                None if client.value_flags().contains(&flag) => words.next(),
                joined => joined,
            };
            asked.flags.push(Flag { name: flag.to_owned(), value: value.map(str::to_owned) });
        }
    };
    if asked.main.is_some() {
        asked.bin = first.map(str::to_owned);
    } else if let Some(first) = first {
        asked.packages.push(first.to_owned());
        asked.main = Some(first.to_owned());
    }
    asked.arguments = words.map(str::to_owned).collect();
    asked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_is_found_among_the_flags() {
        for (line, client, packages) in [
            ("npx -y @acme/weather@1.2 --port 1", Client::Npm, "@acme/weather@1.2"),
            ("npx weather", Client::Npm, "weather"),
            ("npx --yes --package=a -p b run-it -p c", Client::Npm, "a b"),
            ("npm exec -y -- weather --from x", Client::Npm, "weather"),
            ("uvx mcp-server-time --local-timezone x", Client::Uv, "mcp-server-time"),
            ("uvx --python 3.12 --from a==1 b", Client::Uv, "a==1"),
            ("uvx --with x,y z", Client::Uv, "x y z"),
            ("uvx --with x[a,b]>=1,<2,y z", Client::Uv, "x[a,b]>=1,<2 y z"),
            ("uvx --from x[a,b]>=1,<2 z", Client::Uv, "x[a,b]>=1,<2"),
            ("uvx --torch-backend cpu z", Client::Uv, "z"),
            ("uv tool run --index https://i.example/simple z", Client::Uv, "z"),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let asked = read(&words).unwrap();
            assert_eq!((asked.client, asked.packages.join(" ").as_str()), (client, packages), "{line}");
        }
        let mut uvx = ["/opt/bin/uvx", "x", "y"].map(str::to_owned).to_vec();
        let asked = read(&uvx).unwrap();
        make_whole(&mut uvx, &asked);
        assert_eq!(uvx, ["/opt/bin/uv", "tool", "run", "x", "y"]);
        assert_eq!(read(&uvx).unwrap(), asked);
        let beside = read(&["/opt/node/bin/npx".to_owned(), "x".to_owned()]).unwrap();
        assert_eq!(beside.program, "/opt/node/bin/npm");
        for line in ["node x.js", "npm install x", "uv run x", "python3 -m x"] {
            assert_eq!(read(&line.split(' ').map(str::to_owned).collect::<Vec<_>>()), None, "{line}");
        }
    }

    #[test]
    fn what_is_run_and_how_is_told_apart_from_what_is_installed() {
        for (line, main, bin, arguments, flags) in [
            ("npx -y @acme/weather@1.2 --port 1", Some("@acme/weather@1.2"), None, "--port 1", ""),
            ("npx --yes --package=a -p b run-it -p c", Some("a"), Some("run-it"), "-p c", ""),
            ("npm exec -y -- weather --from x", Some("weather"), None, "--from x", ""),
            (
                "npx --registry https://r.example --quiet x",
                Some("x"),
                None,
                "",
                "--registry https://r.example --quiet",
            ),
            ("npx -c weather", None, None, "", "-c weather"),
            ("uvx --python 3.12 --from a==1 b -v", Some("a==1"), Some("b"), "-v", "--python 3.12"),
            ("uvx --with x,y z", Some("z"), None, "", ""),
            ("uvx --prerelease=allow z", Some("z"), None, "", "--prerelease allow"),
            ("npx", None, None, "", ""),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let asked = read(&words).unwrap();
            let told: Vec<&str> = asked
                .flags
                .iter()
                .flat_map(|flag| [Some(flag.name.as_str()), flag.value.as_deref()])
                .flatten()
                .collect();
            assert_eq!((asked.main.as_deref(), asked.bin.as_deref()), (main, bin), "{line}");
            assert_eq!(
                (asked.arguments.join(" ").as_str(), told.join(" ").as_str()),
                (arguments, flags),
                "{line}"
            );
        }
        let twice = read(&["uvx", "-p", "3.11", "--python", "3.12", "x"].map(str::to_owned)).unwrap();
        assert_eq!(twice.flag(&["-p", "--python"]), Some("3.12"));
    }

    #[test]
    fn the_same_can_be_asked_of_another_version() {
        for (line, version, expected) in [
            ("npx -y @a/x@^1 --port 1", Some("2.0.0"), "@a/x@2.0.0"),
            ("npx x", Some("2.0.0"), "x@2.0.0"),
            ("npx -p b -p x@1 run", None, "b"),
            ("uvx x[cli]==1", Some("2"), "x[cli]==2"),
            ("uvx --with y x>=1,<2", None, "x"),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let asked = read(&words).unwrap();
            let other = asked.at(version);
            assert_eq!(other.main.as_deref(), Some(expected), "{line}");
            assert!(other.packages.contains(&expected.to_owned()), "{line}");
            assert_eq!((&other.flags, &other.arguments), (&asked.flags, &asked.arguments));
        }
    }
}
