//! Where a remote server is, and what every request to it carries: the words of the command line, checked.

use hyper::{
    Uri,
    header::{HeaderName, HeaderValue},
};
use model::config::RESERVED_HEADERS;

/// A remote server.
#[derive(Debug)]
pub(crate) struct Target {
    /// Whether TLS is spoken.
    pub(crate) tls: bool,
    /// A name, or an address without brackets.
    pub(crate) host: String,
    /// Where it listens.
    pub(crate) port: u16,
    /// As the `host` header wants it.
    pub(crate) authority: String,
    /// Path and query.
    pub(crate) path: String,
    /// Where else it may be, where nothing is at `path`; nowhere where somebody has said where it is.
    pub(crate) other_paths: &'static [&'static str],
    /// Where a server of revision 2024-11-05 may have its stream of events, where it is not at `path`.
    pub(crate) stream_paths: &'static [&'static str],
    inside: bool,
    /// What was asked for besides what the protocol wants. Marked as sensitive: never printed.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
}

/// Words that name no remote server.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum TargetError {
    /// No URL at all.
    #[error("`{0}` is no URL")]
    Url(String),
    /// Neither `https` nor `http`.
    #[error("`{0}` begins with neither `https://` nor `http://`")]
    Scheme(String),
    /// Everybody on the way could read and change what is said.
    #[error("`{0}` is not encrypted")]
    Plain(String),
    /// A name or password would stand in logs and lists of processes.
    #[error("a URL with a name or a password in it is not used")]
    UserInfo,
    /// Not `NAME:VARIABLE`.
    #[error("`{0}` is not `NAME:VARIABLE`")]
    Header(String),
    /// One that the protocol sets.
    #[error("the header `{0}` is set by the protocol")]
    Reserved(String),
    /// The variable is not there.
    #[error("the header `{name}` wants the variable `{variable}`, which is not set")]
    Unset { name: String, variable: String },
    /// It holds what no header can.
    #[error("the value for the header `{0}` holds characters that no header can")]
    Value(String),
}

impl TargetError {
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Plain(_) => {
                "use `https://`; plain `http://` is for a server that the operator's file binds to an address"
            }
            Self::UserInfo => "put it into a secret, and that into a header: `--header authorization:TOKEN`",
            Self::Header(_) | Self::Unset { .. } | Self::Value(_) => {
                "`--header authorization:TOKEN` takes the whole value from the variable, \
                 `--header 'authorization:Bearer ${TOKEN}'` a part of it"
            }
            Self::Url(_) | Self::Scheme(_) | Self::Reserved(_) => "",
        }
    }
}

