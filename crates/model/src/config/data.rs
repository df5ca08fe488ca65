//! The persistent folder of a server.

use std::ops::RangeInclusive;

use super::complaint::Complaint;
use super::limit_name::within;
use super::limits::{kept, size_of};
use super::problem::Source;
use super::written::{self, At};
use crate::size;

/// What may be asked for, in bytes: 1 MiB to 64 TiB.
pub(super) const BOUNDS: RangeInclusive<u64> = 1 << 20..=64 << 40;

/// That a server has a persistent folder, and how large it may grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataRequest {
    size: Option<u64>,
}

impl DataRequest {
    /// Quota in bytes, where one is said.
    pub fn size(self) -> Option<u64> {
        self.size
    }

    pub(super) fn resolve(written: &At<written::Data>, source: &mut Source<'_>) -> Option<Self> {
        let size = match written.get() {
            written::Data::Switch(false) => return None,
            written::Data::Switch(true) => None,
            written::Data::Size(size) => kept(source, written, |_| check_size(size_of(size)?)),
            written::Data::Table(table) => {
                table.size.as_ref().and_then(|at| kept(source, at, |size| check_size(size_of(size)?)))
            }
        };
        Some(Self { size })
    }
}

pub(super) fn check_size(bytes: u64) -> Result<u64, Complaint> {
    within("data", &BOUNDS, bytes, size::format)
}
