//! What a client is told of where its tokens come from (RFC 9728), and its challenges (RFC 6750).

use std::collections::BTreeSet;

use http::HeaderValue;
use model::name::ServerName;
use serde_json::{Value, json};

/// Where the documents are (RFC 9728, section 3).
pub const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// What the documents say, and where they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metadata {
    base: String,
    issuers: Vec<String>,
    scopes: BTreeSet<String>,
}

/// What is wrong with a token, in the words of RFC 6750, section 3.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Challenge {
    /// There is no token: no word at all.
    None,
    /// The request itself is wrong.
    InvalidRequest,
    /// The token is no good.
    InvalidToken,
    /// A wider token would be.
    InsufficientScope,
}

impl Challenge {
    fn word(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::InvalidRequest => Some("invalid_request"),
            Self::InvalidToken => Some("invalid_token"),
            Self::InsufficientScope => Some("insufficient_scope"),
        }
    }
}

impl Metadata {
    /// Documents of a gateway whose address is `base` (`https://mcp.example.com`), for tokens of `issuers`. `scopes` are the
    /// ones that a client should ask for; `offline_access` is between the client and its issuer and is left out.
    pub fn new(
        base: impl Into<String>,
        issuers: impl IntoIterator<Item = String>,
        scopes: impl IntoIterator<Item = String>,
    ) -> Self {
        let base: String = base.into();
        let base = base.trim_end_matches('/').to_owned();
        let scopes =
            scopes.into_iter().filter(|scope| scope != "offline_access" && is_scope(scope)).collect();
        Self { base, issuers: issuers.into_iter().collect(), scopes }
    }

    /// The gateway's own address, without a slash at its end.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The document at `path`; none where there is none, or nobody to get tokens from. Servers have theirs whether they
    /// exist or not, so that nobody learns which do.
    pub fn document(&self, path: &str) -> Option<Value> {
        let at = path.strip_prefix(WELL_KNOWN)?;
        let at = at.strip_prefix(self.prefix()).unwrap_or(at);
        let is_known = at.is_empty() || place(at) == at;
        if self.issuers.is_empty() || !is_known {
            return None;
        }
        let mut document = json!({
            "resource": format!("{}{at}", self.base),
            "authorization_servers": self.issuers,
            "bearer_methods_supported": ["header"],
            "resource_name": "Fumehood",
        });
        if let (Some(members), false) = (document.as_object_mut(), self.scopes.is_empty()) {
            members.insert("scopes_supported".to_owned(), json!(self.scopes));
        }
        Some(document)
    }

    /// The resource that a request to `path` is for (RFC 8707): `…/mcp`, `…/servers/NAME/mcp`, or the gateway as a whole.
    pub fn resource(&self, path: &str) -> String {
        format!("{}{}", self.base, place(path))
    }

    /// The value of `WWW-Authenticate` for a request to `path`. `description` has to be a text of ours.
    pub fn challenge(&self, path: &str, what: Challenge, description: &str) -> HeaderValue {
        let mut words = Vec::new();
        if !self.issuers.is_empty() {
            words.push(format!("resource_metadata=\"{}\"", self.url(place(path))));
        }
        if let Some(word) = what.word() {
            words.push(format!("error=\"{word}\""));
            let description: String = description.chars().filter(|c| is_description(*c)).collect();
            words.push(format!("error_description=\"{description}\""));
        }
        if !self.scopes.is_empty() {
            let scopes: Vec<&str> = self.scopes.iter().map(String::as_str).collect();
            words.push(format!("scope=\"{}\"", scopes.join(" ")));
        }
        let value = format!("Bearer {}", words.join(", "));
        HeaderValue::from_str(value.trim_end()).unwrap_or(HeaderValue::from_static("Bearer"))
    }

    /// Where the document for a place is: the well-known part goes between host and path (RFC 9728, section 3.1).
    fn url(&self, place: &str) -> String {
        let origin = self.base.strip_suffix(self.prefix()).unwrap_or(&self.base);
        format!("{origin}{WELL_KNOWN}{}{place}", self.prefix())
    }

    /// The path of the gateway's own address; empty as a rule.
    fn prefix(&self) -> &str {
        let host = self.base.find("://").map_or(0, |at| at + 3);
        let rest = self.base.get(host..).unwrap_or_default();
        rest.find('/').and_then(|at| rest.get(at..)).unwrap_or_default()
    }
}

/// The part of a request's path that names a resource of its own.
fn place(path: &str) -> &str {
    if path == "/mcp" || server(path).is_some() { path } else { "" }
}

/// The server whose own address this path is: `/servers/NAME/mcp`.
pub fn server(path: &str) -> Option<ServerName> {
    let name = path.strip_prefix("/servers/")?.strip_suffix("/mcp")?;
    ServerName::new(name).ok()
}

/// RFC 6749, section 3.3: what a scope is made of.
fn is_scope(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| matches!(b, 0x21 | 0x23..=0x5b | 0x5d..=0x7e))
}

/// RFC 6750, section 3: what a description is made of.
fn is_description(c: char) -> bool {
    matches!(c, '\u{20}' | '\u{21}' | '\u{23}'..='\u{5b}' | '\u{5d}'..='\u{7e}')
}

#[cfg(test)]
mod tests;
