//! Names of tools and addresses of resources, the same whichever other servers there are.
//!
//! A public name is the server's part, `__`, and the tool's part. Each part is what it stands for, or, where that does
//! not fit, its beginning with a hash of all of it; each is made from its own name only. A server's part has no `__` in
//! it and does not end in `_`, so the first `__` of a public name ends it: no tool of one server can have the name of a
//! tool of another.

use model::name::ServerName;
use sha2::{Digest, Sha256};

/// Longest public name, in bytes: the shortest bound that any of the model APIs has on a tool's name.
pub const MAX_LEN: usize = 64;

/// Longest part of a server, in bytes; what is left holds a word of the tool's and a hash.
const SERVER_PART: usize = 40;

/// Between the server's part and the tool's.
const SEPARATOR: &str = "__";

/// Digits of SHA-256 in a part that is not the name itself: a chance of 2⁻⁴⁰ that two names chosen without regard to
/// it meet.
const HASH: usize = 10;

/// What the address of a resource begins with, before the name of its server.
const SCHEME: &str = "fumehood://";

/// The public name of a tool or prompt: at most [`MAX_LEN`] of `A-Z a-z 0-9 _ -`, beginning with a letter or digit.
pub fn public(server: &ServerName, plain: &str) -> String {
    let server = server_part(server.as_str());
    let tool = tool_part(plain, MAX_LEN.saturating_sub(server.len() + SEPARATOR.len()));
    server + SEPARATOR + &tool
}

/// The public address of a resource, or of a template of resources.
pub fn uri(server: &ServerName, plain: &str) -> String {
    format!("{SCHEME}{server}/{plain}")
}

/// The server that a public address names, and the address as that server knows it.
pub fn plain_uri(public: &str) -> Option<(ServerName, &str)> {
    let (server, plain) = public.strip_prefix(SCHEME)?.split_once('/')?;
    ServerName::new(server).ok().map(|server| (server, plain))
}

fn server_part(name: &str) -> String {
    let fits = name.len() <= SERVER_PART && name.bytes().all(is_plain);
    if fits && !name.contains(SEPARATOR) && !name.ends_with('_') && !looks_hashed(name) {
        return name.to_owned();
    }
    hashed(name, SERVER_PART)
}

fn tool_part(name: &str, most: usize) -> String {
    if !name.is_empty() && name.len() <= most && name.bytes().all(is_plain) && !looks_hashed(name) {
        return name.to_owned();
    }
    hashed(name, most)
}

/// The beginning of a name, without what no name may have and without `_`, and a hash of the whole.
fn hashed(name: &str, most: usize) -> String {
    let beginning: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .take(most.saturating_sub(HASH + 1))
        .collect();
    beginning + "_" + &digits(name)
}

fn digits(name: &str) -> String {
    let hash = Sha256::digest(name.as_bytes());
    let nibbles = hash.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    nibbles.filter_map(|nibble| char::from_digit(u32::from(nibble), 16)).take(HASH).collect()
}

fn looks_hashed(name: &str) -> bool {
    name.rsplit_once('_').is_some_and(|(_, end)| {
        end.len() == HASH && end.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    })
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

#[cfg(test)]
mod tests;
