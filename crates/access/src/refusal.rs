//! Why something is not done.
