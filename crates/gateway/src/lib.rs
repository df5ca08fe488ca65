//! The road a call takes. So far its first piece: the front of a server, which answers from what was accepted.
