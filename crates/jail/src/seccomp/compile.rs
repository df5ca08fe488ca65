//! From the table to a program of classic BPF.
//!
//! The prelude looks at the architecture and (x86_64) the x32 bit; then a binary tree over the call's number leads to
//! a return, or to the code of a rule. Up to there only `arch` and `nr` are read, so kernels ≥ 5.11 remember for
//! which calls the program always says yes, and no longer run it for them.

use libc::sock_filter;

use super::rule::{Answer, Clause, Rule, Test};
use super::table::{Call, Verdict};

/// `AUDIT_ARCH_*` of `linux/audit.h`: the ELF machine, 64-bit, little-endian.
#[cfg(target_arch = "x86_64")]
pub(super) const ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
pub(super) const ARCHITECTURE: u32 = 0xC000_00B7;

/// `__X32_SYSCALL_BIT` of `asm/unistd.h`: same architecture, other calling convention, other numbers.
pub(super) const X32_BIT: u32 = 0x4000_0000;

/// The guard that answers foreign architectures and x32.
const FOREIGN: &str = "seccomp-x32-arch";

/// Offsets in `struct seccomp_data` (`linux/seccomp.h`).
const NUMBER_OFFSET: u32 = 0;
const ARCHITECTURE_OFFSET: u32 = 4;
const ARGUMENTS_OFFSET: u32 = 16;

/// What is done with a call: an answer known by number alone, or a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leaf {
    Answer(Answer),
    Rule(&'static Rule),
}

/// Numbers from `first` up to the next segment's `first` share a leaf.
#[derive(Debug, Clone, Copy)]
struct Segment {
    first: u32,
    leaf: Leaf,
}

/// The program for `calls` without what `off` names.
///
/// INVARIANT: the same calls give the same program; every path of it ends in a return.
pub(super) fn compile<'a>(
    calls: impl Iterator<Item = &'a Call>,
    off: &dyn Fn(&str) -> bool,
) -> Vec<sock_filter> {
    let tree = decide(&segments(calls, off));
    let mut program = vec![load(ARCHITECTURE_OFFSET)];
    if off(FOREIGN) {
        program.extend(unless(libc::BPF_JEQ, ARCHITECTURE, vec![answer(Answer::Allow)]));
    } else {
        program.extend(unless(libc::BPF_JEQ, ARCHITECTURE, vec![answer(ABSENT)]));
    }
    program.push(load(NUMBER_OFFSET));
    if cfg!(target_arch = "x86_64") {
        let x32 = if off(FOREIGN) { Answer::Allow } else { ABSENT };
        program.extend(when(libc::BPF_JSET, X32_BIT, vec![answer(x32)]));
    }
    program.extend(tree);
    program
}

/// The program that says yes to everything.
pub(super) fn nothing_refused() -> Vec<sock_filter> {
    vec![answer(Answer::Allow)]
}

/// What a call without a line in the table is answered, as by a kernel that does not have it.
pub(super) const ABSENT: Answer = Answer::Errno(libc::ENOSYS);

fn segments<'a>(calls: impl Iterator<Item = &'a Call>, off: &dyn Fn(&str) -> bool) -> Vec<Segment> {
    let mut leaves: Vec<(u32, Leaf)> = calls.map(|call| (call.number, leaf(call, off))).collect();
    leaves.sort_unstable_by_key(|(number, _)| *number);
    let mut segments = vec![Segment { first: 0, leaf: Leaf::Answer(ABSENT) }];
    for (number, leaf) in leaves {
        begin(&mut segments, number, leaf);
        begin(&mut segments, number.saturating_add(1), Leaf::Answer(ABSENT));
    }
    // Neighbours of equal answer become one.
    segments.dedup_by(|next, previous| next.leaf == previous.leaf);
    segments
}

fn begin(segments: &mut Vec<Segment>, first: u32, leaf: Leaf) {
    if segments.last().is_some_and(|last| last.first == first) {
        segments.pop();
    }
    segments.push(Segment { first, leaf });
}

fn leaf(call: &Call, off: &dyn Fn(&str) -> bool) -> Leaf {
    if off(&format!("seccomp-{}", call.name())) {
        return Leaf::Answer(Answer::Allow);
    }
    match call.verdict {
        Verdict::Allow => Leaf::Answer(Answer::Allow),
        Verdict::Refuse => Leaf::Answer(Answer::Errno(libc::EPERM)),
        Verdict::Absent => Leaf::Answer(ABSENT),
        Verdict::Filtered(rule) if off(&format!("seccomp-{}", rule.name)) => Leaf::Answer(Answer::Allow),
        Verdict::Filtered(rule) => Leaf::Rule(rule),
    }
}

fn decide(segments: &[Segment]) -> Vec<sock_filter> {
    let (low, high) = segments.split_at(segments.len() / 2);
    match (low, high) {
        ([], [only]) => match only.leaf {
            Leaf::Answer(said) => vec![answer(said)],
            Leaf::Rule(rule) => judge(rule),
        },
        (low, [first, ..]) => {
            let mut code = unless(libc::BPF_JGE, first.first, decide(low));
            code.extend(decide(high));
            code
        }
        // Half of a slice, rounded down, is below its length, so this is an empty table.
        (_, []) => vec![answer(ABSENT)],
    }
}

