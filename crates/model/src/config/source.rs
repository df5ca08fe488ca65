//! Where a server comes from: a command of this machine, a package of a registry, another machine.

use std::collections::BTreeMap;

use super::complaint::Complaint;
use super::env;
use super::limits::kept;
use super::problem::Source;
use super::written::{self, At};

/// How a server is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// A program and its arguments. A package is written as its runner would be called: `npx --yes PKG@VER …`,
    /// `uvx PKG==VER …`.
    Command(Vec<String>),
    /// MCP by streamable HTTP (MCP 2025-11-25, transports).
    Remote {
        /// Where, an `https` URL.
        url: String,
        /// Headers of every request, by name; `${VARIABLE}` in a value stands for a variable.
        headers: BTreeMap<String, String>,
    },
}

impl Default for Start {
    fn default() -> Self {
        Self::Command(Vec::new())
    }
}

/// Reads `npx:PKG@VER`, `uvx:PKG==VER` or `https://…`.
pub(super) fn parse(text: &str) -> Result<Start, Complaint> {
    let command = |words: &[&str]| Start::Command(words.iter().map(|word| (*word).to_owned()).collect());
    if let Some(package) = text.strip_prefix("npx:") {
        return npm_package(package).map(|()| command(&["npx", "--yes", package]));
    }
    if let Some(package) = text.strip_prefix("uvx:") {
        return python_package(package).map(|()| command(&["uvx", package]));
    }
    if text.starts_with("https://") {
        let authority = authority(text).unwrap_or_default();
        if authority.is_empty()
            || authority.contains('@')
            || text.contains(|c: char| c.is_whitespace() || c.is_control())
        {
            let complaint = Complaint::new(format!("`{text}` is not a URL of a server"));
            return Err(
                complaint.help("write `https://HOST/PATH`, without user or password: tokens are secrets")
            );
        }
        return Ok(Start::Remote { url: text.to_owned(), headers: BTreeMap::new() });
    }
    let complaint = Complaint::new(format!("`{text}` is no source"));
    Err(complaint.help(match text.split_once(':') {
        Some(("http", _)) => "a server elsewhere is reached by `https://`",
        _ => "write `npx:PACKAGE@VERSION`, `uvx:PACKAGE==VERSION` or `https://HOST/PATH`; a program of this machine is a `command`",
    }))
}

/// Host and port of a URL that was parsed here.
pub(super) fn authority(url: &str) -> Option<&str> {
    url.strip_prefix("https://")?.split(['/', '?', '#']).next()
}

/// npm's rules for names of packages, and a version or range without spaces.
fn npm_package(text: &str) -> Result<(), Complaint> {
    let (scope, rest) = match text.strip_prefix('@').map(|rest| rest.split_once('/')) {
        Some(Some((scope, rest))) => (Some(scope), rest),
        Some(None) => (Some(""), ""),
        None => (None, text),
    };
    let (name, version) = rest.split_once('@').map_or((rest, None), |(name, version)| (name, Some(version)));
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
    };
    let is_version = |version: &str| {
        !version.is_empty()
            && version.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-+^~*<>=".contains(&b))
    };
    if is_name(name) && scope.is_none_or(is_name) && version.is_none_or(is_version) {
        return Ok(());
    }
    let complaint = Complaint::new(format!("`npx:{text}` names no package of a registry"));
    Err(complaint.help("write `npx:NAME@VERSION` or `npx:@SCOPE/NAME@VERSION`"))
}

/// A name with extras and a version, by PEP 508 as far as it is needed here.
fn python_package(text: &str) -> Result<(), Complaint> {
    let name_end =
        text.find(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c))).unwrap_or(text.len());
    let (name, rest) = text.split_at(name_end);
    let (extras, version) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((extras, version)) => (extras, version),
        None => ("", rest),
    };
    let is_word = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-,".contains(&b));
    let number = version.strip_prefix("==").or_else(|| version.strip_prefix('@'));
    let is_version = version.is_empty()
        || number.is_some_and(|number| {
            !number.is_empty() && number.bytes().all(|b| b.is_ascii_alphanumeric() || b".+!-_".contains(&b))
        });
    if name.starts_with(|c: char| c.is_ascii_alphanumeric()) && is_word(extras) && is_version {
        return Ok(());
    }
    let complaint = Complaint::new(format!("`uvx:{text}` names no package of an index"));
    Err(complaint.help("write `uvx:NAME==VERSION`, with extras `uvx:NAME[EXTRA]==VERSION`"))
}

