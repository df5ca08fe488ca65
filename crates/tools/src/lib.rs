//! What a server says of itself to a model, and what is held of it: the surface, its fingerprint, the lock and the review.
//!
//! Deliberately absent: I/O, async, clocks, the environment, and any connection. Messages and files come in as values
//! and bytes, and go out as such.

#![forbid(unsafe_code)]

pub mod fingerprint;
pub mod introspect;
pub use model::{json, visible};
pub mod lock;
pub mod review;
pub mod surface;
