//! Own memory.

use super::Verdict::{Absent, Allow, Refuse};
use super::{Call, line};

pub(super) const CALLS: &[Call] = &[
    line!(SYS_brk, Allow, "own memory, within the ceiling; compilers at run time need mprotect"),
    line!(SYS_mmap, Allow, "own memory, within the ceiling; compilers at run time need mprotect"),
    line!(SYS_munmap, Allow, "own memory, within the ceiling; compilers at run time need mprotect"),
    line!(SYS_mremap, Allow, "own memory, within the ceiling; compilers at run time need mprotect"),
    line!(SYS_mprotect, Allow, "own memory, within the ceiling; compilers at run time need mprotect"),
    line!(SYS_madvise, Allow, "hints and questions about own memory"),
    line!(SYS_msync, Allow, "hints and questions about own memory"),
    line!(SYS_mincore, Allow, "hints and questions about own memory"),
    line!(SYS_remap_file_pages, Allow, "old form of mmap, emulated by the kernel"),
    line!(SYS_mlock, Allow, "bounded by RLIMIT_MEMLOCK; keeps keys off the disk"),
    line!(SYS_mlock2, Allow, "bounded by RLIMIT_MEMLOCK; keeps keys off the disk"),
    line!(SYS_munlock, Allow, "bounded by RLIMIT_MEMLOCK; keeps keys off the disk"),
    line!(SYS_mlockall, Allow, "bounded by RLIMIT_MEMLOCK; keeps keys off the disk"),
    line!(SYS_munlockall, Allow, "bounded by RLIMIT_MEMLOCK; keeps keys off the disk"),
    line!(SYS_memfd_create, Allow, "anonymous files, counted as memory"),
    line!(SYS_memfd_secret, Absent, "memory that no watch can count; programs fall back"),
    line!(SYS_mseal, Allow, "only forbids later changes of own memory"),
    line!(SYS_map_shadow_stack, Allow, "hardening of own stacks"),
    line!(SYS_pkey_alloc, Allow, "V8 guards its code with keys"),
    line!(SYS_pkey_free, Allow, "V8 guards its code with keys"),
    line!(SYS_pkey_mprotect, Allow, "V8 guards its code with keys"),
    line!(SYS_membarrier, Allow, "runtimes order memory between own threads"),
    line!(SYS_get_mempolicy, Allow, "reads its own placement; libnuma asks at start"),
    line!(SYS_set_mempolicy, Refuse, "placement on memory nodes is the host's"),
    line!(SYS_mbind, Refuse, "placement on memory nodes is the host's"),
    line!(SYS_set_mempolicy_home_node, Refuse, "placement on memory nodes is the host's"),
    line!(SYS_migrate_pages, Refuse, "placement on memory nodes is the host's"),
    line!(SYS_move_pages, Refuse, "placement on memory nodes is the host's"),
    line!(
        SYS_process_madvise,
        Allow,
        "allocators batch hints for themselves; on others the kernel asks a capability"
    ),
    line!(SYS_process_mrelease, Allow, "frees what a killed process held"),
    line!(SYS_process_vm_readv, Refuse, "other processes' memory"),
    line!(SYS_process_vm_writev, Refuse, "other processes' memory"),
    line!(SYS_userfaultfd, Refuse, "holds the kernel up at a chosen page: the lever of many exploits"),
];