impl Target {
    /// Reads a URL and headers, each `NAME:VARIABLE`, `NAME:text with ${VARIABLE}`, or `NAME=text` with variables or without
    /// any. `lookup` answers for variables; `plain` allows a URL without encryption.
    pub(crate) fn read(
        url: &str,
        headers: &[String],
        plain: bool,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, TargetError> {
        let wrong = || TargetError::Url(url.to_owned());
        let uri: Uri = url.parse().map_err(|_| wrong())?;
        let tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(TargetError::Scheme(url.to_owned())),
        };
        let authority = uri.authority().ok_or_else(wrong)?;
        if authority.as_str().contains('@') {
            return Err(TargetError::UserInfo);
        }
        if !tls && !plain {
            return Err(TargetError::Plain(url.to_owned()));
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() {
            return Err(wrong());
        }
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let headers = headers.iter().map(|text| header(text, &lookup)).collect::<Result<_, _>>()?;
        Ok(Self {
            tls,
            host,
            port: authority.port_u16().unwrap_or(if tls { 443 } else { 80 }),
            authority: authority.as_str().to_owned(),
            path: path.to_owned(),
            other_paths: &[],
            stream_paths: &[],
            inside: false,
            headers,
        })
    }

    /// A server in a cell, which listens on this port of its loopback.
    pub(crate) fn inside(port: u16) -> Self {
        let host = "localhost".to_owned();
        Self {
            tls: false,
            authority: format!("{host}:{port}"),
            host,
            port,
            path: "/mcp".to_owned(),
            other_paths: &["/"],
            stream_paths: &["/sse"],
            inside: true,
            headers: Vec::new(),
        }
    }

    /// Whether it is in a cell.
    pub(super) fn is_inside(&self) -> bool {
        self.inside
    }
}

fn header(
    text: &str,
    lookup: &impl Fn(&str) -> Option<String>,
) -> Result<(HeaderName, HeaderValue), TargetError> {
    let wrong = || TargetError::Header(text.to_owned());
    // Neither of the two can be in a name.
    let (name, from) = text.split_once([':', '=']).ok_or_else(wrong)?;
    let is_text = text.as_bytes().get(name.len()) == Some(&b'=');
    let name: HeaderName = name.trim().parse().map_err(|_| wrong())?;
    if RESERVED_HEADERS.contains(&name.as_str()) {
        return Err(TargetError::Reserved(name.to_string()));
    }
    let value = |variable: &str| {
        let unset = || TargetError::Unset { name: name.to_string(), variable: variable.to_owned() };
        lookup(variable).filter(|value| !value.is_empty()).ok_or_else(unset)
    };
    let from = from.trim();
    let filled = if is_text || from.contains("${") {
        let mut filled = String::new();
        let mut rest = from;
        while let Some((before, after)) = rest.split_once("${") {
            let (variable, later) = after.split_once('}').ok_or_else(wrong)?;
            filled.push_str(before);
            filled.push_str(&value(variable)?);
            rest = later;
        }
        filled + rest
    } else if from.is_empty() {
        return Err(wrong());
    } else {
        value(from)?
    };
    let mut filled = HeaderValue::from_str(&filled).map_err(|_| TargetError::Value(name.to_string()))?;
    filled.set_sensitive(true);
    Ok((name, filled))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str, headers: &[&str], plain: bool) -> Result<Target, TargetError> {
        let headers: Vec<String> = headers.iter().map(|header| (*header).to_owned()).collect();
        Target::read(url, &headers, plain, |name| match name {
            "TOKEN" => Some("t0k".to_owned()),
            "BROKEN" => Some("a\nb".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        })
    }

    #[test]
    fn a_url_and_its_headers_are_taken_apart() {
        let target = read(
            "https://mcp.example.com/v1/mcp?x=1",
            &[
                "authorization:Bearer ${TOKEN}",
                "x-key: TOKEN",
                "x-text=eu: TOKEN=1",
                "x-both=${TOKEN}:${TOKEN}",
            ],
            false,
        )
        .unwrap();
        assert_eq!((target.tls, target.host.as_str(), target.port), (true, "mcp.example.com", 443));
        assert_eq!((target.authority.as_str(), target.path.as_str()), ("mcp.example.com", "/v1/mcp?x=1"));
        let values: Vec<&[u8]> = target.headers.iter().map(|(_, value)| value.as_bytes()).collect();
        assert_eq!(values, [b"Bearer t0k".as_slice(), b"t0k", b"eu: TOKEN=1", b"t0k:t0k"]);
        assert!(!format!("{target:?}").contains("t0k"));
        let target = read("http://[::1]:8080", &[], true).unwrap();
        assert_eq!((target.tls, target.host.as_str(), target.port), (false, "::1", 8080));
        assert_eq!((target.authority.as_str(), target.path.as_str()), ("[::1]:8080", "/"));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let refused = |url: &str, headers: &[&str]| read(url, headers, false).unwrap_err().to_string();
        for (url, words) in [
            ("not a url", "`not a url` is no URL"),
            ("/only/a/path", "begins with neither"),
            ("ftp://x/", "begins with neither"),
            ("http://mcp.example.com/", "is not encrypted"),
            ("https://me:secret@mcp.example.com/", "with a name or a password"),
        ] {
            let said = refused(url, &[]);
            assert!(said.contains(words), "{url}: {said}");
        }
        for (header, words) in [
            ("authorization", "is not `NAME:VARIABLE`"),
            ("a b:TOKEN", "is not `NAME:VARIABLE`"),
            ("x:", "is not `NAME:VARIABLE`"),
            ("x=${TOKEN", "is not `NAME:VARIABLE`"),
            ("a b=text", "is not `NAME:VARIABLE`"),
            ("x=${NOTHING}", "which is not set"),
            ("x:${TOKEN", "is not `NAME:VARIABLE`"),
            ("Host:TOKEN", "`host` is set by the protocol"),
            ("MCP-Session-Id:TOKEN", "is set by the protocol"),
            ("x:NOTHING", "wants the variable `NOTHING`, which is not set"),
            ("x:EMPTY", "which is not set"),
            ("x:BROKEN", "holds characters that no header can"),
        ] {
            let said = refused("https://x/", &[header]);
            assert!(said.contains(words) && !said.contains("a\nb"), "{header}: {said}");
        }
    }
}
