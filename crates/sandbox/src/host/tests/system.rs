//! The base file system.

use jail::spec::Entry;

use super::{World, entry_path, lines};

fn base(world: &World) -> Vec<Entry> {
    world.plan("sh").unwrap().base
}

#[test]
fn a_merged_usr_keeps_its_links() {
    let base = lines(&base(&World::new().link("/lib64", "usr/lib")));
    for line in ["ro /usr", "/bin -> usr/bin", "/lib -> usr/lib", "/lib64 -> usr/lib"] {
        assert!(base.contains(&line.to_owned()), "{line} in {base:?}");
    }
    assert!(!base.iter().any(|line| line.contains("/sbin") || line.contains("/opt")));
}

#[test]
fn folders_of_their_own_are_bound() {
    let world = World::new().program("/sbin/init").dir("/lib64");
    let base = lines(&base(&world));
    for line in ["ro /usr", "ro /sbin", "ro /lib64"] {
        assert!(base.contains(&line.to_owned()), "{line} in {base:?}");
    }
    // A program there needs nothing more.
    assert_eq!(world.plan("/sbin/init").unwrap().entries, []);
}

#[test]
fn etc_is_made_up_and_holds_no_secret() {
    let world = World::new()
        .file("/etc/shadow", "x")
        .file("/etc/gitconfig", "x")
        .file("/etc/environment", "x")
        .file("/etc/machine-id", "x")
        .file("/etc/sudoers", "x")
        .file("/etc/ssh/sshd_config", "x")
        .file("/etc/cron.d/job", "x")
        .file("/etc/ssl/private/host.key", "x")
        .file("/etc/ssl/certs/root.pem", "x")
        .file("/etc/ld.so.cache", &"x".repeat(5000))
        .file("/etc/debian_version", "13.1\n")
        .file("/etc/ld.so.preload", "x")
        .file("/etc/java-17-openjdk/net.properties", "x")
        .file("/etc/python3.11/sitecustomize.py", "x")
        .file("/usr/lib/os-release", "x")
        .link("/etc/os-release", "../usr/lib/os-release")
        .file("/var/lib/ca/pem/root.pem", "x")
        .file("/usr/share/zoneinfo/Europe/Berlin", "x")
        .link("/etc/localtime", "/usr/share/zoneinfo/Europe/Berlin");
    let base = base(&world);
    let etc: Vec<String> = base
        .iter()
        .filter(|entry| !matches!(entry, Entry::File { .. }))
        .filter(|entry| entry_path(entry).starts_with("/etc"))
        .flat_map(|entry| lines(std::slice::from_ref(entry)))
        .collect();
    assert_eq!(
        etc,
        [
            "/etc/localtime -> /usr/share/zoneinfo/Europe/Berlin",
            "ro /etc/ld.so.cache",
            "ro /etc/ssl/certs",
            "/etc/os-release -> ../usr/lib/os-release",
            "ro /etc/java-17-openjdk",
            "ro /etc/python3.11",
        ]
    );
    let text = |name: &str| {
        base.iter().find_map(|entry| match entry {
            Entry::File { path, contents } if path.ends_with(name) => Some(contents.clone()),
            _ => None,
        })
    };
    assert!(text("etc/passwd").unwrap().ends_with("tool:x:65534:65534:tool:/home/tool:/bin/sh\n"));
    assert!(text("etc/hosts").unwrap().contains("::1 localhost"));
    assert!(text("etc/hosts").unwrap().contains("127.0.1.1 cell\n"));
    assert_eq!(text("etc/hostname").unwrap(), "cell\n");
    assert!(text("etc/resolv.conf").unwrap().starts_with('#'));
    assert_eq!(text("etc/debian_version").unwrap(), "13.1\n");
    assert!(text("etc/nsswitch.conf").unwrap().contains("hosts: files dns\n"));
}

#[test]
fn what_a_link_of_etc_leads_to_is_bound_where_it_would_be_unseen() {
    let world = World::new()
        .file("/var/lib/ca/pem/root.pem", "x")
        .link("/etc/ssl/certs", "/var/lib/ca/pem")
        .file("/etc/zone", &"x".repeat(5000))
        .link("/etc/localtime", "zone");
    let base = base(&world);
    let bound: Vec<String> = base
        .iter()
        .filter_map(|entry| match entry {
            Entry::Bind { source, path, .. } if path.starts_with("/etc") => {
                let source = source.strip_prefix(&world.host.root).unwrap();
                Some(format!("{} from {}", path.display(), source.display()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(bound, ["/etc/localtime from etc/zone", "/etc/ssl/certs from var/lib/ca/pem"]);
}
