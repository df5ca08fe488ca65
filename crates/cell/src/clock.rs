//! Times as they are written: RFC 3339, UTC, milliseconds.

use std::time::SystemTime;

/// Now, as `2026-11-30T04:16:59.123Z`.
pub(crate) fn now() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}

/// Now, as `20261130T041659Z`: sorts as a file name.
pub(crate) fn file_stamp() -> String {
    let seconds = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    seconds.chars().filter(|c| !matches!(c, '-' | ':')).collect()
}
