use std::path::Path;

use super::super::Controller;
use super::super::obstacle::Obstacle;
use super::{Hierarchies, Place};

const PURE_UNIFIED: &str = "\
22 1 0:21 / /proc rw,nosuid shared:12 - proc proc rw
30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot
";

const PURE_LEGACY: &str = "\
31 23 0:28 / /sys/fs/cgroup ro,nosuid shared:9 - tmpfs tmpfs ro,mode=755
33 31 0:30 / /sys/fs/cgroup/systemd rw,nosuid shared:11 - cgroup cgroup rw,xattr,name=systemd
35 31 0:32 / /sys/fs/cgroup/memory rw,nosuid shared:15 - cgroup cgroup rw,memory
36 31 0:33 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:16 - cgroup cgroup rw,cpu,cpuacct
39 31 0:36 / /sys/fs/cgroup/pids rw,nosuid shared:19 - cgroup cgroup rw,pids
";

const LEGACY_GROUPS: &str = "\
12:pids:/user.slice/user-1000.slice/session-3.scope
7:memory:/user.slice/user-1000.slice/session-3.scope
4:cpu,cpuacct:/user.slice
1:name=systemd:/user.slice/user-1000.slice/session-3.scope
";

fn parse(mountinfo: &str, cgroup: &str) -> Hierarchies {
    Hierarchies::parse(mountinfo.as_bytes(), cgroup.as_bytes(), &|_| true)
}

fn place(own: &str, top: &str) -> Place {
    Place { own: own.into(), top: top.into() }
}

fn legacy_place(found: &Hierarchies, controller: Controller) -> Result<Place, Obstacle> {
    found.legacy(controller).expect("bound to v1").place.clone()
}

#[test]
fn a_systemd_host_with_the_unified_hierarchy() {
    let found = parse(PURE_UNIFIED, "0::/user.slice/user-1000.slice/user@1000.service/app.slice/a.scope\n");
    assert_eq!(
        found.unified,
        Ok(place(
            "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/a.scope",
            "/sys/fs/cgroup"
        ))
    );
    assert_eq!(found.legacy, []);
}

#[test]
fn a_host_with_v1_alone_has_limits_and_no_life_cycle() {
    let found = parse(PURE_LEGACY, LEGACY_GROUPS);
    assert_eq!(found.unified, Err(Obstacle::NotMounted));
    assert_eq!(
        legacy_place(&found, Controller::Memory),
        Ok(place(
            "/sys/fs/cgroup/memory/user.slice/user-1000.slice/session-3.scope",
            "/sys/fs/cgroup/memory"
        ))
    );
    let cpu = found.legacy(Controller::Cpu).expect("bound to v1");
    assert_eq!(cpu.controllers, "cpu,cpuacct", "the mount option of the whole hierarchy");
    assert_eq!(cpu.place, Ok(place("/sys/fs/cgroup/cpu,cpuacct/user.slice", "/sys/fs/cgroup/cpu,cpuacct")));
    assert_eq!(found.legacy.len(), 3, "the named hierarchy has no controller");
}

#[test]
fn a_hybrid_host_has_both() {
    let mounts =
        format!("{PURE_LEGACY}41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate\n");
    let found = parse(&mounts, &format!("{LEGACY_GROUPS}0::/user.slice\n"));
    assert_eq!(found.unified, Ok(place("/sys/fs/cgroup/unified/user.slice", "/sys/fs/cgroup/unified")));
    assert!(found.legacy(Controller::Pids).is_some());
}

#[test]
fn in_a_container_without_a_cgroup_namespace_the_mount_shows_only_our_part() {
    let mounts =
        "35 31 0:32 /docker/4f2a /sys/fs/cgroup/memory ro,nosuid master:15 - cgroup cgroup rw,memory\n";
    let found = parse(mounts, "7:memory:/docker/4f2a\n");
    assert_eq!(
        legacy_place(&found, Controller::Memory),
        Ok(place("/sys/fs/cgroup/memory", "/sys/fs/cgroup/memory"))
    );
    let deeper = parse(mounts, "7:memory:/docker/4f2a/worker\n");
    assert_eq!(
        legacy_place(&deeper, Controller::Memory),
        Ok(place("/sys/fs/cgroup/memory/worker", "/sys/fs/cgroup/memory"))
    );
    let elsewhere = parse(mounts, "7:memory:/docker/4f2abc\n");
    assert_eq!(
        legacy_place(&elsewhere, Controller::Memory),
        Err(Obstacle::NotVisible { group: "/docker/4f2abc".to_owned() }),
        "a name that begins alike is another group"
    );
}

