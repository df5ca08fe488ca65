//! What a client is ordered to do, and how much of the direct rate must be left.

use serde_json::{Value, json};

/// One load.
pub(super) struct Load {
    pub(super) name: &'static str,
    /// What the rate counts.
    pub(super) unit: &'static str,
    pub(super) order: Order,
    /// Budget of an uninspected tunnel, over direct.
    pub(super) least: Option<f64>,
}

/// An order to a client.
#[derive(Debug, Clone, Copy)]
pub(super) enum Order {
    /// Requests one after the other on each of so many connections.
    KeptAlive(u32),
    /// A connection with a whole TLS handshake for each request.
    New,
    /// One large answer.
    Down,
    /// One large request.
    Up,
    /// So many connections kept open.
    Hold(u32),
    /// Another request on each of them.
    Release,
}

/// How long requests are sent, in milliseconds.
const MILLIS: u32 = 300;

/// Size of what is large.
const BYTES: u32 = 256 << 20;

impl Order {
    pub(super) fn json(self) -> Value {
        match self {
            Self::KeptAlive(connections) => {
                json!({ "load": "kept-alive", "connections": connections, "millis": MILLIS })
            }
            Self::New => json!({ "load": "new", "millis": MILLIS }),
            Self::Down => json!({ "load": "down", "bytes": BYTES }),
            Self::Up => json!({ "load": "up", "bytes": BYTES }),
            Self::Hold(connections) => json!({ "load": "hold", "connections": connections }),
            Self::Release => json!({ "load": "release" }),
        }
    }
}

pub(super) const LOADS: &[Load] = &[
    Load { name: "kept alive, 1", unit: "requests/s", order: Order::KeptAlive(1), least: Some(0.6) },
    Load { name: "kept alive, 16", unit: "requests/s", order: Order::KeptAlive(16), least: Some(0.6) },
    Load { name: "new", unit: "requests/s", order: Order::New, least: None },
    Load { name: "down", unit: "MB/s", order: Order::Down, least: Some(0.8) },
    Load { name: "up", unit: "MB/s", order: Order::Up, least: Some(0.8) },
];
