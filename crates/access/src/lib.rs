//! Judges a call: who asks, as whom it is done, whether its arguments are what the tool takes, and whether this caller
//! may. What passes is a value that the next step consumes.
//! The last of them is the permit, which nothing outside of this crate can make.
//!
//! Deliberately absent: I/O, async and clocks. Keys, facts and the time are handed in.

#![forbid(unsafe_code)]

pub use gate::{Bound, GateError, ToolGate, screened};
pub use judge::{Authorizer, Facts, Permit, Question, Verdict, judge};
pub use limits::{Allowance, Ceilings, Limits, Turn};
pub use model::guard;
pub use object::{Completes, Object, Verb};
pub use refusal::{Code, Refusal};
pub use rules::Rules;
pub use screen::Screen;

pub mod arguments;
pub mod explain;
pub mod gate;
pub mod judge;
pub mod limits;
pub mod object;
pub mod principal;
pub mod refusal;
pub mod rules;
pub mod screen;
pub mod token;

mod place;
