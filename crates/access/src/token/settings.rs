//! What is expected of the tokens of one issuer.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// What is expected of the tokens of one issuer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The issuer, compared as text with `iss` (RFC 8725, section 3.8).
    pub issuer: String,
    /// A token is for us if one of its audiences is one of these (RFC 8707).
    pub audience: BTreeSet<String>,
    /// Algorithms that a token may be signed with.
    pub algorithms: BTreeSet<Algorithm>,
    /// Where claims are.
    pub claims: ClaimPaths,
    /// Whether a token without a tenant is refused.
    pub require_tenant: bool,
    /// Roles of ours by a value of the roles claim. `None`: values are roles as they are.
    pub roles: Option<BTreeMap<String, BTreeSet<String>>>,
    /// How much the issuer's clock may differ from ours.
    pub leeway: Duration,
    /// Values of `typ` that a token may have, without `application/`. `None`: `at+jwt`, `JWT`, or none at all.
    pub token_types: Option<BTreeSet<String>>,
}

impl Settings {
    /// For tokens of `issuer` that are meant for `audience`, with the defaults for everything else.
    pub fn new(issuer: impl Into<String>, audience: impl Into<String>) -> Self {
        Self {
            issuer: issuer.into(),
            audience: BTreeSet::from([audience.into()]),
            algorithms: BTreeSet::from([
                Algorithm::Rs256,
                Algorithm::Ps256,
                Algorithm::Es256,
                Algorithm::EdDsa,
            ]),
            claims: ClaimPaths::default(),
            require_tenant: false,
            roles: None,
            leeway: Duration::ZERO,
            token_types: None,
        }
    }
}

/// Where claims are, as dotted paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimPaths {
    /// The subject: a text that is not empty.
    pub subject: String,
    /// The tenant: a text that is not empty.
    pub tenant: Option<String>,
    /// Roles: a list of texts, or one text.
    pub roles: Option<String>,
    /// Scopes: a text with spaces between them (RFC 8693, section 4.2), or a list of texts.
    pub scope: String,
}

impl Default for ClaimPaths {
    fn default() -> Self {
        Self { subject: "sub".to_owned(), tenant: None, roles: None, scope: "scope".to_owned() }
    }
}

/// An algorithm with a public key (RFC 7518, RFC 8037). There is none with a shared secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    Rs384,
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    Rs512,
    /// RSASSA-PSS with SHA-256.
    Ps256,
    /// RSASSA-PSS with SHA-384.
    Ps384,
    /// RSASSA-PSS with SHA-512.
    Ps512,
    /// ECDSA with P-256 and SHA-256.
    Es256,
    /// ECDSA with P-384 and SHA-384.
    Es384,
    /// Ed25519.
    EdDsa,
}

impl Algorithm {
    /// Every one, with its name in a token.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::Rs256, "RS256"),
        (Self::Rs384, "RS384"),
        (Self::Rs512, "RS512"),
        (Self::Ps256, "PS256"),
        (Self::Ps384, "PS384"),
        (Self::Ps512, "PS512"),
        (Self::Es256, "ES256"),
        (Self::Es384, "ES384"),
        (Self::EdDsa, "EdDSA"),
    ];

    /// Its name in a token.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(algorithm, _)| *algorithm == self).map_or("", |(_, name)| name)
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(text: &str) -> Result<Self, UnknownAlgorithm> {
        let known = Self::ALL.iter().find(|(_, name)| *name == text);
        known.map(|(algorithm, _)| *algorithm).ok_or(UnknownAlgorithm)
    }
}

/// No algorithm that tokens may be signed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no algorithm with a public key has this name")]
pub struct UnknownAlgorithm;
