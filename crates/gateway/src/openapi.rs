//! The description of the addresses that are not MCP.
