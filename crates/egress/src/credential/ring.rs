//! The keys of one cell at one moment.

use std::sync::{Arc, Mutex, PoisonError};

use model::secret::SecretName;

use super::key::{Key, KeyError};
use super::needle;
use super::placeholder::Placeholder;
use super::search::Needles;
use crate::name::HostName;

/// The keys of one cell at one moment. A change makes a new ring.
#[derive(Debug, Default)]
pub struct Keyring {
    keys: Vec<Arc<Key>>,
    /// All placeholders, in every encoding.
    watch: Option<Arc<Needles>>,
    /// What was built for answers to one set of keys, the latest last.
    built: Mutex<Vec<Built>>,
}

/// Needles, and the keys they were made for.
type Built = (Vec<u64>, Arc<Needles>);

impl Keyring {
    /// Sets of keys whose needles are kept: as many as hosts are talked to in turn, with different keys.
    const BUILT: usize = 8;

    /// A ring without keys.
    pub fn new() -> Self {
        Self::default()
    }

    /// This ring with `key`, in the place of the one with its name. What a former value was is still looked for in answers.
    ///
    /// # Errors
    /// If the placeholder is another key's, or lies in another's value.
    pub fn with(&self, key: Key) -> Result<Self, KeyError> {
        let text = |key: &Key| key.placeholder().as_str().as_bytes().to_vec();
        let mine = text(&key);
        let within = |value: &[u8], needle: &[u8]| memchr::memmem::find(value, needle).is_some();
        for other in self.keys.iter().filter(|other| other.name() != key.name()) {
            let theirs = text(other);
            if within(&theirs, &mine)
                || within(&mine, &theirs)
                || within(other.value(), &mine)
                || within(key.value(), &theirs)
            {
                return Err(KeyError::Same { name: key.name().clone() });
            }
        }
        let before = self.keys.iter().find(|own| own.name() == key.name());
        let key = match before {
            Some(before) => key.after(before),
            None => key,
        };
        let mut keys = self.keys.clone();
        keys.retain(|own| own.name() != key.name());
        keys.push(Arc::new(key));
        Ok(Self::of(keys))
    }

    /// This ring without the key `name`.
    #[must_use]
    pub fn without(&self, name: &SecretName) -> Self {
        Self::of(self.keys.iter().filter(|key| key.name() != name).map(Arc::clone).collect())
    }

    /// The keys bound to `host` at `port`, over TLS.
    pub fn bound_at(&self, host: &HostName, port: u16) -> Vec<Arc<Key>> {
        let anywhere = crate::guard::off("secret-host");
        self.keys.iter().filter(|key| anywhere || key.covers(host, port)).map(Arc::clone).collect()
    }

    /// The keys that `host` may know, whichever of its ports learnt them.
    pub(crate) fn told_to(&self, host: &HostName) -> Vec<Arc<Key>> {
        let anywhere = crate::guard::off("secret-host");
        self.keys.iter().filter(|key| anywhere || key.may_be_told_to(host)).map(Arc::clone).collect()
    }

    /// All keys.
    pub fn keys(&self) -> &[Arc<Key>] {
        &self.keys
    }

    /// The key `name`.
    pub fn key(&self, name: &SecretName) -> Option<&Arc<Key>> {
        self.keys.iter().find(|key| key.name() == name)
    }

    /// What the keys are called.
    pub fn names(&self) -> impl Iterator<Item = &SecretName> {
        self.keys.iter().map(|key| key.name())
    }

    /// What the cell has in the keys' stead.
    pub fn placeholders(&self) -> impl Iterator<Item = (&SecretName, &Placeholder)> {
        self.keys.iter().map(|key| (key.name(), key.placeholder()))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Finds all placeholders in every encoding; the owner of a needle is the place of its key in [`Keyring::keys`].
    pub(crate) fn watch(&self) -> Option<&Arc<Needles>> {
        self.watch.as_ref()
    }

    /// What takes the values of `keys` out of answers.
    pub(crate) fn scrubber(&self, keys: &[Arc<Key>]) -> Arc<Needles> {
        let ids: Vec<u64> = keys.iter().map(|key| key.id()).collect();
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, needles)) = built.iter().find(|(known, _)| *known == ids) {
            return Arc::clone(needles);
        }
        let needles = Arc::new(Needles::new(needle::scrubbing(keys)));
        if built.len() >= Self::BUILT {
            built.remove(0);
        }
        built.push((ids, Arc::clone(&needles)));
        needles
    }

    fn of(keys: Vec<Arc<Key>>) -> Self {
        let watch = (!keys.is_empty()).then(|| Arc::new(Needles::new(needle::watching(&keys))));
        Self { keys, watch, built: Mutex::default() }
    }
}
