//! What of the host decides whether layers can be held: read from files, nothing is tried.

use std::{fs, path::Path};

use serde::Serialize;

/// One fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Fact {
    /// What about.
    pub(super) name: &'static str,
    /// Whether it stands in no layer's way.
    pub(super) fine: bool,
    /// How it is.
    pub(super) detail: String,
    /// What would change it; empty where nothing needs to.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) remedy: String,
}

/// Looks at this host.
pub(super) fn gather() -> Vec<Fact> {
    let read = |path: &str| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
    let version = read("/proc/version").unwrap_or_default();
    let facts = [
        Some(kernel(&version)),
        Some(landlock(jail::landlock_abi())),
        number(
            "user namespaces",
            read("/proc/sys/user/max_user_namespaces"),
            "0",
            "as root, `sysctl user.max_user_namespaces=15000`",
        ),
        number(
            "unprivileged userns",
            read("/proc/sys/kernel/unprivileged_userns_clone"),
            "0",
            "as root, `sysctl kernel.unprivileged_userns_clone=1`",
        ),
        number(
            "AppArmor userns restriction",
            read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
            "1",
            "install an AppArmor profile for fumehood or, as root, `sysctl kernel.apparmor_restrict_unprivileged_userns=0`",
        ),
        Some(masked_proc(&read("/proc/self/mountinfo").unwrap_or_default())),
        Some(core_pattern(&read("/proc/sys/kernel/core_pattern").unwrap_or_default())),
        groups(),
    ];
    facts.into_iter().flatten().collect()
}

fn kernel(version: &str) -> Fact {
    let release = version.split_whitespace().nth(2).unwrap_or("unknown").to_owned();
    // WSL1 translates system calls and says so; WSL2 is a Linux of its own.
    let wsl1 = release.ends_with("-Microsoft");
    Fact {
        name: "kernel",
        fine: !wsl1,
        detail: if wsl1 { format!("{release}: WSL1 has no namespaces") } else { release },
        remedy: if wsl1 { "`wsl --set-version DISTRIBUTION 2`".into() } else { String::new() },
    }
}

fn landlock(abi: i32) -> Fact {
    Fact {
        name: "Landlock",
        fine: abi > 0,
        detail: if abi > 0 { format!("ABI {abi}") } else { "not there".into() },
        remedy: if abi > 0 {
            String::new()
        } else {
            "boot a kernel with `landlock` in its `lsm=` list".into()
        },
    }
}

/// A switch of the kernel; nothing where this kernel has none. It binds users only: root is not asked.
fn number(name: &'static str, value: Option<String>, bad: &str, remedy: &str) -> Option<Fact> {
    let value = value?;
    let is_bad = value == bad;
    let fine = !is_bad || (rustix::process::geteuid().is_root() && name != "user namespaces");
    Some(Fact { name, fine, detail: value, remedy: if is_bad { remedy.into() } else { String::new() } })
}

/// A mount anywhere below `/proc` keeps the kernel from giving a user namespace a new one.
fn masked_proc(mountinfo: &str) -> Fact {
    let covered: Vec<&str> = mountinfo
        .lines()
        .filter_map(|line| line.split(' ').nth(4))
        // Registered by the kernel itself, over a folder that is empty otherwise.
        .filter(|point| point.starts_with("/proc/") && *point != "/proc/sys/fs/binfmt_misc")
        .collect();
    Fact {
        name: "/proc",
        fine: covered.is_empty(),
        detail: if covered.is_empty() {
            "not masked".into()
        } else {
            format!("masked: {}", covered.join(", "))
        },
        remedy: if covered.is_empty() {
            String::new()
        } else {
            "in a container give it an unmasked /proc (Docker: `--security-opt systempaths=unconfined`); under systemd \
             leave out ProtectKernelTunables= and ProtectProc="
                .into()
        },
    }
}

fn core_pattern(pattern: &str) -> Fact {
    let handler = pattern.strip_prefix('|').map(|rest| rest.split_whitespace().next().unwrap_or(rest));
    Fact {
        name: "core dumps",
        fine: handler.is_none(),
        detail: match handler {
            Some(handler) => format!("crashes are handed to `{handler}`"),
            None => format!("pattern `{pattern}`, no handler"),
        },
        remedy: if handler.is_some() {
            "as root, `sysctl kernel.core_pattern=core`".into()
        } else {
            String::new()
        },
    }
}

/// Whether a user's supplementary groups can be dropped; root just drops them.
fn groups() -> Option<Fact> {
    if rustix::process::geteuid().is_root() {
        return None;
    }
    let own = rustix::process::getgid();
    let others = rustix::process::getgroups().ok()?.into_iter().filter(|group| *group != own).count();
    let program = ["/usr/bin", "/usr/local/bin", "/bin"]
        .iter()
        .any(|folder| Path::new(folder).join("newgidmap").exists());
    let fine = others == 0 || program;
    Some(Fact {
        name: "supplementary groups",
        fine,
        detail: match (others, program) {
            (0, _) => "none".into(),
            (count, true) => format!("{count}, `newgidmap` is there"),
            (count, false) => format!("{count}, and no `newgidmap` to drop them with"),
        },
        remedy: if fine { String::new() } else { "install `newgidmap` (package uidmap)".into() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wsl1_is_told_from_wsl2() {
        assert!(!kernel("Linux version 4.4.0-19041-Microsoft (x)").fine);
        assert!(kernel("Linux version 5.15.90.1-microsoft-standard-WSL2 (x)").fine);
    }

    #[test]
    fn a_mask_over_proc_is_named() {
        let line = |point: &str| format!("30 20 0:25 / {point} ro - tmpfs tmpfs ro\n");
        let fact = masked_proc(&(line("/proc") + &line("/proc/kcore") + &line("/proc/sys/fs/binfmt_misc")));
        assert!(!fact.fine);
        assert_eq!(fact.detail, "masked: /proc/kcore");
        assert!(masked_proc(&line("/proc")).fine);
    }

    #[test]
    fn a_handler_behind_a_pipe_is_named() {
        assert_eq!(
            core_pattern("|/usr/share/apport/apport %p").detail,
            "crashes are handed to `/usr/share/apport/apport`"
        );
        assert!(core_pattern("core").fine);
    }
}
