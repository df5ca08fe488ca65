//! HTTP/1.1, in the clear or inside TLS: read strictly, judged, and written anew by hyper. Bytes are never passed on as they came, redirects
//! are never followed, and only a WebSocket may take the connection over, after the host has agreed.

pub mod chunks;
pub mod head;

pub(crate) mod agree;
pub(crate) mod answer;
pub(crate) mod carried;
pub(crate) mod conversation;
pub(crate) mod crossing;
mod exchange;
pub(crate) mod gate;
mod go;
pub(crate) mod headers;
mod pace;
pub(crate) mod session;
pub(crate) mod upstream;
pub(crate) mod websocket;
