//! Nothing ever runs silently unconfined: hosts that lack something are simulated, one thing at a time. Where a wall
//! cannot be held, the start is refused: exit code 13, the layer and the remedy by name, in `doctor` too, and nothing
//! has run. Where depth is missing, the cell runs, and that is shown wherever cells are shown.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops where its world breaks"
)]

mod depth;
mod host;
mod walls;
