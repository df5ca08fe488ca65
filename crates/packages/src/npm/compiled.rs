//! What Node.js has compiled of a program, kept for its later starts.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use model::mount::Data;

use super::program;
use crate::{ask::ask, progress::Progress, shop::Shop, start::Start, store::OWN, workshop::Workshop};

/// The variable that says where it lies (nodejs.org, module compile cache).
const VARIABLE: &str = "NODE_COMPILE_CACHE";
/// The first version that knows it.
const SINCE: (u32, u32) = (22, 1);
/// The folder below `/data` it is made in, and in it the one of Node.js: as both are called in a tree.
const FOLDER: &str = "compiled";
const WITHIN: &str = "node";
/// How long a program may take until it has noticed that nobody talks to it. It is written when the program ends.
const PATIENCE: Duration = Duration::from_secs(10);

/// Starts the program that was asked for, in a cell without network, with nobody to talk to; Node.js writes down what it
/// has compiled for that. Where it lies now; nothing where Node.js is too old for it, the program is none of Node.js, or
/// does not end by itself. Only the package itself will read it again.
pub(crate) async fn compile<W: Workshop>(shop: &mut Shop<'_, W>, tree: &Path) -> Option<PathBuf> {
    let start = program::start(tree, shop.order.asked).ok()?;
    let is_node = start.command.first().is_some_and(|program| program == "node");
    let version = tokio::task::spawn_blocking(|| ask("node", &["--version"], "")).await.ok()?.ok()?;
    if !is_node || !knows(&version) {
        return None;
    }
    shop.tell(Progress::Compiling);
    let folder = shop.folder().join(FOLDER);
    fs::create_dir(&folder).ok()?;
    let place = format!("{}/{FOLDER}/{WITHIN}", Data::INSIDE);
    let env = [(VARIABLE, place.as_str())];
    let run = shop.run_package(tree, &start.command, &env);
    // How it ends is its own affair: without arguments, keys and network many a program complains.
    tokio::time::timeout(PATIENCE, run).await.ok()?.ok()?;
    let is_there = fs::read_dir(folder.join(WITHIN)).is_ok_and(|mut entries| entries.next().is_some());
    is_there.then_some(folder)
}

/// The variable for a start, where something was kept.
pub(super) fn variable(tree: &Path) -> Option<(String, String)> {
    let is_there = tree.join(OWN).join(WITHIN).is_dir();
    is_there.then(|| (VARIABLE.to_owned(), format!("{}/{OWN}/{WITHIN}", Start::INSIDE)))
}

/// Whether this version, as `v22.1.0`, has it.
fn knows(version: &str) -> bool {
    let mut numbers = version.trim().trim_start_matches('v').split('.').map(str::parse);
    matches!((numbers.next(), numbers.next()), (Some(Ok(major)), Some(Ok(minor))) if (major, minor) >= SINCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_known_which_versions_have_it() {
        for (version, expected) in [
            ("v22.1.0\n", true),
            ("v24.0.0", true),
            ("v22.0.9", false),
            ("v20.20.2", false),
            ("", false),
            ("v", false),
        ] {
            assert_eq!(knows(version), expected, "{version}");
        }
    }
}
