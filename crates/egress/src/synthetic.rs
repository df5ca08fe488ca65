//! Addresses of our own making: one for each name a cell may speak to, the same as long as the cell lives.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::name::HostName;
use crate::policy::{Policy, Reach};
use crate::refusal::{Code, Refusal, Subject};
use crate::rule::{HostRule, Names};
use crate::synthetic::bucket::Bucket;

pub mod bucket;

/// The addresses that lead to the supervisor, inside a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// First address of an IPv4 /15.
    pub v4: Ipv4Addr,
    /// First half of the addresses of an IPv6 /64; none where the cell has no IPv6.
    pub v6: Option<[u8; 8]>,
}

/// The address of one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Addresses {
    /// Its IPv4 address.
    pub v4: Ipv4Addr,
    /// Its IPv6 address, where the cell has IPv6.
    pub v6: Option<Ipv6Addr>,
}

/// Bounds of names that only a wildcard covers: looking one up tells the owner of the suffix something, so it must not
/// carry much, nor fast.
#[derive(Debug, Clone, Copy)]
pub struct WildcardSettings {
    /// Longest part before the wildcard's suffix, in bytes. Default 64: one label of the longest kind.
    pub bytes: usize,
    /// Most labels before the wildcard's suffix. Default 4.
    pub labels: usize,
    /// New names at once. Default 64.
    pub burst: u32,
    /// Time in which one more new name may follow, after the burst. Default 1 s.
    pub every: Duration,
    /// Names known at once in one cell. Default 4,096.
    pub names: usize,
}

impl Default for WildcardSettings {
    fn default() -> Self {
        Self { bytes: 64, labels: 4, burst: 64, every: Duration::from_secs(1), names: 4096 }
    }
}

/// What a look-up of an allowed name found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assigned {
    /// Its addresses.
    pub addresses: Addresses,
    /// What the rules say of it.
    pub reach: Reach,
    /// Whether nobody had asked for it before.
    pub first: bool,
}

impl Range {
    /// The range of a real cell without IPv6 (RFC 2544: never routed).
    pub const V4: Self = Self { v4: Ipv4Addr::new(198, 18, 0, 0), v6: None };
    /// Addresses in the IPv4 part.
    const SIZE: u32 = 1 << 17;
    /// The first of them that stands for a name; those before are for services.
    const FIRST_NAME: u32 = 256;

    /// Where DNS is answered.
    pub fn name_server(&self) -> Addresses {
        self.service(53, 0x53)
    }

    /// Where the explicit proxy is, when there is one.
    pub fn proxy(&self) -> Addresses {
        self.service(54, 0x54)
    }

    /// Whether `address` is one of these.
    pub fn contains(&self, address: IpAddr) -> bool {
        match address {
            IpAddr::V4(v4) => v4.to_bits().wrapping_sub(self.v4.to_bits()) < Self::SIZE,
            IpAddr::V6(v6) => self.v6.is_some_and(|prefix| v6.octets().starts_with(&prefix)),
        }
    }

    fn service(&self, v4: u32, v6: u64) -> Addresses {
        let v4 = Ipv4Addr::from_bits(self.v4.to_bits().wrapping_add(v4));
        Addresses { v4, v6: self.v6.map(|prefix| v6_address(prefix, v6)) }
    }

    fn of(&self, offset: u32) -> Addresses {
        self.service(offset, u64::from(offset))
    }
}

fn v6_address(prefix: [u8; 8], host: u64) -> Ipv6Addr {
    Ipv6Addr::from_bits((u128::from(u64::from_be_bytes(prefix)) << 64) | u128::from(host))
}

/// The table of one cell.
#[derive(Debug)]
pub struct Synthetic {
    range: Range,
    settings: WildcardSettings,
    table: Mutex<Table>,
}

#[derive(Debug)]
struct Table {
    offsets: HashMap<HostName, Entry>,
    names: HashMap<u32, HostName>,
    /// Where the search for a free address goes on: one that was given back is used again as late as can be.
    cursor: u32,
    wild: usize,
    bucket: Bucket,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    offset: u32,
    exact: bool,
}

impl Synthetic {
    /// An empty table.
    pub fn new(range: Range, settings: WildcardSettings) -> Self {
        let bucket = Bucket::new(settings.burst, settings.every);
        let table = Table {
            offsets: HashMap::new(),
            names: HashMap::new(),
            cursor: Range::FIRST_NAME,
            wild: 0,
            bucket,
        };
        Self { range, settings, table: Mutex::new(table) }
    }

