//! What the flags of `uvx` mean where a package is installed once: some choose versions, some say where from, some are about
//! a run that is not made, and some read files that an installation does not see.

use crate::{fault::InstallError, words::Asked};

/// The flags of an order, by what they are about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Flags {
    /// Which Python, in uv's words: `3.12`, `pypy`, a path.
    pub(super) python: Option<String>,
    /// For choosing versions, each with its value.
    pub(super) choosing: Vec<String>,
    /// For saying where packages come from, as flags of `uv pip compile`.
    pub(super) indexes: Vec<String>,
}

const PYTHON: &[&str] = &["-p", "--python"];
const CHOOSING: &[&str] = &[
    "--resolution",
    "--prerelease",
    "--fork-strategy",
    "--exclude-newer",
    "--exclude-newer-package",
    "--index-strategy",
];
const INDEXES: &[&str] = &["--index", "--default-index", "-i", "--index-url", "--extra-index-url"];
/// About what is said, what is kept, and what is looked at anew: an installation does these things in its own way.
const NEEDLESS: &[&str] = &[
    "-q",
    "--quiet",
    "-v",
    "--verbose",
    "--color",
    "--no-progress",
    "--isolated",
    "--no-env-file",
    "--no-config",
    "-n",
    "--no-cache",
    "--cache-dir",
    "--refresh",
    "--refresh-package",
    "--reinstall",
    "--reinstall-package",
    "-U",
    "--upgrade",
    "-P",
    "--upgrade-package",
    "--link-mode",
    "--compile-bytecode",
    "--no-build",
    "--no-build-package",
    "--no-python-downloads",
    "--managed-python",
    "--no-managed-python",
    "--system-certs",
    "--native-tls",
    "--no-sources",
    "--keyring-provider",
];

impl Flags {
    /// Sorts them. A flag that is in none of the lists would be lost, and is refused.
    pub(super) fn of(asked: &Asked) -> Result<Self, InstallError> {
        let mut flags = Self::default();
        for flag in &asked.flags {
            let name = flag.name.as_str();
            let both = || [Some(name.to_owned()), flag.value.clone()].into_iter().flatten();
            if PYTHON.contains(&name) {
                flags.python.clone_from(&flag.value);
            } else if CHOOSING.contains(&name) && flag.value.is_some() {
                flags.choosing.extend(both());
            } else if INDEXES.contains(&name) && flag.value.is_some() {
                flags.indexes.extend(both());
            } else if !NEEDLESS.contains(&name) {
                return Err(InstallError::Flag { runner: "uvx", flag: name.to_owned() });
            }
        }
        Ok(flags)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words;

    fn of(line: &str) -> Result<Flags, InstallError> {
        Flags::of(&words::read(&line.split(' ').map(str::to_owned).collect::<Vec<_>>()).unwrap())
    }

    #[test]
    fn flags_are_sorted_and_none_is_lost() {
        let flags = of(
            "uvx -q -p 3.11 --python=3.12 --prerelease allow --index https://i.example/s --refresh x --env-file y",
        );
        let flags = flags.unwrap();
        assert_eq!(flags.python.as_deref(), Some("3.12"));
        assert_eq!(flags.choosing, ["--prerelease", "allow"]);
        assert_eq!(flags.indexes, ["--index", "https://i.example/s"]);
        assert_eq!(of("uvx x").unwrap(), Flags::default());
    }

    #[test]
    fn flags_that_read_files_or_build_are_refused_by_name() {
        for flag in [
            "--env-file=.env",
            "--with-requirements r.txt",
            "--with-editable .",
            "-c c.txt",
            "--overrides o.txt",
            "--find-links /srv",
            "--config-file /x",
            "--directory /x",
            "--no-binary",
            "--python-platform windows",
            "--made-up",
        ] {
            let line = format!("uvx {flag} -- x");
            let name = flag.split(['=', ' ']).next().unwrap();
            match of(&line) {
                Err(InstallError::Flag { flag, .. }) => assert_eq!(flag, name),
                other => panic!("{line}: {other:?}"),
            }
        }
    }
}
