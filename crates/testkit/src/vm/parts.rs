//! What a machine is made of, and where it is found on this host.

use std::env;
use std::path::{Path, PathBuf};

/// A part is missing: the reason to skip a test.
#[derive(Debug, thiserror::Error)]
#[error("{what} is missing: {remedy}")]
pub struct Absent {
    /// Which.
    pub what: &'static str,
    /// How to get it.
    pub remedy: &'static str,
}

const PREPARE: &str = "run `crates/testkit/vm/prepare.sh` with the cache folder (`.cache`) as its argument";

pub(super) fn qemu() -> Result<PathBuf, Absent> {
    if !cfg!(target_arch = "x86_64") {
        return Err(Absent {
            what: "an x86-64 host",
            remedy: "these tests carry programs of the host into the machine",
        });
    }
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .map(|folder| folder.join("qemu-system-x86_64"))
        .find(|file| file.is_file())
        .ok_or(Absent { what: "qemu-system-x86_64", remedy: PREPARE })
}

/// `$FUMEHOOD_VM_KERNEL`, else what `prepare.sh` put into the cache.
pub(super) fn kernel() -> Result<PathBuf, Absent> {
    let cache = env::var_os("FUMEHOOD_CACHE").filter(|value| !value.is_empty()).map(PathBuf::from);
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).map(|root| root.join(".cache"));
    let given = env::var_os("FUMEHOOD_VM_KERNEL").map(PathBuf::from);
    let cached = cache.into_iter().chain(checkout).map(|cache| cache.join("vm/kernel"));
    given
        .into_iter()
        .chain(cached)
        .find(|file| file.is_file())
        .ok_or(Absent { what: "a kernel for the machine", remedy: PREPARE })
}

/// One that needs no library.
pub(super) fn busybox() -> Result<PathBuf, Absent> {
    ["/bin/busybox", "/usr/bin/busybox"]
        .map(PathBuf::from)
        .into_iter()
        .find(|file| file.is_file())
        .ok_or(Absent { what: "busybox", remedy: PREPARE })
}
