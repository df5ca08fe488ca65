//! A token taken apart, of which nothing is proven yet.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::guard;
use model::json;
use serde_json::{Map, Value};

use super::error::TokenError;

/// Longest token that is looked at, in bytes. Header fields of a request fit into about as much in most servers.
pub const MAX_LENGTH: usize = 16 * 1024;

/// A token taken apart (RFC 7515, section 7.1). Its issuer is what it says itself: enough to choose who judges it.
#[derive(Debug)]
pub struct Unverified<'a> {
    header: Map<String, Value>,
    claims: Value,
    message: &'a str,
    signature: &'a str,
}

impl<'a> Unverified<'a> {
    /// Takes a token apart.
    ///
    /// # Errors
    ///
    /// [`TokenError::Length`] before anything is decoded, [`TokenError::Malformed`] for what is no JWS of two JSON objects
    /// without doubled keys.
    pub fn read(token: &'a str) -> Result<Self, TokenError> {
        if token.len() > MAX_LENGTH && !guard::off("token-length") {
            return Err(TokenError::Length);
        }
        let shape = TokenError::Malformed("it has to have three parts with dots between them");
        let (message, signature) = token.rsplit_once('.').ok_or(shape.clone())?;
        let (header, claims) = message.split_once('.').ok_or(shape.clone())?;
        if claims.contains('.') {
            return Err(shape);
        }
        Ok(Self { header: object(header)?, claims: Value::Object(object(claims)?), message, signature })
    }

    /// Claims without a token, for saying what would happen.
    pub(super) fn supposed(claims: Value) -> Self {
        Self { header: Map::new(), claims, message: "", signature: "" }
    }

    /// The issuer it says it is from.
    ///
    /// # Errors
    ///
    /// [`TokenError::Claim`] if `iss` is no text.
    pub fn issuer(&self) -> Result<&str, TokenError> {
        self.claims.get("iss").and_then(Value::as_str).ok_or(TokenError::Claim("iss"))
    }

    pub(super) fn claims(&self) -> &Value {
        &self.claims
    }

    pub(super) fn has_claim(&self, name: &str) -> bool {
        self.claims.get(name).is_some()
    }

    pub(super) fn header(&self) -> &Map<String, Value> {
        &self.header
    }

    /// A header that is a text, if it is there.
    pub(super) fn header_text(&self, name: &str) -> Result<Option<&str>, TokenError> {
        match self.header.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(TokenError::Malformed("a header has the wrong type")),
        }
    }

    pub(super) fn message(&self) -> &str {
        self.message
    }

    pub(super) fn signature(&self) -> &str {
        self.signature
    }
}

fn object(part: &str) -> Result<Map<String, Value>, TokenError> {
    let bytes = URL_SAFE_NO_PAD.decode(part).map_err(|_| TokenError::Malformed("it is no base64url"))?;
    let value = if guard::off("token-doubled-keys") {
        serde_json::from_slice(&bytes).map_err(|_| TokenError::Malformed("it is no JSON"))?
    } else {
        json::parse(&bytes).map_err(|error| match error {
            json::JsonError::Duplicate { .. } => TokenError::Malformed("a key stands twice"),
            _ => TokenError::Malformed("it is no JSON"),
        })?
    };
    match value {
        Value::Object(members) => Ok(members),
        _ => Err(TokenError::Malformed("it is no JSON object")),
    }
}
