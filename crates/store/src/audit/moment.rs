//! Times, as rows have them: UTC to the microsecond, such as `2026-11-30T13:37:25.000001Z` (RFC 3339).

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Deserializer, Serializer, de};

pub(super) fn serialize<S: Serializer>(at: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&text(*at))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SystemTime, D::Error> {
    let text = String::deserialize(deserializer)?;
    humantime::parse_rfc3339(&text).map_err(de::Error::custom)
}

/// As text.
pub(super) fn text(at: SystemTime) -> String {
    // A clock before 1970 or after 9999 has no such text.
    humantime::format_rfc3339_micros(SystemTime::UNIX_EPOCH + Duration::from_micros(micros(at))).to_string()
}

/// Microseconds since 1970.
pub(super) fn micros(at: SystemTime) -> u64 {
    const LAST: u64 = 253_402_300_799_999_999;
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(LAST).min(LAST)
}
