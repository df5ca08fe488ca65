//! Conditions on a request: its method and its path.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The name of an HTTP method, in upper case: 1 to 24 of `A-Z`, `-` and `_` (a part of RFC 9110's token, §5.6.2, that
/// nobody spells in two ways).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Method(String);

impl Method {
    /// Longest accepted name, in bytes.
    pub const MAX_LEN: usize = 24;

    /// Checks a method; lower case is taken for upper case.
    pub fn new(text: &str) -> Result<Self, MethodError> {
        let upper = text.to_ascii_uppercase();
        let plain = upper.bytes().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'-' | b'_'));
        if plain
            && (1..=Self::MAX_LEN).contains(&upper.len())
            && !matches!(upper.as_str(), "CONNECT" | "TRACE")
        {
            Ok(Self(upper))
        } else {
            Err(MethodError { text: text.to_owned() })
        }
    }

    /// The name as it stands in a request line.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A text that is no method a request may have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a method such as `GET` or `POST`; `TRACE` and `CONNECT` are never passed on")]
pub struct MethodError {
    text: String,
}

/// Which paths a request may have: `/repos/acme/*`, `/v1/messages`, `/repos/*/issues`.
///
/// `*` in the middle stands for one or more characters other than `/`; at the end, after a `/`, for everything below
/// (at least one character). Everything else stands for itself. Compared with a path in its canonical form, without
/// query, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PathPattern(String);

impl PathPattern {
    /// Longest accepted pattern, in bytes.
    pub const MAX_LEN: usize = 512;

    /// Checks a pattern.
    pub fn new(text: impl Into<String>) -> Result<Self, PathPatternError> {
        let text = text.into();
        let fault = |why| Err(PathPatternError { text: text.clone(), why });
        if !text.starts_with('/') {
            return fault("it does not begin with `/`");
        }
        if text.len() > Self::MAX_LEN {
            return fault("it is longer than 512 bytes");
        }
        if text
            .bytes()
            .any(|byte| !byte.is_ascii_graphic() || matches!(byte, b'?' | b'#' | b'\\' | b';' | b'%'))
        {
            return fault("it holds a blank, a control character, or one of `? # \\ ; %`");
        }
        if text.contains("**") {
            return fault("one `*` is enough: at the end it stands for everything below");
        }
        if text.split('/').skip(1).any(|segment| matches!(segment, "." | "..")) || text.contains("//") {
            return fault("it holds an empty segment, `.` or `..`");
        }
        Ok(Self(text))
    }

    /// Whether the canonical `path` is one of them.
    pub fn covers(&self, path: &str) -> bool {
        covers(self.0.as_bytes(), path.as_bytes())
    }

    /// The pattern as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A text that is no pattern of paths.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a pattern of paths such as `/repos/acme/*`: {why}")]
pub struct PathPatternError {
    text: String,
    why: &'static str,
}

impl PathPatternError {
    /// What is wrong with it, without the text itself.
    pub fn why(&self) -> &'static str {
        self.why
    }
}

/// Matches with one point of return, which is enough since a `*` in the middle never crosses a `/`: linear for each
/// segment.
fn covers(pattern: &[u8], path: &[u8]) -> bool {
    let (mut at, mut seen) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    loop {
        match (pattern.get(at), path.get(seen)) {
            (Some(b'*'), Some(_))
                if at + 1 == pattern.len() && at > 0 && pattern.get(at - 1) == Some(&b'/') =>
            {
                return true;
            }
            (Some(b'*'), Some(next)) if *next != b'/' => {
                back = Some((at, seen + 1));
                at += 1;
                seen += 1;
            }
            (None, None) => return true,
            (Some(wanted), Some(next)) if wanted == next && *wanted != b'*' => {
                at += 1;
                seen += 1;
            }
            _ => match back {
                Some((star, taken)) if path.get(taken).is_some_and(|next| *next != b'/') => {
                    back = Some((star, taken + 1));
                    at = star + 1;
                    seen = taken + 1;
                }
                _ => return false,
            },
        }
    }
}

macro_rules! as_text {
    ($type:ty, $error:ty, $make:expr) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl TryFrom<String> for $type {
            type Error = $error;
            fn try_from(text: String) -> Result<Self, $error> {
                $make(text)
            }
        }

        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.0
            }
        }
    };
}

as_text!(Method, MethodError, |text: String| Method::new(&text));
as_text!(PathPattern, PathPatternError, PathPattern::new);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_in_the_middle_stays_in_its_segment_and_one_at_the_end_takes_all_below() {
        let covers = |pattern: &str, path: &str| PathPattern::new(pattern).unwrap().covers(path);
        for (pattern, path) in [
            ("/repos/acme/*", "/repos/acme/x"),
            ("/repos/acme/*", "/repos/acme/x/issues/1"),
            ("/repos/*/issues", "/repos/acme/issues"),
            ("/v1/*.json", "/v1/a.json.json"),
            ("/*", "/x"),
            ("/", "/"),
            ("/a*b/c*d", "/aXbXb/cdXd"),
        ] {
            assert!(covers(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("/repos/acme/*", "/repos/acme"),
            ("/repos/acme/*", "/repos/acme/"),
            ("/repos/acme/*", "/repos/acmeX/y"),
            ("/repos/*/issues", "/repos/a/b/issues"),
            ("/repos/*/issues", "/repos//issues"),
            ("/v1/messages", "/v1/messages/batches"),
            ("/v1/a*", "/v1/ab/c"),
            ("/*", "/"),
        ] {
            assert!(!covers(pattern, path), "{pattern} {path}");
        }
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_no_pattern() {
        for text in
            ["", "repos", "/a?b", "/a#b", "/a;b", "/%2e", "/a/../b", "/a//b", "/**", "/a b", "/\u{e9}"]
        {
            assert!(PathPattern::new(text).is_err(), "{text}");
        }
        for text in ["", "TRACE", "connect", "GE T", "G\u{cb}T"] {
            assert!(Method::new(text).is_err(), "{text}");
        }
        assert_eq!(Method::new("get").unwrap().as_str(), "GET");
    }
}
