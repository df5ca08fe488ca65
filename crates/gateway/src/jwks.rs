//! Keys of issuers: fetched, kept, fetched again.
