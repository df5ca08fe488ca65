//! The program, judged without a kernel: see `interpreter`.

use super::compile::{ARCHITECTURE, X32_BIT};
use super::interpreter::{Data, run};
use super::rule::{Answer, Rule, Test};
use super::table::{Verdict, calls};

mod arguments;
mod completeness;

const ENOSYS: Answer = Answer::Errno(libc::ENOSYS);
const EPERM: Answer = Answer::Errno(libc::EPERM);

/// What the filter says to `number` with these arguments, the rest being 0.
fn ask(number: u32, arguments: &[u64]) -> Answer {
    run(&super::without(&|_| false), &data(number, arguments)).0
}

fn ask_without(guard: &str, data: &Data) -> Answer {
    run(&super::without(&|name| name == guard), data).0
}

fn data(number: u32, given: &[u64]) -> Data {
    let mut arguments = [0; 6];
    arguments[..given.len()].copy_from_slice(given);
    Data { number, architecture: ARCHITECTURE, arguments }
}

fn number(name: &str) -> u32 {
    calls().find(|call| call.name() == name).unwrap_or_else(|| panic!("no line for {name}")).number
}

/// The half of a register that the kernel takes for an `int`.
fn low(word: u64) -> u32 {
    u32::try_from(word & 0xffff_ffff).unwrap()
}

/// The rule read as it is written, apart from the compiler.
fn judge(rule: &Rule, arguments: &[u64; 6]) -> Answer {
    let holds = |test: &Test| match *test {
        Test::In { argument, mask, values } => values.contains(&(low(arguments[argument as usize]) & mask)),
        Test::AnyBit { argument, mask } => low(arguments[argument as usize]) & mask != 0,
        Test::OnlyBits { argument, mask } => arguments[argument as usize] & !mask == 0,
        Test::Given { argument } => arguments[argument as usize] != 0,
    };
    rule.clauses
        .iter()
        .find(|clause| clause.tests.iter().all(holds))
        .map_or(rule.otherwise, |clause| clause.answer)
}

fn expected(number: u32, arguments: &[u64; 6]) -> Answer {
    match calls().find(|call| call.number == number).map(|call| call.verdict) {
        Some(Verdict::Allow) => Answer::Allow,
        Some(Verdict::Refuse) => EPERM,
        Some(Verdict::Absent) | None => ENOSYS,
        Some(Verdict::Filtered(rule)) => judge(rule, arguments),
    }
}

#[test]
fn every_number_is_answered_as_the_table_says() {
    let program = super::without(&|_| false);
    for number in (0..1024).chain([u32::MAX, u32::MAX >> 1, 0x8000_0000, 0x3fff_ffff]) {
        for fill in [0, 1, 2, 16, 0o6000, u64::from(u32::MAX), 1 << 32, u64::MAX] {
            let arguments = [fill; 6];
            let (said, steps) = run(&program, &data(number, &arguments));
            assert_eq!(said, expected(number, &arguments), "number {number}, arguments {fill:#x}");
            assert!(steps <= 80, "number {number} takes {steps} steps");
        }
    }
}

#[test]
fn calls_without_a_rule_are_answered_in_a_few_steps() {
    let program = super::without(&|_| false);
    for call in calls().filter(|call| !matches!(call.verdict, Verdict::Filtered(_))) {
        let (_, steps) = run(&program, &data(call.number, &[]));
        assert!(steps <= 20, "{} takes {steps} steps", call.name());
    }
}

#[test]
fn any_call_with_any_arguments_is_answered_as_the_table_says() {
    let program = super::without(&|_| false);
    bolero::check!().with_type::<(u16, [u64; 6], [u8; 6])>().for_each(|(number, wide, narrow)| {
        // Small values hit the interesting cases, wide ones the high halves.
        let mut arguments = *wide;
        for (argument, small) in arguments.iter_mut().zip(narrow) {
            if *small < 200 {
                *argument = (*argument & !0xffff_ffff) | (u64::from(*small) % 20);
            }
        }
        let number = u32::from(*number) % 480;
        assert_eq!(run(&program, &data(number, &arguments)).0, expected(number, &arguments));
    });
}

#[test]
fn foreign_architectures_are_absent_whatever_they_ask() {
    // i386, ARM, PowerPC, x86_64 or aarch64 (the other one), and nonsense.
    let program = super::without(&|_| false);
    for architecture in [0x4000_0003, 0x4000_0028, 0x8000_0015, 0xC000_003E, 0xC000_00B7, 0, u32::MAX] {
        if architecture == ARCHITECTURE {
            continue;
        }
        for number in 0..1024 {
            let asked = Data { architecture, ..data(number, &[]) };
            assert_eq!(run(&program, &asked).0, ENOSYS, "{architecture:#x} number {number}");
        }
    }
}

