//! A package as `uvx` is told it.

use super::report::plain;

/// A requirement of an index: a name, what of it, which versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Requirement {
    /// The name in its normal form.
    pub(super) name: String,
    /// The name as written: how the program is called that is run.
    pub(super) written: String,
    /// The whole in PEP 508's words: `name[extra]==1.0`.
    pub(super) text: String,
}

impl Requirement {
    /// Reads `name`, `name@1.0`, `name@latest`, `name[extra]>=1`; nothing where it is a folder, a repository or a URL.
    pub(super) fn read(written: &str) -> Option<Self> {
        let is_safe =
            |letter: char| letter.is_ascii_alphanumeric() || " ._-[],<>=!~*+@'\"();".contains(letter);
        if !written.starts_with(|first: char| first.is_ascii_alphanumeric())
            || written.contains("://")
            || written.contains("--")
            || !written.chars().all(is_safe)
        {
            return None;
        }
        let end = written.find(|letter: char| !(letter.is_ascii_alphanumeric() || "._-".contains(letter)));
        let (name, rest) = written.split_at(end.unwrap_or(written.len()));
        let (extras, version) = match rest.find(']') {
            Some(at) if rest.starts_with('[') => rest.split_at(at + 1),
            _ => ("", rest),
        };
        let version = match version.trim().strip_prefix('@').map(str::trim) {
            Some("latest") => String::new(),
            // One version, by `uvx`; a direct reference has a place behind it.
            Some(exact) if exact.starts_with(|first: char| first.is_ascii_digit()) => format!("=={exact}"),
            Some(_) => return None,
            None => version.to_owned(),
        };
        // A file name is taken for a file.
        if rest.is_empty() && [".whl", ".zip", ".tar.gz"].iter().any(|ending| name.ends_with(ending)) {
            return None;
        }
        Some(Self { name: plain(name), written: name.to_owned(), text: format!("{name}{extras}{version}") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_runner_become_requirements() {
        for (written, expected) in [
            ("mcp-server-time", Some("mcp-server-time")),
            ("a==1", Some("a==1")),
            ("a@1.2", Some("a==1.2")),
            ("a@latest", Some("a")),
            ("A_b[x,y]>=1,<2", Some("A_b[x,y]>=1,<2")),
            ("a[x]@1.2", Some("a[x]==1.2")),
            ("a @ 1.2", Some("a==1.2")),
            ("git+https://h.example/x", None),
            ("a @ https://h.example/x", None),
            ("a@git+x", None),
            ("a@./x", None),
            ("./x", None),
            ("x.whl", None),
            ("-r /etc/passwd", None),
            ("a\n-r x", None),
            ("a --index-url=x", None),
            ("a\\", None),
            ("", None),
        ] {
            let read = Requirement::read(written);
            assert_eq!(read.map(|read| read.text).as_deref(), expected, "{written}");
        }
        let read = Requirement::read("Foo._bar[x]").unwrap();
        assert_eq!((read.name.as_str(), read.written.as_str()), ("foo-bar", "Foo._bar"));
    }
}
