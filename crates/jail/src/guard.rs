//! Taking one guard away, in test-only builds, to show that an attack works without it.

/// Environment variable of the jail that names the guards left out, separated by commas. Read only with the feature
/// `guard-off`.
pub const VARIABLE: &str = "FUMEHOOD_GUARD_OFF";

/// Whether the guard `name` is left out. Without the feature `guard-off`: never.
#[cfg(not(feature = "guard-off"))]
pub const fn off(_name: &str) -> bool {
    false
}

/// Whether the guard `name` is left out: it is in [`VARIABLE`].
#[cfg(feature = "guard-off")]
pub fn off(name: &str) -> bool {
    std::env::var(VARIABLE).is_ok_and(|names| names.split(',').any(|off| off.trim() == name))
}
