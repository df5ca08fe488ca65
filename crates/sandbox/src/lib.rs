//! Builds the walls around one process tree.

pub mod cgroup;
