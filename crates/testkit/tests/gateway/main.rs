//! The service with the product as its users run it, and its parts that need real cells.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking, in its helpers too"
)]

mod cells;
mod drive;
mod http_servers;
mod legacy_sse;
mod needles;
#[expect(dead_code, reason = "the tests of keys use all of it")]
#[path = "../keys/origin.rs"]
mod origin;
mod per_user;
