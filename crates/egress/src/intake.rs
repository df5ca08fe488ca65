//! Where sockets inside the cell come from, and what they are made of there.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;

use rustix::net::{bind, listen, sockopt};
use tokio::net::{TcpListener, UdpSocket};

use crate::synthetic::Range;

/// A socket that is on its way.
pub type Arriving<'a> = Pin<Box<dyn Future<Output = io::Result<OwnedFd>> + Send + 'a>>;

/// Which Internet protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

impl Family {
    /// The family of an address.
    pub const fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(_) => Self::V4,
            IpAddr::V6(_) => Self::V6,
        }
    }
}

/// Hands out sockets that were created inside the cell's network namespace. They are unbound, non-blocking and
/// close-on-exec.
pub trait Intake: std::fmt::Debug + Send + Sync + 'static {
    /// A TCP socket.
    fn tcp(&self, family: Family) -> Arriving<'_>;

    /// A UDP socket.
    fn udp(&self, family: Family) -> Arriving<'_>;

    /// The addresses that lead to these sockets inside the cell.
    fn range(&self) -> Range;
}

/// The congestion control every Linux has built in (tcp(7)).
const CONGESTION: &str = "reno";

/// Connections the kernel holds before they are accepted.
const BACKLOG: i32 = 1024;

/// A listener at an address inside the cell.
///
/// # Errors
/// If no socket came, or the address is taken or not local.
pub(crate) async fn listener(intake: &dyn Intake, address: SocketAddr) -> io::Result<TcpListener> {
    let socket = intake.tcp(Family::of(address.ip())).await?;
    prepare(&socket, address)?;
    unpaced(&socket);
    listen(&socket, BACKLOG)?;
    TcpListener::from_std(socket.into())
}

/// A UDP socket bound to an address inside the cell.
///
/// # Errors
/// As [`listener`].
pub(crate) async fn datagrams(intake: &dyn Intake, address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = intake.udp(Family::of(address.ip())).await?;
    prepare(&socket, address)?;
    UdpSocket::from_std(socket.into())
}

/// Between two sockets of one machine nothing is lost and there is nothing to pace: what the host has chosen for the
/// Internet (BBR) costs a third of the throughput there. Accepted connections have what their listener has.
pub(crate) fn unpaced(socket: impl AsFd) {
    // Without it the connection is only slower.
    let _as_the_host_has_it = sockopt::set_tcp_congestion(socket, CONGESTION).is_err();
}

fn prepare(socket: &OwnedFd, address: SocketAddr) -> io::Result<()> {
    // A listener that was closed a moment ago must not keep the next one from its address.
    sockopt::set_socket_reuseaddr(socket, true)?;
    if address.is_ipv6() {
        sockopt::set_ipv6_v6only(socket, true)?;
        // Linux binds IPv6 only to addresses of an interface, and a local route makes none; IPv4 is content with the route.
        sockopt::set_ipv6_freebind(socket, true)?;
    }
    rustix::io::ioctl_fionbio(socket, true)?;
    bind(socket, &address)?;
    Ok(())
}
