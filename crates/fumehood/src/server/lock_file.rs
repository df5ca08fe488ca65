//! A lock on disk: `fumehood.lock`, and beside it what it has digests of.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use anyhow::Context;
use model::{digest::Digest, name::ServerName};
use rustix::fs::{FlockOperation, flock};
use tools::{
    lock::{Lock, Pinned},
    surface::Surface,
};

use crate::{
    reading,
    stop::{FAILURE, Stop},
};

/// The lock of a project, of the operator's file, or of commands that no file declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LockFile {
    path: PathBuf,
}

/// What a lock says of one server, whole.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Its table.
    pub(crate) pinned: Pinned,
    /// What a model would read of it.
    pub(crate) surface: Surface,
    /// The tree file, where it is a package.
    pub(crate) tree: Option<Tree>,
}

/// What pins every package of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tree {
    /// `package-lock.json` or `requirements.txt`.
    pub(crate) name: String,
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
}

/// Whether a person of this machine has accepted a table, and so the surface that has its fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accepted {
    /// Yes.
    Yes,
    /// Not that it is known.
    No,
}

/// The name of the surface's file.
const SURFACE: &str = "surface.json";
/// The names that a tree file can have.
const TREES: [&str; 2] = ["package-lock.json", "requirements.txt"];

impl LockFile {
    /// Its name in a folder.
    pub(crate) const NAME: &str = "fumehood.lock";

    /// In this folder.
    pub(crate) fn at(folder: &Path) -> Self {
        Self { path: folder.join(Self::NAME) }
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder with what belongs to a server's table.
    pub(crate) fn beside(&self, name: &ServerName) -> PathBuf {
        let mut folder = self.path.clone().into_os_string();
        folder.push(".d");
        PathBuf::from(folder).join(name.as_str())
    }

    /// The key under which a change of this server waits.
    pub(crate) fn key(&self, name: &ServerName) -> String {
        use std::os::unix::ffi::OsStrExt;
        let place = fs::canonicalize(self.path.parent().unwrap_or(&self.path));
        let place = place.map_or_else(|_| self.path.clone(), |folder| folder.join(Self::NAME));
        Digest::of(&[place.as_os_str().as_bytes(), b"\0", name.as_str().as_bytes()].concat()).hex()
    }

    /// What is in it; nothing where it is not there. A lock that is damaged is an error.
    pub(crate) fn read(&self) -> anyhow::Result<Lock> {
        match reading::file(&self.path, reading::LOCKED) {
            Ok(bytes) => Lock::parse(&self.path.display().to_string(), &bytes)
                .map_err(|error| Stop::new(FAILURE, error.to_string(), error.hint()).into()),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(Lock::default())
            }
            Err(error) => Err(error).with_context(|| format!("reading `{}`", self.path.display())),
        }
    }

    /// A server's table and what belongs to it; each is what the table has the digest of.
    pub(crate) fn entry(&self, name: &ServerName) -> anyhow::Result<Option<Entry>> {
        let lock = self.read()?;
        lock.get(name).map(|pinned| self.whole(name, pinned, Accepted::No)).transpose()
    }

    /// What belongs to a table of this lock. Of an accepted one it is enough that the surface has the fingerprint.
    pub(crate) fn whole(
        &self,
        name: &ServerName,
        pinned: &Pinned,
        accepted: Accepted,
    ) -> anyhow::Result<Entry> {
        let surface = self.surface(name, pinned, accepted)?;
        let tree = pinned.tree.map(|digest| self.tree(name, digest)).transpose()?;
        Ok(Entry { pinned: pinned.clone(), surface, tree })
    }

