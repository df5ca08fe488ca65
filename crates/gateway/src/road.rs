//! The stages of a call, each of which consumes what the one before it has earned.
