//! Using up what a host has. Every loop is bounded, so that the controls stay harmless.

use std::{
    fs::{self, File},
    io::Write as _,
    os::unix::fs::FileExt as _,
    thread::sleep,
    time::Duration,
};

use super::{Attacks, Attempt, Held, argument, number, sys};

pub(super) const ATTACKS: Attacks = &[
    ("forks", forks),
    ("zombies", zombies),
    ("orphans", orphans),
    ("heap", heap),
    ("memfd", memfd),
    ("fill", fill),
    ("inodes", inodes),
    ("file-size", file_size),
    ("fds", fds),
    ("flood", flood),
    ("kill-all", kill_all),
];

const MIB: usize = 1024 * 1024;
/// How long used memory is held: longer than a watch needs to look twice.
const HELD: Duration = Duration::from_millis(400);

/// Starts so many processes that live at the same time.
fn forks(arguments: &[&str]) -> Attempt {
    let mut living = Vec::new();
    let mut stopped = None;
    while (living.len() as u64) < number(arguments, 0) {
        match sys::fork() {
            Ok(0) => {
                sys::end_with_parent();
                sleep(Duration::from_secs(10));
                sys::exit(0);
            }
            Ok(pid) => living.push(pid.unsigned_abs()),
            Err(errno) => {
                stopped = Some(errno);
                break;
            }
        }
    }
    let count = living.len();
    for pid in living {
        sys::call(libc::SYS_kill, [pid, u64::from(libc::SIGKILL.unsigned_abs())]).map_err(Held::errno)?;
        sys::call(libc::SYS_wait4, [pid, 0, 0, 0]).map_err(Held::errno)?;
    }
    stopped.map_or_else(|| Ok(format!("{count} processes")), |errno| Err(after(count, errno)))
}

/// Starts so many processes that have ended and are waited for by nobody.
fn zombies(arguments: &[&str]) -> Attempt {
    for count in 0..number(arguments, 0) {
        match sys::fork() {
            Ok(0) => sys::exit(0),
            Ok(_) => {}
            Err(errno) => return Err(after(usize::try_from(count).unwrap_or(0), errno)),
        }
    }
    Ok("all of them".into())
}

fn after(count: usize, errno: i32) -> Held {
    Held { detail: format!("after {count}"), ..Held::errno(errno) }
}

/// Leaves so many ended processes to PID 1, one after the other.
fn orphans(arguments: &[&str]) -> Attempt {
    let mut failures = 0;
    for _ in 0..number(arguments, 0) {
        match sys::fork().map_err(Held::errno)? {
            0 => {
                let grandchild = sys::fork();
                sys::exit(i32::from(grandchild.is_err()));
            }
            child => {
                let mut status = 0_i32;
                let wait = [child.unsigned_abs(), sys::into(&mut status), 0, 0];
                sys::call(libc::SYS_wait4, wait).map_err(Held::errno)?;
                // PID 1 may need a moment; what it never takes would leave no place for ever.
                failures = if status == 0 { 0 } else { failures + 1 };
                if failures > 100 {
                    return Err(Held::because("there was no place for one more"));
                }
                if failures > 0 {
                    sleep(Duration::from_millis(10));
                }
            }
        }
    }
    Ok("PID 1 took them all".into())
}

/// So many MiB of private memory.
fn heap(arguments: &[&str]) -> Attempt {
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    for _ in 0..number(arguments, 0) {
        let mut block = Vec::new();
        block.try_reserve_exact(MIB).map_err(|error| Held::because(error.to_string()))?;
        block.resize(MIB, 1);
        blocks.push(block);
    }
    sleep(HELD);
    Ok(format!("{} MiB", blocks.len()))
}

/// So many MiB in an anonymous file.
fn memfd(arguments: &[&str]) -> Attempt {
    let file = File::from(rustix::fs::memfd_create("bomb", rustix::fs::MemfdFlags::CLOEXEC)?);
    write_blocks(&file, number(arguments, 0))?;
    sleep(HELD);
    Ok("written".into())
}

/// So many MiB in each of the folders that follow, in files of 1 MiB.
fn fill(arguments: &[&str]) -> Attempt {
    for folder in arguments.iter().skip(1) {
        for count in 0..number(arguments, 0) {
            write_blocks(&File::create(format!("{folder}/fill-{count}"))?, 1)?;
        }
    }
    sleep(HELD);
    Ok("written".into())
}

fn write_blocks(mut file: &File, count: u64) -> Result<(), Held> {
    let block = vec![1_u8; MIB];
    for _ in 0..count {
        file.write_all(&block)?;
    }
    Ok(())
}

/// So many empty files in the folder that follows.
fn inodes(arguments: &[&str]) -> Attempt {
    let folder = format!("{}/inodes", argument(arguments, 1));
    fs::create_dir(&folder)?;
    for count in 0..number(arguments, 0) {
        File::create(format!("{folder}/{count}"))?;
    }
    Ok("made".into())
}

/// A byte at so many MiB of the file that follows.
fn file_size(arguments: &[&str]) -> Attempt {
    sys::ignore(libc::SIGXFSZ);
    let file = File::create(argument(arguments, 1))?;
    file.write_all_at(b"x", number(arguments, 0) * MIB as u64)?;
    Ok("written".into())
}

/// So many open files, the limit raised as far as it goes.
fn fds(arguments: &[&str]) -> Attempt {
    let hard = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
    let raised = rustix::process::Rlimit { current: hard, maximum: hard };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, raised)?;
    let mut open = Vec::new();
    for _ in 0..number(arguments, 0) {
        open.push(File::open("/dev/null")?);
    }
    Ok(format!("{} open files", open.len()))
}

/// So many MiB on stderr.
fn flood(arguments: &[&str]) -> Attempt {
    let mut block = vec![b'x'; MIB];
    block.chunks_mut(1024).for_each(|line| {
        if let Some(last) = line.last_mut() {
            *last = b'\n';
        }
    });
    let mut stderr = std::io::stderr().lock();
    for _ in 0..number(arguments, 0) {
        stderr.write_all(&block)?;
    }
    Ok("written".into())
}

/// `kill -9 -1`.
fn kill_all(_: &[&str]) -> Attempt {
    if victims_of_the_host_are_seen() {
        return Err(Held::because("not here: this is no PID namespace of its own"));
    }
    let everyone = u64::MAX;
    sys::call(libc::SYS_kill, [everyone, u64::from(libc::SIGKILL.unsigned_abs())]).map_err(Held::errno)?;
    Ok("sent".into())
}

/// Whether PID 1 is not the jail's: then the attempt is not made.
fn victims_of_the_host_are_seen() -> bool {
    fs::read_to_string("/proc/1/comm").map_or(true, |name| !name.starts_with("fumehood"))
}
