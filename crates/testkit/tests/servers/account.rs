//! Who runs client and server.

use std::path::Path;
use std::process::Command;

/// A host account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Account {
    /// Whoever runs the tests, root or not.
    Myself,
    /// The ordinary test user, which only root can become.
    Ordinary,
}

/// The ordinary test user's name; `./x setup` makes it.
const ORDINARY: &str = "fhtest";

impl Account {
    /// Whether this account can be taken; else why not.
    pub(crate) fn usable(self) -> Result<(), String> {
        if self == Self::Myself {
            return Ok(());
        }
        if !rustix::process::geteuid().is_root() {
            return Err("only root can become another user".into());
        }
        let known = Command::new("id").arg(ORDINARY).output().is_ok_and(|output| output.status.success());
        if known { Ok(()) } else { Err(format!("there is no user `{ORDINARY}`; run ./x setup")) }
    }

    /// A command that runs `program` as this account and is ended after a minute.
    pub(crate) fn command(self, program: &Path) -> Command {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", "60"]);
        if self == Self::Ordinary {
            command.args(["setpriv", "--reuid", ORDINARY, "--regid", ORDINARY, "--clear-groups", "--"]);
        }
        command.arg(program);
        command
    }

    /// Makes a folder and all in it this account's own.
    pub(crate) fn hand_over(self, folder: &Path) {
        if self == Self::Ordinary {
            let done = Command::new("chown").args(["-R", &format!("{ORDINARY}:")]).arg(folder).status();
            assert!(done.is_ok_and(|status| status.success()), "chown of {} failed", folder.display());
        }
    }
}
