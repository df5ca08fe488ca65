//! The one folder of the store that a cell may be shown: Fumehood's other folders are out of reach for every cell.

use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use cell_api::error::{ErrorBody, ErrorCode};

use crate::folders::Folders;

/// Why a folder is no package.
#[derive(Debug, thiserror::Error)]
enum PackageError {
    /// It cannot be looked at.
    #[error("the package `{path}` cannot be looked at: {source}")]
    Missing { path: PathBuf, source: io::Error },
    /// It is the store itself, or lies elsewhere.
    #[error("the package `{path}` is refused: it does not lie in the store `{store}`")]
    Outside { path: PathBuf, store: PathBuf },
    /// A link could lead elsewhere by the next start.
    #[error("the package `{path}` is refused: there is a symbolic link on the way, or a `..`")]
    Link { path: PathBuf },
    /// Something else is in its place.
    #[error("the package `{path}` is refused: it is not a folder")]
    NotFolder { path: PathBuf },
    /// Whoever owns it can change what runs.
    #[error("the package `{path}` is refused: it belongs to user {owner}, not to user {me}")]
    Foreign { path: PathBuf, owner: u32, me: u32 },
}

impl PackageError {
    fn hint(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "install it again",
            Self::Outside { .. } | Self::Link { .. } => {
                "name a folder below `$XDG_DATA_HOME/fumehood/store`; any other is a mount"
            }
            Self::NotFolder { .. } | Self::Foreign { .. } => "remove it from the store, and install it again",
        }
    }
}

/// The package's folder without any link in it.
pub(crate) fn checked(folders: &Folders, package: &Path) -> Result<PathBuf, ErrorBody> {
    look(folders, package)
        .map_err(|error| ErrorBody::new(ErrorCode::Mount, error.to_string()).hint(error.hint()))
}

fn look(folders: &Folders, package: &Path) -> Result<PathBuf, PackageError> {
    let path = || package.to_owned();
    let missing = |source| PackageError::Missing { path: path(), source };
    let real = package.canonicalize().map_err(missing)?;
    if sandbox::guard::off("package-place") {
        return Ok(real);
    }
    let store = folders.store();
    let outside = || PackageError::Outside { path: path(), store: folders.store() };
    // Links above the store are the user's own affair.
    let real_store = store.canonicalize().map_err(|_| outside())?;
    let named = package.strip_prefix(&store).or_else(|_| package.strip_prefix(&real_store));
    let named = named.ok().filter(|named| *named != Path::new("")).ok_or_else(outside)?;
    if real != real_store.join(named) {
        return Err(PackageError::Link { path: path() });
    }
    let facts = fs::symlink_metadata(&real).map_err(missing)?;
    if !facts.is_dir() {
        return Err(PackageError::NotFolder { path: path() });
    }
    let me = rustix::process::geteuid().as_raw();
    if facts.uid() != me {
        return Err(PackageError::Foreign { path: path(), owner: facts.uid(), me });
    }
    Ok(real)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn folders(data: &Path) -> Folders {
        Folders { state: data.join("state"), data: data.to_owned(), config: data.join("config") }
    }

    #[test]
    fn only_a_real_folder_below_the_store_is_a_package() {
        let root = tempfile::tempdir().unwrap();
        let home = root.path().join("real-home");
        for folder in ["store/tree/node_modules", "data/theirs", "elsewhere"] {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        fs::write(home.join("store/file"), "no folder").unwrap();
        symlink(home.join("elsewhere"), home.join("store/link")).unwrap();
        symlink("tree", home.join("store/alias")).unwrap();
        symlink(&home, root.path().join("home")).unwrap();
        let linked = folders(&root.path().join("home"));
        for (given, expected) in [
            ("store/tree", Ok(())),
            ("store/tree/node_modules", Ok(())),
            ("store", Err("does not lie in the store")),
            ("store/../store", Err("symbolic link on the way, or a `..`")),
            ("store/../data/theirs", Err("symbolic link on the way, or a `..`")),
            ("data/theirs", Err("does not lie in the store")),
            ("elsewhere", Err("does not lie in the store")),
            ("store/link", Err("symbolic link on the way")),
            ("store/alias", Err("symbolic link on the way")),
            ("store/file", Err("is not a folder")),
            ("store/nothing", Err("cannot be looked at")),
        ] {
            for base in [&home, &root.path().join("home")] {
                let found = look(&linked, &base.join(given));
                match expected {
                    Ok(()) => {
                        assert_eq!(found.unwrap(), home.canonicalize().unwrap().join(given));
                    }
                    Err(words) => {
                        let error = found.unwrap_err();
                        assert!(error.to_string().contains(words), "{given}: {error}");
                        assert!(!error.hint().is_empty());
                    }
                }
            }
        }
    }

    #[test]
    fn a_package_of_somebody_else_is_refused() {
        if !rustix::process::geteuid().is_root() {
            // Only root can give a folder away.
            return;
        }
        let root = tempfile::tempdir().unwrap();
        let tree = root.path().join("store/tree");
        fs::create_dir_all(&tree).unwrap();
        std::os::unix::fs::chown(&tree, Some(12345), Some(12345)).unwrap();
        let error = look(&folders(root.path()), &tree).unwrap_err();
        assert!(matches!(error, PackageError::Foreign { owner: 12345, .. }), "{error}");
        assert_eq!(checked(&folders(root.path()), &tree).unwrap_err().code, ErrorCode::Mount);
    }
}
