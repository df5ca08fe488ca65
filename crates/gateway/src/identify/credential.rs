//! What a request shows of its sender.

use access::token::{MAX_LENGTH, TokenError};
use http::{HeaderMap, Uri, header};
use percent_encoding::percent_decode_str;

use super::error::IdentityError;
use crate::guard;

/// Longest value of `Authorization` that is looked at, in bytes: a token of the greatest length, and its scheme.
pub const MAX_CREDENTIAL: usize = MAX_LENGTH + 64;

/// What a request shows of its sender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    /// Nothing.
    None,
    /// This, as a bearer (RFC 6750, section 2.1).
    Bearer(String),
}

impl Credential {
    /// Reads it. It is in one place, once.
    ///
    /// # Errors
    ///
    /// [`IdentityError::Query`] for a token in the query, which ends in logs and histories (RFC 6750, section 5.3);
    /// [`IdentityError::Headers`] for two headers, [`IdentityError::Scheme`] for another scheme, [`IdentityError::Token`] for
    /// what no token is made of or what is longer.
    pub fn of(uri: &Uri, headers: &HeaderMap) -> Result<Self, IdentityError> {
        if let Some(token) = uri.query().and_then(in_query) {
            if !guard::off("identify-query") {
                return Err(IdentityError::Query);
            }
            return Ok(Self::Bearer(token));
        }
        let mut shown = headers.get_all(header::AUTHORIZATION).iter();
        let Some(first) = shown.next() else { return Ok(Self::None) };
        // Which of two counts is for each reader to say; a proxy in front may have judged the other one.
        if shown.next().is_some() && !guard::off("identify-two-headers") {
            return Err(IdentityError::Headers);
        }
        if first.len() > MAX_CREDENTIAL {
            return Err(TokenError::Length.into());
        }
        let text = first.to_str().map_err(|_| IdentityError::Scheme)?;
        let (scheme, token) = text.split_once(' ').unwrap_or((text, ""));
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(IdentityError::Scheme);
        }
        let token = token.trim_matches(' ');
        // RFC 6750, section 2.1: b64token.
        let is_token = |b: u8| b.is_ascii_alphanumeric() || b"-._~+/=".contains(&b);
        if token.is_empty() || !token.bytes().all(is_token) {
            return Err(TokenError::Malformed("it has characters that no token has").into());
        }
        Ok(Self::Bearer(token.to_owned()))
    }
}

/// The value of the parameter `access_token`, however its name is written.
fn in_query(query: &str) -> Option<String> {
    query.split('&').find_map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let name = percent_decode_str(name).decode_utf8_lossy();
        let value = percent_decode_str(value).decode_utf8_lossy();
        name.eq_ignore_ascii_case("access_token").then(|| value.into_owned())
    })
}
