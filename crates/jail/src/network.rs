//! The cell's network: a loopback device, and local routes that make every address of a synthetic range one that
//! sockets of this namespace can be bound to. Nothing leads out. Routes are set by rtnetlink(7) from within: an `ip`
//! that is executed would have lost its capabilities.

use std::{net::IpAddr, os::fd::OwnedFd};

use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, ipproto, socket_with};

use crate::{
    failure::Step,
    message::{Failure, SocketKind, Stage},
    spec::Route,
    sys,
};

/// The loopback device's index: the first device of every network namespace.
const LOOPBACK: u32 = 1;

/// Brings the loopback device up and adds the routes.
pub(crate) fn set_up(routes: &[Route]) -> Result<(), Failure> {
    sys::loopback_up().step(Stage::Network, || "bringing the loopback device up".into())?;
    if routes.is_empty() {
        return Ok(());
    }
    let step = || "speaking to the kernel about routes".to_owned();
    let flags = SocketFlags::CLOEXEC;
    // Protocol 0 of this family is NETLINK_ROUTE.
    let netlink =
        socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None).step(Stage::Network, step)?;
    for route in routes {
        rustix::net::send(&netlink, &new_local_route(*route), SendFlags::empty())
            .step(Stage::Network, step)?;
        let mut answer = [0_u8; 4096];
        let (length, _) = rustix::net::recv(&netlink, &mut answer, rustix::net::RecvFlags::empty())
            .step(Stage::Network, step)?;
        acknowledged(answer.get(..length).unwrap_or_default())
            .step(Stage::Network, || format!("adding the local route {}/{}", route.address, route.prefix))?;
    }
    Ok(())
}

/// A socket of this namespace, unbound: whoever gets it decides what it listens on.
pub(crate) fn make(kind: SocketKind) -> Result<OwnedFd, Failure> {
    let (family, kind_of, protocol) = match kind {
        SocketKind::Tcp4 => (AddressFamily::INET, SocketType::STREAM, ipproto::TCP),
        SocketKind::Tcp6 => (AddressFamily::INET6, SocketType::STREAM, ipproto::TCP),
        SocketKind::Udp4 => (AddressFamily::INET, SocketType::DGRAM, ipproto::UDP),
        SocketKind::Udp6 => (AddressFamily::INET6, SocketType::DGRAM, ipproto::UDP),
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let step = || format!("making a socket {kind:?}");
    let socket = socket_with(family, kind_of, flags, Some(protocol)).step(Stage::Network, step)?;
    if family == AddressFamily::INET6 {
        // IPv6 lets a socket be bound to an address of a local route only where it says that it means it.
        rustix::net::sockopt::set_ipv6_freebind(&socket, true).step(Stage::Network, step)?;
    }
    Ok(socket)
}

/// `RTM_NEWROUTE` of type local on the loopback device, to be acknowledged.
fn new_local_route(route: Route) -> Vec<u8> {
    const RTM_NEWROUTE: u16 = 24;
    const NLM_F_REQUEST_ACK_CREATE: u16 = 0x1 | 0x4 | 0x400;
    const RT_TABLE_LOCAL: u8 = 255;
    const RTPROT_BOOT: u8 = 3;
    const RT_SCOPE_HOST: u8 = 254;
    const RTN_LOCAL: u8 = 2;
    const RTA_DST: u16 = 1;
    const RTA_OIF: u16 = 4;
    let (family, address) = match route.address {
        IpAddr::V4(address) => (2_u8, address.octets().to_vec()),
        IpAddr::V6(address) => (10_u8, address.octets().to_vec()),
    };
    let mut body = vec![family, route.prefix, 0, 0, RT_TABLE_LOCAL, RTPROT_BOOT, RT_SCOPE_HOST, RTN_LOCAL];
    body.extend(0_u32.to_ne_bytes());
    attribute(&mut body, RTA_DST, &address);
    attribute(&mut body, RTA_OIF, &LOOPBACK.to_ne_bytes());
    let length = u32::try_from(body.len()).unwrap_or(u32::MAX).saturating_add(16);
    let mut message = Vec::new();
    message.extend(length.to_ne_bytes());
    message.extend(RTM_NEWROUTE.to_ne_bytes());
    message.extend(NLM_F_REQUEST_ACK_CREATE.to_ne_bytes());
    message.extend(1_u32.to_ne_bytes());
    message.extend(0_u32.to_ne_bytes());
    message.extend(body);
    message
}

/// Every attribute used here is a multiple of four bytes long, so none needs padding.
fn attribute(body: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let length = u16::try_from(value.len()).unwrap_or(u16::MAX).saturating_add(4);
    body.extend(length.to_ne_bytes());
    body.extend(kind.to_ne_bytes());
    body.extend(value);
}

/// An `NLMSG_ERROR` message: the header, then the negative errno, 0 for done.
fn acknowledged(answer: &[u8]) -> std::io::Result<()> {
    const NLMSG_ERROR: u16 = 2;
    let kind = answer.get(4..6).and_then(|bytes| bytes.try_into().ok()).map(u16::from_ne_bytes);
    let errno = answer.get(16..20).and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes);
    match (kind, errno) {
        (Some(NLMSG_ERROR), Some(0)) => Ok(()),
        (Some(NLMSG_ERROR), Some(errno)) => Err(std::io::Error::from_raw_os_error(errno.saturating_neg())),
        _ => Err(std::io::ErrorKind::InvalidData.into()),
    }
}
