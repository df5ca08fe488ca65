//! Keys that never enter the cell: the placeholder that stands for one, the value written into requests to its own hosts,
//! and the placeholder put back into what they answer.
//!
//! Pure: bytes in, bytes out. [`request::substitute`] and [`response::scrub_head`] work on heads, and hand out wrappers for
//! bodies; [`websocket`] works on frames. Everything that replaces keeps the length, as long as the placeholder has the
//! shape of the value, so what counts bytes (`Content-Length`, frames) stays true.
//!
//! Not promised: that a host which wants to tell the key to the cell cannot. It may spell the value in a way that is not
//! listed in `needle` and `spelling`, or hand it out piece by piece in messages of their own.

pub mod body;
pub mod coding;
pub mod key;
pub mod placeholder;
pub mod request;
pub mod response;
pub mod ring;
pub mod search;
pub mod websocket;

mod foreign;
mod heading;
mod needle;
mod spelling;
mod stream;

pub use key::{Key, KeyError};
pub use placeholder::Placeholder;
pub use ring::Keyring;

#[cfg(test)]
mod tests;
