//! MCP over HTTP, in both of its eras.
