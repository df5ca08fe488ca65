//! What is refused, asked of the kernel.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;

use jail::seccomp::table::{Verdict, calls};

use super::sys::{self, Under};
use super::{Folder, ask};

const NOWHERE: u64 = u64::MAX;
const HIGH: u64 = 0xffff_ffff_0000_0000;

/// Runs a case in this process.
pub(crate) fn run(case: &str) -> Vec<(String, Result<i64, i32>)> {
    match case {
        "table" => table(false),
        "table, but for what would harm" => table(true),
        "allowed" => allowed(),
        "numbers" => numbers(),
        "arguments" => arguments(),
        "no_new_privs" => {
            let answer = sys::install_without_no_new_privileges();
            vec![(
                "install".to_owned(),
                answer.map(|()| 0).map_err(|error| error.raw_os_error().unwrap_or(0)),
            )]
        }
        other => panic!("no case {other}"),
    }
}

/// Asks every call that has no business being answered, with arguments no kernel accepts.
fn table(spare: bool) -> Vec<(String, Result<i64, i32>)> {
    calls()
        .filter(|call| matches!(call.verdict, Verdict::Refuse | Verdict::Absent))
        // It has no arguments to spoil, and takes the terminal of the test.
        .filter(|call| !(spare && call.name() == "vhangup"))
        .map(|call| (call.name().to_owned(), sys::raw(call.number, [NOWHERE; 6])))
        .collect()
}

#[test]
fn every_refused_call_answers_the_errno_of_the_table_and_the_process_goes_on() {
    let answers = ask("table", Under::Filter);
    let mut asked = 0;
    for call in calls() {
        let expected = match call.verdict {
            Verdict::Refuse => libc::EPERM,
            Verdict::Absent => libc::ENOSYS,
            Verdict::Allow | Verdict::Filtered(_) => continue,
        };
        assert_eq!(answers.get(call.name()), Some(&expected), "{}", call.name());
        asked += 1;
    }
    assert!(asked > 80, "only {asked} calls are refused");
}

#[test]
fn without_the_filter_the_kernel_listens_to_refused_calls() {
    if !sys::is_root() {
        eprintln!(
            "skipped: without_the_filter_the_kernel_listens_to_refused_calls: only root is not told EPERM"
        );
        return;
    }
    let answers = ask("table, but for what would harm", Under::NoNewPrivileges);
    let refused: Vec<_> =
        calls().filter(|call| call.verdict == Verdict::Refuse && call.name() != "vhangup").collect();
    let deaf: Vec<&str> = refused
        .iter()
        .filter(|call| answers.get(call.name()) == Some(&libc::EPERM))
        .map(|call| call.name())
        .collect();
    assert!(deaf.is_empty(), "these say EPERM anyway, so the test above says nothing about them: {deaf:?}");
}

/// Allowed calls that would end, hold up or copy the process, or leave something behind, whatever their arguments.
const NOT_ASKED: &[&str] = &[
    "exit",
    "exit_group",
    "fork",
    "vfork",
    "pause",
    "rt_sigreturn",
    "restart_syscall",
    "uretprobe",
    "uprobe",
    "msgget",
    "sync",
    "set_tid_address",
];

/// Asks every allowed call, with arguments that do nothing or are refused by the kernel itself.
fn allowed() -> Vec<(String, Result<i64, i32>)> {
    calls()
        .filter(|call| call.verdict == Verdict::Allow && !NOT_ASKED.contains(&call.name()))
        .map(|call| (call.name().to_owned(), sys::raw(call.number, [NOWHERE; 6])))
        .collect()
}

#[test]
fn allowed_calls_are_answered_by_the_kernel() {
    let confined = ask("allowed", Under::Filter);
    let bare = ask("allowed", Under::NoNewPrivileges);
    for (name, answer) in &bare {
        assert_eq!(confined.get(name), Some(answer), "{name}");
    }
    assert!(confined.len() > 200, "only {} calls were asked", confined.len());
}

fn numbers() -> Vec<(String, Result<i64, i32>)> {
    let mut answers: Vec<_> =
        (480..1100).map(|number| (format!("number {number}"), sys::raw(number, [0; 6]))).collect();
    #[cfg(target_arch = "x86_64")]
    {
        // getpid, ioctl with its own x32 number, execve with its own.
        for number in [39, 514, 520] {
            answers.push((format!("x32 {number}"), sys::raw(0x4000_0000 | number, [NOWHERE; 6])));
        }
        answers.push(("i386".to_owned(), sys::getpid_as_i386()));
    }
    answers
}

