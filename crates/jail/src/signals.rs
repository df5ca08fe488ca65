//! Signals to what runs inside. PID 1 is never among the receivers: `kill(-1)` leaves the caller and init out.

use rustix::process::{Pid, Signal, kill_process_group};

use crate::{guard, sys};

/// How often to look whether everything is stopped before giving up; new processes may appear between two looks.
const STOP_ROUNDS: u32 = 100;

/// To every process inside.
pub(crate) fn everyone(signal: i32) {
    if guard::off("pid-namespace") {
        // `kill(-1)` would reach the host's processes; the attack programs of the controls end by themselves.
        return;
    }
    sys::kill_everyone(signal);
}

/// To a started process and whatever stayed in its process group.
pub(crate) fn group(pid: i32, signal: i32) {
    if let (Some(pid), Some(signal)) = (Pid::from_raw(pid), Signal::from_named_raw(signal)) {
        // An error means that the group is gone, which its end has reported already.
        kill_process_group(pid, signal).ok();
    }
}

/// Stops everything, and looks until nothing runs.
pub(crate) fn stop_all() {
    for _ in 0..STOP_ROUNDS {
        everyone(libc::SIGSTOP);
        if all_stopped() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

fn all_stopped() -> bool {
    pids().all(|pid| {
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return true };
        // The state follows the command's closing parenthesis (proc(5)); the command may hold any byte.
        let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
        matches!(state, Some('T' | 't' | 'Z' | 'X'))
    })
}

/// Every process inside but PID 1.
pub(crate) fn pids() -> impl Iterator<Item = i32> {
    std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| *pid != 1)
}
