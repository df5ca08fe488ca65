//! The memory watch, for hosts where no cgroup of ours holds the ceiling. It counts what a process cannot easily hide:
//! private memory, shared mappings, memfds that are open anywhere inside, System V segments, and the cell's tmpfs. It is a watch: a fast
//! tool overshoots until the next look, and memory in pipes and sockets is not seen.

use std::{collections::BTreeSet, fs, os::unix::fs::MetadataExt, path::PathBuf};

use crate::{
    signals,
    spec::{Entry, MemoryWatch, Spec},
};

#[derive(Debug)]
pub(crate) struct Watch {
    ceiling: u64,
    interval_ms: u32,
    scratch: Vec<PathBuf>,
    page: u64,
}

impl Watch {
    pub(crate) fn new(watch: MemoryWatch, spec: &Spec) -> Self {
        let scratch = spec.root.iter().filter_map(|entry| match entry {
            Entry::Tmpfs { path, .. } => Some(path.clone()),
            Entry::Dir { .. }
            | Entry::Symlink { .. }
            | Entry::File { .. }
            | Entry::Links { .. }
            | Entry::Part { .. }
            | Entry::Bind { .. } => None,
        });
        Self {
            ceiling: watch.bytes,
            interval_ms: watch.interval_ms,
            scratch: scratch.collect(),
            page: rustix::param::page_size() as u64,
        }
    }

    pub(crate) fn interval_ms(&self) -> u32 {
        self.interval_ms
    }

    /// What is used, where it is above the ceiling. The cheap sum counts shared pages once per process; only when that
    /// is above the ceiling is the exact one made.
    pub(crate) fn above_ceiling(&mut self) -> Option<u64> {
        let files = self.shared_files();
        if self.resident().saturating_add(files) <= self.ceiling {
            return None;
        }
        let exact = signals::pids().map(proportional).fold(Pages::default(), Pages::plus);
        let total = exact.private.saturating_add(exact.shared.max(files));
        (total > self.ceiling).then_some(total)
    }

    fn resident(&self) -> u64 {
        signals::pids()
            .filter_map(|pid| fs::read_to_string(format!("/proc/{pid}/statm")).ok())
            .filter_map(|line| line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok())
            .fold(0, |sum, pages| sum.saturating_add(pages.saturating_mul(self.page)))
    }

    /// Bytes of the cell's tmpfs and of every memfd or deleted shared file open inside, each once.
    fn shared_files(&self) -> u64 {
        let mounted = self.scratch.iter().filter_map(|path| rustix::fs::statvfs(path).ok()).fold(
            0_u64,
            |sum, facts| {
                let used = facts.f_blocks.saturating_sub(facts.f_bfree).saturating_mul(facts.f_frsize);
                sum.saturating_add(used)
            },
        );
        let mut seen = BTreeSet::new();
        let mut open = 0_u64;
        for pid in signals::pids() {
            let Ok(fds) = fs::read_dir(format!("/proc/{pid}/fd")) else { continue };
            for fd in fds.flatten() {
                let path = fd.path();
                let is_memfd = fs::read_link(&path)
                    .is_ok_and(|target| target.as_os_str().as_encoded_bytes().starts_with(b"/memfd:"));
                if !is_memfd {
                    continue;
                }
                let Ok(facts) = fs::metadata(&path) else { continue };
                if seen.insert((facts.dev(), facts.ino())) {
                    open = open.saturating_add(facts.blocks().saturating_mul(512));
                }
            }
        }
        mounted.saturating_add(open).saturating_add(system_v())
    }
}

/// Resident bytes of the cell's System V segments, attached or not (proc(5): `rss` is the 15th column).
fn system_v() -> u64 {
    let Ok(text) = fs::read_to_string("/proc/sysvipc/shm") else { return 0 };
    text.lines()
        .skip(1)
        .filter_map(|line| line.split_ascii_whitespace().nth(14)?.parse::<u64>().ok())
        .fold(0, u64::saturating_add)
}

#[derive(Debug, Default, Clone, Copy)]
struct Pages {
    private: u64,
    shared: u64,
}

impl Pages {
    fn plus(self, other: Self) -> Self {
        Self {
            private: self.private.saturating_add(other.private),
            shared: self.shared.saturating_add(other.shared),
        }
    }
}

/// `Pss_Anon` and `Pss_Shmem` of one process, in bytes (proc(5), smaps_rollup).
fn proportional(pid: i32) -> Pages {
    let Ok(text) = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")) else { return Pages::default() };
    let field = |name: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(name)?.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok())
            .map_or(0, |kib| kib.saturating_mul(1024))
    };
    Pages { private: field("Pss_Anon:"), shared: field("Pss_Shmem:") }
}
