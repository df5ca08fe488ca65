//! The one road a call takes, and the service around it.
//!
//! `front` is a session of one client with one server, sans-IO: it answers from what was accepted, holds calls until the
//! running server has been compared, and refuses what differs. `road` has the stages of every call. `mcp` and `messages`
//! are faces: they know of the rest only what a caller may see, and the one way to have something done.
//!
//! Deliberately absent: how a cell is made, and the servers' secrets. Whoever makes cells hands them in.

#![forbid(unsafe_code)]

pub use model::guard;

pub mod call;
pub mod front;
pub mod health;
pub mod http;
pub mod identify;
pub mod jwks;
pub mod listen;
pub mod mcp;
pub mod messages;
pub mod metering;
pub mod names;
pub mod openapi;
pub mod pool;
pub mod resource_metadata;
pub mod results;
pub mod road;
pub mod service;
pub mod shelf;
pub mod upstream;
pub mod view;