/// `command`, or `source` and `args`.
pub(super) fn resolve(name: &At<String>, server: &written::Server, source: &mut Source<'_>) -> Option<Start> {
    match (&server.command, &server.source) {
        (Some(command), None) => {
            if let Some(args) = &server.args {
                let complaint = Complaint::new("`args` belongs to a `source`");
                source.add(args.span(), &complaint.help("write the arguments into `command`"));
            }
            no_headers(server, source);
            let words = words(command, source)?;
            let checked = kept(source, command, |_| env::check_command(&words));
            checked.map(|()| Start::Command(words))
        }
        (None, Some(written)) => {
            let mut start = kept(source, written, |text| parse(text))?;
            if let Some(args) = &server.args {
                let more = words(args, source)?;
                match &mut start {
                    Start::Command(command) => command.extend(more),
                    Start::Remote { .. } => {
                        let complaint = Complaint::new("a server elsewhere takes no `args`");
                        source.add(args.span(), &complaint.help("remove them"));
                    }
                }
            }
            if let Start::Remote { headers, .. } = &mut start {
                *headers = self::headers(server, source);
            } else {
                no_headers(server, source);
            }
            Some(start)
        }
        (Some(command), Some(_)) => {
            let complaint =
                Complaint::new(format!("the server `{}` has a `command` and a `source`", name.get()));
            source.add(command.span(), &complaint.help("keep one of the two"));
            None
        }
        (None, None) => {
            if !source.is_left_out(&["servers", name.get(), "command"])
                && !source.is_left_out(&["servers", name.get(), "source"])
            {
                let complaint = Complaint::new(format!("the server `{}` has no `command`", name.get()));
                source.add(
                    name.span(),
                    &complaint.help(
                        "add the program and its arguments: `command = [\"node\", \"server.js\"]`, or a package: `source = \"npx:NAME@VERSION\"`",
                    ),
                );
            }
            None
        }
    }
}

/// Headers that the protocol or its carrier sets, in lower case (MCP 2025-11-25, transports; RFC 9110, RFC 9112).
pub const RESERVED_HEADERS: [&str; 14] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "host",
    "keep-alive",
    "last-event-id",
    "mcp-protocol-version",
    "mcp-session-id",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Names are tokens (RFC 9110, section 5.6.2, less what nobody uses); values are visible ASCII and blanks.
fn headers(server: &written::Server, source: &mut Source<'_>) -> BTreeMap<String, String> {
    let mut headers = BTreeMap::new();
    for (name, value) in &server.headers {
        let is_name = !name.get().is_empty() && name.get().len() <= 64;
        if !is_name || !name.get().bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            let complaint = Complaint::new(format!("`{}` is not a name of a header", name.get()));
            source.add(name.span(), &complaint.help("use letters, digits and `-`"));
        } else if RESERVED_HEADERS.contains(&name.get().to_lowercase().as_str()) {
            let complaint =
                Complaint::new(format!("the header `{}` is set by the protocol", name.get().to_lowercase()));
            source.add(name.span(), &complaint.help("remove it"));
        } else if !value.get().bytes().all(|b| b == b' ' || b.is_ascii_graphic()) {
            let complaint = Complaint::new(format!("the value of the header `{}` cannot be", name.get()));
            source.add(
                value.span(),
                &complaint.help("use visible ASCII characters, and `${VARIABLE}` for a secret"),
            );
        } else {
            headers.insert(name.get().to_lowercase(), value.get().clone());
        }
    }
    headers
}

fn no_headers(server: &written::Server, source: &mut Source<'_>) {
    if let Some(name) = server.headers.keys().next() {
        let complaint = Complaint::new("`headers` are for a server elsewhere");
        source.add(name.span(), &complaint.help("remove them, or write `source = \"https://HOST/PATH\"`"));
    }
}

fn words(written: &At<Vec<At<String>>>, source: &mut Source<'_>) -> Option<Vec<String>> {
    let mut sound = true;
    for argument in written.get() {
        if let Err(complaint) = env::check_argument(argument.get()) {
            source.add(argument.span(), &complaint);
            sound = false;
        }
    }
    sound.then(|| written.get().iter().map(|argument| argument.get().clone()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_read_as_their_runners_would_be_called() {
        for (text, words) in [
            ("npx:weather", "npx --yes weather"),
            ("npx:@acme/weather-mcp@1.2.3", "npx --yes @acme/weather-mcp@1.2.3"),
            ("npx:x@^1.2", "npx --yes x@^1.2"),
            ("uvx:mcp-server-time==2.1", "uvx mcp-server-time==2.1"),
            ("uvx:x[a,b]==1", "uvx x[a,b]==1"),
        ] {
            let words = words.split(' ').map(str::to_owned).collect();
            assert_eq!(parse(text), Ok(Start::Command(words)), "{text}");
        }
        let url = "https://mcp.example.com/mcp?x=1";
        assert_eq!(parse(url), Ok(Start::Remote { url: url.to_owned(), headers: BTreeMap::new() }));
    }

    #[test]
    fn what_is_of_no_registry_is_no_source() {
        for text in [
            "",
            "npx:",
            "npx:./x",
            "npx:../x",
            "npx:github:a/b",
            "npx:a/b",
            "npx:@acme",
            "npx:x@",
            "npx:x@npm:y",
            "npx:-p",
            "npx:x y",
            "npx:https://h.example/x.tgz",
            "uvx:",
            "uvx:./x",
            "uvx:--from",
            "uvx:x==",
            "uvx:x>=1",
            "uvx:git+https://h.example/x",
            "uvx:x[a",
            "http://h.example/",
            "https://",
            "https://u:p@h.example/",
            "https://h.example/a b",
            "oci:x",
            "weather",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
