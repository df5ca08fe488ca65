use std::{
    fs, io,
    os::unix::{
        fs::{MetadataExt, PermissionsExt, symlink},
        net::UnixListener,
    },
    path::Path,
};

use super::*;

fn tried(make: impl Fn(&Path) -> io::Result<()>) -> Result<Listing, TreeError> {
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("from");
    fs::create_dir_all(from.join("a/b")).unwrap();
    fs::write(from.join("a/b/file"), "x").unwrap();
    make(&from).unwrap();
    copy(&from, &folder.path().join("to"), &mut |_| {})
}

#[test]
fn what_is_copied_has_bytes_and_an_executable_bit_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    fs::create_dir_all(from.join("bin")).unwrap();
    fs::write(from.join("bin/tool"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(from.join("bin/tool"), Permissions::from_mode(0o777)).unwrap();
    fs::write(from.join("data"), "x").unwrap();
    fs::hard_link(from.join("data"), from.join("again")).unwrap();
    symlink("../data", from.join("bin/link")).unwrap();
    let listing = copy(&from, &to, &mut |_| {}).unwrap();
    let mode = |path: &str| fs::symlink_metadata(to.join(path)).unwrap().mode() & 0o7777;
    assert_eq!((mode("bin/tool"), mode("data"), mode("bin"), mode("")), (0o555, 0o444, 0o555, 0o555));
    assert_eq!(fs::symlink_metadata(to.join("data")).unwrap().nlink(), 1, "a second name is a second file");
    assert_eq!(list(&to).unwrap(), listing);
    assert_eq!(list(&from).unwrap().content(), listing.content());
    let paths: Vec<_> = listing.0.iter().map(|entry| entry.path.to_str().unwrap()).collect();
    assert_eq!(paths, ["again", "bin", "bin/link", "bin/tool", "data"]);
}

#[test]
fn links_that_stay_inside_are_kept_and_all_others_are_refused() {
    for target in ["../../a", "b/../../x", "/etc/passwd", "../../../x", "b/../../../..", ".."] {
        let found = tried(|from| symlink(target, from.join("a/link")));
        let stays = target == "..";
        assert_eq!(found.is_ok(), stays, "{target}");
        assert!(stays || matches!(found, Err(TreeError::Link { .. })), "{target}");
    }
    for target in ["b/file", "../a/b", "./b", "not-there"] {
        assert!(tried(|from| symlink(target, from.join("a/link"))).is_ok(), "{target}");
    }
}

#[test]
fn two_links_that_lead_out_together_are_refused() {
    // `deep` leads to the root of the tree, and `..` from there is outside, though by its letters it is not.
    let together = |from: &Path| {
        fs::create_dir_all(from.join("d/e"))?;
        symlink("../..", from.join("d/e/deep"))?;
        symlink("d/e/deep/../secret", from.join("out"))
    };
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("from");
    fs::create_dir(&from).unwrap();
    fs::write(folder.path().join("secret"), "canary").unwrap();
    together(&from).unwrap();
    assert_eq!(fs::read_to_string(from.join("out")).unwrap(), "canary", "the control: it does lead out");
    assert!(matches!(
        copy(&from, &folder.path().join("to"), &mut |_| {}),
        Err(TreeError::Link { path, .. }) if path == Path::new("out")
    ));
}

#[test]
fn what_is_no_file_is_refused() {
    let socket = tried(|from| UnixListener::bind(from.join("socket")).map(drop));
    assert!(matches!(socket, Err(TreeError::Special { what: "socket", .. })));
    let mode = Permissions::from_mode(0o4755);
    let setuid = tried(|from| fs::set_permissions(from.join("a/b/file"), mode.clone()));
    assert!(matches!(setuid, Err(TreeError::Setuid { .. })));
}
