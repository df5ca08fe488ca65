//! Fake hosts in temporary folders, one per layout and refusal, and one look at the real host.

mod code;
mod interpreter;
mod layouts;
mod mounts;
mod package;
mod system;
mod versions;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use jail::spec::Entry;
use model::mount::Mount;

use super::{Host, Plan, PlanError, Unsearched, plan};

/// What every program of a fake host consists of.
const ELF: &str = "\u{7f}ELF";

/// A host's file tree in a temporary folder.
struct World {
    root: tempfile::TempDir,
    host: Host,
}

impl World {
    /// A merged-`/usr` system with one person, `/home/u`.
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let host = Host {
            root: root.path().canonicalize().unwrap(),
            home: Some("/home/u".into()),
            path: vec!["/usr/local/bin".into(), "/usr/bin".into(), "/bin".into()],
            cwd: "/home/u".into(),
            env: std::collections::BTreeMap::new(),
            own: vec!["/home/u/.config/fumehood".into()],
            hostname: "cell".into(),
        };
        Self { root, host }
            .program("/usr/bin/env")
            .program("/usr/bin/sh")
            .dir("/usr/local/bin")
            .dir("/usr/lib")
            .link("/bin", "usr/bin")
            .link("/lib", "usr/lib")
            .file("/etc/passwd", "root:x:0:0::/root:/bin/sh\ndaemon:x:1:1::/usr/sbin:/bin/false\nu:x:1000:1000::/home/u:/bin/sh\n")
            .dir("/home/u")
            .dir("/root")
    }

    fn outside(&self, path: &str) -> PathBuf {
        self.root.path().join(path.trim_start_matches('/'))
    }

    fn file(self, path: &str, text: &str) -> Self {
        let at = self.outside(path);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::write(at, text).unwrap();
        self
    }

    fn script(self, path: &str, text: &str) -> Self {
        let world = self.file(path, text);
        fs::set_permissions(world.outside(path), fs::Permissions::from_mode(0o755)).unwrap();
        world
    }

    fn program(self, path: &str) -> Self {
        self.script(path, ELF)
    }

    fn dir(self, path: &str) -> Self {
        fs::create_dir_all(self.outside(path)).unwrap();
        self
    }

    fn link(self, at: &str, target: &str) -> Self {
        let link = self.outside(at);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(target, link).unwrap();
        self
    }

    fn socket(self, path: &str) -> Self {
        let at = self.outside(path);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        drop(std::os::unix::net::UnixListener::bind(at).unwrap());
        self
    }

    fn path(mut self, dirs: &[&str]) -> Self {
        self.host.path = dirs.iter().map(PathBuf::from).collect();
        self
    }

    fn cwd(mut self, cwd: &str) -> Self {
        self.host.cwd = cwd.into();
        self
    }

    fn env(mut self, name: &str, value: &str) -> Self {
        self.host.env.insert(name.into(), OsString::from(value));
        self
    }

    fn plan(&self, command: &str) -> Result<Plan, PlanError> {
        self.plan_with(command, &[])
    }

    fn plan_with(&self, command: &str, mounts: &[Mount]) -> Result<Plan, PlanError> {
        let command: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let plan = plan(&self.host, &command, mounts, None)?;
        plan.unsearched.iter().try_for_each(Unsearched::search)?;
        Self::holds(&plan);
        Ok(plan)
    }

    /// What a jail relies on, whatever the plan: sources are real, nothing personal is among them, nothing is made
    /// below a link.
    fn holds(plan: &Plan) {
        let mut links: Vec<&Path> = Vec::new();
        let mut binds: Vec<&Path> = Vec::new();
        for entry in plan.base.iter().chain(&plan.entries) {
            let path = entry_path(entry);
            assert!(path.is_absolute());
            assert!(!links.iter().any(|link| path.starts_with(link)), "{} lies below a link", path.display());
            match entry {
                Entry::Symlink { path, .. } => {
                    assert!(
                        !binds.iter().any(|bind| path.starts_with(bind)),
                        "{} lies in a bind",
                        path.display()
                    );
                    links.push(path);
                }
                Entry::Bind { source, path, .. } => {
                    assert!(source.exists(), "{} does not exist", source.display());
                    assert_eq!(*source, source.canonicalize().unwrap(), "a link in the source");
                    for never in ["/", "/home", "/home/u", "/root"] {
                        assert_ne!(path, Path::new(never));
                    }
                    let below = binds.iter().find(|bind| bind.starts_with(path) && *bind != path);
                    assert_eq!(below, None, "a parent after what lies in it");
                    binds.push(path);
                }
                _ => {}
            }
        }
    }
}

