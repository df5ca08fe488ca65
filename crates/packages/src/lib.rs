//! From the name of a package to its bytes in the store: resolved and installed in a cell, digested, never fetched again.
//!
//! The clients themselves (npm, uv) resolve and install. Outside of a cell they are only asked, from a folder of nobody's,
//! for what reads: no code of a package runs there, and no project's file says which registry it is.

mod ask;
mod fault;
mod install;
mod listed;
mod place;
mod shop;
mod sources;

pub mod newest;
pub mod order;
pub mod progress;
pub mod start;
pub mod store;
pub mod words;
pub mod workshop;

mod npm;
mod program;
mod registry;
mod uv;

pub use ask::AskError;
pub use fault::InstallError;
pub use install::{Installed, install};
pub use listed::listed;
pub use newest::{Newest, NewestError};
pub use order::{Dependency, Order, Pin, Record};
pub use place::PlaceError;
pub use progress::Progress;
pub use registry::newest;
pub use sources::SourcesError;
pub use start::{Start, StartError};
pub use store::{Collected, Package, Store, StoreError, Stored, TreeError, VerifyError};
pub use words::{Asked, Client};
pub use workshop::{Done, Heard, Workshop, WorkshopError};
