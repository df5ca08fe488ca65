//! A crash that leaves memory behind.

use std::{fs, path::Path, process::Command};

use super::{Attacks, Attempt, Held, argument, sys};

pub(super) const ATTACKS: Attacks = &[("crash", crash), ("crash-here", crash_here)];

/// Crashes a child whose working folder is the argument, and looks for a core file there.
fn crash(arguments: &[&str]) -> Attempt {
    let folder = Path::new(argument(arguments, 0));
    let program = std::env::args().next().unwrap_or_default();
    let ended =
        Command::new(program).args(["--alone", "core_dumps", "x=crash-here"]).current_dir(folder).status()?;
    if ended.success() {
        return Err(Held::because("the child did not crash"));
    }
    let left =
        fs::read_dir(folder)?.flatten().find(|entry| entry.file_name().to_string_lossy().starts_with("core"));
    match left {
        Some(core) => Ok(format!("{} bytes in {}", core.metadata()?.len(), core.path().display())),
        None => Err(Held::because(format!("no core file ({ended})"))),
    }
}

fn crash_here(_: &[&str]) -> Attempt {
    let hard = rustix::process::getrlimit(rustix::process::Resource::Core).maximum;
    let raised = rustix::process::Rlimit { current: hard, maximum: hard };
    rustix::process::setrlimit(rustix::process::Resource::Core, raised)?;
    sys::fault();
    Err(Held::because("there was memory"))
}
