//! Where a tree is made before it is in the store: whoever is killed meanwhile leaves nothing there that counts.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

use model::{digest::Digest, name::ServerName};

use super::{
    Package, Store, StoreError, copy, held,
    remove::remove,
    seen,
    tree::{self, Entry, Listing, What},
};

/// A folder of the maker's own.
#[derive(Debug)]
pub(crate) struct Staging {
    folder: PathBuf,
    /// The name of the data folder that belongs to it.
    pub(crate) data: ServerName,
    data_folder: Option<PathBuf>,
    held: Option<File>,
}

/// The beginning of the names of data folders of installations.
const PREFIX: &str = "install";
/// Tells those of one process apart.
static MADE: AtomicU32 = AtomicU32::new(0);

impl Staging {
    /// Makes one.
    pub(crate) fn begin(store: &Store) -> Result<Self, StoreError> {
        let all = store.own("staging")?;
        let _quiet = quiet(store)?;
        loop {
            // Names of makers that were killed may still be there.
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
            let name =
                format!("{PREFIX}-{}-{now}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
            let folder = all.join(&name);
            let made = fs::create_dir(&folder);
            if made.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists) {
                continue;
            }
            made.map_err(StoreError::io("making", &folder))?;
            let held = held::alone(&folder.join("held")).map_err(StoreError::io("locking", &folder))?;
            let data = ServerName::new(name)
                .map_err(|error| StoreError::io("naming", &folder)(io::Error::other(error.to_string())))?;
            return Ok(Self { folder, data, data_folder: None, held });
        }
    }

    /// Makes the data folder, which goes when this does.
    pub(crate) fn make_data_folder(&mut self, path: PathBuf) -> Result<(), StoreError> {
        let made = match path.parent() {
            Some(parent) => fs::DirBuilder::new().recursive(true).mode(0o700).create(parent),
            None => Ok(()),
        };
        // Not one that is there: it would be somebody else's.
        made.and_then(|()| fs::DirBuilder::new().mode(0o700).create(&path))
            .map_err(StoreError::io("making", &path))?;
        self.data_folder = Some(path);
        Ok(())
    }

    /// Copies the tree and digests it.
    pub(crate) fn copy(&self, from: &Path, told: &mut dyn FnMut(usize)) -> Result<Made, StoreError> {
        let folder = self.folder.join("made");
        fs::create_dir(&folder).map_err(StoreError::io("making", &folder))?;
        let listing = copy::copy(from, &folder.join("tree"), told)?;
        Ok(Made { folder, listing })
    }

    /// Puts it into the store. A tree of this content that is there already and is right stays; one that is not gives way.
    pub(crate) fn publish(&self, store: &Store, made: &Made) -> Result<Package, StoreError> {
        let (content, tree) = (made.content(), made.tree());
        let write = |name: &str, bytes: &[u8]| {
            let path = made.folder.join(name);
            fs::write(&path, bytes).map_err(StoreError::io("writing", &path))
        };
        write("list", &made.listing.to_bytes())?;
        write("seen", &seen::look(&tree).map_err(StoreError::io("looking at", &tree))?)?;
        write("held", b"")?;
        // Nothing is forced to the disk, which takes long: after a loss of power every byte is read before it is used.
        store.own("trees")?;
        let place = store.tree(&content);
        let _quiet = quiet(store)?;
        if let Some(there) = store.find(&content).filter(|there| there.verify().is_ok()) {
            return Ok(there);
        }
        if place.exists() {
            let aside = self.folder.join("damaged");
            fs::rename(&place, &aside).map_err(StoreError::io("replacing", &place))?;
        }
        fs::rename(&made.folder, &place).map_err(StoreError::io("publishing", &place))?;
        let gone = || StoreError::io("opening", &place)(io::ErrorKind::NotFound.into());
        Package::open(&place, content).ok_or_else(gone)
    }
}

/// A tree that is not in the store yet.
#[derive(Debug)]
pub(crate) struct Made {
    folder: PathBuf,
    listing: Listing,
}

impl Made {
    /// The tree; a cell can have it already.
    pub(crate) fn tree(&self) -> PathBuf {
        self.folder.join("tree")
    }

    /// The digest of its content.
    pub(crate) fn content(&self) -> Digest {
        self.listing.content()
    }

    /// Adds what was compiled of a tree that has nothing of ours yet.
    pub(crate) fn add_compiled(&mut self, from: &Path) -> Result<(), StoreError> {
        let whole = self.tree();
        let open = |mode| {
            fs::set_permissions(&whole, fs::Permissions::from_mode(mode))
                .map_err(StoreError::io("opening", &whole))
        };
        open(0o755)?;
        let place = whole.join(tree::OWN);
        let compiled = copy::copy(from, &place, &mut |_| {})?;
        open(0o555)?;
        let folder = Entry { path: tree::OWN.into(), what: What::Folder };
        let within = compiled
            .0
            .into_iter()
            .map(|entry| Entry { path: Path::new(tree::OWN).join(entry.path), ..entry });
        // In the order of a listing.
        let at = self.listing.0.iter().position(|entry| entry.path.as_path() > Path::new(tree::OWN));
        let at = at.unwrap_or(self.listing.0.len());
        self.listing.0.splice(at..at, std::iter::once(folder).chain(within));
        Ok(())
    }
}

impl Staging {
    /// Lets go of it as a killed process does.
    #[cfg(test)]
    pub(super) fn abandon(mut self) {
        self.held.take();
        std::mem::forget(self);
    }

    /// Where it is.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // In this order, as in a sweep. Where it does not work now, the next installation sweeps.
        let gone = self.data_folder.take().is_none_or(|data| remove(&data).is_ok());
        if gone {
            remove(&self.folder).ok();
        }
        self.held.take();
    }
}

/// Removes what makers have left that are no more; `data` says where the data folder of a name is.
pub(crate) fn sweep(store: &Store, data: &dyn Fn(&ServerName) -> PathBuf) -> Result<usize, StoreError> {
    let all = store.folder.join("staging");
    let Ok(entries) = fs::read_dir(&all) else { return Ok(0) };
    let _quiet = quiet(store)?;
    let mut swept = 0;
    for entry in entries.flatten() {
        let folder = entry.path();
        let Ok(Some(_held)) = held::alone(&folder.join("held")) else { continue };
        let name = entry.file_name().to_str().and_then(|name| ServerName::new(name).ok());
        // Its name is the way to the data folder, so that goes first. A cell that is just ending may still write there:
        // then it is swept the next time.
        let gone = name.is_none_or(|name| remove(&data(&name)).is_ok());
        if gone && remove(&folder).is_ok() {
            swept += 1;
        }
    }
    Ok(swept)
}

/// Held while names come and go: a staging folder that is just made is not taken for a dead one.
pub(super) fn quiet(store: &Store) -> Result<File, StoreError> {
    let path = store.own("locks")?.join("names");
    let file = fs::OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(StoreError::io("opening", &path))?;
    file.lock().map_err(StoreError::io("locking", &path))?;
    Ok(file)
}
