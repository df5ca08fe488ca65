//! Our own three streams, unbuffered. They may be non-blocking, because whoever shares them made them so.

use std::io::{self, Read, Write};

use rustix::{
    event::{PollFd, PollFlags, poll},
    fd::BorrowedFd,
    io::{Errno, read, write},
    stdio::{stderr, stdin, stdout},
};

/// Stdin.
#[derive(Debug)]
pub(crate) struct Stdin;

/// Stdout.
#[derive(Debug)]
pub(crate) struct Stdout;

/// Stderr.
#[derive(Debug)]
pub(crate) struct Stderr;

impl Read for Stdin {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        patiently(stdin(), PollFlags::IN, || read(stdin(), &mut *buffer))
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        patiently(stdout(), PollFlags::OUT, || write(stdout(), bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        patiently(stderr(), PollFlags::OUT, || write(stderr(), bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn patiently(
    fd: BorrowedFd<'_>,
    wanted: PollFlags,
    mut attempt: impl FnMut() -> Result<usize, Errno>,
) -> io::Result<usize> {
    loop {
        match attempt() {
            Err(Errno::AGAIN) => {
                poll(&mut [PollFd::new(&fd, wanted)], None)?;
            }
            Err(Errno::INTR) => {}
            other => return Ok(other?),
        }
    }
}
