//! Telling the supervisor what has changed.

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::{fs::MetadataExt, net::UnixStream},
    path::{Path, PathBuf},
    time::Duration,
};

use model::{
    config::SecretSource,
    secret::{Binding, SecretName},
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::Held;
use crate::{
    source,
    vault::{Stamp, Store, Unlocked, UserKey, VaultError},
    wire,
};

/// How often the vault and files are looked at: a rotation reaches a running cell within this time.
const LOOK: Duration = Duration::from_millis(500);
/// How many looks in a row may fail before what was given is taken away.
const FAILURES: u32 = 4;

/// What is looked at.
pub(super) struct Watch {
    store: Store,
    unlocked: Option<Unlocked>,
    /// The version that was given last.
    seen: Stamp,
    /// How often the present version could not be read.
    failures: u32,
    sealed: Vec<Sealed>,
    files: Vec<Watched>,
}

/// A secret of the vault, and whose value of it.
struct Sealed {
    name: SecretName,
    user: Option<UserKey>,
}

struct Watched {
    name: SecretName,
    path: PathBuf,
    binding: Binding,
    seen: FileStamp,
    failures: u32,
}

type FileStamp = Option<(u64, u64, i64, i64)>;

impl Watch {
    pub(super) fn new(store: &Store, unlocked: Option<Unlocked>, seen: Stamp) -> Self {
        Self { store: store.clone(), unlocked, seen, failures: 0, sealed: Vec::new(), files: Vec::new() }
    }

    /// One more secret of the vault: the value that this user has of it, or everybody's.
    pub(super) fn add_sealed(&mut self, name: &SecretName, user: Option<&UserKey>) {
        self.sealed.push(Sealed { name: name.clone(), user: user.cloned() });
    }

    /// One more secret of a file. To be called before the file is read.
    pub(super) fn add_file(&mut self, name: &SecretName, path: &Path, binding: &Binding) {
        self.files.push(Watched {
            name: name.clone(),
            path: path.to_owned(),
            binding: binding.clone(),
            seen: file_stamp(path),
            failures: 0,
        });
    }

    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|watched| watched.path.as_path())
    }

    /// Tells changes until the supervisor has gone.
    pub(super) fn run(
        &mut self,
        socket: &mut UnixStream,
        mut held: BTreeMap<SecretName, Held>,
    ) -> io::Result<()> {
        loop {
            if gone(socket)? {
                return Ok(());
            }
            self.look_at_vault(socket, &mut held)?;
            self.look_at_files(socket, &mut held)?;
        }
    }

    fn look_at_vault(
        &mut self,
        socket: &mut UnixStream,
        held: &mut BTreeMap<SecretName, Held>,
    ) -> io::Result<()> {
        let Some(unlocked) = &mut self.unlocked else { return Ok(()) };
        let stamp = self.store.stamp();
        if stamp.as_ref().is_ok_and(|stamp| *stamp == self.seen) && self.failures == 0 {
            return Ok(());
        }
        let read = stamp.and_then(|stamp| Ok((stamp, unlocked.read()?)));
        let mut vault = match read {
            Ok((stamp, vault)) => {
                self.seen = stamp;
                self.failures = 0;
                vault
            }
            Err(error) => {
                self.failures = self.failures.saturating_add(1);
                if self.failures == FAILURES {
                    tell(&error);
                    for Sealed { name, .. } in &self.sealed {
                        if held.remove(name).is_some() {
                            wire::take(socket, name)?;
                        }
                    }
                }
                return Ok(());
            }
        };
        for Sealed { name, user } in &self.sealed {
            let entry = match user {
                Some(user) => vault.take_for(name, user),
                None => vault.remove(name).ok(),
            };
            match entry {
                Some(entry) => give(socket, held, name, Held { binding: entry.binding, value: entry.value })?,
                None if held.remove(name).is_some() => wire::take(socket, name)?,
                None => {}
            }
        }
        Ok(())
    }

    fn look_at_files(
        &mut self,
        socket: &mut UnixStream,
        held: &mut BTreeMap<SecretName, Held>,
    ) -> io::Result<()> {
        for watched in &mut self.files {
            let stamp = file_stamp(&watched.path);
            if stamp == watched.seen && watched.failures == 0 {
                continue;
            }
            let Watched { name, path, binding, seen, failures } = watched;
            match source::fetch(name, &SecretSource::File(path.clone()), binding) {
                Ok(value) => {
                    give(socket, held, name, Held { binding: binding.clone(), value })?;
                    *failures = 0;
                    *seen = stamp;
                }
                Err(error) => {
                    // It may be half written, or between two names.
                    *failures = failures.saturating_add(1);
                    if *failures == FAILURES && held.remove(name).is_some() {
                        wire::take(socket, name)?;
                        say(&format!("{error}; it is taken from the cell"));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Gives it, if that is news.
fn give(
    socket: &mut UnixStream,
    held: &mut BTreeMap<SecretName, Held>,
    name: &SecretName,
    new: Held,
) -> io::Result<()> {
    let same = |old: &Held| old.binding == new.binding && old.value.expose() == new.value.expose();
    if !held.get(name).is_some_and(same) {
        wire::give(socket, name, &new.binding, &new.value)?;
        held.insert(name.clone(), new);
    }
    Ok(())
}

/// Waits a little; whether the supervisor has gone meanwhile.
fn gone(socket: &UnixStream) -> io::Result<bool> {
    let look = Timespec::try_from(LOOK).map_err(io::Error::other)?;
    // Nobody says anything to a broker: input is the end, or what is to be ignored with it.
    match poll(&mut [PollFd::new(socket, PollFlags::IN)], Some(&look)) {
        Ok(count) => Ok(count > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn file_stamp(path: &Path) -> FileStamp {
    let facts = fs::metadata(path).ok()?;
    Some((facts.ino(), facts.size(), facts.mtime(), facts.mtime_nsec()))
}

fn tell(error: &VaultError) {
    say(&format!("the vault cannot be read any more, and its secrets are taken from the cell: {error}"));
    let hint = error.hint();
    if !hint.is_empty() {
        say(&format!("help: {hint}"));
    }
}

fn say(line: &str) {
    use std::io::Write;
    writeln!(io::stderr().lock(), "fumehood: {line}").ok();
}
