//! The kill matrix: however a cell ends, and whatever ran in it, nothing of it is left. Both what was there before and
//! what is there afterwards is listed; a difference is the failure's text.
//!
//! At once: no process, no namespace, no mount. Within 2 s, or at the next start where both `run` and its supervisor
//! were killed: no control group, no socket, no folder of the cell, no host id, no temporary file.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops where its world breaks"
)]

mod beginning;
mod ending;
mod lister;
mod matrix;
mod reasons;
mod stage;
mod tool;
