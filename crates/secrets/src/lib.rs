//! The only place where a secret is plaintext.
//!
//! Deliberately absent: `Debug`, `Clone` and `Serialize` on plaintext.

pub mod plaintext;
