//! The only place where a secret is plaintext.
//!
//! A secret lies sealed in the *vault*. The *broker*, a process of its own, alone has the vault's key; it gives each
//! supervisor the values of its own cell over a *link*, and tells it when one is rotated or removed.
//!
//! Deliberately absent: `Debug`, `Clone` and `Serialize` on plaintext; the network; whatever a tool says.

pub mod broker;
pub mod link;
pub mod needles;
pub mod plaintext;
pub mod process;
pub mod source;
pub mod terminal;
pub mod value;
pub mod vault;
pub mod wire;
