//! The shelf as one caller sees it.
