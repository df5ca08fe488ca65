//! Reading the command line of a package runner.

use std::path::Path;

/// Who fetches packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Client {
    Npm,
    Uv,
}

/// What a package runner is asked to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) client: Client,
    /// The program whose configuration counts, beside the one that runs.
    pub(super) program: String,
    /// The packages, as written.
    pub(super) packages: Vec<String>,
}

/// What is asked for, where the command is that of a package runner.
pub(super) fn read(command: &[String]) -> Option<Asked> {
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
    Some(Asked { client, program, packages: packages(client, words) })
}

/// `uvx` starts the `uv` beside it, which inside need not be there: that one is started at once.
pub(super) fn make_whole(command: &mut Vec<String>, asked: &Asked) {
    let is_uvx = command.first().is_some_and(|program| Path::new(program).ends_with("uvx"));
    if is_uvx {
        command.splice(..1, [asked.program.clone(), "tool".to_owned(), "run".to_owned()]);
    }
}

impl Client {
    /// The program that knows the configuration.
    fn program(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Uv => "uv",
        }
    }

    /// For names of folders.
    pub(super) fn name(self) -> &'static str {
        self.program()
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
            Self::Npm => {
                &["-c", "--call", "--registry", "--cache", "-w", "--workspace", "--userconfig", "--prefix"]
            }
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
            ],
        }
    }
}

fn packages(client: Client, words: &[&str]) -> Vec<String> {
    let mut packages = Vec::new();
    let mut replaced = false;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (flag, joined) = match word.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => (flag, Some(value)),
            _ => (*word, None),
        };
        if client.package_flags().contains(&flag) {
            let value = joined.or_else(|| words.next().copied());
            packages.extend(value.into_iter().flat_map(|value| value.split(',')).map(str::to_owned));
            // `uvx --with x y` runs y still.
            replaced |= client == Client::Npm || flag == "--from";
        } else if *word == "--" {
            let first = words.next().filter(|_| !replaced);
            packages.extend(first.map(|word| (*word).to_owned()));
            break;
        } else if flag.starts_with('-') {
            if joined.is_none() && client.value_flags().contains(&flag) {
                words.next();
            }
        } else {
            if !replaced {
                packages.push((*word).to_owned());
            }
            break;
        }
    }
    packages
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
}
