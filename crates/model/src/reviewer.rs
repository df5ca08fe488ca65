//! The keys of those whose yes counts without being given on this machine.

use std::{fmt, str::FromStr};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A reviewer's public key: Ed25519, in the 32 bytes of RFC 8032. As text `ed25519:` and their Base64, with `=` at the end;
/// each key has one spelling.
///
/// ```
/// use model::reviewer::{PublicKey, PublicKeyError};
///
/// let text = "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
/// let key: PublicKey = text.parse()?;
/// assert_eq!((key.to_string().as_str(), key.bytes()[0]), (text, 0xd7));
/// let nobody = format!("ed25519:{}=", "A".repeat(43));
/// assert_eq!(nobody.parse::<PublicKey>(), Err(PublicKeyError::Anybody));
/// # Ok::<(), PublicKeyError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey([u8; 32]);

/// A text that is no reviewer's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PublicKeyError {
    /// It does not say which kind.
    #[error("a reviewer's key begins with `ed25519:`")]
    Kind,
    /// What follows is something else.
    #[error("after `ed25519:` stand 32 bytes in Base64, 44 characters with the `=` at the end")]
    Bytes,
    /// Signatures for it can be made up.
    #[error("this is nobody's key: anybody can make signatures that fit it")]
    Anybody,
}

const KIND: &str = "ed25519:";

/// The points of an order that divides 8, without the bit for the sign of x (RFC 8032, 5.1.2): the roots of y, y - 1, y + 1
/// and d·y⁴ + 2·y² - 1 modulo p = 2²⁵⁵ - 19, and p and p + 1, which are taken for 0 and 1. A key of zeros is one of them.
const SMALL_ORDER: [[u8; 32]; 7] = [
    of_ends(0x00, 0x00, 0x00),
    of_ends(0x01, 0x00, 0x00),
    of_ends(0xec, 0xff, 0x7f),
    of_ends(0xed, 0xff, 0x7f),
    of_ends(0xee, 0xff, 0x7f),
    [
        0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5,
        0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05,
    ],
    [
        0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a,
        0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a,
    ],
];

impl PublicKey {
    /// A key from its bytes.
    ///
    /// # Errors
    ///
    /// [`PublicKeyError::Anybody`] for one that fits signatures of everybody.
    pub fn new(bytes: [u8; 32]) -> Result<Self, PublicKeyError> {
        let mut without_sign = bytes;
        let [.., last] = &mut without_sign;
        *last &= 0x7f;
        if SMALL_ORDER.contains(&without_sign) { Err(PublicKeyError::Anybody) } else { Ok(Self(bytes)) }
    }

    /// Its 32 bytes.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{KIND}{}", BASE64_STANDARD.encode(self.0))
    }
}

impl FromStr for PublicKey {
    type Err = PublicKeyError;

    fn from_str(text: &str) -> Result<Self, PublicKeyError> {
        let base64 = text.strip_prefix(KIND).ok_or(PublicKeyError::Kind)?;
        let bytes = BASE64_STANDARD.decode(base64).map_err(|_| PublicKeyError::Bytes)?;
        Self::new(bytes.try_into().map_err(|_| PublicKeyError::Bytes)?)
    }
}

impl Serialize for PublicKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PublicKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

const fn of_ends(first: u8, middle: u8, last: u8) -> [u8; 32] {
    let m = middle;
    [first, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, m, last]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key of RFC 8032, 7.1, test 1.
    const KEY: &str = "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

    #[test]
    fn a_key_has_one_spelling() {
        let key: PublicKey = KEY.parse().unwrap();
        assert_eq!(serde_json::from_str::<PublicKey>(&serde_json::to_string(&key).unwrap()).unwrap(), key);
        assert_eq!(KEY.replace("ed25519", "rsa").parse::<PublicKey>(), Err(PublicKeyError::Kind));
        for other in [
            KEY.trim_end_matches('=').to_owned(),
            // The last two bits belong to no byte.
            KEY.replace("Ro=", "Rp="),
            format!("{KEY} "),
            KEY.replace('/', "_"),
            format!("ed25519:{}", BASE64_STANDARD.encode([7; 31])),
            format!("ed25519:{}", BASE64_STANDARD.encode([7; 33])),
            "ed25519:".to_owned(),
        ] {
            assert_eq!(other.parse::<PublicKey>(), Err(PublicKeyError::Bytes), "{other}");
        }
    }

    #[test]
    fn a_key_of_everybody_is_none() {
        for mut bytes in SMALL_ORDER {
            assert_eq!(PublicKey::new(bytes), Err(PublicKeyError::Anybody));
            bytes[31] |= 0x80;
            assert_eq!(PublicKey::new(bytes), Err(PublicKeyError::Anybody));
            bytes[30] ^= 1;
            assert!(PublicKey::new(bytes).is_ok());
        }
    }
}
