//! The processes of the host, and who holds which namespace.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
};

/// `PF_EXITING` of `linux/sched.h`.
const PF_EXITING: u64 = 0x4;

/// One process, by proc(5).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Process {
    /// Its pid here.
    pub pid: i32,
    /// Its parent's.
    pub parent: i32,
    /// Whether it has ended and only waits to be collected.
    pub is_dead: bool,
    /// Whether it is stopped by a signal.
    pub is_stopped: bool,
    /// Whether the kernel is taking it apart: it runs no code of its own any more.
    pub is_ending: bool,
}

impl Process {
    fn read(pid: i32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The command's name may hold anything, brackets too.
        let (_, fields) = stat.rsplit_once(')')?;
        let mut fields = fields.split_ascii_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let flags: u64 = fields.nth(4)?.parse().ok()?;
        Some(Self {
            pid,
            parent,
            is_dead: matches!(state, "Z" | "X"),
            is_stopped: state == "T",
            is_ending: flags & PF_EXITING != 0,
        })
    }

    /// The one that asks.
    pub fn of_this() -> Option<Self> {
        Self::read(std::process::id().cast_signed())
    }

    /// Its command line, with spaces between the words.
    pub fn line(&self) -> String {
        self.text("cmdline").replace('\0', " ").trim_end().to_owned()
    }

    /// The namespaces it is in, and those that its next child or its time namespace would be in.
    pub fn namespaces(&self) -> BTreeSet<String> {
        links(&format!("/proc/{}/ns", self.pid)).collect()
    }

    /// Its pid in the innermost pid namespace; nothing once it is gone.
    pub fn inner_pid(&self) -> Option<i32> {
        self.status("NSpid:")?.split_ascii_whitespace().last()?.parse().ok()
    }

    /// How many pid namespaces lie around it, the one of this process counted.
    pub fn depth(&self) -> usize {
        self.status("NSpid:").map_or(0, |pids| pids.split_ascii_whitespace().count())
    }

    /// Whether `SIGKILL` is on its way to it: it comes back from the kernel no more.
    pub fn is_killed(&self) -> bool {
        let mask = self.status("SigPnd:").and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        mask.is_some_and(|mask| mask & (1 << (libc::SIGKILL - 1)) != 0)
    }

    /// Its real uid here.
    pub fn host_id(&self) -> Option<u32> {
        self.status("Uid:")?.split_ascii_whitespace().next()?.parse().ok()
    }

    /// Whether its command line or environment mentions the text.
    pub(super) fn mentions(&self, text: &str) -> bool {
        ["cmdline", "environ"].iter().any(|name| self.text(name).contains(text))
    }

    pub(super) fn descends_from(&self, ancestor: i32, all: &BTreeMap<i32, Self>) -> bool {
        let mut parent = self.parent;
        // Parents read one after the other could form a circle.
        for _ in 0..all.len() {
            if parent == ancestor {
                return true;
            }
            match all.get(&parent) {
                Some(next) => parent = next.parent,
                None => return false,
            }
        }
        false
    }

    fn status(&self, field: &str) -> Option<String> {
        self.text("status").lines().find_map(|line| line.strip_prefix(field).map(str::to_owned))
    }

    fn text(&self, name: &str) -> String {
        // What cannot be read any more has ended.
        String::from_utf8_lossy(&fs::read(format!("/proc/{}/{name}", self.pid)).unwrap_or_default())
            .into_owned()
    }
}

/// All processes this one can see.
pub(super) fn all() -> Vec<Process> {
    let names = fs::read_dir("/proc").into_iter().flatten().flatten();
    names.filter_map(|entry| Process::read(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// The namespaces of this process.
pub(super) fn own_namespaces() -> io::Result<BTreeSet<String>> {
    fs::metadata("/proc/self/ns/pid")?;
    Ok(links("/proc/self/ns").collect())
}

/// Which of the namespaces these processes hold, and how: by living in it, by an open file, or by a mount.
pub(super) fn held(
    namespaces: &BTreeSet<String>,
    processes: impl Iterator<Item = Process>,
) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for process in processes {
        let who = format!("process {} ({})", process.pid, process.line());
        for (folder, how) in [("ns", "by"), ("fd", "an open file of")] {
            let links = links(&format!("/proc/{}/{folder}", process.pid));
            let held = links.filter(|name| namespaces.contains(name));
            found.extend(held.map(|name| (name, format!("{how} {who}"))));
        }
        for line in process.text("mountinfo").lines().filter(|line| line.contains(" nsfs ")) {
            // The mounted namespace is the fourth field (proc_pid_mountinfo(5)).
            if let Some(name) = line.split(' ').nth(3).filter(|name| namespaces.contains(*name)) {
                found.insert((name.to_owned(), format!("a mount of {who}")));
            }
        }
    }
    found
}

fn links(folder: &str) -> impl Iterator<Item = String> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some(fs::read_link(entry.path()).ok()?.to_str()?.to_owned()))
}
