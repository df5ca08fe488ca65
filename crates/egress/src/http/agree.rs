//! Whether a request is for the host the connection was made to.

use super::head::{Head, Target};
use crate::name::HostName;
use crate::policy::Permit;
use crate::rule::Kind;

/// The ports of `http` and `https` (RFC 9110 §4.2).
const HTTP: u16 = 80;
const HTTPS: u16 = 443;

/// Checks that `Host`, and the target if it names a host, are the permit's name and port.
///
/// # Errors
/// What was named instead.
pub(crate) fn check(head: &Head, permit: &Permit) -> Result<(), String> {
    if let Target::Absolute { authority, .. } = &head.target {
        names(authority, permit)?;
    }
    names(&head.host, permit)
}

/// Checks that an authority is the permit's name and port.
///
/// # Errors
/// What was named instead.
pub(crate) fn names(authority: &str, permit: &Permit) -> Result<(), String> {
    match split(authority, usual(permit)) {
        Some((name, port)) if name == *permit.name() && port == permit.port() => Ok(()),
        _ => Err(authority.to_owned()),
    }
}

/// The authority as it is sent: the permit's own name, whatever the spelling was.
pub(crate) fn authority(permit: &Permit) -> String {
    if permit.port() == usual(permit) {
        permit.name().to_string()
    } else {
        format!("{}:{}", permit.name(), permit.port())
    }
}

/// The port that is meant where none is written.
fn usual(permit: &Permit) -> u16 {
    if permit.kind() == Kind::Tls { HTTPS } else { HTTP }
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
