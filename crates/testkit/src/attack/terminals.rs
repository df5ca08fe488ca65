//! Terminals, the caller's and those made inside.

use std::{
    fs::{File, OpenOptions},
    io::Read as _,
    os::{fd::AsRawFd as _, unix::fs::OpenOptionsExt as _},
};

use super::{Attacks, Attempt, Held, argument, sys};

pub(super) const ATTACKS: Attacks =
    &[("controlling", controlling), ("push", push), ("paste", paste), ("discipline", discipline)];

/// Bits that the kernel cuts off a request, and a filter must not be fooled by.
const HIGH: u64 = 0xffff_ffff_0000_0000;

/// Whether the caller's terminal can be opened.
fn controlling(_: &[&str]) -> Attempt {
    OpenOptions::new().read(true).write(true).open("/dev/tty")?;
    Ok("opened".into())
}

/// Types a byte into a terminal that this process controls, and reads it as input.
fn push(arguments: &[&str]) -> Attempt {
    let (_master, mut slave) = terminal()?;
    let typed = *b"x\n";
    for byte in &typed {
        request(&slave, libc::TIOCSTI | high(arguments), sys::at(byte))?;
    }
    let mut line = [0_u8; 2];
    slave.read_exact(&mut line)?;
    if line == typed { Ok("typed a line".into()) } else { Err(Held::because("something else was read")) }
}

fn paste(arguments: &[&str]) -> Attempt {
    let (_master, slave) = terminal()?;
    // TIOCL_GETSHIFTSTATE: the mildest of its subcommands.
    request(&slave, libc::TIOCLINUX | high(arguments), sys::at(&6_u8))?;
    Ok("answered".into())
}

/// Sets the line discipline: the one it has.
fn discipline(arguments: &[&str]) -> Attempt {
    let (_master, slave) = terminal()?;
    request(&slave, libc::TIOCSETD | high(arguments), sys::at(&0_i32))?;
    Ok("set".into())
}

fn high(arguments: &[&str]) -> u64 {
    if argument(arguments, 0) == "high-bits" { HIGH } else { 0 }
}

/// A new terminal that becomes this process's own.
fn terminal() -> Result<(File, File), Held> {
    // The end of the terminal is not the end of the attempt.
    sys::ignore(libc::SIGHUP);
    // Fails where it leads a session already, which is as good.
    rustix::process::setsid().ok();
    let master = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOCTTY).open("/dev/ptmx")?;
    request(&master, libc::TIOCSPTLCK, sys::at(&0_i32))?;
    let mut number = 0_i32;
    request(&master, libc::TIOCGPTN, sys::into(&mut number))?;
    let slave = OpenOptions::new().read(true).write(true).open(format!("/dev/pts/{number}"))?;
    Ok((master, slave))
}

fn request(file: &File, request: u64, argument: u64) -> Result<i64, Held> {
    let fd = u64::from(file.as_raw_fd().unsigned_abs());
    sys::call(libc::SYS_ioctl, [fd, request, argument]).map_err(Held::errno)
}
