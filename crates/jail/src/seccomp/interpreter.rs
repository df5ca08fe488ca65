//! Runs a filter on a made-up call, as `linux/seccomp.h` and `net/core/filter.c` of the kernel describe it, so that
//! programs are tested apart from the kernel that runs the test. Knows what the compiler may use and refuses the rest.

use libc::sock_filter;

use super::rule::Answer;

/// `struct seccomp_data` of `linux/seccomp.h`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Data {
    pub(super) number: u32,
    pub(super) architecture: u32,
    pub(super) arguments: [u64; 6],
}

impl Data {
    fn word(&self, offset: u32) -> u32 {
        match offset {
            0 => self.number,
            4 => self.architecture,
            16.. if offset.is_multiple_of(4) => {
                let argument = self.arguments[(offset as usize - 16) / 8];
                let half = if offset.is_multiple_of(8) { argument } else { argument >> 32 };
                u32::try_from(half & 0xffff_ffff).unwrap()
            }
            _ => panic!("load from {offset}"),
        }
    }
}

/// The answer, and how many instructions it took.
pub(super) fn run(program: &[sock_filter], data: &Data) -> (Answer, usize) {
    let mut accumulator = 0_u32;
    let mut at = 0;
    for steps in 1..=program.len() {
        let sock_filter { code, jt, jf, k } = program[at];
        at += 1;
        match code {
            0x20 => accumulator = data.word(k),
            0x54 => accumulator &= k,
            0x05 => at += k as usize,
            0x15 => at += usize::from(if accumulator == k { jt } else { jf }),
            0x35 => at += usize::from(if accumulator >= k { jt } else { jf }),
            0x45 => at += usize::from(if accumulator & k != 0 { jt } else { jf }),
            0x06 => return (answer(k), steps),
            other => panic!("instruction {other:#x}"),
        }
    }
    panic!("more steps than instructions, though jumps only go forward");
}

fn answer(value: u32) -> Answer {
    match value & 0xffff_0000 {
        0x7fff_0000 => Answer::Allow,
        0x0005_0000 => Answer::Errno((value & 0xffff).cast_signed()),
        other => panic!("neither allowed nor an errno: {other:#x}"),
    }
}
