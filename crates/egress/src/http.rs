//! Plain HTTP/1.1: read strictly, judged, and written anew by hyper. Bytes are never passed on as they came, redirects
//! are never followed, and only a WebSocket may take the connection over, after the host has agreed.

pub mod chunks;
pub mod head;

pub(crate) mod agree;
pub(crate) mod answer;
pub(crate) mod conversation;
mod exchange;
pub(crate) mod gate;
mod headers;
pub(crate) mod session;
mod upstream;
