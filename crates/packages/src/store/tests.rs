use std::{
    collections::BTreeSet,
    fs::{File, FileTimes, Permissions},
    os::unix::fs::{MetadataExt, PermissionsExt},
};

use super::*;

struct World {
    folder: tempfile::TempDir,
    store: Store,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path().join("store"));
        Self { folder, store }
    }

    /// A tree of two files, one of which has this content.
    fn tree(&self, content: &str) -> PathBuf {
        let tree = self.folder.path().join("from");
        fs::create_dir_all(tree.join("lib")).unwrap();
        fs::write(tree.join("lib/index.js"), content).unwrap();
        fs::write(tree.join("run"), "#!/bin/sh\n").unwrap();
        tree
    }

    fn publish(&self, content: &str) -> Package {
        let staging = Staging::begin(&self.store).unwrap();
        let made = staging.copy(&self.tree(content), &mut |_| {}).unwrap();
        staging.publish(&self.store, &made).unwrap()
    }

    fn staged(&self) -> usize {
        fs::read_dir(self.store.folder().join("staging")).unwrap().count()
    }
}

/// Writes to a file of the store, as one who may.
fn write(path: &Path, content: &str) {
    fs::set_permissions(path, Permissions::from_mode(0o644)).unwrap();
    fs::write(path, content).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o444)).unwrap();
}

#[test]
fn a_tree_is_found_by_its_content_and_nothing_else_is_left() {
    let world = World::new();
    let first = world.publish("1");
    let again = world.publish("1");
    let other = world.publish("2");
    assert_eq!(first.content(), again.content());
    assert_ne!(first.content(), other.content());
    assert_eq!(fs::read_to_string(other.tree().join("lib/index.js")).unwrap(), "2");
    let found = world.store.find(&first.content()).unwrap();
    found.verify().unwrap();
    assert!(world.store.find(&Digest::of(b"x")).is_none());
    let listed: Vec<_> = world.store.list().unwrap().into_iter().map(|one| (one.entries, one.size)).collect();
    assert_eq!(listed, [(3, 11), (3, 11)]);
    assert_eq!(world.staged(), 0);
}

#[test]
fn what_is_compiled_of_a_tree_changes_no_digest_and_is_looked_after_all_the_same() {
    let world = World::new();
    let plain = world.publish("1").content();
    world.store.gc(&BTreeSet::new()).unwrap();
    let compiled = world.folder.path().join("compiled");
    fs::create_dir_all(compiled.join("node/v1")).unwrap();
    fs::write(compiled.join("node/v1/cache"), "x").unwrap();
    let staging = Staging::begin(&world.store).unwrap();
    let mut made = staging.copy(&world.tree("1"), &mut |_| {}).unwrap();
    made.add_compiled(&compiled).unwrap();
    let package = staging.publish(&world.store, &made).unwrap();
    assert_eq!(package.content(), plain);
    let seen = package.tree().with_file_name("seen");
    fs::remove_file(seen).unwrap();
    package.verify().unwrap();
    let cache = package.tree().join(".fumehood/node/v1/cache");
    assert_eq!(fs::read_to_string(&cache).unwrap(), "x");
    write(&cache, "y");
    let error = package.verify().unwrap_err().to_string();
    assert_eq!(error, "`.fumehood/node/v1/cache` was changed since it was installed");
}

#[test]
fn every_change_of_a_tree_is_noticed_and_named() {
    for (change, path, what) in [
        (
            &(|tree: &Path| write(&tree.join("lib/index.js"), "2")) as &dyn Fn(&Path),
            "lib/index.js",
            "was changed",
        ),
        (&|tree| fs::remove_file(tree.join("run")).unwrap(), "run", "is missing"),
        (&|tree| fs::write(tree.join("new"), "").unwrap(), "new", "was added"),
        (&|tree| fs::create_dir(tree.join("lib/__pycache__")).unwrap(), "lib/__pycache__", "was added"),
        (
            &|tree| fs::set_permissions(tree.join("run"), Permissions::from_mode(0o555)).unwrap(),
            "run",
            "was changed",
        ),
        (
            // Size, modification time and content of a neighbour: only the bytes tell.
            &|tree| {
                let file = tree.join("lib/index.js");
                let before = fs::metadata(&file).unwrap().modified().unwrap();
                write(&file, "9");
                let open = File::open(&file).unwrap();
                open.set_times(FileTimes::new().set_modified(before)).unwrap();
            },
            "lib/index.js",
            "was changed",
        ),
    ] {
        let world = World::new();
        let package = world.publish("1");
        package.verify().unwrap();
        for folder in ["", "lib"] {
            fs::set_permissions(package.tree().join(folder), Permissions::from_mode(0o755)).unwrap();
        }
        change(&package.tree());
        let error = package.verify().unwrap_err();
        assert_eq!(error.to_string(), format!("`{path}` {what} since it was installed"));
        assert!(package.verify().is_err() && package.verify_every_byte().is_err(), "and it stays so");
    }
}

