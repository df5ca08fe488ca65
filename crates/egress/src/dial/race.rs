//! Several addresses, one connection: the next is tried beside a slow one (after RFC 8305).

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// The addresses in turns of the two families, beginning with that of the first; each address once.
pub(super) fn interleaved(addresses: Vec<IpAddr>) -> Vec<IpAddr> {
    let first_is_v6 = addresses.first().is_some_and(IpAddr::is_ipv6);
    let (leading, others): (Vec<IpAddr>, Vec<IpAddr>) =
        addresses.into_iter().partition(|address| address.is_ipv6() == first_is_v6);
    let mut others = others.into_iter();
    let mut mixed = Vec::new();
    let mut add = |address: IpAddr| {
        if !mixed.contains(&address) {
            mixed.push(address);
        }
    };
    for address in leading {
        add(address);
        others.next().into_iter().for_each(&mut add);
    }
    others.for_each(add);
    mixed
}

/// The first connection that is made. A failed attempt starts the next at once, a slow one after `delay`.
pub(super) async fn first(addresses: &[SocketAddr], delay: Duration) -> io::Result<TcpStream> {
    let mut waiting = addresses.iter().copied();
    let mut attempts = JoinSet::new();
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    let mut more = true;
    loop {
        if more {
            match waiting.next() {
                Some(address) => {
                    attempts.spawn(one(address));
                }
                None => more = false,
            }
        }
        if attempts.is_empty() && !more {
            return Err(last);
        }
        tokio::select! {
            done = attempts.join_next(), if !attempts.is_empty() => match done {
                Some(Ok(Ok(stream))) => return Ok(stream),
                Some(Ok(Err(error))) => last = error,
                Some(Err(error)) => last = io::Error::other(error),
                None => {}
            },
            () = sleep(delay), if more => {}
        }
    }
}

async fn one(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address)
        .await
        .map_err(|error| io::Error::new(error.kind(), format!("{address}: {error}")))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}
