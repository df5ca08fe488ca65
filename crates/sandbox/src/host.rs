//! What of the host a cell must see, worked out from names and files alone: nothing of the host is ever run.
//!
//! [`plan`] is the one entry point. Deliberately absent: mounting anything, and any look at this process's own
//! environment: a [`Host`] is handed in.

mod code;
mod fence;
mod ground;
mod homes;
mod interpreter;
mod layout;
mod mask;
mod mounts;
mod package;
mod plan_error;
mod runtime;
mod shim;
mod sight;
mod system;
mod view;
mod walk;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use jail::spec::Entry;
use model::mount::Mount;

pub use self::fence::{Place, Rule, Touch};
use self::ground::Ground;
pub use self::ground::Host;
pub use self::mounts::{MAX_ENTRIES, MAX_GUARDED, MountError, Unsearched};
pub use self::plan_error::PlanError;
use self::plan_error::text;
pub use self::shim::ShimError;
use self::sight::Sight;
pub use self::sight::{Note, Topic};

/// What to put into a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The system's folders and the small `/etc`. First in the cell's root.
    pub base: Vec<Entry>,
    /// Links, runtimes, code and mounts, parents before what lies in them. After the cell's own `/tmp`, `/home/tool`
    /// and so on: a mount may lie below one of those.
    pub entries: Vec<Entry>,
    /// The command with its program, and a relative script, as absolute paths that exist inside.
    pub argv: Vec<String>,
    /// The cell's `PATH`.
    pub path_env: String,
    /// Working folder inside: the host's where it is visible, else [`Plan::WORKSPACE`].
    pub cwd: PathBuf,
    /// What was made visible or hidden, and why.
    pub notes: Vec<Note>,
    /// What has to be searched before anything runs.
    pub unsearched: Vec<Unsearched>,
}

impl Plan {
    /// Working folder of a cell that does not see the host's.
    pub const WORKSPACE: &'static str = "/workspace";
    /// Where a package lies inside.
    pub const PACKAGE: &'static str = "/package";
}

/// Works out what the cell for `command` sees of the host, its declared `mounts` among it. `package` is the folder (no
/// link in it) that lies at [`Plan::PACKAGE`] inside: what the command names there is looked for in it.
pub fn plan(
    host: &Host,
    command: &[String],
    mounts: &[Mount],
    package: Option<&Path>,
) -> Result<Plan, PlanError> {
    let program = command.first().filter(|program| !program.is_empty()).ok_or(PlanError::Empty)?;
    let ground = Ground { package, ..Ground::new(host) };
    let mut sight = Sight::new(system::folders(&ground.view));
    let unsearched = mounts::show(&ground.view, &ground.homes, &ground.own, mounts, &mut sight)?;
    package::show(&ground, &mut sight);
    let found = runtime::find(&ground, &mut sight, program)?;
    let mut argv = command.to_vec();
    if let Some(first) = argv.first_mut() {
        *first = text(&found)?;
    }
    code::show_named(&ground, &mut sight, program, &mut argv)?;
    runtime::add_usual(&ground, &mut sight);
    runtime::add_system_dirs(&ground, &mut sight);
    let dirs = sight.path_dirs();
    let path_env = dirs.iter().map(|dir| text(dir)).collect::<Result<Vec<_>, _>>()?.join(":");
    let cwd = if sight.shows(&host.cwd) { host.cwd.clone() } else { PathBuf::from(Plan::WORKSPACE) };
    let base = system::entries(&ground.view, &host.hostname);
    let (entries, notes) = sight.finish(&ground.view, &base);
    base.iter().chain(&entries).try_for_each(check_text)?;
    Ok(Plan { base, entries, argv, path_env, cwd, notes, unsearched })
}

fn check_text(entry: &Entry) -> Result<(), PlanError> {
    let check = |path: &Path| match path.as_os_str().to_str() {
        Some(_) => Ok(()),
        None => Err(PlanError::NotText { path: path.to_owned() }),
    };
    match entry {
        Entry::Bind { source, path, guarded, masked, .. } => {
            check(source)?;
            check(path)?;
            guarded.iter().chain(masked).try_for_each(|inside| check(&path.join(inside)))
        }
        Entry::Symlink { path, target } => check(path).and_then(|()| check(target)),
        Entry::Dir { path }
        | Entry::File { path, .. }
        | Entry::Part { path, .. }
        | Entry::Links { path, .. }
        | Entry::Tmpfs { path, .. } => check(path),
    }
}