fn entry_path(entry: &Entry) -> &Path {
    match entry {
        Entry::Bind { path, .. }
        | Entry::Symlink { path, .. }
        | Entry::Dir { path }
        | Entry::File { path, .. }
        | Entry::Part { path, .. }
        | Entry::Links { path, .. }
        | Entry::Tmpfs { path, .. } => path,
    }
}

/// The entries as short lines: `ro /x`, `rw /x (.git)`, `ro /x -.env`, `/a -> b`.
fn lines(entries: &[Entry]) -> Vec<String> {
    let line = |entry: &Entry| match entry {
        Entry::Symlink { path, target } => format!("{} -> {}", path.display(), target.display()),
        Entry::Bind { path, write, guarded, masked, .. } => {
            let mut line = format!("{} {}", if *write { "rw" } else { "ro" }, path.display());
            for path in guarded {
                line = format!("{line} ({})", path.display());
            }
            for path in masked {
                line = format!("{line} -{}", path.display());
            }
            line
        }
        other => format!("{other:?}"),
    };
    entries.iter().map(line).collect()
}

fn ro(path: &str) -> Mount {
    Mount { path: path.into(), write: false }
}

fn rw(path: &str) -> Mount {
    Mount { path: path.into(), write: true }
}

/// The real host: whatever is installed, the plan exists inside what it makes visible, and no home is shown.
#[test]
fn the_real_host_gives_a_runtime_that_exists() {
    let cwd = std::env::current_dir().unwrap();
    let host = Host::new(std::env::vars_os(), cwd, Vec::new(), "cell".into());
    let mut found = 0;
    for program in ["sh", "node", "python3"] {
        let Ok(plan) = plan(&host, &[program.to_owned()], &[], None) else { continue };
        found += 1;
        let exec = Path::new(&plan.argv[0]);
        assert!(exec.is_absolute() && exec.exists(), "{}", exec.display());
        let real = exec.canonicalize().unwrap();
        let binds = plan.base.iter().chain(&plan.entries).filter_map(|entry| match entry {
            Entry::Bind { source, path, .. } => Some((source, path)),
            _ => None,
        });
        let binds: Vec<_> = binds.collect();
        assert!(
            binds.iter().any(|(source, _)| real.starts_with(source)),
            "{} is not visible",
            real.display()
        );
        for (source, path) in binds {
            assert!(source.exists());
            assert_ne!(host.home.as_ref(), Some(path));
        }
    }
    assert!(found >= 1, "every host has a shell");
}

#[test]
fn an_empty_command_and_an_unknown_program_are_refused() {
    let world = World::new();
    assert!(matches!(plan(&world.host, &[], &[], None), Err(PlanError::Empty)));
    let error = world.plan("nowhere").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`nowhere` is in none of the folders of PATH (/usr/local/bin, /usr/bin, /bin)"
    );
    let error = world.program("/srv/tools/thing").path(&["/srv/tools"]).plan("thing").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`thing` was found at `/srv/tools/thing`, and it is not known what it needs from there"
    );
    assert_eq!(error.hint(), "make its folder visible with `--mount /srv/tools`");
}

#[test]
fn the_remedy_of_an_unknown_place_works() {
    let world = World::new().program("/srv/tools/thing").path(&["/srv/tools"]);
    let plan = world.plan_with("thing", &[ro("/srv/tools")]).unwrap();
    assert_eq!(lines(&plan.entries), ["ro /srv/tools"]);
    assert_eq!(plan.argv, ["/srv/tools/thing"]);
}
