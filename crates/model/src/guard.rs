//! Taking one guard away, in test-only builds, to show that an attack works without it.

/// Environment variable that names the guards left out, separated by commas. Read only with the feature `guard-off`.
pub const VARIABLE: &str = "FUMEHOOD_GUARD_OFF";

/// Whether the guard `name` is left out. Without the feature `guard-off`: never.
#[cfg(not(feature = "guard-off"))]
pub const fn off(_name: &str) -> bool {
    false
}

/// Whether the guard `name` is left out: it is in [`VARIABLE`], or a test of this process took it [`without`].
#[cfg(feature = "guard-off")]
pub fn off(name: &str) -> bool {
    let taken = TAKEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    taken.contains(&name)
        || std::env::var(VARIABLE).is_ok_and(|names| names.split(',').any(|off| off.trim() == name))
}

#[cfg(feature = "guard-off")]
static TAKEN: std::sync::Mutex<Vec<&'static str>> = std::sync::Mutex::new(Vec::new());

#[cfg(feature = "guard-off")]
static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// A time without some guards, in the whole process; it ends when this is dropped. One at a time.
#[cfg(feature = "guard-off")]
#[derive(Debug)]
pub struct Without {
    _alone: std::sync::MutexGuard<'static, ()>,
}

/// Takes the guards `names` away from this process for as long as the result lives.
#[cfg(feature = "guard-off")]
#[must_use]
pub fn without(names: &[&'static str]) -> Without {
    let alone = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    *TAKEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = names.to_vec();
    Without { _alone: alone }
}

#[cfg(feature = "guard-off")]
impl Drop for Without {
    fn drop(&mut self) {
        TAKEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clear();
    }
}
