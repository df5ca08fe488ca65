//! What a crash leaves behind.

use testkit::world::Caller;

use crate::scene::Scene;
use crate::table::Control::OffUnless;
use crate::table::{Case, case, prove};

/// A pattern with a path or a pipe puts the dump outside, where the host is responsible for it.
const IN_FOLDER: crate::table::Control = OffUnless("/proc/sys/kernel/core_pattern", "|", "rlimit-core");

pub(crate) const CASES: &[Case] = &[
    case("a crash in /workspace", "crash,/workspace", &[], IN_FOLDER),
    case("a crash in a mount", "crash,{folder}", &[], IN_FOLDER),
];

fn stage(caller: Caller, _: Option<&str>) -> Scene {
    let scene = Scene::new(caller);
    scene.world.make_folder("folder").unwrap();
    scene.place("folder", "folder").flags(["--mount", "{folder}:rw"])
}

#[test]
fn a_crash_leaves_no_memory_behind() {
    prove("core_dumps", CASES, stage);
}
