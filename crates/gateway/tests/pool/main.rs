//! Many callers, few cells.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "the code of tests may panic"
)]

mod asking;
mod changing;
mod edge;
mod failing;
mod following;
mod living;
mod modern;
mod questions;
mod server;
mod storms;
mod world;
