//! A victim: a process that leaves its secrets where a careless wall would show them, and waits.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    os::{
        linux::net::SocketAddrExt as _,
        unix::{
            fs::PermissionsExt as _,
            net::{SocketAddr, UnixListener},
        },
    },
    thread,
};

use super::{Held, argument, number, sys};

/// What a victim's secrets hold.
pub(super) const SECRET: &str = "the-neighbours-secret";

/// `NAME` alone only waits; with `PORT KEY` it listens on a TCP port of 127.0.0.1 and on an abstract socket of its
/// name, and leaves a file, a System V segment and a POSIX queue. Ends when its stdin does.
pub(super) fn live(arguments: &[&str]) -> i32 {
    if arguments.len() > 1
        && let Err(held) = leave(arguments)
    {
        eprintln!("the victim could not be set up: {}", held.detail);
        return 1;
    }
    println!("ready");
    // Nobody writes to it: this ends when whoever started the victim lets go of it.
    let ended = std::io::stdin().lock().read(&mut [0_u8; 1]);
    if arguments.len() > 1 {
        take_away(arguments);
    }
    ended.map_or(1, |_| 0)
}

/// Where a control took the IPC namespace away, these would outlive the victim.
fn take_away(arguments: &[&str]) {
    let name = format!("{}\0", argument(arguments, 0));
    sys::call(libc::SYS_mq_unlink, [sys::at(name.as_str())]).ok();
    if let Ok(id) = sys::call(libc::SYS_shmget, [number(arguments, 2), 0, 0]) {
        let remove = u64::from(libc::IPC_RMID.unsigned_abs());
        sys::call(libc::SYS_shmctl, [id.unsigned_abs(), remove, 0]).ok();
    }
}

fn leave(arguments: &[&str]) -> Result<(), Held> {
    let name = argument(arguments, 0);
    let file = format!("/tmp/{name}");
    fs::write(&file, SECRET)?;
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644))?;
    // Not every victim has data, or may write there once a control took its identity away.
    fs::write(format!("/data/{name}"), SECRET).ok();
    let port = u16::try_from(number(arguments, 1)).unwrap_or_default();
    let tcp = TcpListener::bind(("127.0.0.1", port))?;
    let local = UnixListener::bind_addr(&SocketAddr::from_abstract_name(name)?)?;
    share(number(arguments, 2))?;
    // Where Landlock stands there are no POSIX queues at all; then there is nothing to be read.
    queue(name).ok();
    thread::spawn(move || {
        tcp.incoming().flatten().for_each(|mut peer| drop(peer.write_all(SECRET.as_bytes())));
    });
    thread::spawn(move || {
        local.incoming().flatten().for_each(|mut peer| drop(peer.write_all(SECRET.as_bytes())));
    });
    Ok(())
}

/// A segment that everybody of its namespace may read.
fn share(key: u64) -> Result<(), Held> {
    let flags = u64::from((libc::IPC_CREAT | 0o666).unsigned_abs());
    let id = sys::call(libc::SYS_shmget, [key, 4096, flags]).map_err(Held::errno)?;
    let id = id.unsigned_abs();
    let address = sys::call(libc::SYS_shmat, [id, 0, 0]).map_err(Held::errno)?;
    let memory = fs::OpenOptions::new().write(true).open("/proc/self/mem")?;
    std::os::unix::fs::FileExt::write_all_at(&memory, SECRET.as_bytes(), address.unsigned_abs())?;
    Ok(())
}

/// A queue that everybody of its namespace may read, with one message.
fn queue(name: &str) -> Result<(), Held> {
    let name = format!("{name}\0");
    let flags = u64::from((libc::O_CREAT | libc::O_RDWR).unsigned_abs());
    let limits = [0_u64, 1, 64, 0, 0, 0, 0, 0];
    let made = sys::call(libc::SYS_mq_open, [sys::at(name.as_str()), flags, 0o666, sys::at(&limits)]);
    let queue = made.map_err(Held::errno)?.unsigned_abs();
    let length = SECRET.len() as u64;
    sys::call(libc::SYS_mq_timedsend, [queue, sys::at(SECRET), length, 0, 0]).map_err(Held::errno)?;
    Ok(())
}
