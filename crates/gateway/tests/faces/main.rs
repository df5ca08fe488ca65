//! The authorization matrix through the real faces: whoever asks shows a key, and every line of the table comes out as the
//! security officer reads it. The lists that a caller sees hold exactly what it may call.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "the code of tests may panic"
)]

#[path = "../mcp/client.rs"]
#[expect(dead_code, reason = "the other tests use more of it")]
mod client;
mod matrix;
mod red;
#[cfg(feature = "guard-off")]
mod road_controls;
#[path = "../matrix/table.rs"]
mod table;
mod world;
