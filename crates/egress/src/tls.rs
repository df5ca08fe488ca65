//! TLS without being a party to it: the greeting is read, the rest passes untouched.

pub mod hello;

pub(crate) mod greeting;
mod reader;
