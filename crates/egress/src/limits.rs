//! The bounds on what one cell may hold open and how long it may take.

use std::time::Duration;

/// Bounds of the flows of one cell.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Connections from the cell at once. Each takes two file descriptors, a busy one two more for a pipe. Default 4,096.
    pub connections: usize,
    /// Of these, connections to one host. Default 2,048.
    pub connections_per_host: usize,
    /// Longest head of an HTTP request, in bytes. Default 32 KiB.
    pub head_bytes: usize,
    /// Most header lines of a request or an answer. Default 128.
    pub headers: usize,
    /// Time from the first byte of an HTTP head to its end. Default 15 s.
    pub head_time: Duration,
    /// Time from a connection's acceptance to the end of its TLS greeting. Default 15 s.
    pub hello_time: Duration,
    /// Longest silence in both directions before a connection is ended. Default 30 min, so that an event stream without
    /// events and an idle database connection live on.
    pub idle: Duration,
    /// How long connections to a host that was taken away are still answered with a refusal. Default 60 s.
    pub farewell: Duration,
    /// Names under wildcards that may have listeners at once. Default 256.
    pub wildcard_names: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 4096,
            connections_per_host: 2048,
            head_bytes: 32 * 1024,
            headers: 128,
            head_time: Duration::from_secs(15),
            hello_time: Duration::from_secs(15),
            idle: Duration::from_mins(30),
            farewell: Duration::from_mins(1),
            wildcard_names: 256,
        }
    }
}
