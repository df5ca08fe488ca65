//! Fingerprints: the full one that decides, and the short one for show.

use std::{fmt, str::FromStr};

use model::digest::Digest;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

use crate::json::{self, JsonError};

/// The digest of all that a model would read of a server. As text `v1:sha256:` and 64 lower-case hexadecimal digits.
///
/// Version 1 is SHA-256 over RFC 8785 canonical JSON of what [`crate::surface::Surface::value`] gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(Digest);

/// A text that is no fingerprint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FingerprintError {
    /// A short form or another text.
    #[error("a fingerprint is `v1:sha256:` and 64 lower-case hexadecimal digits")]
    Malformed,
    /// One of a version that is not known here.
    #[error("the fingerprint is of version `{0}`, and version `v1` alone is known here")]
    Version(String),
}

impl Fingerprint {
    /// Of a stored form, which [`crate::surface`] alone builds.
    pub(crate) fn of(canonical: &[u8]) -> Self {
        Self(Digest::of(canonical))
    }

    /// The digest within.
    pub fn digest(&self) -> &Digest {
        &self.0
    }
}

/// The short form of a list of tools: SHA-256 over their canonical JSON sorted by name, the first 16 hexadecimal
/// digits.
///
/// For show and for comparing notes with other programs: 64 bits decide nothing, since a colliding pair costs 2³²
/// hashes.
///
/// # Errors
///
/// [`JsonError::Unwritable`] where a tool holds a number that is not finite.
pub fn short_form(tools: &[Value]) -> Result<String, JsonError> {
    let named = tools.iter().map(|tool| {
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        json::canonical(tool).map(|bytes| (name, bytes))
    });
    named.collect::<Result<Vec<_>, _>>().map(short_of)
}

/// The short form of tools that are canonical already, each with its name.
pub(crate) fn short_of<N: AsRef<str>, B: AsRef<[u8]>>(mut tools: Vec<(N, B)>) -> String {
    tools.sort_by(|(a, a_bytes), (b, b_bytes)| {
        json::order(a.as_ref(), b.as_ref()).then_with(|| a_bytes.as_ref().cmp(b_bytes.as_ref()))
    });
    let list = tools.iter().map(|(_, bytes)| bytes.as_ref()).collect::<Vec<_>>().join(&b',');
    let mut digits = Digest::of(&[b"[", list.as_slice(), b"]"].concat()).hex();
    digits.truncate(SHORT_LEN);
    digits
}

/// Digits of the short form.
pub(crate) const SHORT_LEN: usize = 16;

/// Whether a text could be a short form.
pub(crate) fn is_short(text: &str) -> bool {
    text.len() == SHORT_LEN && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v1:{}", self.0)
    }
}

impl FromStr for Fingerprint {
    type Err = FingerprintError;

    fn from_str(text: &str) -> Result<Self, FingerprintError> {
        let (version, digest) = text.split_once(':').ok_or(FingerprintError::Malformed)?;
        let is_version = version.strip_prefix('v').is_some_and(|number| {
            (1..=4).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
        });
        match version {
            "v1" => digest.parse().map(Self).map_err(|_| FingerprintError::Malformed),
            _ if is_version => Err(FingerprintError::Version(version.to_owned())),
            _ => Err(FingerprintError::Malformed),
        }
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
