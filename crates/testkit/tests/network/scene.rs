//! A world whose operator binds a name to the origin, and what is run in its cells.

use std::process::Command;

use testkit::world::{Caller, Ran, World};

use crate::origin::Origin;

/// The name by which the origin is reached.
pub(crate) const NAME: &str = "origin.example";

/// A world for `caller`; `origin` is bound to [`NAME`].
pub(crate) fn world(caller: Caller, origin: &Origin) -> World {
    let world = World::new(caller).unwrap();
    world.make_folder("config/fumehood").unwrap();
    let text = format!("[upstreams.\"{NAME}\"]\naddress = \"{}\"\nloopback = true\n", origin.address);
    world.make_file("config/fumehood/config.toml", &text, 0o600).unwrap();
    world
}

/// `fumehood exec` of a shell script, with the flags before it.
pub(crate) fn shell(world: &World, flags: &[&str], script: &str) -> Ran {
    let mut command = world.product(None);
    command.args(["exec", "--limit", "require=none", "--limit", "memory=1GiB"]).args(flags);
    command.args(["--", "sh", "-c", script]);
    ended(world, &mut command)
}

/// Runs it to its end, and expects that nothing of it stayed.
pub(crate) fn ended(world: &World, command: &mut Command) -> Ran {
    let ran = world.run(command, "").unwrap();
    assert!(!ran.late && ran.remains.is_empty(), "{ran:?}");
    ran
}
