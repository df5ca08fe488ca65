//! Tokens of callers (RFC 7519, RFC 9068), judged with keys that are handed in.
//!
//! Nothing of a token chooses how it is judged: the algorithms are the operator's list, the keys are those of the
//! issuer, and a key is used with the algorithms of its own kind only (RFC 8725).

mod claims;
mod error;
mod keys;
#[cfg(feature = "guard-off")]
mod naive;
mod unverified;
mod verifier;

pub use error::TokenError;
pub use keys::{KeySet, KeySetError, MAX_KEYS};
pub use unverified::{MAX_LENGTH, Unverified};
pub use verifier::{MAX_ACTORS, Verifier};

#[cfg(test)]
mod tests;
