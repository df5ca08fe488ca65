//! Builds the walls around one process tree.

pub mod cgroup;
pub mod confinement;
pub mod guard;
pub mod host;
pub mod identity;
pub mod plan;
pub mod process;
