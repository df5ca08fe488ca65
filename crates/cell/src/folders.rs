//! Where state, logs and data lie.

use std::{
    fs,
    io::{self, ErrorKind},
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use model::name::ServerName;

/// The folders of this user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    /// `$XDG_STATE_HOME/fumehood`: cells, logs, and what is kept for the next start.
    pub state: PathBuf,
    /// `$XDG_DATA_HOME/fumehood`: the data folders of servers, installed packages, the vault.
    pub data: PathBuf,
    /// `$XDG_CONFIG_HOME/fumehood`: the operator's file.
    pub config: PathBuf,
}

/// A folder that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The environment does not say where.
    #[error("neither `{variable}` nor `HOME` names an absolute path")]
    Homeless {
        /// The variable of the XDG base directory specification.
        variable: &'static str,
    },
    /// Somebody else owns it.
    #[error("`{path}` belongs to user {owner}, not to user {me}")]
    Foreign {
        /// Which folder.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
        /// Who asked.
        me: u32,
    },
    /// It is not a folder.
    #[error("`{path}` is not a folder")]
    NotFolder {
        /// What is in the way.
        path: PathBuf,
    },
    /// A system call failed.
    #[error("{step} `{path}` failed: {source}")]
    Io {
        /// What was tried.
        step: &'static str,
        /// On what.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl Folders {
    /// Finds them by the XDG base directory specification 0.8; relative values there are to be ignored.
    /// `lookup` answers for the environment.
    pub fn find(lookup: impl Fn(&str) -> Option<PathBuf>) -> Result<Self, FolderError> {
        let absolute = |name: &str| lookup(name).filter(|path| path.is_absolute());
        let base = |variable: &'static str, below_home: &str| {
            absolute(variable)
                .or_else(|| absolute("HOME").map(|home| home.join(below_home)))
                .map(|path| path.join("fumehood"))
                .ok_or(FolderError::Homeless { variable })
        };
        Ok(Self {
            state: base("XDG_STATE_HOME", ".local/state")?,
            data: base("XDG_DATA_HOME", ".local/share")?,
            config: base("XDG_CONFIG_HOME", ".config")?,
        })
    }

    /// Every folder of Fumehood's: out of reach for every cell.
    pub fn own(&self) -> Vec<PathBuf> {
        vec![self.state.clone(), self.data.clone(), self.config.clone(), PathBuf::from("/run/fumehood")]
    }

    /// Where secrets lie sealed.
    pub fn vault(&self) -> PathBuf {
        self.data.join("vault")
    }

    /// One folder per running cell.
    pub fn cells(&self) -> PathBuf {
        self.state.join("cells")
    }

    /// The folder of one cell.
    pub fn cell(&self, id: &str) -> PathBuf {
        self.cells().join(id)
    }

    /// What every cell trusts, by the state of the host's certificates.
    pub fn trust(&self) -> PathBuf {
        self.state.join("trust")
    }

    /// The logs of all cells that were created under this name.
    pub fn logs(&self, name: &ServerName) -> PathBuf {
        self.state.join("logs").join(name.as_str())
    }

    /// What happened at the edge of those cells.
    pub fn egress_logs(&self, name: &ServerName) -> PathBuf {
        self.state.join("egress").join(name.as_str())
    }

    /// Packages that were installed, each in a folder of its own.
    pub fn store(&self) -> PathBuf {
        self.data.join("store")
    }

    /// The persistent folder of this name.
    pub fn data(&self, name: &ServerName) -> PathBuf {
        self.data.join("data").join(name.as_str())
    }
}

/// Makes a folder with mode 0700 where there is none, parents too. One that exists must be ours and a real folder;
/// access that others have is taken away.
pub fn make_private(path: &Path) -> Result<(), FolderError> {
    let io = |step| move |source| FolderError::Io { step, path: path.to_owned(), source };
    match fs::symlink_metadata(path) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(io("making"))?;
        }
        Err(error) => return Err(io("looking at")(error)),
    }
    let found = fs::symlink_metadata(path).map_err(io("looking at"))?;
    let me = rustix::process::geteuid().as_raw();
    if !found.is_dir() {
        return Err(FolderError::NotFolder { path: path.to_owned() });
    }
    if found.uid() != me {
        return Err(FolderError::Foreign { path: path.to_owned(), owner: found.uid(), me });
    }
    if found.mode() & 0o077 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).map_err(io("closing"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_xdg_value_is_ignored_and_home_used_instead() {
        let found = Folders::find(|name| match name {
            "HOME" => Some("/home/ada".into()),
            "XDG_STATE_HOME" => Some("state".into()),
            "XDG_DATA_HOME" => Some("/srv/data".into()),
            _ => None,
        });
        let expected = Folders {
            state: "/home/ada/.local/state/fumehood".into(),
            data: "/srv/data/fumehood".into(),
            config: "/home/ada/.config/fumehood".into(),
        };
        assert_eq!(found.unwrap(), expected);
        assert!(matches!(Folders::find(|_| None), Err(FolderError::Homeless { variable: "XDG_STATE_HOME" })));
    }

    #[test]
    fn an_open_folder_is_closed_and_a_link_in_its_place_refused() {
        let root = tempfile::tempdir().unwrap();
        let open = root.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
        make_private(&open).unwrap();
        assert_eq!(fs::metadata(&open).unwrap().mode() & 0o777, 0o700);
        let link = root.path().join("link");
        std::os::unix::fs::symlink(&open, &link).unwrap();
        assert!(matches!(make_private(&link), Err(FolderError::NotFolder { .. })));
    }
}
