//! One key: its value, its placeholder, and where it may go.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use model::request::Method;
use model::secret::{Binding, Foreign, Place, SecretName};
use secrets::plaintext::Plaintext;

use super::placeholder::Placeholder;
use crate::name::HostName;
use crate::path::CanonicalPath;
use crate::rule::error::RuleError;
use crate::rule::{HostRule, Kind};

/// A key that a cell holds the placeholder of.
pub struct Key {
    name: SecretName,
    binding: Binding,
    value: Arc<Plaintext>,
    /// Values before a change, the latest first: a host may still tell them.
    former: Vec<Arc<Plaintext>>,
    placeholder: Placeholder,
    rules: Vec<HostRule>,
    places: Vec<Place>,
    same_shape: bool,
    id: u64,
}

/// Why a secret cannot be a key. None of them says anything of the value but its length.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Too short to be told from other text.
    #[error("the secret `{name}` has {length} bytes, fewer than {least}")]
    Short {
        /// Which.
        name: SecretName,
        /// Its length in bytes.
        length: usize,
        /// The least.
        least: usize,
    },
    /// Longer than anything a header takes.
    #[error("the secret `{name}` has {length} bytes, more than {most}")]
    Long {
        /// Which.
        name: SecretName,
        /// Its length in bytes.
        length: usize,
        /// The most.
        most: usize,
    },
    /// A line break, a control character, or something beyond ASCII; or a blank at an end.
    #[error("the secret `{name}` holds characters that cannot stand in a header")]
    Characters {
        /// Which.
        name: SecretName,
    },
    /// Nobody it could be sent to.
    #[error("the secret `{name}` is bound to no host")]
    NoHost {
        /// Which.
        name: SecretName,
    },
    /// A host of the binding is none.
    #[error("the secret `{name}` is bound to what is no host")]
    Host {
        /// Which.
        name: SecretName,
        /// Why it is none.
        source: RuleError,
    },
    /// A host of the binding is more than a name and a port.
    #[error("the secret `{name}` is bound to `{host}`, which is not a name with or without a port")]
    HostForm {
        /// Which.
        name: SecretName,
        /// The host as written, fit for a terminal.
        host: String,
    },
    /// Too few letters and digits for a placeholder nobody could guess.
    #[error("the secret `{name}` has too few letters and digits for a placeholder of its form")]
    Guessable {
        /// Which.
        name: SecretName,
    },
    /// The placeholder is the value, or lies in it.
    #[error("the placeholder of the secret `{name}` is its value")]
    Same {
        /// Which.
        name: SecretName,
    },
    /// The value has another shape than the placeholder the cell has, and messages of a WebSocket keep their length.
    #[error("the secret `{name}` has a new value of another form, and is written into WebSocket messages")]
    Shape {
        /// Which.
        name: SecretName,
    },
}

impl KeyError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoHost { .. } | Self::Host { .. } | Self::HostForm { .. } => {
                "bind it again with `fumehood secret set NAME --host api.example.com`"
            }
            Self::Shape { .. } => "start the server again, which gives it a fresh placeholder",
            Self::Same { .. } => "start the server again",
            Self::Short { .. } | Self::Long { .. } | Self::Characters { .. } | Self::Guessable { .. } => {
                "a value like this can only be handed to the server itself: `--expose`"
            }
        }
    }
}

impl Key {
    /// Shortest value, in bytes.
    pub const MIN_LEN: usize = 16;
    /// Longest value, in bytes: more than that no server takes in a header.
    pub const MAX_LEN: usize = 8 * 1024;
    /// Former values that are still looked for in answers.
    const FORMER: usize = 4;

