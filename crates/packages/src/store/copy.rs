//! A tree is copied into the store: its bytes, and nothing else that a file system knows of a file.

use std::{
    ffi::OsStr,
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Read, Write},
    os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Component, Path, PathBuf},
};

use model::digest::Digest;
use sha2::Digest as _;

use super::tree::{self, Entry, Listing, What};

/// How often it is told how many files there are.
const TELL_EVERY: usize = 100;
/// How much is copied at once, in bytes.
const PIECE: usize = 128 << 10;

/// A tree that is not kept.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// A link that leads out, or may.
    #[error("`{path}` is a link to `{target}`, which leads out of the tree or is not written straight")]
    Link {
        /// The link.
        path: PathBuf,
        /// Its target.
        target: PathBuf,
    },
    /// A device, a socket, a pipe.
    #[error("`{path}` is a {what}")]
    Special {
        /// Where.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// A file that gives its owner's rights to whoever runs it.
    #[error("`{path}` is setuid or setgid")]
    Setuid {
        /// Which file.
        path: PathBuf,
    },
    /// More than can be looked at before each start.
    #[error("there are more than {most} files")]
    TooMany {
        /// The bound.
        most: usize,
    },
    /// It cannot be read, or the store not be written.
    #[error("copying `{path}` failed: {source}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A folder cannot be read.
    #[error("reading the tree failed: {0}")]
    Walk(#[from] io::Error),
}

/// Copies what is below `from` to `to`, which must not exist. Files become 0444 or 0555, folders 0555, owners, times,
/// attributes and capabilities stay behind. Nobody else may change `from` meanwhile.
pub(super) fn copy(from: &Path, to: &Path, told: &mut dyn FnMut(usize)) -> Result<Listing, TreeError> {
    let mut listing = Listing::default();
    let mut folders = vec![to.to_owned()];
    fs::create_dir(to)?;
    tree::walk(from, &mut |path, source, facts| {
        let failed = |source| TreeError::Io { path: path.to_owned(), source };
        let target = to.join(path);
        let kind = facts.file_type();
        let what = if kind.is_symlink() {
            let leads = fs::read_link(source).map_err(failed)?;
            if !stays_inside(path, &leads) {
                return Err(TreeError::Link { path: path.to_owned(), target: leads });
            }
            std::os::unix::fs::symlink(&leads, &target).map_err(failed)?;
            What::Link { target: leads }
        } else if kind.is_dir() {
            fs::create_dir(&target).map_err(failed)?;
            folders.push(target);
            What::Folder
        } else if kind.is_file() {
            if facts.mode() & 0o6000 != 0 {
                return Err(TreeError::Setuid { path: path.to_owned() });
            }
            let executable = facts.mode() & 0o100 != 0;
            let hash = copy_file(source, &target, executable).map_err(failed)?;
            What::File { executable, hash }
        } else {
            let what = if kind.is_fifo() {
                "pipe"
            } else if kind.is_socket() {
                "socket"
            } else {
                "device"
            };
            return Err(TreeError::Special { path: path.to_owned(), what });
        };
        listing.0.push(Entry { path: path.to_owned(), what });
        if listing.0.len() > tree::MOST {
            return Err(TreeError::TooMany { most: tree::MOST });
        }
        if listing.0.len() % TELL_EVERY == 0 {
            told(listing.0.len());
        }
        Ok(())
    })?;
    for folder in folders {
        fs::set_permissions(&folder, Permissions::from_mode(0o555))?;
    }
    told(listing.0.len());
    Ok(listing)
}

/// The list of a tree that is there, with everything read anew.
pub(super) fn list(root: &Path) -> io::Result<Listing> {
    let mut listing = Listing::default();
    tree::walk(root, &mut |path, source, facts| -> io::Result<()> {
        let kind = facts.file_type();
        let what = if kind.is_symlink() {
            What::Link { target: fs::read_link(source)? }
        } else if kind.is_dir() {
            What::Folder
        } else if kind.is_file() {
            let hash = hash_into(&mut open(source)?, &mut io::sink())?;
            What::File { executable: facts.mode() & 0o100 != 0, hash }
        } else {
            return Err(io::Error::other(format!("`{}` is neither file, folder nor link", path.display())));
        };
        listing.0.push(Entry { path: path.to_owned(), what });
        Ok(())
    })?;
    Ok(listing)
}

fn copy_file(from: &Path, to: &Path, executable: bool) -> io::Result<Digest> {
    let mode = if executable { 0o555 } else { 0o444 };
    let mut target = OpenOptions::new().write(true).create_new(true).mode(mode).open(to)?;
    let hash = hash_into(&mut open(from)?, &mut target)?;
    // The mask of the process took some of it.
    target.set_permissions(Permissions::from_mode(mode))?;
    Ok(hash)
}

fn open(path: &Path) -> io::Result<File> {
    let no_follow = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or_default();
    OpenOptions::new().read(true).custom_flags(no_follow).open(path)
}

fn hash_into(from: &mut impl Read, to: &mut impl Write) -> io::Result<Digest> {
    let mut hash = sha2::Sha256::new();
    let mut piece = vec![0; PIECE];
    loop {
        let read = from.read(&mut piece)?;
        let Some(bytes) = piece.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
        hash.update(bytes);
        to.write_all(bytes)?;
    }
    Ok(Digest::new(hash.finalize().into()))
}

/// Whether a link at `path` leads to somewhere in the tree. Steps upwards are counted only at the beginning of a target:
/// there they go through real folders. Later ones could follow another link first, so such a target counts as leading out.
fn stays_inside(path: &Path, target: &Path) -> bool {
    let depth = path.components().count().saturating_sub(1);
    let mut ups = 0;
    let mut names = 0_usize;
    for component in target.components() {
        match component {
            Component::ParentDir if names == 0 => ups += 1,
            Component::Normal(_) => names += 1,
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    target.as_os_str() != OsStr::new("") && ups <= depth
}

#[cfg(test)]
mod tests;
