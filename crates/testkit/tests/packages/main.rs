//! Packages from registries on this machine that mean harm, and some that do not.

mod pypi;
mod python;
