//! What a command line says of a package of the store.

use std::path::Path;

use super::super::{PlanError, plan};
use super::{World, lines};

const STORE: &str = "/home/u/.local/share/fumehood/store/tree";

fn world() -> World {
    World::new()
        .program("/usr/bin/node")
        .file(&format!("{STORE}/node_modules/server/index.js"), "")
        .script(&format!("{STORE}/node_modules/server/cli.js"), "#!/usr/bin/env node\n")
        .link(&format!("{STORE}/node_modules/.bin/server"), "../server/cli.js")
        .link(&format!("{STORE}/node_modules/.bin/out"), "/usr/bin/sh")
        .script(&format!("{STORE}/bin/lost"), "#!/package/bin/nothing\n")
}

fn planned(world: &World, command: &str) -> Result<super::Plan, PlanError> {
    let command: Vec<String> = command.split(' ').map(str::to_owned).collect();
    plan(&world.host, &command, &[], Some(Path::new(STORE)))
}

#[test]
fn what_a_command_names_of_its_package_stays_as_it_is() {
    let world = world();
    for command in ["node /package/node_modules/server/index.js", "/package/node_modules/.bin/server --x"] {
        let plan = planned(&world, command).unwrap();
        let (program, rest) = command.split_once(' ').unwrap();
        let program = if program == "node" { "/usr/bin/node" } else { program };
        assert_eq!(plan.argv, [program, rest]);
        assert!(lines(&plan.entries).is_empty(), "{:?}", plan.entries);
        let notes: Vec<String> = plan.notes.iter().map(ToString::to_string).collect();
        assert!(notes.iter().all(|note| !note.starts_with("missing")), "{notes:?}");
        assert!(notes.iter().any(|note| note.ends_with("(read-only, at /package)")), "{notes:?}");
        assert!(plan.path_env.starts_with("/package/node_modules/.bin:/package/bin:"), "{}", plan.path_env);
    }
}

#[test]
fn no_program_of_a_package_leads_out_of_it() {
    let world = world();
    for (command, words) in [
        ("/package/node_modules/.bin/out", "is not an executable file"),
        ("/package/../../../../../../../usr/bin/sh", "is not an executable file"),
        ("/package/node_modules/server/index.js", "is not an executable file"),
        ("/package/nothing", "cannot be looked at"),
        ("/package/bin/lost", "wants the interpreter `/package/bin/nothing`"),
    ] {
        let error = planned(&world, command).unwrap_err().to_string();
        assert!(error.contains(words), "{command}: {error}");
    }
}

#[test]
fn without_a_package_its_place_is_one_like_any_other() {
    let error = world().plan("/package/node_modules/.bin/server").unwrap_err();
    assert!(matches!(error, PlanError::Missing { .. }), "{error}");
}
