//! Id-mapped mounts: in a cell started by root, the owner of a mounted tree appears as the tool, so that a declared
//! mount is as usable as it is to its owner, while the tool's host id owns nothing on any disk.

use std::{
    fs::File,
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::Path,
};

use rustix::{
    pipe::{PipeFlags, pipe_with},
    process::{Pid, Signal, WaitOptions, kill_process, waitpid},
};

use crate::sys::{self, Fork};

/// Namespaces that carry one map each, made once per owner.
#[derive(Debug, Default)]
pub(crate) struct OwnerMaps(Vec<((u32, u32), OwnedFd)>);

impl OwnerMaps {
    /// Shows files of `owner` (uid, gid on disk) in the detached `mount` as owned by the host id `tool`; files of
    /// anybody else as nobody's.
    pub(crate) fn apply(&mut self, mount: BorrowedFd<'_>, owner: (u32, u32), tool: u32) -> io::Result<()> {
        let known = self.0.iter().position(|(of, _)| *of == owner);
        let index = if let Some(index) = known {
            index
        } else {
            self.0.push((owner, namespace(owner, tool)?));
            self.0.len() - 1
        };
        let Some((_, userns)) = self.0.get(index) else { return Err(io::ErrorKind::NotFound.into()) };
        sys::mount_setattr(mount, true, libc::MOUNT_ATTR_IDMAP, Some(userns.as_fd()))
    }
}

/// A user namespace whose map reads "`owner` on disk is `tool` in the mount". It lives as long as the fd.
fn namespace((uid, gid): (u32, u32), tool: u32) -> io::Result<OwnedFd> {
    let (held, hold) = pipe_with(PipeFlags::CLOEXEC)?;
    match sys::fork_into(u64::from(libc::CLONE_NEWUSER.unsigned_abs()), None)? {
        Fork::Child => {
            drop(hold);
            // Ends when the parent lets go of the pipe, however the parent ends.
            rustix::io::read(&held, &mut [0_u8; 1]).ok();
            sys::exit_now(0);
        }
        Fork::Parent(child) => {
            let proc = Path::new("/proc").join(child.to_string());
            let made = std::fs::write(proc.join("uid_map"), format!("{uid} {tool} 1\n"))
                .and_then(|()| std::fs::write(proc.join("gid_map"), format!("{gid} {tool} 1\n")))
                .and_then(|()| File::open(proc.join("ns/user")));
            if let Some(pid) = Pid::from_raw(child) {
                kill_process(pid, Signal::KILL)?;
                waitpid(Some(pid), WaitOptions::empty())?;
            }
            made.map(OwnedFd::from)
        }
    }
}
