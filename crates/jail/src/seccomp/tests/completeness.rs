//! The list leaves nothing out: a call that becomes known is a decision, not an accident.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use super::super::table::{Verdict, calls, families};

/// Every call of x86_64 that has a line, by name. A new line is written here too: that is the second look at it.
const X86_64: &str = "
    _sysctl accept accept4 access acct add_key adjtimex afs_syscall alarm arch_prctl bind bpf brk
    cachestat capget capset chdir chmod chown chroot clock_adjtime clock_getres clock_gettime
    clock_nanosleep clock_settime clone clone3 close close_range connect copy_file_range creat
    delete_module dup dup2 dup3 epoll_create epoll_create1 epoll_ctl epoll_ctl_old epoll_pwait
    epoll_pwait2 epoll_wait epoll_wait_old eventfd eventfd2 execve execveat exit exit_group faccessat
    faccessat2 fadvise64 fallocate fanotify_init fanotify_mark fchdir fchmod fchmodat fchmodat2 fchown
    fchownat fcntl fdatasync fgetxattr file_getattr file_setattr finit_module flistxattr flock fork
    fremovexattr fsconfig fsetxattr fsmount fsopen fspick fstat fstatfs fsync ftruncate futex
    futex_requeue futex_wait futex_waitv futex_wake futimesat get_mempolicy get_robust_list
    get_thread_area getcpu getcwd getdents getdents64 getegid geteuid getgid getgroups getitimer
    getpeername getpgid getpgrp getpid getpmsg getppid getpriority getrandom getresgid getresuid
    getrlimit getrusage getsid getsockname getsockopt gettid gettimeofday getuid getxattr getxattrat
    init_module inotify_add_watch inotify_init inotify_init1 inotify_rm_watch io_cancel io_destroy
    io_getevents io_pgetevents io_setup io_submit io_uring_enter io_uring_register io_uring_setup ioctl
    ioperm iopl ioprio_get ioprio_set kcmp kexec_file_load kexec_load keyctl kill landlock_add_rule
    landlock_create_ruleset landlock_restrict_self lchown lgetxattr link linkat listen listmount
    listxattr listxattrat llistxattr lookup_dcookie lremovexattr lseek lsetxattr lsm_get_self_attr
    lsm_list_modules lsm_set_self_attr lstat madvise map_shadow_stack mbind membarrier memfd_create
    memfd_secret migrate_pages mincore mkdir mkdirat mknod mknodat mlock mlock2 mlockall mmap modify_ldt
    mount mount_setattr move_mount move_pages mprotect mq_getsetattr mq_notify mq_open mq_timedreceive
    mq_timedsend mq_unlink mremap mseal msgctl msgget msgrcv msgsnd msync munlock munlockall munmap
    name_to_handle_at nanosleep newfstatat nfsservctl open open_by_handle_at open_tree open_tree_attr
    openat openat2 pause perf_event_open personality pidfd_getfd pidfd_open pidfd_send_signal pipe pipe2
    pivot_root pkey_alloc pkey_free pkey_mprotect poll ppoll prctl pread64 preadv preadv2 prlimit64
    process_madvise process_mrelease process_vm_readv process_vm_writev pselect6 ptrace putpmsg pwrite64
    pwritev pwritev2 quotactl quotactl_fd read readahead readlink readlinkat readv reboot recvfrom
    recvmmsg recvmsg remap_file_pages removexattr removexattrat rename renameat renameat2 request_key
    restart_syscall rmdir rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn
    rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min
    sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval
    sched_setaffinity sched_setattr sched_setparam sched_setscheduler sched_yield seccomp security
    select semctl semget semop semtimedop sendfile sendmmsg sendmsg sendto set_mempolicy
    set_mempolicy_home_node set_robust_list set_thread_area set_tid_address setdomainname setfsgid
    setfsuid setgid setgroups sethostname setitimer setns setpgid setpriority setregid setresgid
    setresuid setreuid setrlimit setsid setsockopt settimeofday setuid setxattr setxattrat shmat shmctl
    shmdt shmget shutdown sigaltstack signalfd signalfd4 socket socketpair splice stat statfs statmount
    statx swapoff swapon symlink symlinkat sync sync_file_range syncfs sysfs sysinfo syslog tee tgkill
    time timer_create timer_delete timer_getoverrun timer_gettime timer_settime timerfd_create
    timerfd_gettime timerfd_settime times tkill truncate tuxcall umask umount2 uname unlink unlinkat
    unshare uprobe uretprobe uselib userfaultfd ustat utime utimensat utimes vfork vhangup vmsplice
    vserver wait4 waitid write writev
