//! The emulated machine of the tests for hosts unlike this one.

use std::process::Command;

use crate::workspace::{Workspace, is_root, must};

/// Fetches what it is made of, when root. Without it those tests are skipped by name, so a failure is only told.
pub fn prepare(workspace: &Workspace) {
    if !is_root() || !cfg!(target_arch = "x86_64") {
        return;
    }
    let script = workspace.root.join("crates/testkit/vm/prepare.sh");
    if let Err(error) = must(Command::new("sh").arg(script).arg(&workspace.cache)) {
        eprintln!("x: the tests that need a machine of their own will be skipped: {error:#}");
    }
}
