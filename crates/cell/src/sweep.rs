//! Removes what dead supervisors left behind: processes, groups, folders.

use std::{fs, io, path::Path, time::Duration};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal},
};

use crate::{
    folders::Folders,
    owner::{OwnerRecord, ProcessMark, boot_id},
};

/// How long groups of a dead cell may take to empty.
const REMOVING: Duration = Duration::from_secs(2);

/// What a sweep did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// Cells of which nothing is left now.
    pub removed: Vec<String>,
    /// What could not be removed, in words.
    pub stuck: Vec<String>,
}

/// Looks at each cell's folder and clears up after those whose supervisor is dead. Costs one `openat` where there are
/// none.
pub fn sweep(folders: &Folders) -> io::Result<Swept> {
    let mut swept = Swept::default();
    let entries = match fs::read_dir(folders.cells()) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(swept),
        Err(error) => return Err(error),
    };
    let mut boot = None;
    for entry in entries {
        let entry = entry?;
        if !entry.file_type()?.is_dir() {
            continue;
        }
        let boot = match &boot {
            Some(boot) => boot,
            None => boot.insert(boot_id()?),
        };
        sweep_one(&entry.path(), boot, &mut swept);
    }
    Ok(swept)
}

/// The folders of cells whose supervisor lives.
pub fn living(folders: &Folders) -> io::Result<Vec<(String, OwnerRecord)>> {
    let entries = match fs::read_dir(folders.cells()) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let boot = boot_id()?;
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if ProcessMark::beginner(&name).is_none()
            && let Ok(record) = OwnerRecord::read(&entry.path())
            && record.lives(&boot)
        {
            found.push((name, record));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

fn sweep_one(folder: &Path, boot: &str, swept: &mut Swept) {
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    match OwnerRecord::read(folder) {
        Ok(record) if record.lives(boot) => return,
        Ok(record) => {
            // Groups and processes do not outlive a boot; their names may belong to others now.
            if record.boot == boot {
                if let Some(jail) = record.jail {
                    kill(jail);
                }
                let left = sandbox::cgroup::sweep(&record.cgroups, REMOVING);
                if !left.is_empty() {
                    let paths: Vec<String> = left
                        .iter()
                        .map(|left| format!("{} ({})", left.path.display(), left.reason))
                        .collect();
                    swept.stuck.push(format!("cell {name}: {}", paths.join(", ")));
                    return;
                }
            }
        }
        // A folder gets a cell's name only with a record in it.
        Err(_) if ProcessMark::beginner(&name).is_some_and(ProcessMark::lives) => return,
        Err(_) => {}
    }
    match fs::remove_dir_all(folder) {
        Ok(()) => swept.removed.push(name),
        // Somebody else sweeps too.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => swept.stuck.push(format!("`{}`: {error}", folder.display())),
    }
}

/// Kills PID 1 of a cell, if it is still that process, and with it everything in the cell; waits until it is gone.
fn kill(jail: ProcessMark) {
    let Some(pid) = Pid::from_raw(jail.pid) else { return };
    // The mark is compared after the pidfd is open: from then on the pid cannot come to mean another process.
    if let Ok(fd) = pidfd_open(pid, PidfdFlags::empty())
        && jail.lives()
    {
        // It may have ended between the two.
        pidfd_send_signal(&fd, Signal::KILL).ok();
        // The kernel lets PID 1 go only after everything else in its namespace. What takes longer is in the kernel's
        // hands, and so dead already.
        let patience = Timespec { tv_sec: REMOVING.as_secs().cast_signed(), tv_nsec: 0 };
        poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&patience)).ok();
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn folders(root: &Path) -> Folders {
        let folders =
            Folders { state: root.join("state"), data: root.join("data"), config: root.join("config") };
        fs::create_dir_all(folders.cells()).unwrap();
        folders
    }

    fn cell(folders: &Folders, id: &str, record: &OwnerRecord) {
        fs::create_dir(folders.cell(id)).unwrap();
        record.write(&folders.cell(id)).unwrap();
    }

    #[test]
    fn the_living_are_left_alone_and_the_dead_removed() {
        let root = tempfile::tempdir().unwrap();
        let folders = folders(root.path());
        let mine = OwnerRecord::mine().unwrap();
        let dead = OwnerRecord { supervisor: ProcessMark { start: 1, ..mine.supervisor }, ..mine.clone() };
        let earlier = OwnerRecord { boot: "earlier".into(), cgroups: vec!["/etc".into()], ..mine.clone() };
        cell(&folders, "alive", &mine);
        cell(&folders, "dead", &dead);
        cell(&folders, "earlier", &earlier);
        let begun = |mark: ProcessMark| {
            let folder = folders.cell(&mark.folder());
            fs::create_dir(&folder).unwrap();
            folder
        };
        let (beginning, begun_by_the_dead) = (begun(mine.supervisor), begun(dead.supervisor));
        let mut swept = sweep(&folders).unwrap();
        swept.removed.sort();
        assert_eq!(
            swept,
            Swept { removed: vec![dead.supervisor.folder(), "dead".into(), "earlier".into()], stuck: vec![] }
        );
        assert!(folders.cell("alive").exists() && beginning.exists() && !begun_by_the_dead.exists());
        assert_eq!(living(&folders).unwrap(), [("alive".to_owned(), mine)]);
    }

    #[test]
    fn a_jail_left_behind_is_killed_but_never_a_process_that_got_its_pid() {
        let root = tempfile::tempdir().unwrap();
        let folders = folders(root.path());
        let sleep = || Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap();
        let (mut left, mut other) = (sleep(), sleep());
        let mark = |child: &std::process::Child| ProcessMark::of(i32::try_from(child.id()).unwrap()).unwrap();
        let mine = OwnerRecord::mine().unwrap();
        let supervisor = ProcessMark { start: 1, ..mine.supervisor };
        let jail = Some(mark(&left));
        cell(&folders, "one", &OwnerRecord { supervisor, jail, ..mine.clone() });
        let jail = Some(ProcessMark { start: 1, ..mark(&other) });
        cell(&folders, "two", &OwnerRecord { supervisor, jail, ..mine });
        assert_eq!(sweep(&folders).unwrap().removed.len(), 2);
        assert!(!left.wait().unwrap().success());
        assert!(other.try_wait().unwrap().is_none());
        other.kill().unwrap();
        other.wait().unwrap();
    }

    #[test]
    fn a_record_that_names_what_is_not_ours_removes_nothing_of_it() {
        let root = tempfile::tempdir().unwrap();
        let folders = folders(root.path());
        let victim = root.path().join("victim");
        fs::create_dir(&victim).unwrap();
        let mine = OwnerRecord::mine().unwrap();
        let supervisor = ProcessMark { start: 1, ..mine.supervisor };
        cell(&folders, "forged", &OwnerRecord { supervisor, cgroups: vec![victim.clone()], ..mine });
        assert_eq!(sweep(&folders).unwrap().stuck.len(), 1);
        assert!(victim.exists());
    }
}
