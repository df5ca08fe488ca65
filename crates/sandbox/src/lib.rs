//! Builds the walls around one process tree.