#[test]
fn a_cgroup_namespace_root_is_its_mount_point() {
    let own = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw,nsdelegate\n";
    assert_eq!(parse(own, "0::/\n").unified, Ok(place("/sys/fs/cgroup", "/sys/fs/cgroup")));
    let from_outside = "30 23 0:26 /../.. /sys/fs/cgroup rw - cgroup2 cgroup rw,nsdelegate\n";
    assert_eq!(
        parse(from_outside, "0::/\n").unified,
        Err(Obstacle::NotVisible { group: "/".to_owned() }),
        "two steps up from our group, whose name the mount does not tell"
    );
    assert_eq!(
        parse(own, "0::/../sibling\n").unified,
        Err(Obstacle::NotVisible { group: "/../sibling".to_owned() }),
        "a group beside the namespace's root must not be looked for beside the mount point"
    );
}

#[test]
fn a_writable_mount_is_preferred_and_then_the_one_that_shows_more() {
    let read_only = "30 23 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n";
    let part = "31 23 0:26 /a /mnt/part rw - cgroup2 cgroup2 rw\n";
    let whole = "32 23 0:26 / /mnt/whole rw - cgroup2 cgroup2 rw\n";
    let with = |lines: &[&str]| parse(&lines.concat(), "0::/a/b\n").unified;
    assert_eq!(with(&[read_only, part]), Ok(place("/mnt/part/b", "/mnt/part")));
    assert_eq!(with(&[read_only, part, whole]), Ok(place("/mnt/whole/a/b", "/mnt/whole")));
    assert_eq!(with(&[read_only]), Ok(place("/sys/fs/cgroup/a/b", "/sys/fs/cgroup")));
}

#[test]
fn a_mount_that_is_covered_by_another_does_not_count() {
    let found = Hierarchies::parse(PURE_UNIFIED.as_bytes(), b"0::/\n", &|mount| mount.device != (0, 26));
    assert_eq!(found.unified, Err(Obstacle::NotMounted));
}

#[test]
fn escaped_mount_points_are_read() {
    let mounts = r"30 23 0:26 / /mnt/my\040groups\134x rw master:1 propagate_from:2 - cgroup2 none rw";
    assert_eq!(parse(mounts, "0::/a:b").unified, Ok(place(r"/mnt/my groups\x/a:b", r"/mnt/my groups\x")));
}

#[test]
fn a_controller_bound_to_v1_but_not_mounted_is_not_looked_for_elsewhere() {
    let found = parse(PURE_UNIFIED, "3:memory:/\n0::/\n");
    assert_eq!(
        legacy_place(&found, Controller::Memory),
        Err(Obstacle::LegacyNotMounted { controllers: "memory".to_owned() })
    );
}

#[test]
fn a_host_without_groups_and_a_proc_without_files_are_told_apart() {
    let none = parse("22 1 0:21 / /proc rw - proc proc rw\n", "0::/\n");
    assert_eq!(none.unified, Err(Obstacle::NotMounted));
    let unreadable = Hierarchies::read(Path::new("/proc/self/fdinfo"));
    assert!(matches!(unreadable.unified, Err(Obstacle::Proc { .. })), "{unreadable:?}");
}

#[test]
fn lines_that_make_no_sense_are_passed_over() {
    let found =
        parse("\n \nx\n1 2 3\n30 23 0:26 / /c rw -\n30 23 0:26 / /c rw - cgroup2\n", "x\n1:2\n\n0::/\n");
    assert_eq!(found.unified, Err(Obstacle::NotMounted));
}
