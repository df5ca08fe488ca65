//! Tells when, in a writable mount, a name appears that some program of the user runs or trusts, or a Unix socket.

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    fs, io,
    mem::MaybeUninit,
    os::{fd::OwnedFd, unix::ffi::OsStrExt, unix::fs::FileTypeExt},
    path::{Path, PathBuf},
};

use cell_api::event::Guarded;
use rustix::{
    fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags},
    io::Errno,
};
use tokio::io::unix::AsyncFd;

use crate::sys;

/// How many folders of one mount are watched, outermost first. An inotify watch pins about 1 KiB of kernel memory and
/// a user may have some thousands (`fs.inotify.max_user_watches`).
pub(crate) const MAX_FOLDERS: usize = 1_024;

/// What the watch has to say.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Sighting {
    /// A new one.
    Guarded {
        /// Where.
        path: PathBuf,
        /// What.
        what: Guarded,
    },
    /// Not every folder is watched, or the watch missed something.
    Partial(String),
}

/// The watch over one mount.
#[derive(Debug)]
pub(crate) struct GuardedWatch {
    inotify: AsyncFd<OwnedFd>,
    folders: HashMap<i32, PathBuf>,
    known: BTreeSet<PathBuf>,
    sightings: VecDeque<Sighting>,
    bounded: bool,
}

impl GuardedWatch {
    /// Begins to watch `root`. What is there already is told too, unless it is `known`; folders that are known are
    /// not looked into, since nothing can be written there. What is known stays so until a folder above it is replaced.
    pub(crate) async fn begin(root: PathBuf, known: BTreeSet<PathBuf>) -> io::Result<Self> {
        let inotify = sys::watch(inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?)?;
        let mut watch =
            Self { inotify, folders: HashMap::new(), known, sightings: VecDeque::new(), bounded: false };
        let mut pending = VecDeque::from([root]);
        while let Some(folder) = pending.pop_front() {
            pending.extend(watch.enter(&folder)?);
            // The supervisor has one thread, and a tree may be large.
            tokio::task::yield_now().await;
        }
        Ok(watch)
    }

    /// The next sighting. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> io::Result<Sighting> {
        loop {
            if let Some(sighting) = self.sightings.pop_front() {
                return Ok(sighting);
            }
            let mut ready = self.inotify.readable().await?;
            let seen = read(ready.get_inner())?;
            if seen.is_empty() {
                ready.clear_ready();
            }
            drop(ready);
            self.take_all(seen)?;
        }
    }

    /// Everything that has been seen by now, without waiting.
    pub(crate) fn rest(&mut self) -> io::Result<Vec<Sighting>> {
        loop {
            let seen = read(self.inotify.get_ref())?;
            if seen.is_empty() {
                return Ok(self.sightings.drain(..).collect());
            }
            self.take_all(seen)?;
        }
    }

    fn take_all(&mut self, seen: Vec<Seen>) -> io::Result<()> {
        seen.into_iter().try_for_each(|(folder, flags, name)| self.take(folder, flags, name.as_deref()))
    }

    fn take(&mut self, folder: i32, flags: ReadFlags, name: Option<&[u8]>) -> io::Result<()> {
        if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
            self.sightings
                .push_back(Sighting::Partial("changes came faster than they could be looked at".into()));
            return Ok(());
        }
        if flags.contains(ReadFlags::IGNORED) {
            self.folders.remove(&folder);
            return Ok(());
        }
        let (Some(parent), Some(name)) = (self.folders.get(&folder), name) else { return Ok(()) };
        let path = parent.join(std::ffi::OsStr::from_bytes(name));
        if self.known.contains(&path) {
            return Ok(());
        }
        self.judge(&path);
        if flags.contains(ReadFlags::ISDIR) {
            // A tool cannot replace what is guarded, but it can put another folder in the place of one that holds it.
            self.known.retain(|known| !known.starts_with(&path));
            let mut pending = VecDeque::from([path]);
            while let Some(folder) = pending.pop_front() {
                pending.extend(self.enter(&folder)?);
            }
        }
        Ok(())
    }

    fn judge(&mut self, path: &Path) {
        let guarded = path.file_name().and_then(|name| name.to_str()).is_some_and(model::mount::is_guarded);
        let what = if guarded {
            Guarded::Name
        } else if fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket()) {
            Guarded::Socket
        } else {
            return;
        };
        self.sightings.push_back(Sighting::Guarded { path: path.to_owned(), what });
    }

    /// Watches one folder and judges what lies in it; the folders below it.
    fn enter(&mut self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        if self.folders.len() >= MAX_FOLDERS {
            self.say_bounded(folder, "the bound is reached");
            return Ok(Vec::new());
        }
        let interest =
            WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW;
        match inotify::add_watch(self.inotify.get_ref(), folder, interest) {
            Ok(number) => {
                self.folders.insert(number, folder.to_owned());
            }
            // Gone again, closed, or a file where a folder was: nothing to watch.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => return Ok(Vec::new()),
            Err(Errno::NOSPC) => {
                self.say_bounded(folder, "no inotify watch is left");
                return Ok(Vec::new());
            }
            Err(error) => return Err(error.into()),
        }
        // Read after the watch is set, so that nothing falls between the two.
        let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
        let mut below = Vec::new();
        for path in entries.flatten().map(|entry| entry.path()) {
            if self.known.contains(&path) {
                continue;
            }
            self.judge(&path);
            if fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir()) {
                below.push(path);
            }
        }
        Ok(below)
    }

    fn say_bounded(&mut self, folder: &Path, why: &str) {
        if !std::mem::replace(&mut self.bounded, true) {
            self.sightings.push_back(Sighting::Partial(format!(
                "new guarded names are reported in {} folders only, from `{}` on none: {why}",
                self.folders.len(),
                folder.display()
            )));
        }
    }
}

