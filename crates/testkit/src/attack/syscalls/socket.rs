//! Families of sockets.

use super::done;
use crate::attack::{Attempt, number, sys};

/// `socket` with the three numbers that are the arguments; a fourth adds bits that the kernel cuts off the first.
pub(crate) fn open(arguments: &[&str]) -> Attempt {
    let high = if arguments.len() > 3 { 0xffff_ffff_0000_0000 } else { 0 };
    let [family, kind, protocol] = [0, 1, 2].map(|index| number(arguments, index));
    done(sys::call(libc::SYS_socket, [family | high, kind, protocol]))
}

/// `socketpair` with the three numbers that are the arguments.
pub(crate) fn pair(arguments: &[&str]) -> Attempt {
    let [family, kind, protocol] = [0, 1, 2].map(|index| number(arguments, index));
    let mut fds = [0_i32; 2];
    done(sys::call(libc::SYS_socketpair, [family, kind, protocol, sys::into(&mut fds)]))
}
