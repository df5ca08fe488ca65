//! Who asks: a token, a key, or the peer of a socket.
