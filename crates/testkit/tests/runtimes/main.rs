//! What people's programs are written in: each asks a host for something with a key that it does not hold, over TLS that
//! is looked into, with nothing changed but the environment every cell has.
//!
//! The host stands on loopback, and answers only to the real value. What is not on this machine is skipped by name.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod browser;
mod commands;
mod indexes;
mod java;
mod node;
mod origin;
mod perl;
mod python;
mod repository;
mod rust;
mod scene;
