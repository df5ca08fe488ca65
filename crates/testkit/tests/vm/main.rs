//! Fumehood on hosts unlike this one, each a machine in QEMU.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "in a test, what does not hold is a failed test"
)]

mod cgroups;
mod command_line;
mod guest;
mod wall;
