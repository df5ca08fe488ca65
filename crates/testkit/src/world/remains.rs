//! What is left of a run: processes that name the world's folder, or have it mounted.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

/// Waits until nothing of the world is left but `others`; what is left in the end is ended, and named.
pub(super) fn end(world: &Path, others: &[i32], patience: Duration) -> Vec<String> {
    let deadline = Instant::now() + patience;
    loop {
        let left: Vec<i32> = find(world).into_iter().filter(|pid| !others.contains(pid)).collect();
        if left.is_empty() {
            return Vec::new();
        }
        if Instant::now() >= deadline {
            return left.into_iter().map(kill).collect();
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// The processes of a world.
pub(super) fn find(world: &Path) -> Vec<i32> {
    let name = world.to_string_lossy();
    let own = std::process::id().cast_signed();
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| *pid != own && belongs(*pid, &name))
        .collect()
}

fn belongs(pid: i32, world: &str) -> bool {
    let zombie = fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z')));
    !zombie
        && ["cmdline", "environ", "mountinfo"].iter().any(|name| {
            let text = fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
            String::from_utf8_lossy(&text).contains(world)
        })
}

fn kill(pid: i32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    if let Some(pid) = Pid::from_raw(pid) {
        // It may have ended by itself meanwhile.
        kill_process(pid, Signal::KILL).ok();
    }
    format!("{pid}: {line}")
}
