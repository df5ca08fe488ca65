//! What was accepted stays what is used, with the product as its users run it: servers that change after their review,
//! repositories that bring a lock and a file of servers along, first runs, and changes that must not be forgotten. Each
//! attack stands beside its control, where one guard is left out and it succeeds.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    reason = "a test fails by panicking, in its helpers too"
)]

mod cloned;
mod first_run;
mod links;
mod lists;
mod mid_session;
mod poisoned;
mod project;
mod rows;
mod rug_pulls;
mod session;
mod signed;
mod sticky;
mod tables;
