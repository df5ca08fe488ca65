//! Worlds, doubles and attack programs for tests.

pub mod attack;
pub mod leftovers;
pub mod vm;
pub mod world;