#[test]
fn unknown_numbers_and_other_doors_are_absent() {
    for (label, answer) in ask("numbers", Under::Filter) {
        assert!(answer == libc::ENOSYS || label == "end", "{label} answers {answer}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn without_the_filter_the_door_of_i386_is_open() {
    let asked = std::panic::catch_unwind(|| ask("numbers", Under::NoNewPrivileges));
    match asked {
        Ok(answers) => assert_eq!(answers.get("i386"), Some(&0)),
        // A kernel without that door ends the process that knocks.
        Err(_) => eprintln!("skipped: without_the_filter_the_door_of_i386_is_open: this kernel has none"),
    }
}

/// A call whose arguments decide.
struct Probe {
    label: &'static str,
    call: &'static str,
    /// From the address of a file's path and of the path of nothing yet.
    arguments: fn(u64, u64) -> [u64; 6],
    errno: i32,
    /// Whether the kernel alone says something else, for sure.
    differs: bool,
}

const fn probe(
    label: &'static str,
    call: &'static str,
    arguments: fn(u64, u64) -> [u64; 6],
    errno: i32,
) -> Probe {
    Probe { label, call, arguments, errno, differs: true }
}

const CWD: u64 = (libc::AT_FDCWD as i64).cast_unsigned();
const CREATE: u64 = (libc::O_CREAT | libc::O_WRONLY).cast_unsigned() as u64;
const TMPFILE: u64 = (libc::O_TMPFILE | libc::O_WRONLY).cast_unsigned() as u64;

const PROBES: &[Probe] = &[
    probe("packet socket", "socket", |_, _| [17, 3, 0, 0, 0, 0], libc::EAFNOSUPPORT),
    probe("packet socket, high bits", "socket", |_, _| [0x11 | HIGH, 3, 0, 0, 0, 0], libc::EAFNOSUPPORT),
    Probe {
        differs: false,
        ..probe("kernel crypto", "socket", |_, _| [38, 5, 0, 0, 0, 0], libc::EAFNOSUPPORT)
    },
    Probe { differs: false, ..probe("vsock", "socket", |_, _| [40, 1, 0, 0, 0, 0], libc::EAFNOSUPPORT) },
    Probe { differs: false, ..probe("xdp", "socket", |_, _| [44, 3, 0, 0, 0, 0], libc::EAFNOSUPPORT) },
    probe("kernel events", "socket", |_, _| [16, 3, 15, 0, 0, 0], libc::EPROTONOSUPPORT),
    Probe { differs: false, ..probe("mptcp", "socket", |_, _| [2, 1, 262, 0, 0, 0], libc::EPROTONOSUPPORT) },
    Probe { differs: false, ..probe("raw", "socket", |_, _| [2, 3, 1, 0, 0, 0], libc::EPERM) },
    Probe {
        differs: false,
        ..probe("pair of inet", "socketpair", |_, _| [2, 1, 0, 1, 0, 0], libc::EOPNOTSUPP)
    },
    // With CLONE_FS, which excludes it: the kernel alone says EINVAL and makes no process.
    probe("clone", "clone", |_, _| [0x0002_0000 | 0x200, 0, 0, 0, 0, 0], libc::EPERM),
    probe("clone, high bits", "clone", |_, _| [HIGH | 0x0002_0000 | 0x200, 0, 0, 0, 0, 0], libc::EPERM),
    // With a bit no kernel has.
    probe("unshare", "unshare", |_, _| [0x1000_0001, 0, 0, 0, 0, 0], libc::EPERM),
    probe("unshare, high bits", "unshare", |_, _| [0x200 | (1 << 40), 0, 0, 0, 0, 0], libc::EPERM),
    probe("type into a terminal", "ioctl", |_, _| [0, 0x5412, NOWHERE, 0, 0, 0], libc::EPERM),
    probe(
        "type into a terminal, high bits",
        "ioctl",
        |_, _| [0, 0x5412 | HIGH, NOWHERE, 0, 0, 0],
        libc::EPERM,
    ),
    probe("paste into a terminal", "ioctl", |_, _| [0, 0x541c, NOWHERE, 0, 0, 0], libc::EPERM),
    probe("line discipline", "ioctl", |_, _| [0, 0x5423, NOWHERE, 0, 0, 0], libc::EPERM),
    probe("personality", "personality", |_, _| [0x0004_0000, 0, 0, 0, 0, 0], libc::EPERM),
    Probe { differs: false, ..probe("memory map", "prctl", |_, _| [35, 99, 0, 0, 0, 0], libc::EPERM) },
    Probe { differs: false, ..probe("no option", "prctl", |_, _| [999, 0, 0, 0, 0, 0], libc::EINVAL) },
    probe("listener", "seccomp", |_, _| [1, 8, NOWHERE, 0, 0, 0], libc::EPERM),
    probe("limits of process 1", "prlimit64", |_, _| [1, 99, NOWHERE, 0, 0, 0], libc::EPERM),
    probe("scheduling of process 1", "sched_setscheduler", |_, _| [1, 99, NOWHERE, 0, 0, 0], libc::EPERM),
    probe("everyone's priority", "setpriority", |_, _| [2, 4_000_000_000, 19, 0, 0, 0], libc::EPERM),
    probe("fchmodat", "fchmodat", |file, _| [CWD, file, 0o4755, 0, 0, 0], libc::EPERM),
    probe("fchmodat, high bits", "fchmodat", |file, _| [CWD, file, 0o2755 | HIGH, 0, 0, 0], libc::EPERM),
    probe("fchmodat2", "fchmodat2", |file, _| [CWD, file, 0o4755, 0, 0, 0], libc::EPERM),
    probe("fchmod", "fchmod", |_, _| [NOWHERE, 0o4755, 0, 0, 0, 0], libc::EPERM),
    probe("openat", "openat", |_, new| [CWD, new, CREATE, 0o4755, 0, 0], libc::EPERM),
    probe("openat, unnamed", "openat", |_, new| [CWD, new, TMPFILE, 0o4755, 0, 0], libc::EPERM),
    probe("mkdirat", "mkdirat", |_, new| [CWD, new, 0o2755, 0, 0, 0], libc::EPERM),
    probe("mknodat", "mknodat", |_, new| [CWD, new, 0o10_4755, 0, 0, 0], libc::EPERM),
    Probe {
        differs: false,
        ..probe("device", "mknodat", |_, new| [CWD, new, 0o02_0666, 0x103, 0, 0], libc::EPERM)
    },
    #[cfg(target_arch = "x86_64")]
    probe("chmod", "chmod", |file, _| [file, 0o4755, 0, 0, 0, 0], libc::EPERM),
    #[cfg(target_arch = "x86_64")]
    probe("open", "open", |_, new| [new, CREATE, 0o4755, 0, 0, 0], libc::EPERM),
    #[cfg(target_arch = "x86_64")]
    probe("creat", "creat", |_, new| [new, 0o2755, 0, 0, 0, 0], libc::EPERM),
    #[cfg(target_arch = "x86_64")]
    probe("mkdir", "mkdir", |_, new| [new, 0o4755, 0, 0, 0, 0], libc::EPERM),
];

fn arguments() -> Vec<(String, Result<i64, i32>)> {
    PROBES
        .iter()
        .map(|probe| {
            let folder = Folder::new("probe");
            let file = folder.path().join("file");
            std::fs::write(&file, "text").unwrap();
            let given = CString::new(file.as_os_str().as_bytes()).unwrap();
            let new = CString::new(folder.path().join("new").as_os_str().as_bytes()).unwrap();
            let number = calls().find(|call| call.name() == probe.call).unwrap().number;
            let arguments = (probe.arguments)(given.as_ptr().addr() as u64, new.as_ptr().addr() as u64);
            let answer = sys::raw(number, arguments);
            let marked = std::fs::read_dir(folder.path())
                .unwrap()
                .any(|entry| entry.unwrap().metadata().unwrap().permissions().mode() & 0o6000 != 0);
            // A mark that was set counts as done, whatever the call said.
            (probe.label.to_owned(), if marked { Ok(0) } else { answer })
        })
        .collect()
}

#[test]
fn rules_about_arguments_hold_and_without_the_filter_the_kernel_listens() {
    let confined = ask("arguments", Under::Filter);
    let bare = ask("arguments", Under::NoNewPrivileges);
    for probe in PROBES {
        assert_eq!(confined.get(probe.label), Some(&probe.errno), "{}", probe.label);
        let control = bare.get(probe.label);
        assert!(!probe.differs || control != Some(&probe.errno), "without the filter too: {}", probe.label);
    }
    assert_eq!(
        bare.get("fchmodat"),
        Some(&0),
        "the attack of the suite's main case works without the filter"
    );
    assert_eq!(bare.get("openat"), Some(&0));
}

#[test]
fn the_filter_needs_no_new_privs_first() {
    assert_eq!(ask("no_new_privs", Under::Nothing).get("install"), Some(&libc::EACCES));
}