    /// The addresses of the cell.
    pub fn range(&self) -> Range {
        self.range
    }

    /// The addresses of `name`, made at the first asking, if a rule is about it and it keeps the bounds of wildcards.
    pub fn assign(&self, policy: &Policy, name: &HostName) -> Result<Assigned, Refusal> {
        let subject = |rule| Subject { server: policy.server(), host: name.as_str(), port: None, rule };
        let Some(reach) = policy.reach(name) else {
            return Err(Refusal::new(Code::Host, subject(None), ""));
        };
        let refuse = |code, detail: &str| Err(Refusal::new(code, subject(Some(&reach.rule)), detail));
        let mut guard = self.lock();
        let table = &mut *guard;
        if let Some(entry) = table.offsets.get_mut(name) {
            if reach.exact && !entry.exact {
                entry.exact = true;
                table.wild = table.wild.saturating_sub(1);
            }
            return Ok(Assigned { addresses: self.range.of(entry.offset), reach, first: false });
        }
        if !reach.exact && !crate::guard::off("wildcard-bounds") {
            if let Some(detail) = self.too_much(name, &reach.rule) {
                return refuse(Code::Wildcard, &detail);
            }
            if table.wild >= self.settings.names {
                return refuse(Code::Wildcard, &format!("{} names are known already", table.wild));
            }
            if !table.bucket.take() {
                return refuse(Code::Wildcard, "too many new names in a short time");
            }
        }
        let Some(offset) = table.free() else {
            return refuse(Code::Limit, "all addresses for names are in use");
        };
        table.offsets.insert(name.clone(), Entry { offset, exact: reach.exact });
        table.names.insert(offset, name.clone());
        table.wild += usize::from(!reach.exact);
        Ok(Assigned { addresses: self.range.of(offset), reach, first: true })
    }

    /// The addresses `name` has already; none if nobody asked for it.
    pub fn known(&self, name: &HostName) -> Option<Addresses> {
        self.lock().offsets.get(name).map(|entry| self.range.of(entry.offset))
    }

    /// The name `address` stands for.
    pub fn name(&self, address: IpAddr) -> Option<HostName> {
        let offset = match address {
            IpAddr::V4(v4) => v4.to_bits().checked_sub(self.range.v4.to_bits())?,
            IpAddr::V6(v6) if self.range.contains(address) => {
                u32::try_from(v6.to_bits() & u128::from(u64::MAX)).ok()?
            }
            IpAddr::V6(_) => return None,
        };
        self.lock().names.get(&offset).cloned()
    }

    /// Gives back the addresses of all names for which `keep` is false. They come into use again as late as can be.
    pub fn retain(&self, keep: impl Fn(&HostName) -> bool) {
        let mut guard = self.lock();
        let table = &mut *guard;
        let Table { offsets, names, wild, .. } = table;
        offsets.retain(|name, entry| {
            let kept = keep(name);
            if !kept {
                names.remove(&entry.offset);
                *wild = wild.saturating_sub(usize::from(!entry.exact));
            }
            kept
        });
        offsets.shrink_to(names.len().saturating_mul(2));
        names.shrink_to(names.len().saturating_mul(2));
    }

    /// Names with an address.
    pub fn len(&self) -> usize {
        self.lock().offsets.len()
    }

    /// Whether no name has an address.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What of a name under a wildcard is over the bounds.
    fn too_much(&self, name: &HostName, rule: &HostRule) -> Option<String> {
        let Names::Below(suffix) = rule.names() else {
            return None;
        };
        let front = name.as_str().strip_suffix(suffix.as_str())?.strip_suffix('.')?;
        if front.len() > self.settings.bytes {
            return Some(format!(
                "{} bytes before the suffix, {} are allowed",
                front.len(),
                self.settings.bytes
            ));
        }
        let labels = front.split('.').count();
        (labels > self.settings.labels)
            .then(|| format!("{labels} labels before the suffix, {} are allowed", self.settings.labels))
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn free(&mut self) -> Option<u32> {
        for _ in Range::FIRST_NAME..Range::SIZE {
            let offset = self.cursor;
            self.cursor = if offset + 1 < Range::SIZE { offset + 1 } else { Range::FIRST_NAME };
            // Old software takes the first and last address of a /24 for something else.
            if !matches!(offset & 255, 0 | 255) && !self.names.contains_key(&offset) {
                return Some(offset);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
