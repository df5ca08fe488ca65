//! What a role may use: `SERVER/NAME` with stars.

use std::fmt;

use super::complaint::Complaint;
use crate::name::ServerName;

/// `SERVER/NAME`: in each of the two `*` stands for any number of characters. `*` alone is everything.
///
/// Server names have no `/`, so the first one parts the two; what is behind it may have more.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pattern {
    server: String,
    name: String,
}

/// Longest pattern, in bytes.
const LONGEST: usize = 1024;

impl Pattern {
    /// Whether it covers what this server calls by this name.
    pub fn covers(&self, server: &ServerName, name: &str) -> bool {
        self.covers_server(server) && covers(self.name.as_bytes(), name.as_bytes())
    }

    /// Whether it can cover something of this server.
    pub fn covers_server(&self, server: &ServerName) -> bool {
        covers(self.server.as_bytes(), server.as_str().as_bytes())
    }

    /// The pattern of server names.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The pattern of names, or of URIs.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Of tools and prompts.
    pub(super) fn parse(text: &str) -> Result<Self, Complaint> {
        let fault = |why: &str| {
            Err(Complaint::new(format!("`{text}` is not a pattern of names: {why}"))
                .help("write `SERVER/NAME`, `SERVER/*`, `SERVER/get_*`, or `*` for everything"))
        };
        if text.len() > LONGEST || text.chars().any(char::is_control) {
            return fault("it is too long, or holds a control character");
        }
        if text == "*" {
            return Ok(Self { server: text.to_owned(), name: text.to_owned() });
        }
        let Some((server, name)) = text.split_once('/') else { return fault("there is no `/` in it") };
        let is_server = |byte: u8| byte.is_ascii_alphanumeric() || b"._-*".contains(&byte);
        if server.is_empty() || server.len() > ServerName::MAX_LEN || !server.bytes().all(is_server) {
            return fault("what stands before the `/` cannot be a server's name");
        }
        if name.is_empty() {
            return fault("nothing stands behind the `/`");
        }
        if server.contains("**") || name.contains("**") {
            return fault("one `*` stands for any number of characters");
        }
        Ok(Self { server: server.to_owned(), name: name.to_owned() })
    }

    /// Of resources: what stands behind the `/` is the beginning of a URI.
    pub(super) fn parse_resource(text: &str) -> Result<Self, Complaint> {
        let Self { server, mut name } = Self::parse(text)?;
        if !name.ends_with('*') {
            name.push('*');
        }
        Ok(Self { server, name })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.server.as_str(), self.name.as_str()) {
            ("*", "*") => f.write_str("*"),
            (server, name) => write!(f, "{server}/{name}"),
        }
    }
}

/// Matches with one point of return: a later star makes every earlier one superfluous to try again.
fn covers(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut seen) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while let Some(next) = text.get(seen) {
        match pattern.get(at) {
            Some(b'*') => {
                back = Some((at + 1, seen));
                at += 1;
            }
            Some(wanted) if wanted == next => {
                at += 1;
                seen += 1;
            }
            _ => match back {
                Some((behind, taken)) => {
                    back = Some((behind, taken + 1));
                    at = behind;
                    seen = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(at).all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn one(pattern: &str, server: &str, name: &str) -> bool {
        Pattern::parse(pattern).unwrap().covers(&ServerName::new(server).unwrap(), name)
    }

    #[test]
    fn a_star_stays_on_its_side() {
        for (pattern, server, name) in [
            ("*", "crm", "a/b"),
            ("crm/*", "crm", "a/b"),
            ("crm/get_*", "crm", "get_"),
            ("*/get", "crm", "get"),
            ("c*m/a*b*c", "crm", "aXbYbZc"),
            ("crm/a/*", "crm", "a/b"),
        ] {
            assert!(one(pattern, server, name), "{pattern} {server} {name}");
        }
        for (pattern, server, name) in [
            ("crm/*", "crm2", "x"),
            ("crm/*", "acrm", "x"),
            ("crm/get", "crm", "get2"),
            ("crm/get", "crm", "Get"),
            ("crm/get", "CRM", "get"),
            ("crm/get_*", "crm", "set_get_"),
            ("c*/x", "d", "x"),
            ("crm/a*b", "crm", "aXbY"),
        ] {
            assert!(!one(pattern, server, name), "{pattern} {server} {name}");
        }
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_no_pattern() {
        for text in ["", "crm", "/x", "crm/", "crm/**", "**", "c m/x", "crm/a\u{7}", "server__tool"] {
            assert!(Pattern::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_resource_is_covered_by_its_beginning() {
        let pattern = Pattern::parse_resource("docs/file:///docs/").unwrap();
        let docs = ServerName::new("docs").unwrap();
        assert!(pattern.covers(&docs, "file:///docs/a/b.txt"));
        assert!(!pattern.covers(&docs, "file:///doc"));
        assert_eq!(pattern.to_string(), "docs/file:///docs/*");
        assert_eq!(Pattern::parse("*/*").unwrap().to_string(), "*");
    }

    proptest! {
        /// The pattern's own meaning, by trying every way a star can be read.
        #[test]
        fn covering_is_what_the_stars_say(pattern in "[ab*]{0,7}", text in "[ab]{0,9}") {
            fn by_trying(pattern: &[u8], text: &[u8]) -> bool {
                match pattern.split_first() {
                    None => text.is_empty(),
                    Some((b'*', rest)) => (0..=text.len()).any(|taken| by_trying(rest, &text[taken..])),
                    Some((byte, rest)) => text.first() == Some(byte) && by_trying(rest, &text[1..]),
                }
            }
            prop_assert_eq!(covers(pattern.as_bytes(), text.as_bytes()), by_trying(pattern.as_bytes(), text.as_bytes()));
        }
    }
}
