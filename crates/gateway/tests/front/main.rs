//! The front of a server, tried with a client and a server that misbehave.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "the code of tests may panic")]

mod asking;
mod changes;
mod clients;
mod closed;
mod interleavings;
mod lines;
mod modern;
mod restless;
mod rug_pulls;
mod starting;
mod world;
