//! What a client is ordered to do, and how much of the direct rate must be left.

use serde_json::{Value, json};

use crate::bench::Pace;

/// One load.
pub(super) struct Load {
    pub(super) name: &'static str,
    /// What the rate counts.
    pub(super) unit: &'static str,
    pub(super) order: Order,
    /// How much of the direct rate must be left.
    pub(super) least: Least,
}

/// The budgets of a load.
#[derive(Debug, Clone, Copy)]
pub(super) struct Least {
    /// Of a tunnel that is not looked into.
    pub(super) tunnel: Option<f64>,
    /// Of requests that are looked into, substituted and scrubbed.
    pub(super) intercepted: Option<f64>,
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
    /// One request that the origin tells back.
    Echo,
}

/// How long requests are sent, in milliseconds, in a whole measurement and in a quick one.
const MILLIS: [u32; 2] = [300, 100];

/// Size of what is large, in both.
const BYTES: [u32; 2] = [256 << 20, 32 << 20];

impl Order {
    pub(super) fn json(self, pace: Pace) -> Value {
        let (millis, bytes) = (pace.of(MILLIS), pace.of(BYTES));
        match self {
            Self::KeptAlive(connections) => {
                json!({ "load": "kept-alive", "connections": connections, "millis": millis })
            }
            Self::New => json!({ "load": "new", "millis": millis }),
            Self::Down => json!({ "load": "down", "bytes": bytes }),
            Self::Up => json!({ "load": "up", "bytes": bytes }),
            Self::Echo => json!({ "load": "echo" }),
            Self::Hold(connections) => json!({ "load": "hold", "connections": connections }),
            Self::Release => json!({ "load": "release" }),
        }
    }
}

pub(super) const LOADS: &[Load] = &[
    Load {
        name: "kept alive, 1",
        unit: "requests/s",
        order: Order::KeptAlive(1),
        least: Least { tunnel: Some(0.6), intercepted: Some(0.4) },
    },
    Load {
        name: "kept alive, 16",
        unit: "requests/s",
        order: Order::KeptAlive(16),
        least: Least { tunnel: Some(0.6), intercepted: Some(0.35) },
    },
    Load {
        name: "new",
        unit: "requests/s",
        order: Order::New,
        least: Least { tunnel: None, intercepted: Some(0.7) },
    },
    Load {
        name: "down",
        unit: "MB/s",
        order: Order::Down,
        least: Least { tunnel: Some(0.8), intercepted: Some(0.5) },
    },
    Load {
        name: "up",
        unit: "MB/s",
        order: Order::Up,
        least: Least { tunnel: Some(0.8), intercepted: Some(0.5) },
    },
];
