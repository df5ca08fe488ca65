//! The public keys of an issuer (RFC 7517).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::DecodingKey;
use model::config::Algorithm;
use model::guard;
use model::json::{self, JsonError};
use serde_json::{Map, Value};

/// Most keys that are kept of a set. Issuers have a handful.
pub const MAX_KEYS: usize = 100;

/// The public keys of an issuer that signatures can be checked with.
#[derive(Debug, Clone, Default)]
pub struct KeySet {
    keys: Vec<Key>,
    left_out: usize,
}

/// Text that is no set of keys.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeySetError {
    /// It is no JSON, or has a key twice.
    #[error("it is no JSON: {0}")]
    Json(#[source] JsonError),
    /// It has no array `keys`.
    #[error("it has no array `keys`")]
    Shape,
    /// It has too many.
    #[error("it has more than {MAX_KEYS} keys")]
    Many,
    /// None of its keys checks signatures with an algorithm that is known.
    #[error("none of its {0} keys can check a signature")]
    Useless(usize),
}

impl KeySetError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Useless(_) => {
                "RSA keys of 2048 to 8192 bits, P-256, P-384 and Ed25519 are known; keys with a private part or `use` other than `sig` are left out"
            }
            _ => "a JWK Set is wanted (RFC 7517): an object with an array `keys`",
        }
    }
}

impl KeySet {
    /// Reads a JWK Set. Keys that are unknown, too weak, not for signatures, shared secrets, or that have their private part
    /// in them are left out.
    ///
    /// # Errors
    ///
    /// [`KeySetError`] where nothing usable remains.
    pub fn parse(bytes: &[u8]) -> Result<Self, KeySetError> {
        let document = json::parse(bytes).map_err(KeySetError::Json)?;
        let listed = document.get("keys").and_then(Value::as_array).ok_or(KeySetError::Shape)?;
        if listed.len() > MAX_KEYS {
            return Err(KeySetError::Many);
        }
        let keys: Vec<Key> = listed.iter().filter_map(|key| Key::read(key.as_object()?)).collect();
        if keys.is_empty() {
            return Err(KeySetError::Useless(listed.len()));
        }
        let left_out = listed.len().saturating_sub(keys.len());
        Ok(Self { keys, left_out })
    }

    /// How many keys it has.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether it has none, which only the default has.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// How many keys were left out.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// Whether a key has this id.
    pub fn has(&self, kid: &str) -> bool {
        self.keys.iter().any(|key| key.kid.as_deref() == Some(kid))
    }

    /// The keys that a signature may be checked with: those of that id that fit the algorithm. Without an id the only one
    /// that fits; of two nobody says which.
    pub(super) fn candidates(&self, kid: Option<&str>, algorithm: Algorithm) -> Vec<&Key> {
        let named = |key: &&Key| kid.is_none() || key.kid.as_deref() == kid;
        let found: Vec<&Key> = self.keys.iter().filter(named).filter(|key| key.fits(algorithm)).collect();
        if kid.is_none() && found.len() > 1 { Vec::new() } else { found }
    }

    #[cfg(feature = "guard-off")]
    pub(super) fn all(&self) -> &[Key] {
        &self.keys
    }
}

/// One public key.
#[derive(Debug, Clone)]
pub(super) struct Key {
    kid: Option<String>,
    kind: Kind,
    algorithm: Option<String>,
    is_for_signatures: bool,
    public: DecodingKey,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Rsa,
    P256,
    P384,
    Ed25519,
}

impl Key {
    fn read(jwk: &Map<String, Value>) -> Option<Self> {
        let text = |name: &str| jwk.get(name).and_then(Value::as_str);
        // A private key that everybody can read signs for everybody.
        if ["d", "k", "p", "q"].iter().any(|part| jwk.contains_key(*part)) {
            return None;
        }
        let (kind, key) = match (text("kty")?, text("crv")) {
            ("RSA", _) => (Kind::Rsa, rsa(text("n")?, text("e")?)?),
            ("EC", Some("P-256")) => (Kind::P256, ec(text("x")?, text("y")?, 32)?),
            ("EC", Some("P-384")) => (Kind::P384, ec(text("x")?, text("y")?, 48)?),
            ("OKP", Some("Ed25519")) => (Kind::Ed25519, ed(text("x")?)?),
            _ => return None,
        };
        let kid = match jwk.get("kid") {
            None => None,
            Some(kid) => Some(kid.as_str()?.to_owned()),
        };
        let algorithm = match jwk.get("alg") {
            None => None,
            Some(algorithm) => Some(algorithm.as_str()?.to_owned()),
        };
        let is_for_signatures = is_for_signatures(jwk);
        (is_for_signatures || guard::off("token-key-fits")).then_some(Self {
            kid,
            kind,
            algorithm,
            is_for_signatures,
            public: key,
        })
    }

