//! What all cells trust alike: the host's roots and the operator's, in the forms in which programs look for them. Made
//! once for each state of the host's files and kept: it takes longer than all the rest of a cell's start.

use std::{
    fs::{self, DirBuilder, File},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
    time::Duration,
};

use egress::tls::roots::{Roots, RootsError};
use model::digest::Digest;

use super::{AUTHORITY, BUNDLE_NAME, FOLDER, OWN_NAME, ROOTS, keystore};
use crate::folders::{FolderError, make_private};

/// What is made, as a number: another one is another form.
const FORM: u32 = 2;

/// For how long something that no cell asked for is kept.
const KEPT: Duration = Duration::from_hours(90 * 24);
/// How often it is noted that somebody asked.
const NOTED: Duration = Duration::from_hours(24);

/// A folder with all of it.
#[derive(Debug)]
pub(super) struct Standing(PathBuf);

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub(super) enum StandingError {
    /// A file of the operator's.
    #[error(transparent)]
    Roots(#[from] RootsError),
    /// The folder of all.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A file of ours.
    #[error("keeping the certificates in `{path}` failed: {source}", path = path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl Standing {
    /// The one of the present state, made below `all` where it is missing. `hash` is by what OpenSSL finds the authority
    /// of a cell; with `java` there is a key store.
    pub(super) fn of(
        all: &Path,
        extra: &[PathBuf],
        hash: Option<&str>,
        java: bool,
    ) -> Result<Self, StandingError> {
        let folder = all.join(key(extra, hash, java));
        let standing = Self(folder);
        if standing.is_whole(java) {
            standing.note_use();
            return Ok(standing);
        }
        let roots = Roots::system(extra)?;
        make_private(all)?;
        let made = make(all, &standing, &roots, hash, java);
        made.map_err(|source| StandingError::Io { path: standing.0.clone(), source })?;
        forget(all, &standing.0);
        Ok(standing)
    }

    /// Whether everything is there: somebody may have tidied up.
    fn is_whole(&self, java: bool) -> bool {
        let store = java.then(|| self.keystore());
        [self.links(), self.roots()].into_iter().chain(store).all(|file| file.is_file())
    }

    /// Notes that it was asked for, where that was not noted lately.
    fn note_use(&self) {
        let noted = fs::metadata(&self.0).and_then(|facts| facts.modified()).ok();
        if noted.and_then(|noted| noted.elapsed().ok()).is_some_and(|since| since > NOTED)
            && let Ok(folder) = File::open(&self.0)
        {
            // Where it cannot be noted it is made anew some day.
            folder.set_modified(std::time::SystemTime::now()).ok();
        }
    }

    /// A list of links by OpenSSL's names and the usual one of the bundle, in the jail's form.
    pub(super) fn links(&self) -> PathBuf {
        self.0.join("links")
    }

    /// All roots, as text.
    pub(super) fn roots(&self) -> PathBuf {
        self.0.join("roots.pem")
    }

    /// The beginning of Java's key store.
    pub(super) fn keystore(&self) -> PathBuf {
        self.0.join("roots.jks")
    }
}

/// Names the state of everything that is read: files by what changes whenever they do.
fn key(extra: &[PathBuf], hash: Option<&str>, java: bool) -> String {
    let mut text = format!("{FORM} {} {java}\n", hash.unwrap_or_default());
    let bundle = Roots::bundles().find(|path| File::open(path).is_ok());
    let folder = Path::new(FOLDER);
    for path in bundle.into_iter().chain([folder]).chain(extra.iter().map(PathBuf::as_path)) {
        let facts = fs::metadata(path).map(|facts| {
            let (modified, changed) =
                ((facts.mtime(), facts.mtime_nsec()), (facts.ctime(), facts.ctime_nsec()));
            format!("{}:{} {} {modified:?} {changed:?}", facts.dev(), facts.ino(), facts.len())
        });
        text = format!("{text}{}\0{}\n", path.display(), facts.unwrap_or_default());
    }
    Digest::of(text.as_bytes()).hex()
}

/// Makes everything elsewhere and puts it in its place as a whole: what is there is complete.
fn make(all: &Path, wanted: &Standing, roots: &Roots, hash: Option<&str>, java: bool) -> io::Result<()> {
    let begun = all.join(format!(".begun-by-{}", rustix::process::getpid().as_raw_nonzero()));
    if begun.exists() {
        // Of somebody who had this number before.
        fs::remove_dir_all(&begun)?;
    }
    DirBuilder::new().mode(0o700).create(&begun)?;
    let standing = Standing(begun.clone());
    write(&standing.roots(), roots.pem().as_bytes())?;
    if java {
        write(&standing.keystore(), &keystore::begin(&roots.public()))?;
    }
    write(&standing.links(), &links(hash))?;
    match fs::rename(&begun, &wanted.0) {
        Err(error)
            if matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty) =>
        {
            // Somebody made the same at the same time, or it was there in part.
            if wanted.is_whole(java) {
                return fs::remove_dir_all(begun);
            }
            fs::remove_dir_all(&wanted.0)?;
            fs::rename(begun, &wanted.0)
        }
        other => other,
    }
}

fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(contents)?;
    // A name of a folder must not outlive a crash that its contents do not.
    file.sync_all()
}

fn links(hash: Option<&str>) -> Vec<u8> {
    let own = hash.map(|hash| format!("{hash}.0"));
    let mut all = hashed(Path::new(FOLDER));
    all.retain(|(name, _)| Some(name) != own.as_ref());
    all.extend(own.map(|own| (own, PathBuf::from(OWN_NAME))));
    all.push((OWN_NAME.to_owned(), AUTHORITY.into()));
    all.push((BUNDLE_NAME.to_owned(), ROOTS.into()));
    let mut list = Vec::new();
    for (name, target) in all {
        for word in [name.as_bytes(), target.as_os_str().as_encoded_bytes()] {
            list.extend_from_slice(word);
            list.push(0);
        }
    }
    list
}

/// The links by which OpenSSL finds a root, `HASH.N`, each to the certificate's own file outside of the folder.
pub(super) fn hashed(folder: &Path) -> Vec<(String, PathBuf)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter(|name| is_hashed(name))
        .filter_map(|name| Some((target(folder, &name)?, name)))
        .map(|(to, name)| (name, to))
        .collect()
}

fn is_hashed(name: &str) -> bool {
    name.split_once('.').is_some_and(|(hash, number)| {
        hash.len() == 8
            && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Follows links within the folder, at most two, to an absolute path that a cell sees.
fn target(folder: &Path, name: &str) -> Option<PathBuf> {
    let first = fs::read_link(folder.join(name)).ok()?;
    let to = if first.components().count() == 1 { fs::read_link(folder.join(&first)).ok()? } else { first };
    to.starts_with("/usr").then_some(to)
}

/// Removes what no cell has asked for in a long time. What cannot be removed stays.
fn forget(all: &Path, present: &Path) {
    for entry in fs::read_dir(all).into_iter().flatten().flatten() {
        let path = entry.path();
        let unused =
            entry.metadata().and_then(|facts| facts.modified()).ok().and_then(|at| at.elapsed().ok());
        if path != present && unused.is_some_and(|unused| unused > KEPT) {
            fs::remove_dir_all(path).ok();
        }
    }
}

#[cfg(test)]
mod tests;
