//! Whose home a folder is.

use std::path::{Path, PathBuf};

use super::view::View;

/// The home folders of a host, as written and with links resolved.
#[derive(Debug, Clone, Default)]
pub(crate) struct Homes {
    /// Every home of the passwd database, and `$HOME`.
    pub(crate) all: Vec<PathBuf>,
    /// Those of people: `$HOME`, root's, and of accounts with uid ≥ 1000 (`login.defs(5)`, `UID_MIN`).
    pub(crate) people: Vec<PathBuf>,
}

/// The uid of `nobody`, which is no person.
const NOBODY: u32 = 65534;
/// First uid of ordinary accounts.
const UID_MIN: u32 = 1000;

impl Homes {
    /// Reads the passwd database of the host.
    pub(crate) fn read(view: &View, home: Option<&Path>) -> Self {
        let mut homes = Self::default();
        homes.add(view, Path::new("/root"), true);
        if let Some(home) = home {
            homes.add(view, home, true);
        }
        for line in view.text(Path::new("/etc/passwd")).unwrap_or_default().lines() {
            let mut fields = line.split(':');
            let (uid, home) = (fields.nth(2), fields.nth(2));
            let uid = uid.and_then(|uid| uid.parse::<u32>().ok()).unwrap_or_default();
            if let Some(home) = home.map(Path::new)
                && home.is_absolute()
            {
                homes.add(view, home, uid == 0 || (uid >= UID_MIN && uid != NOBODY));
            }
        }
        homes
    }

    /// The person's home that `folder` is or contains.
    pub(crate) fn within(&self, folder: &Path) -> Option<&Path> {
        self.people.iter().map(PathBuf::as_path).find(|home| home.starts_with(folder))
    }

    fn add(&mut self, view: &View, home: &Path, person: bool) {
        if home == Path::new("/") {
            return;
        }
        let real = view.trace(home).ok().map(|trace| trace.real).filter(|real| real != home);
        for path in [Some(home.to_owned()), real].into_iter().flatten() {
            if person && !self.people.contains(&path) {
                self.people.push(path.clone());
            }
            if !self.all.contains(&path) {
                self.all.push(path);
            }
        }
    }
}
