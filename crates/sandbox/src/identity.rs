//! Who a cell is on the host: one free id per running cell where root starts it, the user where a user does.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use jail::spec::Identity;
use rustix::{
    fs::{FlockOperation, flock},
    process::{getgid, getgroups, getpid, getuid},
};

/// First host id of cells started by root. From 0x7000_0000 on nobody else assigns ids: distributions, systemd
/// (dynamic users, containers) and `/etc/subuid` all stay below (systemd's UIDS-GIDS page).
pub const FIRST_ID: u32 = 0x7000_0001;
/// How many cells may run at once.
pub const IDS: u32 = 65_000;

/// A host id that no other running cell has; free again when dropped.
#[derive(Debug)]
pub struct Lease {
    id: u32,
    /// Locked as long as it is open, by whoever ends last.
    _lock: File,
}

impl Lease {
    /// The host uid and gid.
    pub fn id(&self) -> u32 {
        self.id
    }
}

/// No id could be taken.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// The folder of the locks cannot be used.
    #[error("cannot use `{}` to keep the host ids of cells apart", folder.display())]
    Folder {
        /// Which.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Every id is taken.
    #[error("all {IDS} host ids for cells are in use")]
    Exhausted,
}

impl LeaseError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Folder { folder, .. } => {
                format!("make `{}` a folder that root owns and only root may write", folder.display())
            }
            Self::Exhausted => "end cells that are no longer needed: `fumehood ps` lists them".into(),
        }
    }
}

/// The folder of the locks: the same for everything root starts on this host.
pub const LOCKS: &str = "/run/fumehood/ids";

/// Takes a host id where started by root; `None` where started by a user.
pub(crate) fn lease() -> Result<Option<Lease>, LeaseError> {
    if !getuid().is_root() {
        return Ok(None);
    }
    let folder = Path::new(LOCKS);
    let broken = |source| LeaseError::Folder { folder: folder.to_owned(), source };
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(broken)?;
    let facts = std::fs::symlink_metadata(folder).map_err(broken)?;
    if !facts.is_dir() || facts.uid() != 0 || facts.mode() & 0o022 != 0 {
        return Err(broken(io::ErrorKind::PermissionDenied.into()));
    }
    // Where to begin does not matter; a different place for each starter keeps them out of each other's way.
    let begin = getpid().as_raw_nonzero().get().unsigned_abs() % IDS;
    for step in 0..IDS {
        let id = FIRST_ID.saturating_add(begin.saturating_add(step) % IDS);
        let mut options = OpenOptions::new();
        options
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(libc::O_CLOEXEC | libc::O_NOFOLLOW);
        let lock = options.open(folder.join(id.to_string())).map_err(broken)?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Some(Lease { id, _lock: lock })),
            Err(rustix::io::Errno::WOULDBLOCK) => {}
            Err(error) => return Err(broken(error.into())),
        }
    }
    Err(LeaseError::Exhausted)
}

/// What the jail is told.
pub(crate) fn of(lease: Option<&Lease>) -> Identity {
    match lease {
        Some(lease) => Identity::Reserved { id: lease.id },
        None => Identity::Caller { subgid: subgid() },
    }
}

/// The first subordinate gid of this user, where there are groups to drop and `newgidmap` to do it with.
fn subgid() -> Option<u32> {
    let own = getgid();
    let has_others = getgroups().ok()?.into_iter().any(|group| group != own);
    let has_program =
        ["/usr/bin", "/usr/local/bin", "/bin"].iter().any(|dir| Path::new(dir).join("newgidmap").exists());
    if !has_others || !has_program {
        return None;
    }
    let uid = getuid().as_raw();
    let name = user_name(&std::fs::read_to_string("/etc/passwd").ok()?, uid);
    first_of(&std::fs::read_to_string("/etc/subgid").ok()?, name.as_deref(), uid)
}

/// The name of a uid in passwd(5).
fn user_name(passwd: &str, uid: u32) -> Option<String> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then(|| name.to_owned())
    })
}

/// The first id of a user's first range in subgid(5): `name-or-uid:first:count`.
fn first_of(subgid: &str, name: Option<&str>, uid: u32) -> Option<u32> {
    subgid.lines().find_map(|line| {
        let mut fields = line.split(':');
        let whose = fields.next()?;
        let first: u32 = fields.next()?.parse().ok()?;
        let count: u32 = fields.next()?.trim().parse().ok()?;
        let ours = Some(whose) == name || whose.parse() == Ok(uid);
        (ours && count > 0 && first > 0).then_some(first)
    })
}

#[cfg(test)]
mod tests {
    use super::{first_of, user_name};

    #[test]
    fn a_range_is_found_by_name_or_by_number() {
        let text = "other:100000:65536\nme:165536:65536\n1002:300000:1\nempty:5:0\n";
        assert_eq!(first_of(text, Some("me"), 1000), Some(165_536));
        assert_eq!(first_of(text, None, 1002), Some(300_000));
        assert_eq!(first_of(text, Some("empty"), 7), None);
        assert_eq!(first_of(text, Some("nobody"), 8), None);
    }

    #[test]
    fn a_user_is_named_by_its_uid() {
        let passwd = "root:x:0:0:root:/root:/bin/bash\nme:x:1000:1000::/home/me:/bin/sh\n";
        assert_eq!(user_name(passwd, 1000).as_deref(), Some("me"));
        assert_eq!(user_name(passwd, 5), None);
    }
}