fn judge(rule: &Rule) -> Vec<sock_filter> {
    let mut code: Vec<sock_filter> = rule.clauses.iter().flat_map(case).collect();
    code.push(answer(rule.otherwise));
    code
}

/// Ends in a return where all tests hold, else runs out of its end.
fn case(clause: &Clause) -> Vec<sock_filter> {
    clause.tests.iter().rev().fold(vec![answer(clause.answer)], |then, test| guarded(test, then))
}

/// Does `then` where the test holds, else jumps over it.
fn guarded(test: &Test, then: Vec<sock_filter>) -> Vec<sock_filter> {
    match *test {
        Test::In { argument, mask, values } => {
            let mut code = vec![load(low_word(argument))];
            if mask != u32::MAX {
                code.push(statement(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, mask));
            }
            code.extend(one_of(values, then));
            code
        }
        Test::AnyBit { argument, mask } => {
            let mut code = vec![load(low_word(argument))];
            code.extend(when(libc::BPF_JSET, mask, then));
            code
        }
        Test::OnlyBits { argument, mask } => {
            let (high, low) = words(!mask);
            let mut inner = vec![load(high_word(argument))];
            inner.extend(unless(libc::BPF_JSET, high, then));
            let mut code = vec![load(low_word(argument))];
            code.extend(unless(libc::BPF_JSET, low, inner));
            code
        }
        Test::Given { argument } => {
            let mut high = vec![load(high_word(argument))];
            high.extend(jump(libc::BPF_JEQ, 0, then.len(), 0));
            let mut code = vec![load(low_word(argument))];
            code.extend(jump(libc::BPF_JEQ, 0, 0, high.len()));
            code.extend(high);
            code.extend(then);
            code
        }
    }
}

fn one_of(values: &[u32], then: Vec<sock_filter>) -> Vec<sock_filter> {
    let body = then.len();
    // Built from the end: after the last comparison the body is jumped over.
    let comparisons =
        values.iter().rev().enumerate().fold(Vec::new(), |later: Vec<sock_filter>, (at, value)| {
            let missed = if at == 0 { body } else { 0 };
            let mut code = jump(libc::BPF_JEQ, *value, later.len(), missed);
            code.extend(later);
            code
        });
    comparisons.into_iter().chain(then).collect()
}

fn when(comparison: u32, with: u32, then: Vec<sock_filter>) -> Vec<sock_filter> {
    let mut code = jump(comparison, with, 0, then.len());
    code.extend(then);
    code
}

fn unless(comparison: u32, with: u32, then: Vec<sock_filter>) -> Vec<sock_filter> {
    let mut code = jump(comparison, with, then.len(), 0);
    code.extend(then);
    code
}

/// Compares the accumulator and jumps over so many of the instructions that follow. A conditional jump reaches 255
/// instructions; one that must go further leads to an unconditional one, which reaches all.
fn jump(comparison: u32, with: u32, if_true: usize, if_false: usize) -> Vec<sock_filter> {
    let conditional =
        |jt, jf| sock_filter { code: opcode(libc::BPF_JMP | comparison | libc::BPF_K), jt, jf, k: with };
    match (u8::try_from(if_true), u8::try_from(if_false)) {
        (Ok(jt), Ok(jf)) => vec![conditional(jt, jf)],
        _ => vec![conditional(0, 1), far(if_true.saturating_add(1)), far(if_false)],
    }
}

fn far(over: usize) -> sock_filter {
    // A program has at most 4096 instructions; one for which this saturates is refused by the kernel.
    statement(libc::BPF_JMP | libc::BPF_JA, u32::try_from(over).unwrap_or(u32::MAX))
}

fn answer(said: Answer) -> sock_filter {
    let value = match said {
        Answer::Allow => libc::SECCOMP_RET_ALLOW,
        Answer::Errno(errno) => libc::SECCOMP_RET_ERRNO | (errno.unsigned_abs() & libc::SECCOMP_RET_DATA),
    };
    statement(libc::BPF_RET | libc::BPF_K, value)
}

fn load(offset: u32) -> sock_filter {
    statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset)
}

fn statement(code: u32, k: u32) -> sock_filter {
    sock_filter { code: opcode(code), jt: 0, jf: 0, k }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "classic BPF opcodes are below 256; libc gives them as u32"
)]
const fn opcode(code: u32) -> u16 {
    code as u16
}

/// Both architectures are little-endian here: the low word comes first.
fn low_word(argument: u8) -> u32 {
    ARGUMENTS_OFFSET + 8 * u32::from(argument)
}

fn high_word(argument: u8) -> u32 {
    low_word(argument) + 4
}

#[expect(clippy::cast_possible_truncation, reason = "the two halves of a word are what is wanted")]
const fn words(of: u64) -> (u32, u32) {
    ((of >> 32) as u32, of as u32)
}
