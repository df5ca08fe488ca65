//! Judges a call: who asks, as whom it is done, whether its arguments are what the tool takes, and whether this caller
//! may. What passes is a value that the next step consumes.
//! The last of them is the permit, which nothing outside of this crate can make.
//!
//! Deliberately absent: I/O, async and clocks. Keys, facts and the time are handed in.

#![forbid(unsafe_code)]

pub use model::guard;
pub use object::{Object, Verb};
pub use refusal::{Code, Refusal};

pub mod limits;
pub mod object;
pub mod principal;
pub mod refusal;
pub mod screen;
pub mod token;

mod place;
