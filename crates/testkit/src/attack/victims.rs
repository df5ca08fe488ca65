//! Processes to be attacked: how they are started, and how they are found.

use std::fs;

use super::Held;

/// The word before a victim's name in its command line.
pub(super) const FLAG: &str = "--victim";

/// The pid of the victim called `name`.
pub(super) fn find(name: &str) -> Result<i32, Held> {
    processes().find(|pid| is_victim(*pid, name)).ok_or_else(|| Held::because("no such process is seen"))
}

fn processes() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// `PROGRAM --victim NAME …`; programs that start one carry these words further behind.
fn is_victim(pid: i32, name: &str) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let mut words = line.split(|byte| *byte == 0).skip(1);
    words.next() == Some(FLAG.as_bytes()) && words.next() == Some(name.as_bytes())
}
