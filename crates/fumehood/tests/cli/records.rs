//! `ps` and `logs`.

use insta::assert_snapshot;

use super::world::World;

#[test]
fn no_cell() {
    assert_snapshot!(World::new().said(&["ps"]), @r##"
    exit code 0
    --- stderr
    fumehood: no cell runs
    "##);
}

#[test]
fn no_cell_as_json() {
    assert_snapshot!(World::new().said(&["ps", "--json"]), @r##"
    exit code 0
    --- stdout
    []
    "##);
}

#[test]
fn no_log() {
    assert_snapshot!(World::new().said(&["logs", "weather"]), @r##"
    exit code 1
    --- stderr
    fumehood: there is no log of a cell called `weather`
    fumehood: help: logs lie in `ROOT/state/fumehood/logs`
    "##);
}

fn with_logs() -> World {
    let world = World::new();
    world.write("state/fumehood/logs/weather/20260101T000000Z-aaaaaaaaaaaa.log", "old\n");
    world.write("state/fumehood/logs/weather/20260102T000000Z-bbbbbbbbbbbb.log.1", "one\ntwo\n");
    world.write("state/fumehood/logs/weather/20260102T000000Z-bbbbbbbbbbbb.log", "three\nfour \"quoted\"\n");
    world
}

#[test]
fn the_newest_log_of_a_name_with_the_part_put_aside() {
    assert_snapshot!(with_logs().said(&["logs", "weather"]), @r##"
    exit code 0
    --- stdout
    one
    two
    three
    four "quoted"
    "##);
}

#[test]
fn the_last_lines_reach_back_over_both_parts() {
    assert_snapshot!(with_logs().said(&["logs", "weather", "-n", "3"]), @r##"
    exit code 0
    --- stdout
    two
    three
    four "quoted"
    "##);
}

#[test]
fn a_log_by_the_id_of_its_cell() {
    assert_snapshot!(with_logs().said(&["logs", "aaaaaaaaaaaa"]), @r##"
    exit code 0
    --- stdout
    old
    "##);
}

#[test]
fn a_log_as_json() {
    assert_snapshot!(with_logs().said(&["logs", "weather", "--json", "-n", "1"]), @r##"
    exit code 0
    --- stdout
    {"line":"four \"quoted\""}
    "##);
}