#[test]
fn x32_numbers_are_absent() {
    for number in 0..1024 {
        assert_eq!(ask(X32_BIT | number, &[]), ENOSYS);
        assert_eq!(ask(X32_BIT | 0x8000_0000 | number, &[]), ENOSYS);
    }
}

#[test]
fn one_guard_is_left_out_and_no_other() {
    let cases: &[(&str, &str, &[u64])] = &[
        ("seccomp-socket", "socket", &[38, 5, 0]),
        ("seccomp-clone", "clone", &[0x1000_0000]),
        ("seccomp-unshare", "unshare", &[0x1000_0000]),
        ("seccomp-ioctl", "ioctl", &[0, 0x5412]),
        ("seccomp-suid", "fchmod", &[0, 0o4755]),
        ("seccomp-init", "prlimit64", &[1, 7, 1]),
        ("seccomp-prctl", "prctl", &[35]),
        ("seccomp-personality", "personality", &[0x0004_0000]),
        ("seccomp-listener", "seccomp", &[1, 8]),
        ("seccomp-ptrace", "ptrace", &[]),
        ("seccomp-clone3", "clone3", &[]),
    ];
    for (guard, call, arguments) in cases {
        let asked = data(number(call), arguments);
        assert_ne!(ask(asked.number, arguments), Answer::Allow, "{call}");
        for (other, ..) in cases {
            let said = ask_without(other, &asked);
            assert_eq!(said == Answer::Allow, other == guard, "{call} without {other}");
        }
        assert_eq!(ask_without("seccomp", &asked), Answer::Allow);
    }
    let foreign = Data { architecture: 0x4000_0003, ..data(26, &[]) };
    assert_eq!(ask_without("seccomp-x32-arch", &foreign), Answer::Allow);
    assert_eq!(ask_without("seccomp-x32-arch", &data(number("ptrace"), &[])), EPERM);
    if cfg!(target_arch = "x86_64") {
        assert_eq!(ask_without("seccomp-x32-arch", &data(X32_BIT | 0x209, &[])), Answer::Allow);
    }
}

#[cfg(not(feature = "guard-off"))]
#[test]
fn a_product_build_leaves_nothing_out() {
    assert!(!crate::guard::off("seccomp"));
    assert_eq!(fields(&super::program()), fields(&super::without(&|_| false)));
}

#[test]
fn the_program_is_short_and_always_the_same() {
    let program = super::without(&|_| false);
    assert!(program.len() <= 1024, "{} instructions", program.len());
    assert_eq!(fields(&program), fields(&super::without(&|_| false)));
}

fn fields(program: &[libc::sock_filter]) -> Vec<(u16, u8, u8, u32)> {
    program.iter().map(|line| (line.code, line.jt, line.jf, line.k)).collect()
}

#[cfg(target_arch = "x86_64")]
#[test]
fn the_reference_page_is_the_table() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/system-calls.md");
    let page = super::markdown();
    if std::env::var_os("FUMEHOOD_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == page, "{} is not what the table says; write it with FUMEHOOD_BLESS=1", path.display());
}

#[test]
fn a_supervisor_starts_nothing_and_reaches_nobody_on_this_machine() {
    const UNIX: u64 = 1;
    const STREAM: u64 = 1;
    const NEW_USER: u64 = 0x1000_0000;
    const SET_DUMPABLE: u64 = 4;
    let of =
        |name: &str, arguments: &[u64]| run(&super::supervisor_program(), &data(number(name), arguments)).0;
    for name in [
        "execve",
        "execveat",
        "ptrace",
        "process_vm_readv",
        "process_vm_writev",
        "mount",
        "bpf",
        "keyctl",
        "open_by_handle_at",
        "pidfd_getfd",
        "pidfd_open",
        "kill",
        "tgkill",
        "setns",
        "socketpair",
    ] {
        assert_eq!(of(name, &[]), EPERM, "{name}");
    }
    assert_eq!(of("socket", &[UNIX, STREAM]), EPERM);
    // AF_INET and a stream, AF_INET6 and datagrams, AF_NETLINK and its routes.
    for (family, kind) in [(2, STREAM), (10, 2), (16, 3)] {
        assert_eq!(of("socket", &[family, kind]), Answer::Allow, "{family}");
    }
    assert_eq!(of("unshare", &[NEW_USER]), EPERM);
    assert_eq!(of("prctl", &[SET_DUMPABLE, 1]), EPERM);
    for name in ["splice", "pipe2", "connect", "setsockopt", "accept4", "pidfd_send_signal", "rmdir"] {
        assert_eq!(of(name, &[]), Answer::Allow, "{name}");
    }
}
