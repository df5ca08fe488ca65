//! What a request came over.

use std::fmt;
use std::net::SocketAddr;
use std::ops::Range;

use crate::guard;

/// User ids of cells that root starts: `sandbox::identity` hands out 65,000 from 0x7000_0001 on, and nobody else assigns ids
/// there. `gateway` does not name that crate; `fumehood`, which names both, does not build where they differ.
pub const CELL_IDS: Range<u32> = 0x7000_0001..0x7000_0001 + 65_000;

/// What a request came over, as the kernel says. Whoever takes connections puts it into each request's extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connection {
    /// TCP, from this address.
    Tcp(SocketAddr),
    /// A Unix socket, whose peer has this user id (`SO_PEERCRED`, unix(7)).
    Unix {
        /// The user id at the time of connecting.
        uid: u32,
    },
}

impl Connection {
    /// Whether the peer is a cell: what runs there has no say here, whatever it shows.
    pub fn is_of_a_cell(self) -> bool {
        match self {
            Self::Unix { uid } => CELL_IDS.contains(&uid) && !guard::off("identify-cells"),
            Self::Tcp(_) => false,
        }
    }
}

impl fmt::Display for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{}", address.ip()),
            Self::Unix { uid } => write!(f, "uid {uid}"),
        }
    }
}
