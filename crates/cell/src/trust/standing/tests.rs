use std::os::unix::fs::symlink;

use egress::tls::authority::Authority;

use super::*;

#[test]
fn only_links_to_what_a_cell_sees_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let link = |name: &str, to: &str| symlink(to, folder.path().join(name)).unwrap();
    link("A_Root.pem", "/usr/share/ca-certificates/mozilla/A_Root.crt");
    link("0123abcd.0", "A_Root.pem");
    link("0123abcd.1", "/usr/share/ca-certificates/mozilla/B.crt");
    link("89abcdef.0", "/home/somebody/own.pem");
    link("deadbeef.0", "missing.pem");
    fs::write(folder.path().join("fedcba98.0"), "x").unwrap();
    let mut found = hashed(folder.path());
    found.sort();
    let to = |name: &str, path: &str| (name.to_owned(), PathBuf::from(path));
    assert_eq!(
        found,
        [
            to("0123abcd.0", "/usr/share/ca-certificates/mozilla/A_Root.crt"),
            to("0123abcd.1", "/usr/share/ca-certificates/mozilla/B.crt")
        ]
    );
}

struct World {
    folder: tempfile::TempDir,
    extra: PathBuf,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let extra = folder.path().join("extra.pem");
        fs::write(&extra, Authority::new().unwrap().certificate_pem()).unwrap();
        Self { folder, extra }
    }

    fn all(&self) -> PathBuf {
        self.folder.path().join("trust")
    }

    fn standing(&self, java: bool) -> Standing {
        Standing::of(&self.all(), std::slice::from_ref(&self.extra), Some("0123abcd"), java).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.all()).unwrap();
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

#[test]
fn it_is_made_once_for_each_state_of_the_files() {
    let world = World::new();
    let first = world.standing(false);
    let inode = fs::metadata(first.roots()).unwrap().ino();
    let again = world.standing(false);
    assert_eq!((first.roots(), inode), (again.roots(), fs::metadata(again.roots()).unwrap().ino()));
    assert!(!first.keystore().exists() && world.standing(true).keystore().exists());
    let text = fs::read_to_string(&world.extra).unwrap();
    assert!(fs::read_to_string(first.roots()).unwrap().contains(text.trim()));
    let other = Authority::new().unwrap().certificate_pem();
    fs::write(&world.extra, &other).unwrap();
    let changed = world.standing(false);
    assert_ne!(first.roots(), changed.roots());
    assert!(fs::read_to_string(changed.roots()).unwrap().contains(other.trim()));
    assert_eq!(world.names().len(), 3);
    assert_eq!(fs::metadata(world.all()).unwrap().mode() & 0o777, 0o700);
}

#[test]
fn a_file_of_the_operators_that_is_none_leaves_nothing_behind() {
    let world = World::new();
    for text in ["", "no certificate"] {
        fs::write(&world.extra, text).unwrap();
        let extra = std::slice::from_ref(&world.extra);
        let error = Standing::of(&world.all(), extra, None, false).unwrap_err();
        assert!(matches!(error, StandingError::Roots(RootsError::Content { .. })), "{error}");
    }
    fs::remove_file(&world.extra).unwrap();
    let error = Standing::of(&world.all(), std::slice::from_ref(&world.extra), None, false).unwrap_err();
    assert!(matches!(error, StandingError::Roots(RootsError::Read { .. })), "{error}");
    assert!(!world.all().exists());
}

#[test]
fn several_at_once_and_one_that_died_half_way_come_to_the_same() {
    let world = World::new();
    let begun = world.all().join(format!(".begun-by-{}", rustix::process::getpid().as_raw_nonzero()));
    fs::create_dir_all(begun.join("certs")).unwrap();
    let first = world.standing(false);
    let key = first.roots().parent().unwrap().to_owned();
    let roots = Roots::system(&[]).unwrap();
    // What the one who comes second does.
    let inode = fs::metadata(first.roots()).unwrap().ino();
    make(&world.all(), &first, &roots, None, false).unwrap();
    assert_eq!(world.names(), [key.file_name().unwrap().to_str().unwrap()]);
    assert_eq!(fs::metadata(first.roots()).unwrap().ino(), inode, "what was there first stays");
    // What somebody tidied up comes back.
    fs::remove_file(first.links()).unwrap();
    assert!(fs::metadata(world.standing(false).links()).unwrap().len() > 0);
    assert_eq!(world.names().len(), 1);
}

#[test]
fn what_no_cell_asked_for_in_a_long_time_goes() {
    let world = World::new();
    let first = world.standing(false);
    let old = |days: u64| {
        let at = std::time::SystemTime::now() - Duration::from_hours(24 * days);
        File::open(first.0.as_path()).unwrap().set_modified(at).unwrap();
    };
    old(100);
    // Asked for again: it is noted.
    world.standing(false);
    world.standing(true);
    assert_eq!(world.names().len(), 2);
    old(100);
    fs::write(&world.extra, Authority::new().unwrap().certificate_pem()).unwrap();
    world.standing(false);
    assert_eq!(world.names().len(), 2);
    assert!(!first.roots().exists());
}
