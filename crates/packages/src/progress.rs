//! How far an installation is: for people, nothing depends on it.

/// What goes on now. Each is told when it begins; those with counts again and again.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// Somebody else installs the same.
    Waiting,
    /// The client of this machine is asked where its registries are.
    Asking,
    /// Versions are chosen.
    Resolving,
    /// Packages are fetched.
    Fetching {
        /// How many are here.
        done: usize,
        /// Of how many; nothing where the client does not tell.
        all: Option<usize>,
    },
    /// A script of a package runs, as was allowed.
    Script {
        /// Which package.
        package: String,
    },
    /// What shortens later starts is made.
    Compiling,
    /// The tree is copied to the store and digested.
    Digesting {
        /// Files so far.
        files: usize,
    },
    /// It is in the store.
    Done,
}