#[test]
fn what_only_looks_changed_is_read_once_more() {
    let world = World::new();
    let package = world.publish("1");
    let seen = package.tree().with_file_name("seen");
    let first = fs::read(&seen).unwrap();
    package.verify().unwrap();
    assert_eq!(fs::read(&seen).unwrap(), first);
    write(&package.tree().join("lib/index.js"), "1");
    package.verify().unwrap();
    assert_ne!(fs::read(&seen).unwrap(), first, "what is said now is what is compared from now on");
    // As after a boot.
    let other_boot = [b"fumehood-seen/1 another\n", &fs::read(&seen).unwrap()[..]].concat();
    fs::write(&seen, &other_boot).unwrap();
    package.verify().unwrap();
    assert_ne!(fs::read(&seen).unwrap(), other_boot);
    fs::remove_file(&seen).unwrap();
    package.verify().unwrap();
}

#[test]
fn a_list_of_another_tree_does_not_pass() {
    let world = World::new();
    let (one, two) = (world.publish("1"), world.publish("2"));
    let list = |package: &Package| package.tree().with_file_name("list");
    fs::copy(list(&two), list(&one)).unwrap();
    fs::remove_file(one.tree().with_file_name("seen")).unwrap();
    assert!(matches!(one.verify(), Err(VerifyError::List)));
    fs::write(list(&one), "").unwrap();
    assert!(matches!(one.verify(), Err(VerifyError::List)));
}

#[test]
fn a_damaged_tree_gives_way_to_a_whole_one() {
    let world = World::new();
    let package = world.publish("1");
    write(&package.tree().join("lib/index.js"), "2");
    assert!(package.verify().is_err());
    let inode = fs::metadata(package.tree()).unwrap().ino();
    let again = world.publish("1");
    again.verify().unwrap();
    assert_ne!(fs::metadata(again.tree()).unwrap().ino(), inode);
    assert_eq!(world.staged(), 0);
}

#[test]
fn a_collection_keeps_what_is_named_and_what_is_used() {
    let world = World::new();
    let (named, unused) = (world.publish("1").content(), world.publish("3").content());
    let used = world.publish("2");
    let keep = BTreeSet::from([named]);
    let collected = world.store.gc(&keep).unwrap();
    assert_eq!(collected.removed, [unused], "the others are held or named");
    assert_eq!((collected.in_use, collected.freed), (vec![used.content()], 11));
    assert!(world.store.find(&unused).is_none());
    let used_content = used.content();
    drop(used);
    assert_eq!(world.store.gc(&keep).unwrap().removed, [used_content]);
    world.store.find(&named).unwrap().verify().unwrap();
    assert_eq!((world.store.list().unwrap().len(), world.staged()), (1, 0));
    assert_eq!(Store::at(world.folder.path().join("none")).gc(&keep).unwrap(), Collected::default());
}

#[test]
fn what_a_dead_maker_left_is_swept_and_what_a_living_one_makes_is_not() {
    let world = World::new();
    let data = |name: &model::name::ServerName| world.folder.path().join("data").join(name.as_str());
    let mut living = Staging::begin(&world.store).unwrap();
    living.make_data_folder(data(&living.data)).unwrap();
    let mut dead = Staging::begin(&world.store).unwrap();
    let dead_data = data(&dead.data);
    dead.make_data_folder(dead_data.clone()).unwrap();
    fs::write(dead_data.join("half"), "x").unwrap();
    // As when its process is killed: the kernel lets go of its locks, and nobody removes anything.
    dead.abandon();
    assert_eq!(world.staged(), 2);
    assert_eq!(sweep(&world.store, &data).unwrap(), 1);
    assert!(!dead_data.exists() && data(&living.data).exists());
    assert_eq!(world.staged(), 1);
    let living_data = data(&living.data);
    drop(living);
    assert!(!living_data.exists());
    assert_eq!(world.staged(), 0);
}
