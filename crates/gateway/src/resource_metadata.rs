//! What a client is told of where its tokens come from (RFC 9728), and its challenges (RFC 6750).
