//! From the name of a package to its bytes in the store: resolved and installed in a cell, digested, never fetched again.
