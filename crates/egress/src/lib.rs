//! Decides what may leave a cell: which names, to which addresses, and what is said on the way.
//!
//! A cell reaches nothing but sockets of ours. A name it may speak to has an address of our own making
//! ([`synthetic`]); what arrives there is judged by [`policy`], the name is looked up then ([`resolve`]), every
//! answer is checked ([`address`]), and a checked one is dialled ([`dial`]). A refusal says what would allow it
//! ([`refusal`]) and is told once ([`event`]).
//!
//! Deliberately absent: how the sandbox is made, MCP, secrets, files of policy.

pub mod address;
pub mod core;
pub mod credential;
pub mod dial;
pub mod dns;
pub mod doors;
pub mod event;
pub mod flow;
pub use model::guard;
pub mod http;
pub mod intake;
pub mod limits;
pub mod name;
pub mod own;
pub mod path;
pub mod permit;
pub mod policy;
pub mod refusal;
pub mod resolve;
pub mod rule;
pub mod self_test;
pub mod synthetic;
pub mod tls;
pub mod upstream;
pub mod verdict;

mod account;
mod batch;
mod edge;
mod front;
mod half;
mod inspect;
mod meter;
mod passage;
mod reach;
mod registry;
mod serve;
mod sink;
mod splice;
mod ticket;
mod tunnel;
mod wire;
