//! Who owns what lies in a cell's folder, so that a later start can tell the living from the dead.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

/// `owner.json` in a cell's folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnerRecord {
    /// The supervisor.
    pub supervisor: ProcessMark,
    /// `/proc/sys/kernel/random/boot_id` when it was written.
    pub boot: String,
    /// Cgroup folders to remove, absolute.
    #[serde(default)]
    pub cgroups: Vec<PathBuf>,
    /// The cell's PID 1, once there is one.
    #[serde(default)]
    pub jail: Option<ProcessMark>,
}

/// One process over all time since boot: a pid alone is used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessMark {
    /// Host pid.
    pub pid: i32,
    /// When it started, in clock ticks since boot (field 22 of `/proc/<pid>/stat`, proc_pid_stat(5)).
    pub start: u64,
}

impl ProcessMark {
    /// The mark of a process that exists; `None` when there is none (or it is a zombie: nothing of it is left).
    pub fn of(pid: i32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The command name may hold anything, brackets too; what follows the last one is numbers.
        let (_, fields) = stat.rsplit_once(')')?;
        let mut fields = fields.split_ascii_whitespace();
        let state = fields.next()?;
        let start = fields.nth(18)?.parse().ok()?;
        (state != "Z" && state != "X").then_some(Self { pid, start })
    }

    /// Whether that very process still exists.
    pub fn lives(self) -> bool {
        Self::of(self.pid) == Some(self)
    }
}

impl OwnerRecord {
    const FILE: &'static str = "owner.json";

    /// A record of this process.
    pub fn mine() -> io::Result<Self> {
        let pid = rustix::process::getpid().as_raw_nonzero().get();
        let supervisor =
            ProcessMark::of(pid).ok_or_else(|| io::Error::other("`/proc` does not show this process"))?;
        Ok(Self { supervisor, boot: boot_id()?, cgroups: Vec::new(), jail: None })
    }

    /// Writes it whole or not at all.
    pub fn write(&self, cell: &Path) -> io::Result<()> {
        let part = cell.join("owner.json.part");
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        fs::rename(part, cell.join(Self::FILE))
    }

    /// Reads the record of a cell's folder.
    pub fn read(cell: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&fs::read(cell.join(Self::FILE))?)?)
    }

    /// Whether the supervisor that wrote it still exists.
    pub fn lives(&self, boot: &str) -> bool {
        self.boot == boot && self.supervisor.lives()
    }
}

/// What tells this boot from every other.
pub fn boot_id() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pid_used_again_is_not_the_same_process() {
        let mine = OwnerRecord::mine().unwrap();
        let boot = boot_id().unwrap();
        assert!(mine.lives(&boot));
        let earlier = ProcessMark { start: mine.supervisor.start - 1, ..mine.supervisor };
        assert!(!OwnerRecord { supervisor: earlier, ..mine.clone() }.lives(&boot));
        assert!(!mine.lives("another boot"));
    }

    #[test]
    fn a_record_is_read_back_and_a_torn_one_is_an_error() {
        let cell = tempfile::tempdir().unwrap();
        let record = OwnerRecord { cgroups: vec!["/sys/fs/cgroup/x".into()], ..OwnerRecord::mine().unwrap() };
        record.write(cell.path()).unwrap();
        assert_eq!(OwnerRecord::read(cell.path()).unwrap(), record);
        fs::write(cell.path().join("owner.json"), b"{\"supervisor\":").unwrap();
        assert!(OwnerRecord::read(cell.path()).is_err());
    }
}
