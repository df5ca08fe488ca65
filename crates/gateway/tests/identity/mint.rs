//! Keys made now, and tokens made by hand.

use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use access::principal::Principal;
use access::token::{KeySet, TokenError, Verifier};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa;
use aws_lc_rs::signature::{self, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::config::{IdentityProvider, Operator};
use serde_json::{Value, json};

pub(crate) const ISSUER: &str = "https://idp.example.com";
pub(crate) const AUDIENCE: &str = "https://mcp.example.com";
/// The time of these tests, in seconds since 1970.
pub(crate) const NOW: u64 = 1_800_000_000;

pub(crate) fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(NOW)
}

pub(crate) struct Key {
    pub(crate) kid: &'static str,
    pair: Pair,
}

enum Pair {
    Rsa(rsa::KeyPair),
    P256(EcdsaKeyPair),
    P384(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
}

impl Key {
    pub(crate) fn rsa(kid: &'static str) -> Self {
        Self { kid, pair: Pair::Rsa(rsa::KeyPair::generate(rsa::KeySize::Rsa2048).unwrap()) }
    }

    pub(crate) fn p256(kid: &'static str) -> Self {
        let pair = EcdsaKeyPair::generate(&signature::ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
        Self { kid, pair: Pair::P256(pair) }
    }

    pub(crate) fn p384(kid: &'static str) -> Self {
        let pair = EcdsaKeyPair::generate(&signature::ECDSA_P384_SHA384_FIXED_SIGNING).unwrap();
        Self { kid, pair: Pair::P384(pair) }
    }

    pub(crate) fn ed(kid: &'static str) -> Self {
        Self { kid, pair: Pair::Ed(Ed25519KeyPair::generate().unwrap()) }
    }

    /// The public part.
    pub(crate) fn jwk(&self) -> Value {
        let point = |pair: &EcdsaKeyPair, curve: &str| {
            let point = &pair.public_key().as_ref()[1..];
            let (x, y) = point.split_at(point.len() / 2);
            json!({ "kty": "EC", "crv": curve, "x": encoded(x), "y": encoded(y), "kid": self.kid })
        };
        match &self.pair {
            Pair::Rsa(pair) => {
                let e = encoded(pair.public_key().exponent().big_endian_without_leading_zero());
                json!({ "kty": "RSA", "n": encoded(&self.modulus()), "e": e, "kid": self.kid })
            }
            Pair::P256(pair) => point(pair, "P-256"),
            Pair::P384(pair) => point(pair, "P-384"),
            Pair::Ed(pair) => {
                let x = encoded(pair.public_key().as_ref());
                json!({ "kty": "OKP", "crv": "Ed25519", "x": x, "kid": self.kid })
            }
        }
    }

    pub(crate) fn modulus(&self) -> Vec<u8> {
        match &self.pair {
            Pair::Rsa(pair) => pair.public_key().modulus().big_endian_without_leading_zero().to_vec(),
            _ => panic!("not an RSA key"),
        }
    }

    fn sign(&self, algorithm: &str, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match (&self.pair, algorithm) {
            (Pair::Rsa(pair), _) => {
                let encoding: &'static dyn signature::RsaEncoding = match algorithm {
                    "RS256" => &signature::RSA_PKCS1_SHA256,
                    "RS384" => &signature::RSA_PKCS1_SHA384,
                    "RS512" => &signature::RSA_PKCS1_SHA512,
                    "PS256" => &signature::RSA_PSS_SHA256,
                    "PS384" => &signature::RSA_PSS_SHA384,
                    "PS512" => &signature::RSA_PSS_SHA512,
                    other => panic!("{other} is not an RSA signature"),
                };
                let mut signed = vec![0; pair.public_modulus_len()];
                pair.sign(encoding, &random, message, &mut signed).unwrap();
                signed
            }
            (Pair::P256(pair) | Pair::P384(pair), _) => {
                pair.sign(&random, message).unwrap().as_ref().to_vec()
            }
            (Pair::Ed(pair), _) => pair.sign(message).as_ref().to_vec(),
        }
    }
}

pub(crate) fn encoded(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The issuer's keys; made once per process, for RSA takes its time.
pub(crate) struct Keys {
    pub(crate) rsa: Key,
    pub(crate) p256: Key,
    pub(crate) p384: Key,
    pub(crate) ed: Key,
    /// Another RSA key, of nobody the issuer knows.
    pub(crate) foreign: Key,
}

pub(crate) static KEYS: LazyLock<Keys> = LazyLock::new(|| Keys {
    rsa: Key::rsa("rsa"),
    p256: Key::p256("p256"),
    p384: Key::p384("p384"),
    ed: Key::ed("ed"),
    foreign: Key::rsa("foreign"),
});

impl Keys {
    pub(crate) fn published(&self) -> Value {
        json!({ "keys": [self.rsa.jwk(), self.p256.jwk(), self.p384.jwk(), self.ed.jwk()] })
    }
}

pub(crate) fn set_of(document: &Value) -> KeySet {
    KeySet::parse(document.to_string().as_bytes()).unwrap()
}

/// A token that is good, to be spoiled.
#[derive(Clone)]
pub(crate) struct Token {
    pub(crate) header: Value,
    pub(crate) claims: Value,
    algorithm: &'static str,
}

pub(crate) fn good() -> Token {
    Token {
        header: json!({ "alg": "RS256", "typ": "at+jwt", "kid": "rsa" }),
        claims: json!({
            "iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "tid": "t1", "client_id": "app",
            "iat": NOW - 10, "nbf": NOW - 10, "exp": NOW + 600, "roles": ["support"], "scope": "tools other",
        }),
        algorithm: "RS256",
    }
}

impl Token {
    pub(crate) fn claim(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.claims[name] = value.into();
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.claims.as_object_mut().unwrap().remove(name);
        self
    }

    pub(crate) fn header(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.header[name] = value.into();
        self
    }

    /// Says and uses this algorithm.
    pub(crate) fn by(mut self, algorithm: &'static str) -> Self {
        self.algorithm = algorithm;
        self.header("alg", algorithm)
    }

    /// Says this key and is signed with it.
    pub(crate) fn of(self, key: &Key) -> String {
        let kid = key.kid;
        self.header("kid", kid).signed(key)
    }

    /// Signed with this key, whatever the header says.
    pub(crate) fn signed(&self, key: &Key) -> String {
        signed(self.header.to_string().as_bytes(), self.claims.to_string().as_bytes(), |message| {
            key.sign(self.algorithm, message)
        })
    }

    /// With this in place of a signature.
    pub(crate) fn with(&self, signature: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
        signed(self.header.to_string().as_bytes(), self.claims.to_string().as_bytes(), signature)
    }
}

/// A token of these bytes, which need not be good JSON, signed by the issuer's Ed25519 key.
pub(crate) fn of_bytes(header: &[u8], claims: &[u8]) -> String {
    signed(header, claims, |message| KEYS.ed.sign("EdDSA", message))
}

fn signed(header: &[u8], claims: &[u8], sign: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
    let message = format!("{}.{}", encoded(header), encoded(claims));
    let signature = sign(message.as_bytes());
    format!("{message}.{}", encoded(&signature))
}

/// A provider as an operator writes it, with these lines added.
pub(crate) fn provider(more: &str) -> IdentityProvider {
    let issuer = if more.contains("issuer = ") { String::new() } else { format!("issuer = \"{ISSUER}\"\n") };
    let file = format!(
        "[serve]\nurl = \"{AUDIENCE}\"\n[roles.support]\ntools = []\n[roles.admin]\ntools = []\n[identity.corp]\n{issuer}{more}\n"
    );
    let operator = Operator::resolve("config.toml", file.as_bytes(), None).unwrap_or_else(|problems| {
        panic!("{file}: {:?}", problems.as_slice().iter().map(ToString::to_string).collect::<Vec<_>>())
    });
    operator.identities()["corp"].clone()
}

pub(crate) fn judged(more: &str, keys: &Value, token: &str) -> Result<Principal, TokenError> {
    Verifier::new(provider(more)).verify(token, &set_of(keys), now())
}
