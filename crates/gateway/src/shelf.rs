//! All servers, and what was accepted of them.
