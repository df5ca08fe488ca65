//! Whether a request is for the host the connection was made to.

use super::head::{Head, Target};
use crate::name::HostName;
use crate::policy::Permit;

/// The port of `http` (RFC 9110 §4.2.1).
const HTTP: u16 = 80;

/// Checks that `Host`, and the target if it names a host, are the permit's name and port.
///
/// # Errors
/// What was named instead.
pub(crate) fn check(head: &Head, permit: &Permit) -> Result<(), String> {
    let named = |authority: &str| {
        let (name, port) = split(authority, HTTP).ok_or_else(|| authority.to_owned())?;
        if name == *permit.name() && port == permit.port() { Ok(()) } else { Err(authority.to_owned()) }
    };
    if let Target::Absolute { authority, .. } = &head.target {
        named(authority)?;
    }
    named(&head.host)
}

/// The name and the port of an authority; the port is `usual` where none is written.
pub(crate) fn split(authority: &str, usual: u16) -> Option<(HostName, u16)> {
    let (name, port) = match authority.rsplit_once(':') {
        Some((name, port)) => {
            let plain = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
            (name, port.parse().ok().filter(|port| plain && *port != 0)?)
        }
        None => (authority, usual),
    };
    Some((HostName::from_wire(name.as_bytes()).ok()?, port))
}
