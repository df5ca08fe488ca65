//! Keys of a cell, with the product as its users run it: where a value goes, where it is never found, and what attacks on
//! it come to, each beside its control, where one guard is left out and the attack succeeds.
//!
//! The hosts stand on loopback behind names that the operator's file binds to them.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking, in its helpers too"
)]

mod attacks;
mod canary;
mod codings;
mod github;
mod live;
mod origin;
mod remote;
mod scene;
mod search;
mod self_test;
