//! Connections out of a cell, over real sockets: each test has a network namespace of its own in which the addresses of
//! our making lead to an egress, and the hosts are small servers on its loopback.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test stops where its world breaks"
)]

mod alone;
mod client_hello;
mod dns;
mod fuzz;
mod http;
mod inspect_frames;
mod inspect_keys;
mod inspect_live;
mod inspect_one;
mod inspect_two;
mod inspect_world;
mod limits;
mod live;
mod names;
mod origins;
mod proxy;
mod smuggling;
mod tightening;
mod tls;
mod tunnel;
mod world;
