//! Which version of a Python package is chosen, and what is told of it.

use std::process::Command;

use crate::python::{each, probe};

/// Nothing to tell.
const FACTS: &str = "def facts():\n    return {}\n";

#[test]
fn a_withdrawn_release_is_chosen_only_by_its_version_and_marked() {
    each("a yanked release", |scene| {
        let newer = || probe("yank", FACTS).version("2.0").build();
        scene.index.add(probe("yank", FACTS).build());
        scene.index.add(newer().yanked("it leaks"));
        scene.add_good("yank");
        assert!(scene.lock().contains("uvx:yank==1.0"), "{}", scene.lock());
        scene.remove();
        let told = scene.add_good("yank==2.0");
        assert!(told.stdout.contains("`yank==2.0` is yanked (reason: \"it leaks\")"), "{told:?}");
        scene.remove();
        // Control: without the mark it is the one that is chosen.
        scene.index.add(newer());
        scene.add_good("yank");
        assert!(scene.lock().contains("uvx:yank==2.0"), "{}", scene.lock());
    });
}

#[test]
fn what_is_newer_is_told_with_its_age_and_what_was_withdrawn_since() {
    each("what is newest on a Python index", |scene| {
        scene.index.add(probe("old", FACTS).build());
        scene.add_good("old==1.0");
        let row = &scene.outdated()[0];
        assert!(row["is_outdated"] == false && row.get("pinned_withdrawn").is_none(), "{row}");
        scene.index.add(probe("old", FACTS).build().yanked("it leaks"));
        scene.index.add(probe("old", FACTS).version("2.0").build().uploaded(&an_hour_ago()));
        let row = &scene.outdated()[0];
        assert_eq!(
            (row["newest"].as_str(), row["is_outdated"].as_bool()),
            (Some("2.0"), Some(true)),
            "{row}"
        );
        assert!((3_600..7_200).contains(&row["age"].as_u64().unwrap()) && row["is_young"] == true, "{row}");
        assert!(row["pinned_withdrawn"].as_str().unwrap().contains("it leaks"), "{row}");
        // Nothing was changed by asking.
        assert!(scene.lock().contains("uvx:old==1.0"));
    });
}

/// As an index writes times.
fn an_hour_ago() -> String {
    let told = Command::new("date").args(["-u", "-d", "-1 hour", "+%FT%TZ"]).output().unwrap();
    String::from_utf8(told.stdout).unwrap().trim().to_owned()
}

#[test]
fn what_the_users_own_configuration_holds_back_is_held_back_inside() {
    each("a configuration file of uv", |scene| {
        scene.index.add(probe("held", FACTS).build());
        scene.index.add(probe("held", FACTS).version("2.0").build().uploaded(&an_hour_ago()));
        scene.world.make_folder("config/uv").unwrap();
        let file = "exclude-newer = \"2025-01-01T00:00:00Z\"\n";
        let file = scene.world.make_file("config/uv/uv.toml", file, 0o644).unwrap();
        scene.add_good("held");
        assert!(scene.lock().contains("uvx:held==1.0"), "{}", scene.lock());
        scene.remove();
        // Control: without the file it is the newest.
        std::fs::remove_file(file).unwrap();
        scene.add_good("held");
        assert!(scene.lock().contains("uvx:held==2.0"), "{}", scene.lock());
    });
}

#[test]
fn a_version_without_a_wheel_for_this_machine_gives_way_to_one_that_has() {
    each("a version for other machines", |scene| {
        scene.index.add(probe("part", FACTS).build());
        scene.index.add(probe("part", FACTS).version("2.0").tag("py3-none-win_amd64").build());
        let told = scene.add_good("part");
        assert!(scene.lock().contains("uvx:part==1.0"), "{}", scene.lock());
        assert!(told.stdout.contains("chosen for machines like this one alone"), "{told:?}");
        scene.remove();
        let refused = scene.add("part==2.0");
        assert!(refused.stderr.contains("there is nothing of it for this machine"), "{refused:?}");
    });
}