    /// Checks that `value` can be written where `binding` says, and told from other text in answers.
    pub fn new(
        name: SecretName,
        binding: Binding,
        value: Arc<Plaintext>,
        placeholder: Placeholder,
    ) -> Result<Self, KeyError> {
        let length = value.len();
        if length < Self::MIN_LEN {
            return Err(KeyError::Short { name, length, least: Self::MIN_LEN });
        }
        if length > Self::MAX_LEN {
            return Err(KeyError::Long { name, length, most: Self::MAX_LEN });
        }
        let bytes = value.expose();
        let blank_end = bytes.first() == Some(&b' ') || bytes.last() == Some(&b' ');
        if blank_end || !bytes.iter().all(|byte| matches!(byte, b' '..=b'~')) {
            return Err(KeyError::Characters { name });
        }
        if placeholder.bits() < Placeholder::MIN_BITS {
            return Err(KeyError::Guessable { name });
        }
        if memchr::memmem::find(bytes, placeholder.as_str().as_bytes()).is_some()
            || memchr::memmem::find(placeholder.as_str().as_bytes(), bytes).is_some()
        {
            return Err(KeyError::Same { name });
        }
        let places = if binding.places.is_empty() {
            vec![Place::Header("authorization".into())]
        } else {
            binding.places.clone()
        };
        let same_shape = same_shape(bytes, placeholder.as_str().as_bytes());
        if !same_shape && places.contains(&Place::WebSocket) {
            return Err(KeyError::Shape { name });
        }
        let rules = rules(&name, &binding)?;
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Self { name, binding, value, former: Vec::new(), placeholder, rules, places, same_shape, id })
    }

    /// What it is called.
    pub fn name(&self) -> &SecretName {
        &self.name
    }

    /// Where it may go.
    pub fn binding(&self) -> &Binding {
        &self.binding
    }

    /// The places it is written in; never empty.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// What the cell has in its stead.
    pub fn placeholder(&self) -> &Placeholder {
        &self.placeholder
    }

    /// The hosts of the binding as rules, each about TLS only.
    pub fn rules(&self) -> &[HostRule] {
        &self.rules
    }

    /// Whether requests to `host` at `port`, over TLS, are requests to a host of this key.
    pub fn covers(&self, host: &HostName, port: u16) -> bool {
        self.rules.iter().any(|rule| rule.covers(host) && rule.kind(port) == Some(Kind::Tls))
    }

    /// Whether `host` may know the value, from any of its ports.
    pub(crate) fn may_be_told_to(&self, host: &HostName) -> bool {
        self.rules.iter().any(|rule| rule.covers(host))
    }

    /// Whether its value may be written into a request with this method and path, to a host of its own. `OPTIONS` only
    /// where the binding names it; `TRACE` never.
    pub fn takes(&self, method: &str, path: &CanonicalPath) -> Result<(), Unbound> {
        let named = |method: &str| self.binding.methods.iter().any(|own| Method::as_str(own) == method);
        let method_fits = match method {
            "TRACE" | "CONNECT" => false,
            "OPTIONS" => named(method),
            _ => self.binding.methods.is_empty() || named(method),
        };
        if !method_fits && !crate::guard::off("secret-method") {
            return Err(Unbound::Method);
        }
        if self.binding.paths.is_empty() || crate::guard::off("secret-path") {
            return Ok(());
        }
        match path.canonical() {
            Ok(path) if self.binding.paths.iter().any(|pattern| pattern.covers(path)) => Ok(()),
            _ => Err(Unbound::Path),
        }
    }

    /// Whether requests with credentials of somebody else are refused.
    pub(crate) fn refuses_foreign(&self) -> bool {
        self.binding.foreign == Foreign::Refuse
    }

    /// Whether the value is written at this place.
    pub(crate) fn has_place(&self, place: &Place) -> bool {
        self.places.contains(place)
    }

    /// The value. Whoever calls this answers for where it goes.
    pub(crate) fn value(&self) -> &[u8] {
        self.value.expose()
    }

    /// The value, then those before it.
    pub(crate) fn values(&self) -> impl Iterator<Item = &[u8]> {
        std::iter::once(&self.value).chain(&self.former).map(|value| value.expose())
    }

    /// Whether value and placeholder take the same bytes in every encoding.
    pub(crate) fn same_shape(&self) -> bool {
        self.same_shape
    }

    /// Different for every key ever made in this process.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Remembers what `before` knew: answers may still tell it.
    pub(crate) fn after(mut self, before: &Self) -> Self {
        let known = std::iter::once(&before.value).chain(&before.former);
        self.former = known
            .filter(|value| value.expose() != self.value.expose())
            .take(Self::FORMER)
            .map(Arc::clone)
            .collect();
        self
    }
}

/// Why a key is not for a request to its own host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unbound {
    /// The binding has other methods.
    Method,
    /// The binding has other paths, or the path can be read in two ways.
    Path,
}

/// For logs: the name only.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("name", &self.name).finish_non_exhaustive()
    }
}

static NEXT: AtomicU64 = AtomicU64::new(0);

/// Whether each byte of one can take the place of the other's in every encoding: both a letter or digit, or the same.
fn same_shape(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| a == b || (a.is_ascii_alphanumeric() && b.is_ascii_alphanumeric()))
}

fn rules(name: &SecretName, binding: &Binding) -> Result<Vec<HostRule>, KeyError> {
    if binding.hosts.is_empty() {
        return Err(KeyError::NoHost { name: name.clone() });
    }
    let rule = |host: &String| {
        let bare = host.strip_prefix("https://").unwrap_or(host);
        if bare.contains(|c: char| c.is_whitespace() || matches!(c, '/' | '\\' | '?' | '#')) {
            return Err(KeyError::HostForm { name: name.clone(), host: crate::name::shown(host) });
        }
        HostRule::parse(&format!("https://{bare}"))
            .map_err(|source| KeyError::Host { name: name.clone(), source })
    };
    binding.hosts.iter().map(rule).collect()
}

#[cfg(test)]
pub(crate) mod tests;
