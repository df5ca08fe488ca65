//! A lock on disk: `fumehood.lock`, and beside it what it has digests of.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use anyhow::Context;
use model::{digest::Digest, name::ServerName};
use rustix::fs::{FlockOperation, flock};
use tools::{
    lock::{Lock, Pinned},
    surface::Surface,
};

use super::folder::Folder;
use crate::{
    guard, reading,
    stop::{FAILURE, REFUSED, Stop},
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

/// Whether a person has accepted a table, and so the surface that has its fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accepted {
    /// Yes.
    Yes,
    /// Not that it is known.
    No,
}

/// The name of the surface's file.
const SURFACE: &str = "surface.json";
/// The name of the file with what reviewers have signed.
const SIGNATURES: &str = "accepted.json";
/// The names that a tree file can have.
const TREES: [&str; 2] = ["package-lock.json", "requirements.txt"];

impl LockFile {
    /// Its name in a folder.
    pub(crate) const NAME: &str = "fumehood.lock";
    /// The name of the folder beside it.
    const BESIDE: &str = "fumehood.lock.d";

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
        self.path.with_file_name(Self::BESIDE).join(name.as_str())
    }

    /// The file with what reviewers have signed of a server.
    pub(crate) fn signatures(&self, name: &ServerName) -> PathBuf {
        self.beside(name).join(SIGNATURES)
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
        no_link(&self.path)?;
        match reading::file(&self.path, reading::LOCKED) {
            Ok(bytes) => Lock::parse(&self.path.display().to_string(), &bytes)
                .map_err(|error| Stop::new(FAILURE, error.to_string(), error.hint()).into()),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
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
        self.no_links(name)?;
        let surface = self.surface(name, pinned, accepted)?;
        let tree = pinned.tree.map(|digest| self.tree(name, digest)).transpose()?;
        Ok(Entry { pinned: pinned.clone(), surface, tree })
    }

    fn surface(&self, name: &ServerName, pinned: &Pinned, accepted: Accepted) -> anyhow::Result<Surface> {
        let file = self.beside(name).join(SURFACE);
        let bytes = reading::file(&file, reading::LOCKED)
            .map_err(|error| self.damaged(name, &file, &error.to_string()))?;
        let surface = match accepted {
            Accepted::Yes if !guard::off("lock-surface") => {
                Surface::from_accepted(&bytes, &pinned.fingerprint)
            }
            _ => Surface::from_text(&bytes),
        };
        let surface = surface.map_err(|error| self.damaged(name, &file, &error.to_string()))?;
        if *surface.fingerprint() != pinned.fingerprint && !guard::off("lock-surface") {
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
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(self.damaged(name, &file, &error.to_string()).into()),
            };
            let found = Digest::of(&bytes);
            if found != digest && !guard::off("lock-tree") {
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
        let here = self.turn()?;
        let mut lock = self.read()?;
        self.no_links(name)?;
        let writing = || format!("writing `{}`", self.beside(name).display());
        let folder = here.made(Self::BESIDE).and_then(|beside| beside.made(name.as_str()));
        let folder = folder.with_context(writing)?;
        folder.replace(SURFACE, entry.surface.to_text().as_bytes()).with_context(writing)?;
        for tree in TREES {
            match &entry.tree {
                Some(kept) if kept.name == tree => folder.replace(tree, &kept.bytes).with_context(writing)?,
                _ => drop(folder.remove(tree).with_context(writing)?),
            }
        }
        // They are over the table that was there.
        if lock.get(name) != Some(&entry.pinned) {
            folder.remove(SIGNATURES).with_context(writing)?;
        }
        lock.insert(name.clone(), entry.pinned.clone());
        self.put(&here, &lock)
    }

    /// Puts what `signed` makes of the file with signatures in its place, as long as the server's table is this one.
    pub(crate) fn sign(
        &self,
        name: &ServerName,
        pinned: &Pinned,
        signed: impl FnOnce(&Path) -> anyhow::Result<String>,
    ) -> anyhow::Result<()> {
        let here = self.turn()?;
        if self.read()?.get(name) != Some(pinned) {
            let message = format!("`{}` was changed meanwhile", self.path.display());
            let hint = format!("`fumehood review {name}` shows it as it is now");
            return Err(Stop::new(FAILURE, message, hint).into());
        }
        let file = self.signatures(name);
        let text = signed(&file)?;
        let folder = here.made(Self::BESIDE).and_then(|beside| beside.made(name.as_str()));
        folder
            .map_err(anyhow::Error::from)
            .and_then(|folder| folder.replace(SIGNATURES, text.as_bytes()))
            .with_context(|| format!("writing `{}`", file.display()))
    }

    /// Takes a server out; whether it was there.
    pub(crate) fn remove(&self, name: &ServerName) -> anyhow::Result<bool> {
        let here = self.turn()?;
        let mut lock = self.read()?;
        self.no_links(name)?;
        let was_there = lock.remove(name).is_some();
        if was_there {
            self.put(&here, &lock)?;
            // The table is what counts. What is not ours stays where it is.
            let beside = here.entered(Self::BESIDE);
            if let Ok(beside) = &beside
                && let Ok(folder) = beside.entered(name.as_str())
            {
                for file in TREES.into_iter().chain([SURFACE, SIGNATURES]) {
                    folder.remove(file).ok();
                }
                beside.remove_folder(name.as_str()).ok();
            }
        }
        Ok(was_there)
    }

    fn put(&self, here: &Folder, lock: &Lock) -> anyhow::Result<()> {
        let writing = || format!("writing `{}`", self.path.display());
        here.replace(Self::NAME, lock.to_text().as_bytes()).with_context(writing)
    }

    /// Whoever writes a lock does so alone, as long as this is held.
    fn turn(&self) -> anyhow::Result<Folder> {
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder).with_context(|| format!("making `{}`", folder.display()))?;
        let turn = Folder::at(folder).with_context(|| format!("opening `{}`", folder.display()))?;
        flock(&turn, FlockOperation::LockExclusive)
            .with_context(|| format!("waiting for `{}`", folder.display()))?;
        Ok(turn)
    }

    /// What belongs to a table lies where it seems to lie.
    fn no_links(&self, name: &ServerName) -> anyhow::Result<()> {
        let folder = self.beside(name);
        folder.parent().map_or(Ok(()), no_link)?;
        no_link(&folder)?;
        TREES.iter().chain([&SURFACE, &SIGNATURES]).try_for_each(|file| no_link(&folder.join(file)))
    }
}

fn no_link(path: &Path) -> anyhow::Result<()> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    if is_link && !guard::off("lock-links") {
        let message = format!("`{}` is a link: what belongs to a lock lies beside it", path.display());
        return Err(
            Stop::new(REFUSED, message, "take the link away, or put in its place what it leads to").into()
        );
    }
    Ok(())
}

/// A new file in the old one's place, with its mode; all or nothing. A link stays a link.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let write = || {
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let name = place.file_name().and_then(|name| name.to_str());
        let (Some(folder), Some(name)) = (place.parent(), name) else {
            return Err(io::Error::from(ErrorKind::InvalidFilename).into());
        };
        Folder::at(folder)?.replace(name, bytes)
    };
    write().with_context(|| format!("writing `{}`", path.display()))
}
