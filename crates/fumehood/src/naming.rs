//! A name for a command that was given none.

use std::path::Path;

use model::name::ServerName;

/// Programs that run another thing, which is what one wants to read in a list.
const RUNNERS: &[&str] =
    &["npx", "bunx", "uvx", "pipx", "node", "bun", "deno", "python", "python3", "uv", "ruby", "sh", "bash"];
/// Words between such a program and that thing.
const SUBCOMMANDS: &[&str] = &["run", "tool", "exec", "x"];

/// The best name: of the package or script that is run, else of the program, else `server`.
pub(crate) fn of(command: &[String]) -> ServerName {
    let program = command.first().map(|program| base(program)).unwrap_or_default();
    let inner = RUNNERS.contains(&program).then(|| run_by(command)).flatten().map(base);
    let candidates = [inner.unwrap_or_default(), program, "server"];
    let mut names = candidates.iter().filter_map(|text| ServerName::new(cleaned(text)).ok());
    names.next().unwrap_or_else(fallback)
}

/// The name of whoever runs this program, as this machine knows it (passwd(5)); by number where it has none.
pub(crate) fn user() -> String {
    let uid = rustix::process::getuid().as_raw().to_string();
    let known = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let named = known.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == uid).then(|| name.to_owned())
    });
    named.unwrap_or_else(|| format!("uid:{uid}"))
}

/// What a runner runs. Code on the command line has no name.
fn run_by(command: &[String]) -> Option<&str> {
    const CODE: [&str; 5] = ["-c", "-e", "-p", "--eval", "--print"];
    let mut words = command.iter().skip(1).map(String::as_str);
    let found =
        words.find(|word| CODE.contains(word) || !(word.starts_with('-') || SUBCOMMANDS.contains(word)));
    found.filter(|word| !word.starts_with('-'))
}

#[expect(
    clippy::expect_used,
    reason = "the text is a name by the rules of `ServerName`, and a test makes it one"
)]
fn fallback() -> ServerName {
    ServerName::new("server").expect("`server` is a name")
}

/// The last component, without the script's ending and the package's version.
fn base(word: &str) -> &str {
    let last = Path::new(word).file_name().and_then(|name| name.to_str()).unwrap_or(word);
    let unversioned = match last.split_once('@') {
        Some((name, _)) if !name.is_empty() => name,
        _ => last,
    };
    let unversioned = unversioned.split("==").next().unwrap_or(unversioned);
    for ending in [".js", ".mjs", ".cjs", ".ts", ".py", ".sh", ".rb"] {
        if let Some(stem) = unversioned.strip_suffix(ending).filter(|stem| !stem.is_empty()) {
            return stem;
        }
    }
    unversioned
}

fn cleaned(text: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let kept: String = text.chars().map(|c| if allowed(c) { c } else { '-' }).collect();
    kept.trim_start_matches(['.', '_', '-']).chars().take(ServerName::MAX_LEN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_called_after_what_it_runs() {
        for (command, name) in [
            ("npx -y @acme/weather-mcp@1.2.3", "weather-mcp"),
            ("uvx mcp-server-time==2.1", "mcp-server-time"),
            ("node /srv/server.js --port 1", "server"),
            ("python3 -m thing", "thing"),
            ("uv tool run tool-x", "tool-x"),
            ("/usr/bin/true", "true"),
            ("node", "node"),
            ("sh -c exit", "sh"),
            ("node --no-warnings -e 1+1", "node"),
            ("./_x y", "x"),
            ("ö", "server"),
        ] {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            assert_eq!(of(&words).as_str(), name, "{command}");
        }
        assert_eq!(of(&[]).as_str(), "server");
    }
}
