//! `/proc`: the host's processes, PID 1 of the cell, and the kernel's own files.

use std::{
    fs::{self, File, OpenOptions},
    os::unix::fs::FileExt as _,
    path::PathBuf,
};

use super::{Attacks, Attempt, Held, argument, files, number, sys, victims};

pub(super) const ATTACKS: Attacks = &[
    ("find", find),
    ("of-victim", of_victim),
    ("memory-of-victim", memory_of_victim),
    ("memory", memory),
    ("write-memory", write_memory),
    ("copy-memory", copy_memory),
    ("attach", attach),
];

/// Looks for a process whose command line holds the argument.
fn find(arguments: &[&str]) -> Attempt {
    victims::find(argument(arguments, 0)).map(|pid| format!("process {pid}"))
}

/// Reads a path below the `/proc` folder of the process that the first argument marks, holding the third.
fn of_victim(arguments: &[&str]) -> Attempt {
    let pid = victims::find(argument(arguments, 0))?;
    let path: PathBuf = format!("/proc/{pid}/{}", argument(arguments, 1)).into();
    files::look(&path, argument(arguments, 2))
}

fn memory_of_victim(arguments: &[&str]) -> Attempt {
    let pid = victims::find(argument(arguments, 0))?;
    peek(u64::from(pid.unsigned_abs()))
}

/// Reads the memory of the process whose number is the argument.
fn memory(arguments: &[&str]) -> Attempt {
    peek(number(arguments, 0))
}

fn peek(pid: u64) -> Attempt {
    // Where the map is hidden, the memory file is tried anyway.
    let address = writable_address(pid).unwrap_or(0x1000);
    let mut byte = [0_u8; 1];
    File::open(format!("/proc/{pid}/mem"))?.read_exact_at(&mut byte, address)?;
    Ok(format!("read a byte at {address:#x}"))
}

/// Writes a byte of that process's memory: the one that is there.
fn write_memory(arguments: &[&str]) -> Attempt {
    let pid = number(arguments, 0);
    let file = OpenOptions::new().read(true).write(true).open(format!("/proc/{pid}/mem"))?;
    let address = writable_address(pid)?;
    let mut byte = [0_u8; 1];
    file.read_exact_at(&mut byte, address)?;
    file.write_all_at(&byte, address)?;
    Ok(format!("written a byte at {address:#x}"))
}

/// The first writable page of a process.
fn writable_address(pid: u64) -> Result<u64, Held> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps"))?;
    maps.lines()
        .filter(|line| line.contains(" rw-p "))
        .find_map(|line| u64::from_str_radix(line.split_once('-')?.0, 16).ok())
        .ok_or_else(|| Held::because("it has no writable page"))
}

/// `process_vm_readv` of the process whose number is the argument.
fn copy_memory(arguments: &[&str]) -> Attempt {
    let pid = number(arguments, 0);
    // Where the map is hidden, an address of our own: the kernel judges the process before the address.
    let mut byte = [0_u8; 1];
    let there = writable_address(pid).unwrap_or(sys::at(&byte));
    let (local, remote) = ([sys::into(&mut byte), 1], [there, 1]);
    let done = sys::call(libc::SYS_process_vm_readv, [pid, sys::at(&local), 1, sys::at(&remote), 1, 0]);
    done.map(|bytes| format!("copied {bytes} bytes")).map_err(Held::errno)
}

/// Becomes the tracer of the process whose number is the argument, which goes on running.
fn attach(arguments: &[&str]) -> Attempt {
    let seize = u64::from(libc::PTRACE_SEIZE);
    let done = sys::call(libc::SYS_ptrace, [seize, number(arguments, 0), 0, 0]);
    done.map(|_| "attached".into()).map_err(Held::errno)
}
