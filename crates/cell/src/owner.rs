//! Who owns what lies in a cell's folder, so that a later start can tell the living from the dead.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

/// `owner.json` in a cell's folder: the last line that can be read counts. Lines are only ever added, each by one
/// write, so that whoever is killed in between leaves the line before; to rename a new file over the old one would cost
/// a write-back at every start (ext4, `auto_da_alloc`).
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

/// First part of the name of a folder that is to become a cell's. No cell is called so.
const BEGINNING: &str = ".begun-by-";

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

    /// The name of the folder of a cell which this supervisor is just beginning.
    pub(crate) fn folder(self) -> String {
        format!("{BEGINNING}{}-{}", self.pid, self.start)
    }

    /// The supervisor that is beginning a cell in a folder of this name, if it is such a name.
    pub(crate) fn beginner(folder: &str) -> Option<Self> {
        let (pid, start) = folder.strip_prefix(BEGINNING)?.split_once('-')?;
        Some(Self { pid: pid.parse().ok()?, start: start.parse().ok()? })
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

    /// Adds it to the file.
    pub fn write(&self, cell: &Path) -> io::Result<()> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        OpenOptions::new().append(true).create(true).mode(0o600).open(cell.join(Self::FILE))?.write_all(&line)
    }

    /// Reads the record of a cell's folder.
    pub fn read(cell: &Path) -> io::Result<Self> {
        let text = fs::read(cell.join(Self::FILE))?;
        let records =
            text.split(|byte| *byte == b'\n').rev().filter_map(|line| serde_json::from_slice(line).ok());
        records.into_iter().next().ok_or_else(|| io::ErrorKind::InvalidData.into())
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
    fn the_last_whole_line_counts() {
        let cell = tempfile::tempdir().unwrap();
        let first = OwnerRecord::mine().unwrap();
        first.write(cell.path()).unwrap();
        let record = OwnerRecord { cgroups: vec!["/sys/fs/cgroup/x".into()], ..first };
        record.write(cell.path()).unwrap();
        assert_eq!(OwnerRecord::read(cell.path()).unwrap(), record);
        let file = cell.path().join("owner.json");
        let mut text = fs::read(&file).unwrap();
        text.extend_from_slice(b"{\"supervisor\":");
        fs::write(&file, &text).unwrap();
        assert_eq!(OwnerRecord::read(cell.path()).unwrap(), record);
        fs::write(&file, b"{\"supervisor\":").unwrap();
        assert!(OwnerRecord::read(cell.path()).is_err());
    }
}
