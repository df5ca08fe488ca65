//! What a person should look at twice in a surface, and what is new in one that has changed.
//!
//! Every text of a surface is looked at, the names of keys among them: a model reads all of it. A [`Finding`] is a
//! tripwire for the reviewer and not a filter. Whoever writes plainly and carefully trips none, and only the fingerprint
//! tells every change; so nothing is accepted because nothing was found.
//!
//! Rules look at a text as a model takes it rather than as it is spelled: without hidden characters, with look-alike
//! letters and typographic variants folded, white space as one space, in lower case. [`Finding::range`] is in the bytes
//! of the text as it was received.

mod class;
mod diff;
mod engine;
mod finding;
mod fold;
mod place;
pub mod render;
mod rule;
mod shape;
mod text;

pub use class::Class;
pub use diff::{Change, Diff, How, diff};
pub use engine::Engine;
pub use finding::{Finding, Severity};
pub use place::{Owner, Place, Step};
pub use rule::Rule;
pub use text::{Own, Role, Text};

#[cfg(test)]
mod tests;
