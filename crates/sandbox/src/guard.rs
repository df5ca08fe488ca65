//! The test-only hole through which an attack test takes one guard away, to show that the attack works without it.

/// Variable that names the guards to leave out, separated by commas. Read only with the feature `guard-off`.
#[cfg(feature = "guard-off")]
pub const VARIABLE: &str = "FUMEHOOD_GUARD_OFF";

/// Whether a guard is switched off: never, in a product build.
#[cfg(not(feature = "guard-off"))]
#[inline]
pub const fn off(_name: &str) -> bool {
    false
}

/// Whether a guard is switched off by the environment variable of the test-only build.
#[cfg(feature = "guard-off")]
pub fn off(name: &str) -> bool {
    std::env::var(VARIABLE).is_ok_and(|list| list.split(',').any(|entry| entry.trim() == name))
}
