//! The service with the product as its users run it, and its parts that need real cells.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking, in its helpers too"
)]

mod cells;
#[expect(dead_code, reason = "the tests of the network use all of it")]
#[path = "../network/client.rs"]
mod client;
mod conformance;
mod drive;
mod http_servers;
mod inspector;
mod legacy_sse;
mod load;
mod needles;
#[expect(dead_code, reason = "the tests of keys use all of it")]
#[path = "../keys/origin.rs"]
mod origin;
mod per_user;
mod published;
mod sdk_clients;
mod service;
