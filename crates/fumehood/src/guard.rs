//! The test-only hole through which an attack test takes one guard away, to show that the attack works without it.

/// Whether a guard is switched off: never, in a product build.
#[cfg(not(feature = "guard-off"))]
#[inline]
pub(crate) const fn off(_name: &str) -> bool {
    false
}

/// Whether a guard is switched off by the environment variable of the test-only build.
#[cfg(feature = "guard-off")]
pub(crate) fn off(name: &str) -> bool {
    std::env::var(sandbox::guard::VARIABLE)
        .is_ok_and(|list| list.split(',').any(|entry| entry.trim() == name))
}
