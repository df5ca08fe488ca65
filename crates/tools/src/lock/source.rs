//! The shapes of values in a lock.

/// Whether a text says where a server comes from in one of the ways that are known.
pub(super) fn is_source(text: &str) -> bool {
    let is_clean = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_graphic());
    if let Some(package) = text.strip_prefix("npx:") {
        return package.rsplit_once('@').is_some_and(|(name, version)| is_clean(name) && is_clean(version));
    }
    if let Some(package) = text.strip_prefix("uvx:") {
        return package.split_once("==").is_some_and(|(name, version)| is_clean(name) && is_clean(version));
    }
    text == "command" || is_url(text)
}

/// Whether a text is the address of a server elsewhere.
pub(super) fn is_url(text: &str) -> bool {
    let address = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    address.is_some_and(|address| !address.is_empty() && address.chars().all(|c| c.is_ascii_graphic()))
}

/// Whether a text could be a registry's integrity: hashes with their algorithm in front, a space between two.
pub(super) fn is_integrity(text: &str) -> bool {
    text.split(' ').all(|hash| {
        hash.split_once(['-', ':']).is_some_and(|(algorithm, digest)| {
            algorithm.starts_with("sha")
                && !digest.is_empty()
                && digest.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='))
        })
    })
}

/// Whether a text could name a platform.
pub(super) fn is_platform(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'+');
    !text.is_empty() && text.bytes().all(is_part)
}
