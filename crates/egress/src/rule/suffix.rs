//! Who owns the names below a name (the Public Suffix List).

use crate::name::{HostName, shown};
use crate::rule::error::RuleError;

/// The suffix of a wildcard, if names below it have one owner.
pub(super) fn wildcard(suffix: &str, text: &str) -> Result<HostName, RuleError> {
    if suffix.contains('*') {
        return Err(RuleError::Wildcard { text: shown(text) });
    }
    let name = HostName::parse(suffix).map_err(|error| RuleError::about(text, error))?;
    if registrable(&name).is_none() && !crate::guard::off("public-suffix") {
        return Err(RuleError::PublicSuffix { text: shown(text), suffix: name.to_string() });
    }
    Ok(name)
}

/// Whether `name` and `suffix` were registered by the same owner.
pub(super) fn same_owner(name: &HostName, suffix: &HostName) -> bool {
    crate::guard::off("public-suffix") || registrable(name) == registrable(suffix)
}

/// The part of a name that its owner registered; none for a public suffix itself. A last label nobody lists is a public
/// suffix of one label, as the list's algorithm has it.
fn registrable(name: &HostName) -> Option<&str> {
    psl::domain_str(name.as_str())
}
