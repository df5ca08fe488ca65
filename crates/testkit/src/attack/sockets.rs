//! Sockets of the host's programs.

use std::{
    io::Read as _,
    os::{
        linux::net::SocketAddrExt as _,
        unix::net::{SocketAddr, UnixStream},
    },
    time::Duration,
};

use super::{Attacks, Attempt, Held, argument};

pub(super) const ATTACKS: Attacks = &[("by-path", by_path), ("abstract", by_name)];

/// Connects to a socket at the first argument, which must say the second.
fn by_path(arguments: &[&str]) -> Attempt {
    listen(UnixStream::connect(argument(arguments, 0))?, argument(arguments, 1))
}

/// Connects to a socket by its abstract name.
pub(super) fn by_name(arguments: &[&str]) -> Attempt {
    let name = SocketAddr::from_abstract_name(argument(arguments, 0))?;
    listen(UnixStream::connect_addr(&name)?, argument(arguments, 1))
}

fn listen(mut stream: UnixStream, wanted: &str) -> Attempt {
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    let mut said = [0_u8; 64];
    let length = stream.read(&mut said)?;
    let said = String::from_utf8_lossy(said.get(..length).unwrap_or_default()).into_owned();
    if said.contains(wanted) {
        Ok(format!("it said {said}"))
    } else {
        Err(Held::because("it said something else"))
    }
}
