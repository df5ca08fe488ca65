//! An application that speaks to a model itself, and the gateway.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "the code of tests may panic")]

mod calls;
mod described;
mod held;
mod kept;
mod listed;
mod shop;

#[path = "../support/servers.rs"]
mod servers;
#[path = "../support/world.rs"]
mod world;
