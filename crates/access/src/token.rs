//! Tokens of callers (RFC 7519, RFC 9068), judged with keys that are handed in.
