//! What PID 1 has from the time before it.

use std::os::fd::{AsFd, OwnedFd};

use crate::{control::Control, spec::Spec, tree::Trees};

/// Inside, the tool is always this user and group.
pub(crate) const INSIDE: u32 = 65534;

/// Everything PID 1 needs from the time before it.
#[derive(Debug)]
pub(crate) struct Inheritance {
    pub(crate) spec: Spec,
    pub(crate) control: Control,
    /// Trees taken hold of with the caller's rights; empty where PID 1 can take them itself.
    pub(crate) trees: Trees,
    /// Readable once the id maps are written, at its end once the launcher is gone.
    pub(crate) go: OwnedFd,
    pub(crate) groups_dropped: bool,
}

/// Reads the launcher's word: whether the groups may be dropped. `None` when it failed and is gone.
pub(crate) fn await_maps(go: &OwnedFd) -> Option<bool> {
    let mut word = [0_u8; 1];
    match rustix::io::read(go.as_fd(), &mut word) {
        Ok(1) => Some(word == [1]),
        Ok(_) | Err(_) => None,
    }
}
