//! Keys of issuers: fetched, kept, fetched again.
//!
//! One fetch at a time, and one in a while: whoever sends tokens with keys that nobody has makes no traffic. Keys are as old
//! as `fresh` at most while the issuer answers, so a key that it takes back counts no longer; while it does not answer they
//! are used for as long as `stale`.

mod error;
mod fetch;
mod kept;
mod source;

pub use error::KeysError;
pub use fetch::{MAX_BYTES, Trust};
pub use kept::{Clock, Keys, KeysHealth};
pub use source::{Settings, Source, Times};
