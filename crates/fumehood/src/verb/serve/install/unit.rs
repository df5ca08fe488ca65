//! The unit: every hardening that leaves the walls of cells standing, and no other.
//!
//! Cells are made by the service's own user, in user namespaces of their own, each with a mount namespace, a fresh `/proc`
//! and a host name. So there is no setting here that takes namespaces away (`RestrictNamespaces`, `PrivateUsers`), that
//! covers a part of `/proc` (`ProtectKernelTunables`, `ProtectKernelLogs`, `ProtectProc`, `ProcSubset`: the kernel lets
//! nobody without privilege mount a whole one then, mount_namespaces(7)), that hides control groups
//! (`ProtectControlGroups`), forbids `sethostname` (`ProtectHostname`), or writable code (`MemoryDenyWriteExecute`, which
//! ends every JavaScript engine). Each cell's own filter is tighter than all of them.

use std::path::Path;

/// What the unit is made of.
pub(super) struct Unit<'a> {
    /// This program.
    pub(super) program: &'a Path,
    /// As whom it runs.
    pub(super) user: &'a str,
    /// What it may write.
    pub(super) state: &'a str,
    /// What will read the unit.
    pub(super) version: SystemdVersion,
}

/// The number of a release of systemd.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SystemdVersion(u32);

impl SystemdVersion {
    /// Of which nothing newer is counted on.
    pub(super) const UNKNOWN: Self = Self(0);
    /// The first that knows `Type=notify-reload`.
    const RELOADS: Self = Self(253);

    /// From the first line of `systemctl --version`: `systemd 252 (252.38-1~deb12u1)`.
    pub(super) fn read(told: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(told).ok()?;
        let number =
            text.lines().next()?.strip_prefix("systemd ")?.split(|c: char| !c.is_ascii_digit()).next()?;
        number.parse().ok().map(Self)
    }
}

impl Unit<'_> {
    /// Its text; none where the path of the program has characters that mean something there.
    pub(super) fn text(&self) -> Option<String> {
        let program = self.program.to_str().filter(|path| is_plain(path))?;
        let Self { user, state, version, .. } = self;
        let reload = if *version >= SystemdVersion::RELOADS {
            "Type=notify-reload\n"
        } else {
            // Told by a signal; what came of it stands in the log and in `systemctl status`.
            "Type=notify\nExecReload=/bin/kill -HUP $MAINPID\n"
        };
        Some(format!(
            "\
# Written by `fumehood serve --install`, which replaces it: changes belong into a drop-in (`systemctl edit fumehood`).
[Unit]
Description=Fumehood: tools of AI agents, each in a cell, behind one address
Documentation=https://github.com/fumehood/fumehood
After=network-online.target
Wants=network-online.target

[Service]
{reload}NotifyAccess=main
ExecStart={program} serve --socket /run/fumehood/gateway.sock
User={user}
Group={user}
Environment=HOME={state}
WorkingDirectory={state}
UMask=0077
RuntimeDirectory=fumehood
RuntimeDirectoryMode=0755
Restart=on-failure
RestartSec=2
# Calls are let end (`serve.drain`, 30 seconds where nothing is said); then cells are ended.
TimeoutStopSec=90
KillMode=mixed
LimitNOFILE=65536
TasksMax=infinity
# Ceilings of cells are groups below its own.
Delegate=yes

NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
ReadWritePaths={state}
# A server that mounts a folder below /home needs a drop-in with `ProtectHome=read-only` or `no`.
ProtectHome=yes
PrivateTmp=yes
DevicePolicy=closed
ProtectKernelModules=yes
ProtectClock=yes
RestrictRealtime=yes
LockPersonality=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
SystemCallArchitectures=native
SystemCallFilter=~@clock @cpu-emulation @module @obsolete @raw-io @reboot @swap
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
"
        ))
    }
}

/// No blank, quote, `%` or `$`, each of which means something in a unit (systemd.service(5)).
fn is_plain(path: &str) -> bool {
    path.starts_with('/') && path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._+-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(program: &str, version: SystemdVersion) -> Option<String> {
        Unit { program: Path::new(program), user: "fumehood", state: "/var/lib/fumehood", version }.text()
    }

    #[test]
    fn a_release_of_systemd_says_its_number_first() {
        for (told, number) in [
            ("systemd 252 (252.38-1~deb12u1)\n+PAM +AUDIT", 252),
            ("systemd 255 (255.4-1ubuntu8)", 255),
            ("systemd 253.5-1", 253),
        ] {
            assert_eq!(SystemdVersion::read(told.as_bytes()), Some(SystemdVersion(number)), "{told}");
        }
        for told in ["", "systemd", "systemctl 252", "systemd x"] {
            assert_eq!(SystemdVersion::read(told.as_bytes()), None, "{told}");
        }
    }

    #[test]
    fn an_older_systemd_reloads_by_a_signal() {
        let old = text("/usr/bin/fumehood", SystemdVersion(252)).unwrap();
        assert!(old.contains("\nType=notify\nExecReload=/bin/kill -HUP $MAINPID\n"), "{old}");
        let new = text("/usr/bin/fumehood", SystemdVersion(253)).unwrap();
        assert!(new.contains("\nType=notify-reload\n") && !new.contains("ExecReload"), "{new}");
        assert_eq!(text("/usr/bin/fumehood", SystemdVersion::UNKNOWN), Some(old));
    }

    #[test]
    fn a_path_that_means_something_in_a_unit_is_none() {
        for path in [
            "/opt/a b/fumehood",
            "/opt/%h/fumehood",
            "/opt/$X",
            "/opt/\"x",
            "fumehood",
            "/opt/a;b",
            "/a\nUser=root",
        ] {
            assert_eq!(text(path, SystemdVersion(255)), None, "{path}");
        }
    }

    /// What would keep cells from being built is not in it, however good it looks in a list of hardenings.
    #[test]
    fn nothing_in_it_takes_a_wall_away() {
        let text = text("/usr/bin/fumehood", SystemdVersion(255)).unwrap();
        for key in [
            "RestrictNamespaces",
            "PrivateUsers",
            "ProtectKernelTunables",
            "ProtectKernelLogs",
            "ProtectProc",
            "ProcSubset",
            "ProtectControlGroups",
            "ProtectHostname",
            "MemoryDenyWriteExecute",
            "RestrictSUIDSGID",
        ] {
            assert!(!text.lines().any(|line| line.starts_with(key)), "{key}");
        }
        for line in ["NoNewPrivileges=yes", "Delegate=yes", "CapabilityBoundingSet=", "ProtectSystem=strict"]
        {
            assert!(text.lines().any(|known| known == line), "{line}");
        }
    }
}
