//! Packages from registries on this machine that mean harm, and some that do not.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking, in its helpers too"
)]

mod choosing;
mod compiled;
mod conversation;
mod interrupted;
mod node;
mod npm;
mod pypi;
mod python;