";

/// Numbers of x86_64 up to the newest in the list that are nobody's: removed with Linux 2.6, never given, or kept
/// free for alignment with other architectures (337 to 423).
const NOBODYS: &[std::ops::RangeInclusive<u32>] = &[174..=174, 177..=178, 337..=423];

/// `libc`'s names that are not calls of their own here: another architecture's name for the same number.
const ALIASES: &[&str] = &["sync_file_range2"];

#[test]
fn every_line_has_a_reason_and_a_name_of_its_own() {
    let mut names = BTreeSet::new();
    let mut numbers = BTreeSet::new();
    for call in calls() {
        assert!(call.reason.trim().len() >= 6, "{} has no reason", call.name());
        assert!(!call.reason.contains('|'), "{}: a bar would break the page's table", call.name());
        assert!(names.insert(call.name()), "{} twice", call.name());
        assert!(numbers.insert(call.number), "number {} twice, second {}", call.number, call.name());
    }
    assert!(families().iter().all(|family| !family.calls.is_empty()));
}

#[test]
fn every_clause_says_why() {
    for call in calls() {
        let Verdict::Filtered(rule) = call.verdict else { continue };
        assert!(!rule.clauses.is_empty() && !rule.name.is_empty(), "{}", call.name());
        for clause in rule.clauses {
            assert!(clause.says.len() >= 6 && !clause.says.contains('|'), "{}", call.name());
            assert!(!clause.tests.is_empty(), "{}: a clause that always holds", call.name());
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn the_lines_are_the_list() {
    let listed: BTreeSet<&str> = X86_64.split_whitespace().collect();
    let lines: BTreeSet<&str> = calls().map(super::super::table::Call::name).collect();
    let unlisted: Vec<_> = lines.difference(&listed).collect();
    let without_line: Vec<_> = listed.difference(&lines).collect();
    assert!(
        unlisted.is_empty() && without_line.is_empty(),
        "unlisted {unlisted:?}, no line {without_line:?}"
    );
}

#[cfg(target_arch = "x86_64")]
#[test]
fn no_number_up_to_the_newest_is_forgotten() {
    let numbers: BTreeSet<u32> = calls().map(|call| call.number).collect();
    let newest = numbers.last().copied().unwrap();
    for number in 0..=newest {
        let nobodys = NOBODYS.iter().any(|range| range.contains(&number));
        assert!(numbers.contains(&number) != nobodys, "number {number}");
    }
}

/// An update of `libc` that names a new call fails here until the call has a line.
#[test]
fn every_call_that_libc_names_has_a_line() {
    let Some(source) = libc_source() else {
        eprintln!("skipped: every_call_that_libc_names_has_a_line: the source of libc is not at hand");
        return;
    };
    let mut known = 0;
    let folder = source.join("src/unix/linux_like/linux/gnu/b64");
    let files: &[&str] = if cfg!(target_arch = "x86_64") {
        &["x86_64/mod.rs", "x86_64/not_x32.rs"]
    } else {
        &["aarch64/mod.rs", "aarch64/lp64.rs"]
    };
    let lines: BTreeSet<&str> = calls().map(super::super::table::Call::name).collect();
    for file in files {
        // Not every version splits its files alike; the count below notices a file that went.
        let text = std::fs::read_to_string(folder.join(file)).unwrap_or_default();
        for name in text.split("pub const SYS_").skip(1).filter_map(|rest| rest.split(':').next()) {
            known += 1;
            assert!(
                lines.contains(name) || ALIASES.contains(&name),
                "libc names `{name}`, the list does not"
            );
        }
    }
    assert!(known >= 300, "only {known} names were found under {}", folder.display());
}

fn libc_source() -> Option<PathBuf> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--offline", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .ok()?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    let packages = metadata.get("packages")?.as_array()?;
    let libc = packages.iter().find(|package| package.get("name").is_some_and(|name| name == "libc"))?;
    Some(PathBuf::from(libc.get("manifest_path")?.as_str()?).parent()?.to_owned())
}
