//! Credentials of somebody else: with a key of the attacker's own, an allowed host is a way out.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use http::request::Parts;
use percent_encoding::percent_decode_str;
use zeroize::Zeroizing;

use super::placeholder;

/// Headers that hold credentials, in the spelling with `-`; some servers take `_` for it.
const HEADERS: [&str; 32] = [
    "authorization",
    "proxy-authorization",
    "authentication",
    "x-authorization",
    "cookie",
    "x-api-key",
    "x-apikey",
    "api-key",
    "apikey",
    "x-auth-token",
    "x-auth-key",
    "x-access-token",
    "access-token",
    "private-token",
    "job-token",
    "deploy-token",
    "x-gitlab-token",
    "x-goog-api-key",
    "x-goog-iam-authorization-token",
    "x-amz-security-token",
    "x-vault-token",
    "x-figma-token",
    "x-shopify-access-token",
    "x-rapidapi-key",
    "x-functions-key",
    "x-subscription-token",
    "ocp-apim-subscription-key",
    "dd-api-key",
    "dd-application-key",
    "circle-token",
    "x-honeycomb-team",
    "fastly-key",
];

/// Parameters of a query that hold credentials or signatures, in lower case.
const PARAMETERS: [&str; 16] = [
    "access_token",
    "access-token",
    "api_key",
    "api-key",
    "apikey",
    "auth_token",
    "oauth_token",
    "private_token",
    "job_token",
    "client_secret",
    "x-amz-credential",
    "x-amz-signature",
    "x-amz-security-token",
    "x-goog-credential",
    "x-goog-signature",
    "awsaccesskeyid",
];

/// Longest element of `Sec-WebSocket-Protocol` that is no credential; some services take one there.
const SUBPROTOCOL: usize = 40;
/// Longest user name beside a placeholder, in bytes: GitHub's are at most 39, and tokens are longer; an address may be.
const USER: usize = 39;
/// Longest password beside a placeholder in the user name, in bytes: `x-oauth-basic`, `api_token`, `X`.
const PASSWORD: usize = 16;

/// What counts as the cell's own on one host.
#[derive(Debug)]
pub(crate) struct Own<'a> {
    /// Placeholders of the keys that go there.
    pub(crate) placeholders: Vec<&'a str>,
    /// Headers of their bindings, in lower case.
    pub(crate) headers: Vec<&'a str>,
    /// Parameters of their bindings.
    pub(crate) parameters: Vec<&'a str>,
}

/// The place of a credential that is not the cell's own; none if there is none.
pub(crate) fn place_of_foreign(parts: &Parts, own: &Own<'_>) -> Option<String> {
    if parts.uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Some("the user of the URL".into());
    }
    for (name, value) in &parts.headers {
        let dashed = name.as_str().replace('_', "-");
        let known = HEADERS.contains(&dashed.as_str()) || own.headers.contains(&dashed.as_str());
        let foreign = if known {
            !own.is(value.as_bytes(), dashed == "cookie")
        } else {
            dashed == "sec-websocket-protocol" && !own.is_protocol(value.as_bytes())
        };
        if foreign {
            return Some(format!("the header `{name}`"));
        }
    }
    for (name, value) in parameters(parts.uri.query().unwrap_or_default()) {
        let lower = name.to_ascii_lowercase();
        let known = PARAMETERS.contains(&lower.as_str())
            || own.parameters.iter().any(|own| own.eq_ignore_ascii_case(&lower));
        if known && !value.is_empty() && !own.placeholders.contains(&&*value) {
            return Some(format!("the parameter `{}` of the query", crate::name::shown(&name)));
        }
    }
    None
}

/// The parameters of a query, decoded as forms are (`+` is a blank).
pub(crate) fn parameters(query: &str) -> impl Iterator<Item = (String, String)> {
    let decoded = |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
    query.split('&').filter(|pair| !pair.is_empty()).map(move |pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(name), decoded(value))
    })
}

impl Own<'_> {
    /// Whether the value of a header is one placeholder: alone, after the name of a scheme, after `NAME=`; or nothing.
    fn is(&self, value: &[u8], cookie: bool) -> bool {
        let Ok(value) = std::str::from_utf8(value) else { return false };
        let value = value.trim_matches([' ', '\t']);
        if value.is_empty() || self.placeholders.contains(&value) {
            return true;
        }
        if cookie {
            let pair = value.strip_suffix(';').unwrap_or(value);
            return pair.split_once('=').is_some_and(|(_, value)| self.placeholders.contains(&value));
        }
        let Some((scheme, rest)) = value.split_once(' ') else { return self.is_named(value) };
        let rest = rest.trim_start_matches(' ');
        if scheme.eq_ignore_ascii_case("basic") {
            return Basic::decode(rest).is_some_and(|basic| self.is_basic(&basic));
        }
        is_word(scheme) && (self.placeholders.contains(&rest) || self.is_named(rest))
    }

    /// `NAME=placeholder`, also with quotation marks.
    fn is_named(&self, value: &str) -> bool {
        let Some((name, value)) = value.split_once('=') else { return false };
        let bare = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
        is_word(name) && self.placeholders.contains(&bare)
    }

    fn is_basic(&self, basic: &Basic) -> bool {
        let ours = |text: &[u8]| self.placeholders.iter().any(|own| own.as_bytes() == text);
        if ours(&basic.password) {
            let user = &basic.user;
            let short = user.len() <= USER || (user.contains(&b'@') && user.len() <= 3 * USER);
            return ours(user) || (short && !placeholder::is_known_kind(user));
        }
        ours(&basic.user) && basic.password.len() <= PASSWORD
    }

    fn is_protocol(&self, value: &[u8]) -> bool {
        let Ok(value) = std::str::from_utf8(value) else { return false };
        value.split(',').map(str::trim).all(|element| {
            self.placeholders.iter().any(|own| element.contains(own))
                || (element.len() <= SUBPROTOCOL
                    && !element.split('.').any(|part| placeholder::is_known_kind(part.as_bytes())))
        })
    }
}

/// The name of a scheme or a parameter, too short and too plain to be a token itself.
fn is_word(text: &str) -> bool {
    (1..=20).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphabetic() || matches!(b, b'-' | b'_'))
}

/// The user name and the password of HTTP Basic (RFC 7617 §2).
pub(crate) struct Basic {
    /// Up to the first colon.
    pub(crate) user: Zeroizing<Vec<u8>>,
    /// All after it.
    pub(crate) password: Zeroizing<Vec<u8>>,
}

/// Base64 with or without its padding, as servers take it.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

impl Basic {
    /// Takes the part after `Basic ` apart; none if it is no base64, or holds no colon.
    pub(crate) fn decode(text: &str) -> Option<Self> {
        let bytes = Zeroizing::new(LENIENT.decode(text.trim_matches([' ', '\t'])).ok()?);
        let colon = memchr::memchr(b':', &bytes)?;
        let (user, rest) = bytes.split_at_checked(colon)?;
        let password = rest.get(1..)?;
        Some(Self { user: Zeroizing::new(user.to_vec()), password: Zeroizing::new(password.to_vec()) })
    }

    /// The part after `Basic `.
    pub(crate) fn encode(&self) -> Zeroizing<String> {
        let mut bytes = Zeroizing::new(self.user.to_vec());
        bytes.push(b':');
        bytes.extend_from_slice(&self.password);
        Zeroizing::new(base64::engine::general_purpose::STANDARD.encode(&*bytes))
    }
}

#[cfg(test)]
mod tests;
