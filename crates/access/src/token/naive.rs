//! What a judge does that lets the token say how it is judged. In no product build: controls show with it that the attacks
//! work where the guards are not.

use model::config::Algorithm;
use model::guard;

use super::keys::{Key, KeySet};
use super::unverified::Unverified;

/// Whether a judge without the guards that are taken away would believe the signature.
pub(super) fn takes(token: &Unverified<'_>, keys: &KeySet) -> bool {
    let algorithm = token.header_text("alg").ok().flatten().unwrap_or_default();
    (guard::off("token-algorithms")
        && (is_unsigned(token, algorithm) || is_by_public_key(token, algorithm, keys)))
        || (guard::off("token-embedded-key") && is_by_embedded_key(token, algorithm))
}

fn is_unsigned(token: &Unverified<'_>, algorithm: &str) -> bool {
    algorithm.eq_ignore_ascii_case("none") && token.signature().is_empty()
}

/// HS256 with the bytes of a public key as the secret: the modulus, or the key itself.
fn is_by_public_key(token: &Unverified<'_>, algorithm: &str, keys: &KeySet) -> bool {
    let secret = |key: &Key| match key.decoding().kind() {
        jsonwebtoken::DecodingKeyKind::SecretOrDer(bytes) => bytes.clone(),
        jsonwebtoken::DecodingKeyKind::RsaModulusExponent { n, .. } => n.clone(),
    };
    algorithm == "HS256"
        && keys.all().iter().any(|key| {
            jsonwebtoken::DecodingKey::from_secret(&secret(key)).is_ok_and(|secret| {
                let (message, hs256) = (token.message().as_bytes(), jsonwebtoken::Algorithm::HS256);
                jsonwebtoken::crypto::verify(token.signature(), message, &secret, hs256).unwrap_or(false)
            })
        })
}

fn is_by_embedded_key(token: &Unverified<'_>, algorithm: &str) -> bool {
    let key = token.header().get("jwk").and_then(|jwk| Key::read_anyhow(jwk.as_object()?));
    let algorithm = Algorithm::ALL.into_iter().find(|known| known.as_str() == algorithm);
    key.zip(algorithm)
        .is_some_and(|(key, algorithm)| key.signed(algorithm, token.message(), token.signature()))
}
