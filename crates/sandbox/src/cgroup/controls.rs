//! Reading and writing a group's control files.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Writes `value` in one call, as control files want it. Never creates the file.
pub(super) fn write(file: &Path, value: &str) -> Result<(), Errno> {
    let mut open = OpenOptions::new().write(true).open(file).map_err(|e| errno(&e))?;
    open.write_all(value.as_bytes()).map_err(|e| errno(&e))
}

/// The words of a file; empty where it cannot be read.
pub(super) fn words(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

/// A file that holds one number. None where it is missing, or says `max`.
pub(super) fn number(file: &Path) -> Option<u64> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// The number behind `key` in a file of `key number` lines.
pub(super) fn keyed(file: &Path, key: &str) -> Option<u64> {
    find_key(&std::fs::read_to_string(file).ok()?, key)
}

/// Waits until `key` in an events file has the value `wanted`; false when `deadline` has passed before.
///
/// The kernel wakes waiters of such a file at most once in 10 ms (`CGROUP_FILE_NOTIFY_MIN_INTV`), hence the short
/// waits at the start: a thaw takes microseconds.
pub(super) fn wait_for(file: &Path, key: &str, wanted: u64, deadline: Instant) -> io::Result<bool> {
    let mut open = File::open(file)?;
    let mut pause = Duration::from_micros(100);
    let mut text = String::new();
    loop {
        text.clear();
        open.seek(SeekFrom::Start(0))?;
        open.read_to_string(&mut text)?;
        if find_key(&text, key) == Some(wanted) {
            return Ok(true);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(false);
        }
        let wait = pause.min(left);
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(wait.subsec_nanos()) };
        match poll(&mut [PollFd::new(&open, PollFlags::PRI)], Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// The error number of a failed call; `EIO` for the few errors of the standard library that have none.
pub(super) fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

fn find_key(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
}
