//! A reviewer's yes, signed: Ed25519 (RFC 8032) over the digest of a server's whole table and its full fingerprint.

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, fmt, path::Path};

use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use base64::{Engine, prelude::BASE64_STANDARD};
use model::{digest::Digest, reviewer::PublicKey};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::key_file::{self, KeyError};

/// A reviewer's private key. It is wiped from memory when it is dropped.
pub struct ReviewerKey {
    pair: Ed25519KeyPair,
    public: PublicKey,
}

/// A reviewer's yes to one server as it was pinned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedAcceptance {
    key: PublicKey,
    signature: Signature,
}

/// The file of signed acceptances that lies beside a lock: one of each key, sorted by key, each on a line of its own. What
/// is in it may be anybody's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Signatures(BTreeMap<PublicKey, SignedAcceptance>);

/// A text that is no list of signed acceptances.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignaturesError {
    /// It is too long.
    #[error("it holds more than {} bytes", Signatures::MOST_BYTES)]
    Long,
    /// It is something else.
    #[error("{0}")]
    Form(String),
    /// Too many have signed.
    #[error("it holds more than {} signatures", Signatures::MOST)]
    Many,
    /// One has signed twice.
    #[error("`{0}` has signed twice")]
    Twice(PublicKey),
}

/// The 64 bytes of RFC 8032. As text Base64 with `=` at the end.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Signature([u8; 64]);

impl ReviewerKey {
    /// A new one, of random bytes of the kernel.
    ///
    /// # Errors
    ///
    /// [`KeyError::Random`] where there are none.
    pub fn make() -> Result<Self, KeyError> {
        Self::of(Ed25519KeyPair::generate().map_err(|_| KeyError::Random)?)
    }

    /// From a file of its owner's alone, in PKCS #8 as PEM.
    ///
    /// # Errors
    ///
    /// [`KeyError`]: a file that is not there, is another's or open to others, or holds something else.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let document = key_file::read(path)?;
        let pair = Ed25519KeyPair::from_pkcs8(&document);
        let key = pair.map_err(|_| KeyError::Form { path: path.to_owned() })?;
        Self::of(key).map_err(|_| KeyError::Form { path: path.to_owned() })
    }

    /// Writes it into a new file, which only its owner reads.
    ///
    /// # Errors
    ///
    /// [`KeyError`]: there is such a file, or none can be made.
    pub fn write_new(&self, path: &Path) -> Result<(), KeyError> {
        let document = self.pair.to_pkcs8v1().map_err(|_| KeyError::Form { path: path.to_owned() })?;
        key_file::write_new(path, document.as_ref())
    }

    /// What others know it by.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Says yes to this very table with this very fingerprint.
    ///
    /// # Errors
    ///
    /// [`KeyError::Unusable`] where nothing can be signed with it.
    pub fn sign(&self, table: &Digest, fingerprint: &str) -> Result<SignedAcceptance, KeyError> {
        let signed = self.pair.try_sign(&message(table, fingerprint)).map_err(|_| KeyError::Unusable)?;
        let bytes = signed.as_ref().try_into().map_err(|_| KeyError::Unusable)?;
        Ok(SignedAcceptance { key: self.public, signature: Signature(bytes) })
    }

    fn of(pair: Ed25519KeyPair) -> Result<Self, KeyError> {
        let bytes = pair.public_key().as_ref().try_into().map_err(|_| KeyError::Unusable)?;
        let public = PublicKey::new(bytes).map_err(|_| KeyError::Unusable)?;
        Ok(Self { pair, public })
    }
}

impl fmt::Debug for ReviewerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReviewerKey").field("public", &self.public).finish_non_exhaustive()
    }
}

impl SignedAcceptance {
    /// Whose it is, by its own word.
    pub fn key(&self) -> &PublicKey {
        &self.key
    }

    /// Whether its key has signed this very table with this very fingerprint.
    pub fn is_over(&self, table: &Digest, fingerprint: &str) -> bool {
        let key = UnparsedPublicKey::new(&ED25519, self.key.bytes());
        key.verify(&message(table, fingerprint), &self.signature.0).is_ok()
    }
}

impl Signatures {
    /// The longest file, in bytes.
    pub const MOST_BYTES: u64 = 64 << 10;
    /// The most signatures of one server.
    pub const MOST: usize = 64;

    /// Reads the file's bytes.
    ///
    /// # Errors
    ///
    /// [`SignaturesError`]: anything that [`Signatures::to_text`] does not write, but for white space.
    pub fn parse(bytes: &[u8]) -> Result<Self, SignaturesError> {
        if u64::try_from(bytes.len()).is_ok_and(|len| len > Self::MOST_BYTES) {
            return Err(SignaturesError::Long);
        }
        let list: Vec<SignedAcceptance> =
            serde_json::from_slice(bytes).map_err(|error| SignaturesError::Form(error.to_string()))?;
        if list.len() > Self::MOST {
            return Err(SignaturesError::Many);
        }
        let mut all = BTreeMap::new();
        for one in list {
            let key = one.key;
            if all.insert(key, one).is_some() {
                return Err(SignaturesError::Twice(key));
            }
        }
        Ok(Self(all))
    }

    /// As it lies in the file.
    pub fn to_text(&self) -> String {
        let line = |one: &SignedAcceptance| {
            format!("\n  {{ \"key\": \"{}\", \"signature\": \"{}\" }}", one.key, one.signature)
        };
        let lines: Vec<String> = self.0.values().map(line).collect();
        format!("[{}\n]\n", lines.join(","))
    }

    /// Adds one, in the place of another of the same key.
    ///
    /// # Errors
    ///
    /// [`SignaturesError::Many`] where there is no room.
    pub fn add(&mut self, one: SignedAcceptance) -> Result<(), SignaturesError> {
        if self.0.len() >= Self::MOST && !self.0.contains_key(&one.key) {
            return Err(SignaturesError::Many);
        }
        self.0.insert(one.key, one);
        Ok(())
    }

    /// Forgets those that are not over this table and fingerprint.
    pub fn keep_over(&mut self, table: &Digest, fingerprint: &str) {
        self.0.retain(|_, one| one.is_over(table, fingerprint));
    }

    /// All of them, by key.
    pub fn iter(&self) -> impl Iterator<Item = &SignedAcceptance> {
        self.0.values()
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&BASE64_STANDARD.encode(self.0))
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signature({self})")
    }
}

impl Serialize for Signature {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Signature {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wrong = || de::Error::custom("a signature is 64 bytes in Base64");
        let bytes = BASE64_STANDARD.decode(String::deserialize(deserializer)?).map_err(|_| wrong())?;
        Ok(Self(bytes.try_into().map_err(|_| wrong())?))
    }
}

/// What is signed. The first line keeps a signature from meaning anything else that is ever signed with the same key; each
/// part ends where its line does, as neither a digest nor a fingerprint holds one.
fn message(table: &Digest, fingerprint: &str) -> Vec<u8> {
    format!("fumehood-acceptance/1\n{table}\n{fingerprint}\n").into_bytes()
}
