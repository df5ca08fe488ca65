//! Where the keys of an issuer are.

use std::path::PathBuf;
use std::time::Duration;

use http::Uri;

use super::error::KeysError;
use super::fetch::Trust;
use crate::guard;

/// Whose keys, and from where.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The issuer, as it stands in tokens.
    pub issuer: String,
    /// Where its keys are.
    pub source: Source,
    /// Who may vouch for the hosts that are asked.
    pub trust: Trust,
    /// When they are asked.
    pub times: Times,
}

/// Where keys are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Where the issuer's own document says (OpenID Connect Discovery, RFC 8414).
    Discovery,
    /// At this address.
    Address(String),
    /// In this file, which is read at the start and when it is told to.
    File(PathBuf),
}

/// When keys are fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// From this age on they are fetched anew while they are still used.
    pub renew: Duration,
    /// From this age on they are used only where fetching fails.
    pub fresh: Duration,
    /// From this age on they are not used.
    pub stale: Duration,
    /// Between two fetches for a key that nobody has.
    pub pause: Duration,
    /// After a fetch that failed.
    pub retry: Duration,
    /// For one fetch, from the look-up of the name to the last byte.
    pub timeout: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            renew: Duration::from_mins(4),
            fresh: Duration::from_mins(5),
            stale: Duration::from_hours(4),
            pause: Duration::from_secs(30),
            retry: Duration::from_secs(5),
            timeout: Duration::from_secs(5),
        }
    }
}

/// The addresses of the document that names the keys: OpenID Connect Discovery, section 4.1, and RFC 8414, section 3.1, which
/// puts the well-known part between host and path.
pub(super) fn documents(issuer: &str) -> Result<[Uri; 2], KeysError> {
    let base = address(issuer, issuer)?;
    let path = base.path().trim_end_matches('/');
    let scheme = base.scheme_str().unwrap_or_default();
    let authority = base.authority().map_or("", |authority| authority.as_str());
    let at = |path: String| {
        format!("{scheme}://{authority}{path}").parse().map_err(|_| KeysError::Address(issuer.to_owned()))
    };
    Ok([
        at(format!("{path}/.well-known/openid-configuration"))?,
        at(format!("/.well-known/oauth-authorization-server{path}"))?,
    ])
}

/// An address that keys may come from: `https`, or `http` on this machine where the issuer itself is there.
pub(super) fn address(text: &str, issuer: &str) -> Result<Uri, KeysError> {
    let uri: Uri = text.parse().map_err(|_| KeysError::Address(text.to_owned()))?;
    let has_user = uri.authority().is_none_or(|authority| authority.as_str().contains('@'));
    let is_here = |uri: &Uri| uri.scheme_str() == Some("http") && uri.host().is_some_and(is_loopback);
    let issuer_is_here = issuer.parse::<Uri>().is_ok_and(|issuer| is_here(&issuer));
    let is_safe = uri.scheme_str() == Some("https") || (is_here(&uri) && issuer_is_here);
    if has_user || text.contains('#') {
        return Err(KeysError::Address(text.to_owned()));
    }
    if is_safe || guard::off("jwks-https") { Ok(uri) } else { Err(KeysError::Plain(text.to_owned())) }
}

fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
