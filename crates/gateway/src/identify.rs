//! Who asks: a token, a key, or the peer of a socket.
//!
//! Every request says it anew, in one header or by the socket it came over. Nothing else is looked at: no query, no header
//! that a proxy may have written, no session. A request that shows something that does not count is refused, and is not taken for
//! one that shows nothing.

mod assembly;
mod caller;
mod connection;
mod credential;
mod door;
mod error;
mod identifier;

pub use caller::Callers;
pub use connection::{CELL_IDS, Connection};
pub use credential::{Credential, MAX_CREDENTIAL};
pub use door::{Door, Witness, identified, metadata};
pub use error::IdentityError;
pub use identifier::{Asked, Identifier, Issuer};
