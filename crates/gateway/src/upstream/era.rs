//! Which revision a server is asked in.

/// Whether a running server knows 2026-07-28.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Modern {
    /// It has not been asked.
    Unknown,
    /// It is being asked.
    Asked,
    Yes,
    No,
}
