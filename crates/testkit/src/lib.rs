//! Worlds, doubles and attack programs for tests.

pub mod vm;
