//! What uv says about its indexes.

use super::{Registry, Sources, ask::ask, place, place::Place, words::Asked};

/// Variables for uv inside.
pub(super) fn variables() -> Vec<(&'static str, String)> {
    let fixed = |name, value: &str| (name, value.to_owned());
    vec![
        fixed("UV_CACHE_DIR", "/data/uv"),
        fixed("UV_TOOL_DIR", "/data/uv-tools"),
        // The interpreter is this machine's, seen inside.
        fixed("UV_PYTHON_DOWNLOADS", "never"),
        fixed("UV_NO_PROGRESS", "1"),
    ]
}

/// Reads requirements from stdin, and runs nothing of the packages.
const RESOLVE: [&str; 6] = ["pip", "compile", "--no-build", "--quiet", "--no-header", "-"];

/// Has uv resolve the packages, without building any, and reads where it would fetch them.
pub(super) fn sources(asked: &Asked) -> anyhow::Result<Sources> {
    let mut sources = Sources::default();
    let mut input = String::new();
    for package in &asked.packages {
        match requirement(package) {
            Some(requirement) => input.extend([requirement.as_str(), "\n"]),
            None => sources
                .notes
                .push(format!("`{package}` is of no index: allow the host it is fetched from with `--host`")),
        }
    }
    let listed = ask(&asked.program, &[&RESOLVE[..], &["--emit-index-url"]].concat(), &input)?;
    for (variable, url) in indexes(&listed) {
        if Place::parse(url)?.had_credentials {
            sources.notes.push(format!(
                "uv has a key for {}; it stays outside, so packages that need it are not found inside",
                Place::parse(url)?.host
            ));
        }
        sources.registries.push(Registry { variable: variable.to_owned(), url: url.to_owned() });
    }
    let locked = ask(&asked.program, &[&RESOLVE[..], &["--format", "pylock.toml"]].concat(), &input)?;
    sources.files = place::origins(&addresses(&locked));
    Ok(sources)
}

/// A runner's `name@version` is a requirement's `name==version`.
fn requirement(package: &str) -> Option<String> {
    if package.contains("://") || package.starts_with(['.', '/', '~', '-']) || package.contains(['\n', '\r'])
    {
        return None;
    }
    Some(match package.split_once('@') {
        Some((name, "latest")) => name.to_owned(),
        Some((name, version)) => format!("{name}=={version}"),
        None => package.to_owned(),
    })
}

/// The indexes of a requirements file, each with the variable for it.
fn indexes(listed: &str) -> impl Iterator<Item = (&'static str, &str)> {
    listed.lines().filter_map(|line| {
        let (flag, url) = line.trim().split_once([' ', '='])?;
        match flag {
            "--index-url" | "-i" => Some(("UV_DEFAULT_INDEX", url.trim())),
            "--extra-index-url" => Some(("UV_INDEX", url.trim())),
            _ => None,
        }
    })
}

/// The URLs of a lock file.
fn addresses(locked: &str) -> Vec<String> {
    let quoted = locked.split('"').skip(1).step_by(2);
    quoted
        .filter(|text| text.starts_with("https://") || text.starts_with("http://"))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_runner_become_requirements() {
        for (package, expected) in [
            ("mcp-server-time", Some("mcp-server-time")),
            ("a==1", Some("a==1")),
            ("a@1.2", Some("a==1.2")),
            ("a@latest", Some("a")),
            ("a[x]>=1", Some("a[x]>=1")),
            ("git+https://h.example/x", None),
            ("./x", None),
            ("-r /etc/passwd", None),
            ("a\n-r x", None),
        ] {
            assert_eq!(requirement(package).as_deref(), expected, "{package}");
        }
    }

    #[test]
    fn indexes_and_files_are_read_from_what_uv_writes() {
        let listed =
            "--index-url https://i.example/simple\n--extra-index-url http://j.example:80/s\n\nsix==1\n";
        let found: Vec<_> = indexes(listed).collect();
        assert_eq!(
            found,
            [("UV_DEFAULT_INDEX", "https://i.example/simple"), ("UV_INDEX", "http://j.example:80/s")]
        );
        let locked = "wheels = [{ url = \"https://f.example/a.whl\", hashes = { sha256 = \"00\" } }]\n";
        assert_eq!(addresses(locked), ["https://f.example/a.whl"]);
    }
}