    fn fits(&self, algorithm: Algorithm) -> bool {
        let kind = match algorithm {
            Algorithm::Rs256
            | Algorithm::Rs384
            | Algorithm::Rs512
            | Algorithm::Ps256
            | Algorithm::Ps384
            | Algorithm::Ps512 => Kind::Rsa,
            Algorithm::Es256 => Kind::P256,
            Algorithm::Es384 => Kind::P384,
            Algorithm::EdDsa => Kind::Ed25519,
        };
        // RFC 9864 has a name of its own for EdDSA with this curve.
        let declared =
            |name: &str| name == algorithm.as_str() || (algorithm == Algorithm::EdDsa && name == "Ed25519");
        let agrees = self.is_for_signatures && self.algorithm.as_deref().is_none_or(declared);
        self.kind == kind && (agrees || guard::off("token-key-fits"))
    }

    /// Whether `signature` (base64url) is one of this key over `message`.
    pub(super) fn signed(&self, algorithm: Algorithm, message: &str, signature: &str) -> bool {
        let algorithm = match algorithm {
            Algorithm::Rs256 => jsonwebtoken::Algorithm::RS256,
            Algorithm::Rs384 => jsonwebtoken::Algorithm::RS384,
            Algorithm::Rs512 => jsonwebtoken::Algorithm::RS512,
            Algorithm::Ps256 => jsonwebtoken::Algorithm::PS256,
            Algorithm::Ps384 => jsonwebtoken::Algorithm::PS384,
            Algorithm::Ps512 => jsonwebtoken::Algorithm::PS512,
            Algorithm::Es256 => jsonwebtoken::Algorithm::ES256,
            Algorithm::Es384 => jsonwebtoken::Algorithm::ES384,
            Algorithm::EdDsa => jsonwebtoken::Algorithm::EdDSA,
        };
        jsonwebtoken::crypto::verify(signature, message.as_bytes(), &self.public, algorithm).unwrap_or(false)
    }

    #[cfg(feature = "guard-off")]
    pub(super) fn read_anyhow(jwk: &Map<String, Value>) -> Option<Self> {
        Self::read(jwk)
    }

    #[cfg(feature = "guard-off")]
    pub(super) fn decoding(&self) -> &DecodingKey {
        &self.public
    }
}

/// RFC 7517, sections 4.2 and 4.3: where a key says what it is for, it has to be this.
fn is_for_signatures(jwk: &Map<String, Value>) -> bool {
    let by_use = jwk.get("use").is_none_or(|value| value == "sig");
    let by_operations = jwk.get("key_ops").is_none_or(|value| {
        value.as_array().is_some_and(|operations| operations.iter().any(|operation| operation == "verify"))
    });
    by_use && by_operations
}

fn rsa(modulus: &str, exponent: &str) -> Option<DecodingKey> {
    let (n, e) = (URL_SAFE_NO_PAD.decode(modulus).ok()?, URL_SAFE_NO_PAD.decode(exponent).ok()?);
    // What the library takes: 2048 to 8192 bits (NIST SP 800-131A for the lower bound).
    (256..=1024).contains(&n.len()).then(|| DecodingKey::from_rsa_raw_components(&n, &e))
}

fn ec(x: &str, y: &str, length: usize) -> Option<DecodingKey> {
    let fits = |part: &str| URL_SAFE_NO_PAD.decode(part).is_ok_and(|bytes| bytes.len() == length);
    (fits(x) && fits(y)).then(|| DecodingKey::from_ec_components(x, y).ok())?
}

fn ed(x: &str) -> Option<DecodingKey> {
    let bytes = URL_SAFE_NO_PAD.decode(x).ok()?;
    (bytes.len() == 32).then(|| DecodingKey::from_ed_der(&bytes))
}
