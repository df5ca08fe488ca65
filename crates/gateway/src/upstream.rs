//! One running server, which several callers use at once.
