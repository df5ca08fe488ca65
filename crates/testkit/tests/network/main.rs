//! The network of a cell, from inside: what was allowed is reached, and nothing else of the world or of this machine.
//!
//! What answers stands on loopback, behind names of RFC 2606 that the operator's file binds to it. The package runners
//! alone speak to the registries that their clients are configured with here.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking, in its helpers too"
)]

mod allowed;
mod client;
mod load;
mod origin;
mod packages;
mod published;
mod scene;
mod unreachable;
