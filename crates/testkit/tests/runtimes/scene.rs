//! A world whose operator binds a name to the origin and whose vault holds its key, and what runs in its cells.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use hyper::Version;
use testkit::world::{Caller, Ran, World, skip};

use crate::origin::{GREETING, NAME, Origin, Seen, Shelf, VALUE};

/// No flags besides.
pub(crate) const PLAIN: [&str; 0] = [];

/// An origin, and a world that reaches it.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) origin: Origin,
}

impl Scene {
    /// Both, for root or for whoever else runs the tests.
    pub(crate) fn new(shelf: Shelf) -> Self {
        Self::of(Caller::all().into_iter().next().unwrap(), shelf)
    }

    /// Both, for this caller.
    pub(crate) fn of(caller: Caller, shelf: Shelf) -> Self {
        let (world, origin) = (World::new(caller).unwrap(), Origin::start(shelf));
        world.make_folder("config/fumehood").unwrap();
        let authority = world.make_file("config/origin.pem", &origin.authority, 0o644).unwrap();
        let text = format!(
            "[upstreams.\"{NAME}\"]\naddress = \"{}\"\nloopback = true\nca = \"{}\"\n",
            origin.address,
            authority.display()
        );
        world.make_file("config/fumehood/config.toml", &text, 0o600).unwrap();
        let mut command = world.product(None);
        command.args(["secret", "set", "TOKEN", "--host", NAME, "--header", "authorization", "--basic"]);
        let kept = world.run(&mut command, &format!("{VALUE}\n")).unwrap();
        assert_eq!(kept.code, Some(0), "{kept:?}");
        Self { world, origin }
    }

    /// A file among those that the cell sees.
    pub(crate) fn program(&self, name: &str, text: &str) -> String {
        self.world.make_file(&format!("tool/{name}"), text, 0o644).unwrap().display().to_string()
    }

    /// `fumehood exec` of this with these flags; the value is in nothing that it says.
    pub(crate) fn exec(&self, flags: &[&str], words: &[&str]) -> Ran {
        let mut command = self.world.product(None);
        command.args(["exec", "--limit", "require=none", "--limit", "memory=2GiB", "--mount"]);
        command.arg(self.world.path("tool")).args(flags).arg("--").args(words);
        let ran = self.world.run(&mut command, "").unwrap();
        assert!(!ran.late && ran.remains.is_empty(), "{words:?}: {ran:?}");
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!all.contains(VALUE), "{words:?}: the value came in: {ran:?}");
        ran
    }

    /// Runs this with the key, after its variable was printed; gives what the program said and what the origin saw.
    pub(crate) fn with_key(&self, flags: &[impl AsRef<str>], words: &[&str]) -> Visit {
        let shell = ["sh", "-c", "echo \"$TOKEN\"; exec \"$@\"", "sh"];
        let mut all = vec!["--secret", "TOKEN"];
        all.extend(flags.iter().map(AsRef::as_ref));
        let ran = self.exec(&all, &[&shell[..], words].concat());
        assert_eq!(ran.code, Some(0), "{words:?}: {ran:?}\n{:?}", self.origin.seen());
        let (placeholder, said) = ran.stdout.split_once('\n').unwrap();
        assert!(placeholder.len() == VALUE.len() && placeholder != VALUE, "{words:?}: {ran:?}");
        Visit { placeholder: placeholder.to_owned(), said: said.to_owned(), seen: self.origin.seen() }
    }

    /// Runs a program that prints what the origin answers to the key as a bearer: the origin saw the value, by this
    /// version of HTTP, and the program the placeholder.
    pub(crate) fn greeted(&self, version: Version, flags: &[impl AsRef<str>], words: &[&str]) {
        let visit = self.with_key(flags, words);
        assert!(
            visit.said.contains(&format!("{GREETING}Bearer {}", visit.placeholder)),
            "{words:?}: {visit:?}"
        );
        visit.arrived(version, &format!("Bearer {VALUE}"));
    }
}

/// What came of a run with the key.
#[derive(Debug)]
pub(crate) struct Visit {
    pub(crate) placeholder: String,
    pub(crate) said: String,
    pub(crate) seen: Vec<Seen>,
}

impl Visit {
    /// A request with this credential came by this version.
    pub(crate) fn arrived(&self, version: Version, credential: &str) {
        let arrived = self
            .seen
            .iter()
            .any(|seen| seen.version == version && seen.credential.as_deref() == Some(credential));
        assert!(arrived, "no {version:?} request with the key: {self:?}");
    }
}

/// Where a program of the host is; where it is not, the row of the table is skipped by its name.
pub(crate) fn host(row: &str, program: &str) -> Option<String> {
    let found = ["/usr/local/bin", "/usr/bin", "/bin"]
        .map(|folder| Path::new(folder).join(program))
        .into_iter()
        .find(|path| path.is_file());
    if found.is_none() {
        skip(row, &format!("there is no `{program}` on this machine"));
    }
    Some(found?.display().to_string())
}

/// Something that `./x` installs for the tests, below its folder of the cache: where that folder is, and the path.
pub(crate) fn package(row: &str, folder: &str, path: &str) -> Option<(String, String)> {
    let cache = env::var_os("FUMEHOOD_CACHE")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.cache")), PathBuf::from);
    let found = cache.join(folder).canonicalize().ok().filter(|folder| folder.join(path).exists());
    if found.is_none() {
        skip(row, &format!("`{folder}/{path}` is not among the test packages"));
    }
    let folder = found?;
    Some((folder.display().to_string(), folder.join(path).display().to_string()))
}

/// The Python whose packages `./x` installs for the tests, and the flags by which a cell sees it.
pub(crate) fn python(row: &str) -> Option<(String, Vec<String>)> {
    let (folder, python) = package(row, "python-runtimes", "bin/python")?;
    let asked = Command::new(&python).args(["-c", "import sys; print(sys.base_prefix)"]).output().unwrap();
    let base = String::from_utf8(asked.stdout).unwrap().trim().to_owned();
    let mut flags = vec!["--mount".to_owned(), folder];
    // Each cell sees `/usr` anyway.
    if !base.starts_with("/usr") {
        flags.extend(["--mount".to_owned(), base]);
    }
    Some((python, flags))
}

/// Whether a command of the host succeeds.
pub(crate) fn works(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}