/// The number of a watched folder, what happened there, and to which name.
type Seen = (i32, ReadFlags, Option<Vec<u8>>);

/// One read; nothing where nothing has happened.
fn read(inotify: &OwnedFd) -> io::Result<Vec<Seen>> {
    let mut buffer = [MaybeUninit::<u8>::uninit(); 4_096];
    let mut seen = Vec::new();
    let mut reader = inotify::Reader::new(inotify, &mut buffer);
    // One read fills the buffer; the loop ends before it would read again.
    while seen.is_empty() || !reader.is_buffer_empty() {
        match reader.next() {
            Ok(event) => {
                let name = event.file_name().map(|name| name.to_bytes().to_vec());
                seen.push((event.wd(), event.events(), name));
            }
            Err(Errno::AGAIN) => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
    }

    #[test]
    fn a_planted_hook_and_a_new_socket_are_told_with_their_place() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("deep/er")).unwrap();
        fs::create_dir(root.path().join(".git")).unwrap();
        let known = BTreeSet::from([root.path().join(".git")]);
        run(async {
            let mut watch = GuardedWatch::begin(root.path().to_owned(), known).await.unwrap();
            fs::write(root.path().join("harmless"), b"").unwrap();
            fs::write(root.path().join("deep/er/.envrc"), b"").unwrap();
            let envrc = Sighting::Guarded { path: root.path().join("deep/er/.envrc"), what: Guarded::Name };
            assert_eq!(watch.next().await.unwrap(), envrc);
            let _listener = std::os::unix::net::UnixListener::bind(root.path().join("deep/s")).unwrap();
            let socket = Sighting::Guarded { path: root.path().join("deep/s"), what: Guarded::Socket };
            assert_eq!(watch.next().await.unwrap(), socket);
        });
    }

    #[test]
    fn a_whole_new_tree_is_looked_into() {
        let root = tempfile::tempdir().unwrap();
        let other = tempfile::tempdir_in(root.path().parent().unwrap()).unwrap();
        fs::create_dir_all(other.path().join("repo/.git/hooks")).unwrap();
        let known = BTreeSet::from([root.path().join(".git")]);
        run(async {
            let mut watch = GuardedWatch::begin(root.path().to_owned(), known).await.unwrap();
            fs::rename(other.path().join("repo"), root.path().join("repo")).unwrap();
            let git = Sighting::Guarded { path: root.path().join("repo/.git"), what: Guarded::Name };
            assert_eq!(watch.next().await.unwrap(), git);
        });
    }

    #[test]
    fn another_folder_in_the_place_of_one_with_a_known_name_is_looked_into() {
        let root = tempfile::tempdir().unwrap();
        let (sub, moved) = (root.path().join("sub"), root.path().join("moved"));
        fs::create_dir_all(sub.join(".git")).unwrap();
        let known = BTreeSet::from([sub.join(".git")]);
        run(async {
            let mut watch = GuardedWatch::begin(root.path().to_owned(), known).await.unwrap();
            fs::rename(&sub, &moved).unwrap();
            fs::create_dir_all(sub.join(".git/hooks")).unwrap();
            for path in [moved, sub] {
                let git = Sighting::Guarded { path: path.join(".git"), what: Guarded::Name };
                assert_eq!(watch.next().await.unwrap(), git);
            }
        });
    }

    #[test]
    fn the_bound_is_said() {
        let root = tempfile::tempdir().unwrap();
        for n in 0..=MAX_FOLDERS {
            fs::create_dir(root.path().join(n.to_string())).unwrap();
        }
        let known = BTreeSet::from([root.path().join(".git")]);
        run(async {
            let mut watch = GuardedWatch::begin(root.path().to_owned(), known).await.unwrap();
            assert!(matches!(watch.next().await.unwrap(), Sighting::Partial(text) if text.contains("1024")));
        });
    }
}
