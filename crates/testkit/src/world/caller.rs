//! Who runs the product.

use std::{fs, io, path::Path, process::Command};

/// The two kinds of callers every case is tried as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// Root: cells get a host id of their own.
    Root,
    /// An ordinary user: cells run as that user.
    Ordinary,
}

/// The ordinary user of tests that are started by root.
const NAME: &str = "fhtest";

impl Caller {
    /// Those that this test run can act as. What is missing is added to the list of skips.
    pub fn all() -> Vec<Self> {
        if !rustix::process::geteuid().is_root() {
            super::skip("everything started by root", "the tests run as an ordinary user");
            return vec![Self::Ordinary];
        }
        if ids().is_none() {
            super::skip("everything started by an ordinary user", "there is no user `fhtest`");
            return vec![Self::Root];
        }
        vec![Self::Root, Self::Ordinary]
    }

    /// Its uid and gid on the host.
    pub fn ids(self) -> (u32, u32) {
        let own = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        if self == Self::Ordinary && own.0 == 0 { ids().unwrap_or(own) } else { own }
    }

    /// A command that runs a program as this caller.
    pub(super) fn command(self, program: &Path) -> Command {
        if self == Self::Ordinary && rustix::process::geteuid().is_root() {
            let (uid, gid) = self.ids();
            let mut command = Command::new("setpriv");
            command.args(["--reuid", &uid.to_string(), "--regid", &gid.to_string(), "--init-groups"]);
            command.arg("--").arg(program);
            command
        } else {
            Command::new(program)
        }
    }

    /// Gives a file or folder to it.
    pub(super) fn own(self, path: &Path) -> io::Result<()> {
        let (uid, gid) = self.ids();
        std::os::unix::fs::lchown(path, Some(uid), Some(gid))
    }
}

fn ids() -> Option<(u32, u32)> {
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let line = users.lines().find(|line| line.split(':').next() == Some(NAME))?;
    let mut fields = line.split(':').skip(2);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}
