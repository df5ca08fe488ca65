//! The addresses of this machine itself and of its gateways: public numbers may be among them, and behind them stand
//! services that trust the machine.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// What this machine answers for, read from the kernel's tables and asked of the kernel at each dial.
///
/// The tables stay open, so that a supervisor that has confined itself can still read them.
#[derive(Debug)]
pub struct OwnAddresses {
    tables: Mutex<Tables>,
}

impl OwnAddresses {
    /// How long what was read is good for.
    const FRESH: Duration = Duration::from_secs(2);

    /// Opens the kernel's tables of the network namespace of this process.
    pub fn open() -> io::Result<Self> {
        let optional = |path: &str| match File::open(path) {
            Ok(file) => Ok(Some(file)),
            // A kernel without IPv6 has no such table.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        };
        let mut tables = Tables {
            local_v4: File::open("/proc/self/net/fib_trie")?,
            routes_v4: File::open("/proc/self/net/route")?,
            routes_v6: optional("/proc/self/net/ipv6_route")?,
            read: None,
        };
        tables.refresh()?;
        Ok(Self { tables: Mutex::new(tables) })
    }

    /// Whose `address` is: none for all that is neither this machine nor a gateway of it.
    pub fn owner(&self, address: IpAddr) -> io::Result<Option<Owner>> {
        if answered_here(address)? {
            return Ok(Some(Owner::Machine));
        }
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let nets = tables.refresh()?;
        Ok(nets.iter().filter(|(net, _)| net.contains(&address)).map(|(_, owner)| *owner).min())
    }
}

/// Who answers at an address near this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// This machine.
    Machine,
    /// A router this machine sends through.
    Gateway,
}

#[derive(Debug)]
struct Tables {
    local_v4: File,
    routes_v4: File,
    routes_v6: Option<File>,
    read: Option<(Instant, Vec<(IpNet, Owner)>)>,
}

impl Tables {
    fn refresh(&mut self) -> io::Result<&[(IpNet, Owner)]> {
        let now = Instant::now();
        let fresh = self.read.take().filter(|(at, _)| now.duration_since(*at) < OwnAddresses::FRESH);
        let entry = if let Some(entry) = fresh {
            entry
        } else {
            let mut nets = local_v4(&text(&mut self.local_v4)?);
            nets.extend(gateways_v4(&text(&mut self.routes_v4)?));
            if let Some(file) = &mut self.routes_v6 {
                nets.extend(routes_v6(&text(file)?));
            }
            (now, nets)
        };
        Ok(&self.read.insert(entry).1)
    }
}

fn text(file: &mut File) -> io::Result<String> {
    file.rewind()?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(text)
}

/// Asks the kernel: to an address of its own it talks from that address. Connecting a UDP socket sends nothing.
fn answered_here(address: IpAddr) -> io::Result<bool> {
    let any: IpAddr = match address {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = match UdpSocket::bind((any, 0)) {
        Ok(socket) => socket,
        // Without the family nothing is dialled in it either.
        Err(error)
            if matches!(error.kind(), io::ErrorKind::AddrNotAvailable | io::ErrorKind::Unsupported) =>
        {
            return Ok(false);
        }
        Err(error) if error.raw_os_error() == Some(EAFNOSUPPORT) => return Ok(false),
        Err(error) => return Err(error),
    };
    match socket.connect((address, DISCARD)) {
        Ok(()) => Ok(socket.local_addr()?.ip() == address),
        // No way there: the dial fails by itself.
        Err(_) => Ok(false),
    }
}

/// RFC 863; nothing is sent there.
const DISCARD: u16 = 9;

/// Linux, asm-generic/errno.h.
const EAFNOSUPPORT: i32 = 97;

/// `LOCAL` and `BROADCAST` entries of `/proc/net/fib_trie`: `|-- ADDRESS`, then lines `/PREFIX SCOPE TYPE`.
fn local_v4(table: &str) -> Vec<(IpNet, Owner)> {
    let mut nets = Vec::new();
    let mut leaf = None;
    for line in table.lines().map(str::trim) {
        if let Some(address) = line.strip_prefix("|-- ") {
            leaf = address.trim().parse::<Ipv4Addr>().ok();
        } else if let Some(entry) = line.strip_prefix('/') {
            let mut words = entry.split_whitespace();
            let prefix = words.next().and_then(|prefix| prefix.parse().ok());
            let kind = words.nth(1);
            if let (Some(address), Some(prefix), Some("LOCAL" | "BROADCAST" | "ANYCAST")) =
                (leaf, prefix, kind)
            {
                nets.extend(Ipv4Net::new(address, prefix).ok().map(|net| (net.into(), Owner::Machine)));
            }
        }
    }
    nets
}

/// Gateways in `/proc/net/route`: the third column, hexadecimal in the byte order of memory.
fn gateways_v4(table: &str) -> Vec<(IpNet, Owner)> {
    table
        .lines()
        .skip(1)
        .filter_map(|line| u32::from_str_radix(line.split_whitespace().nth(2)?, 16).ok())
        .filter(|gateway| *gateway != 0)
        .map(|gateway| (IpNet::from(IpAddr::from(gateway.to_ne_bytes())), Owner::Gateway))
        .collect()
}

/// Local and anycast routes and gateways in `/proc/net/ipv6_route`: destination, prefix, source, its prefix, next hop,
/// metric, two counters, flags, interface, all hexadecimal.
fn routes_v6(table: &str) -> Vec<(IpNet, Owner)> {
    const LOCAL: u32 = 0x8000_0000;
    const ANYCAST: u32 = 0x0010_0000;
    let mut nets = Vec::new();
    for line in table.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [destination, prefix, _, _, next_hop, _, _, _, flags, ..] = words.as_slice() else {
            continue;
        };
        let address = |text: &str| u128::from_str_radix(text, 16).ok().map(Ipv6Addr::from_bits);
        let flags = u32::from_str_radix(flags, 16).unwrap_or(0);
        if flags & (LOCAL | ANYCAST) != 0
            && let (Some(address), Ok(prefix)) = (address(destination), u8::from_str_radix(prefix, 16))
        {
            nets.extend(Ipv6Net::new(address, prefix).ok().map(|net| (net.into(), Owner::Machine)));
        }
        if let Some(gateway) = address(next_hop).filter(|gateway| !gateway.is_unspecified()) {
            nets.push((Ipv6Net::from(gateway).into(), Owner::Gateway));
        }
    }
    nets
}

#[cfg(test)]
mod tests;
