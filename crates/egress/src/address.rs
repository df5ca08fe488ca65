//! What kind of address an address is. Only public unicast addresses are dialled.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use serde::{Deserialize, Serialize};

/// What kind of address it is. Only [`Class::Public`] is dialled for a name that was looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Public unicast.
    Public,
    /// `::`, `0.0.0.0` and the rest of "this network" (RFC 1122 §3.2.1.3): many systems take them for themselves.
    Unspecified,
    /// The machine itself (RFC 1122, RFC 4291).
    Loopback,
    /// Private networks (RFC 1918).
    Private,
    /// Carrier-grade address sharing (RFC 6598), also used by overlay networks.
    Shared,
    /// Unique local (RFC 4193) and the older site-local (RFC 3879).
    UniqueLocal,
    /// Link-local (RFC 3927, RFC 4291).
    LinkLocal,
    /// Where clouds hand out the credentials of a machine, whatever range it lies in.
    Metadata,
    /// An IPv4 address inside an IPv6 address, whatever it is: mapped, compatible, NAT64, 6to4, Teredo, ISATAP.
    Embedded,
    /// Set aside for a protocol, a test, documentation, an anycast service, or nothing yet.
    Reserved,
    /// Groups and broadcast.
    Multicast,
}

impl Class {
    /// The class of `address`. That it may be an address of this very machine is another question
    /// ([`crate::own::OwnAddresses`]).
    pub fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(v4) => of_v4(v4),
            IpAddr::V6(v6) => of_v6(v6),
        }
    }

    /// Whether a name that was looked up may lead here.
    pub fn is_public(self) -> bool {
        self == Self::Public
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Public => "public",
            Self::Unspecified => "unspecified",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::Shared => "shared address space",
            Self::UniqueLocal => "unique local",
            Self::LinkLocal => "link-local",
            Self::Metadata => "cloud metadata",
            Self::Embedded => "IPv4 inside IPv6",
            Self::Reserved => "reserved",
            Self::Multicast => "multicast",
        })
    }
}

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> IpNet {
    IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix))
}

const fn v6(a: u16, b: u16, c: u16, prefix: u8) -> IpNet {
    IpNet::V6(Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), prefix))
}

const fn v6_host(a: u16, b: u16, h: u16) -> IpNet {
    IpNet::V6(Ipv6Net::new_assert(Ipv6Addr::new(a, b, 0, 0, 0, 0, 0, h), 128))
}

/// IPv4, the first match counts; the rest is public. IANA special-purpose registry (RFC 6890), and what clouds document
/// as their own.
const V4: [(IpNet, Class); 28] = [
    // Instance metadata, container and pod credentials, the hypervisor's own services.
    (v4(169, 254, 169, 254, 32), Class::Metadata),
    (v4(169, 254, 170, 2, 32), Class::Metadata),
    (v4(169, 254, 170, 23, 32), Class::Metadata),
    (v4(169, 254, 0, 23, 32), Class::Metadata),
    (v4(100, 100, 100, 200, 32), Class::Metadata),
    (v4(168, 63, 129, 16, 32), Class::Metadata),
    (v4(192, 0, 0, 192, 32), Class::Metadata),
    (v4(0, 0, 0, 0, 8), Class::Unspecified),
    (v4(10, 0, 0, 0, 8), Class::Private),
    (v4(100, 64, 0, 0, 10), Class::Shared),
    (v4(127, 0, 0, 0, 8), Class::Loopback),
    (v4(169, 254, 0, 0, 16), Class::LinkLocal),
    (v4(172, 16, 0, 0, 12), Class::Private),
    (v4(192, 0, 0, 0, 24), Class::Reserved),
    (v4(192, 0, 2, 0, 24), Class::Reserved),
    (v4(192, 31, 196, 0, 24), Class::Reserved),
    (v4(192, 52, 193, 0, 24), Class::Reserved),
    (v4(192, 88, 99, 0, 24), Class::Reserved),
    (v4(192, 168, 0, 0, 16), Class::Private),
    (v4(192, 175, 48, 0, 24), Class::Reserved),
    (v4(198, 18, 0, 0, 15), Class::Reserved),
    (v4(198, 51, 100, 0, 24), Class::Reserved),
    (v4(203, 0, 113, 0, 24), Class::Reserved),
    (v4(224, 0, 0, 0, 4), Class::Multicast),
    (v4(255, 255, 255, 255, 32), Class::Multicast),
    (v4(240, 0, 0, 0, 4), Class::Reserved),
    // Publicly numbered, and inside one cloud the way to its own services.
    (v4(161, 26, 0, 0, 16), Class::Reserved),
    (v4(166, 8, 0, 0, 14), Class::Reserved),
];

/// IPv6, the first match counts; what is left is public inside 2000::/3 and reserved elsewhere. IANA special-purpose
/// registry (RFC 6890, RFC 9637, RFC 9602).
const V6: [(IpNet, Class); 19] = [
    (v6_host(0xfd00, 0x0ec2, 0x0254), Class::Metadata),
    (v6_host(0xfd00, 0x0ec2, 0x0023), Class::Metadata),
    (v6_host(0xfd20, 0x00ce, 0x0254), Class::Metadata),
    (v6_host(0xfd00, 0x0042, 0x0042), Class::Metadata),
    (v6_host(0, 0, 0), Class::Unspecified),
    (v6_host(0, 0, 1), Class::Loopback),
    (v6(0, 0, 0, 80), Class::Embedded),
    (v6(0x64, 0xff9b, 0, 96), Class::Embedded),
    (v6(0x64, 0xff9b, 1, 48), Class::Embedded),
    (v6(0x2002, 0, 0, 16), Class::Embedded),
    (v6(0x2001, 0, 0, 32), Class::Embedded),
    (v6(0x2001, 0, 0, 23), Class::Reserved),
    (v6(0x2001, 0xdb8, 0, 32), Class::Reserved),
    (v6(0x3fff, 0, 0, 20), Class::Reserved),
    (v6(0xfc00, 0, 0, 7), Class::UniqueLocal),
    (v6(0xfe80, 0, 0, 10), Class::LinkLocal),
    (v6(0xfec0, 0, 0, 10), Class::UniqueLocal),
    (v6(0xff00, 0, 0, 8), Class::Multicast),
    (v6(0x100, 0, 0, 64), Class::Reserved),
];

const GLOBAL_UNICAST: Ipv6Net = Ipv6Net::new_assert(Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

fn of_v4(address: Ipv4Addr) -> Class {
    listed(&V4, address.into()).unwrap_or(Class::Public)
}

fn of_v6(address: Ipv6Addr) -> Class {
    if let Some(class) = listed(&V6, address.into()) {
        return class;
    }
    if is_isatap(address) {
        return Class::Embedded;
    }
    if GLOBAL_UNICAST.contains(&address) { Class::Public } else { Class::Reserved }
}

fn listed(table: &[(IpNet, Class)], address: IpAddr) -> Option<Class> {
    table.iter().find(|(net, _)| net.contains(&address)).map(|(_, class)| *class)
}

/// Interface identifiers `0000:5efe` and `0200:5efe` before an IPv4 address (RFC 5214 §6.1).
fn is_isatap(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    matches!(segments, [_, _, _, _, 0 | 0x0200, 0x5efe, _, _])
}

#[cfg(test)]
mod tests;