    fn surface(&self, name: &ServerName, pinned: &Pinned, accepted: Accepted) -> anyhow::Result<Surface> {
        let file = self.beside(name).join(SURFACE);
        let bytes = reading::file(&file, reading::LOCKED)
            .map_err(|error| self.damaged(name, &file, &error.to_string()))?;
        let surface = match accepted {
            Accepted::Yes => Surface::from_accepted(&bytes, &pinned.fingerprint),
            Accepted::No => Surface::from_text(&bytes),
        };
        let surface = surface.map_err(|error| self.damaged(name, &file, &error.to_string()))?;
        if *surface.fingerprint() != pinned.fingerprint {
            let why =
                format!("its fingerprint is {}, the lock has {}", surface.fingerprint(), pinned.fingerprint);
            return Err(self.damaged(name, &file, &why).into());
        }
        Ok(surface)
    }

    fn tree(&self, name: &ServerName, digest: Digest) -> anyhow::Result<Tree> {
        let folder = self.beside(name);
        for tree in TREES {
            let file = folder.join(tree);
            let bytes = match reading::file(&file, reading::LOCKED) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(self.damaged(name, &file, &error.to_string()).into()),
            };
            let found = Digest::of(&bytes);
            if found != digest {
                let why = format!("its digest is {found}, the lock has {digest}");
                return Err(self.damaged(name, &file, &why).into());
            }
            return Ok(Tree { name: tree.to_owned(), bytes });
        }
        Err(self.damaged(name, &folder, "the file that pins its packages is not there").into())
    }

    fn damaged(&self, name: &ServerName, file: &Path, why: &str) -> Stop {
        let message = format!("`{}` does not belong to `{}`: {why}", file.display(), self.path.display());
        let hint = format!("restore both from version control, or pin it anew: `fumehood lock {name}`");
        Stop::new(FAILURE, message, hint)
    }

    /// Puts a server's table and what belongs to it in the place of what was there.
    pub(crate) fn write(&self, name: &ServerName, entry: &Entry) -> anyhow::Result<()> {
        let turn = self.turn()?;
        let mut lock = self.read()?;
        let folder = self.beside(name);
        fs::create_dir_all(&folder).with_context(|| format!("making `{}`", folder.display()))?;
        replace(&folder.join(SURFACE), entry.surface.to_text().as_bytes())?;
        for tree in TREES {
            let file = folder.join(tree);
            match &entry.tree {
                Some(kept) if kept.name == tree => replace(&file, &kept.bytes)?,
                _ => {
                    if let Err(error) = fs::remove_file(&file)
                        && error.kind() != io::ErrorKind::NotFound
                    {
                        return Err(error).with_context(|| format!("removing `{}`", file.display()));
                    }
                }
            }
        }
        lock.insert(name.clone(), entry.pinned.clone());
        replace(&self.path, lock.to_text().as_bytes())?;
        drop(turn);
        Ok(())
    }

    /// Takes a server out; whether it was there.
    pub(crate) fn remove(&self, name: &ServerName) -> anyhow::Result<bool> {
        let turn = self.turn()?;
        let mut lock = self.read()?;
        let was_there = lock.remove(name).is_some();
        if was_there {
            replace(&self.path, lock.to_text().as_bytes())?;
            // The table is what counts.
            fs::remove_dir_all(self.beside(name)).ok();
        }
        drop(turn);
        Ok(was_there)
    }

    /// Whoever writes a lock does so alone.
    fn turn(&self) -> anyhow::Result<File> {
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder).with_context(|| format!("making `{}`", folder.display()))?;
        let turn = File::open(folder).with_context(|| format!("opening `{}`", folder.display()))?;
        flock(&turn, FlockOperation::LockExclusive)
            .with_context(|| format!("waiting for `{}`", folder.display()))?;
        Ok(turn)
    }
}

/// A new file in the old one's place, with its mode; all or nothing.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let write = || {
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let mode = fs::metadata(&place).map_or(0o644, |found| found.permissions().mode() & 0o777);
        let mut name = place.clone().into_os_string();
        name.push(format!(".{}", std::process::id()));
        let beside = PathBuf::from(name);
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(&beside)?;
        let written =
            file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&beside, &place));
        if written.is_err() {
            // Half a file helps nobody.
            fs::remove_file(&beside).ok();
        }
        written
    };
    write().with_context(|| format!("writing `{}`", path.display()))
}
