//! Which bytes may be a secret's value, and where they may be bound to.

use model::secret::{Binding, Place};

use crate::plaintext::Plaintext;

pub use crate::wire::MAX_VALUE;

/// Shortest value that is substituted, in bytes: shorter ones are guessed, and stand in answers by chance.
pub const MIN_SUBSTITUTED: usize = 16;
/// The most hosts, methods, paths or places of a binding.
pub const MOST_TERMS: usize = 64;
/// Longest host, in bytes: a name has 253 (RFC 1035), a port five more.
const LONGEST_HOST: usize = 260;

/// A value or a binding that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// There is nothing.
    #[error("the value is empty")]
    Empty,
    /// It cannot be told from other text.
    #[error("the value has {0} bytes, and one that is written into requests has at least {MIN_SUBSTITUTED}")]
    Short(usize),
    /// There is too much.
    #[error("the value is longer than {MAX_VALUE} bytes")]
    Long,
    /// No variable and no header can hold it.
    #[error("the value holds a NUL byte")]
    Nul,
    /// It would end a header.
    #[error(
        "the value holds a line end or another control character, which a header, a URL or Basic cannot hold"
    )]
    Control,
    /// There is too much of something.
    #[error("the binding has more than {MOST_TERMS} {0}")]
    Terms(&'static str),
    /// A user cannot be called so.
    #[error("a user's issuer, subject and tenant are texts of one line, of at most 1,024 bytes each")]
    User,
    /// A host is none.
    #[error("`{0}` is not a host of a binding")]
    Host(String),
}

impl ValueError {
    /// What to do about it; may be empty.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Empty => "type it at the prompt, or write it to stdin",
            Self::Short(_) => {
                "a short one can only be given to a cell as it is: keep it with `--only-expose`, and use `--expose`"
            }
            Self::Control => {
                "bind it with `--json-body`, `--form` or `--websocket` alone, or keep it with `--only-expose` and use `--expose`"
            }
            Self::Host(_) => {
                "write `api.example.com`, `api.example.com:8443` or `*.example.com`; it is always HTTPS"
            }
            Self::Long | Self::Nul | Self::Terms(_) | Self::User => "",
        }
    }
}

/// Whether `value` may be kept under `binding`. Without hosts it is for `--expose` alone, and may be short.
pub fn check(value: &Plaintext, binding: &Binding) -> Result<(), ValueError> {
    check_binding(binding)?;
    let bytes = value.expose();
    if bytes.is_empty() {
        return Err(ValueError::Empty);
    }
    if bytes.len() > MAX_VALUE {
        return Err(ValueError::Long);
    }
    if bytes.contains(&0) {
        return Err(ValueError::Nul);
    }
    if binding.hosts.is_empty() {
        return Ok(());
    }
    if bytes.len() < MIN_SUBSTITUTED {
        return Err(ValueError::Short(bytes.len()));
    }
    let any_text = |place: &Place| matches!(place, Place::Json | Place::Form | Place::WebSocket);
    let only_bodies = !binding.places.is_empty() && binding.places.iter().all(any_text);
    if !only_bodies && bytes.iter().any(u8::is_ascii_control) {
        return Err(ValueError::Control);
    }
    Ok(())
}

/// The outer shape of a binding; what a host may be in full is known to whoever lets requests out.
fn check_binding(binding: &Binding) -> Result<(), ValueError> {
    let counts = [
        ("hosts", binding.hosts.len()),
        ("methods", binding.methods.len()),
        ("paths", binding.paths.len()),
        ("places", binding.places.len()),
    ];
    if let Some((what, _)) = counts.into_iter().find(|(_, count)| *count > MOST_TERMS) {
        return Err(ValueError::Terms(what));
    }
    let is_host = |host: &String| {
        (1..=LONGEST_HOST).contains(&host.len())
            && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_*:[]".contains(&byte))
    };
    match binding.hosts.iter().find(|host| !is_host(host)) {
        Some(host) => Err(ValueError::Host(host.clone())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
