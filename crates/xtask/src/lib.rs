//! Everything `./x` does: set-up, the test run, lint, and the rules the tree keeps.
//!
//! Deliberately absent: anything that is shipped.

#![forbid(unsafe_code)]

pub mod bench;
pub mod demo;
pub mod lint;
pub mod setup;
pub mod suite;
pub mod tidy;
pub mod tree;
pub mod workspace;
