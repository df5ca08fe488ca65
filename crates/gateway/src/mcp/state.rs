//! What a client carries between two rounds of one request (MCP 2026-07-28, multi round-trip requests): sealed, so that it
//! is read and written by this process alone; bound to the caller and to the request; short-lived; good for one use.

use std::{
    collections::HashMap,
    fmt,
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use model::name::ServerName;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::guard;

/// How long a person may think about a question.
pub const LIFE: Duration = Duration::from_mins(10);
/// Most uses that are remembered at once, each for [`LIFE`].
const MOST_USES: usize = 100_000;
/// Longest state that is looked at, in bytes of base64: a server's own is in it.
const LONGEST: usize = 1 << 20;
/// Says what was sealed, so that nothing else that the key may come to seal is taken for it.
const CONTEXT: &[u8] = b"fumehood request state 1";

/// What is in a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Who asked.
    pub principal: String,
    /// What was asked for.
    pub request: String,
    /// What goes on.
    pub round: Round,
}

/// What goes on when the answers are there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Round {
    /// A call that waits in this process.
    Held {
        /// Its id.
        call: String,
    },
    /// A request that is made anew, of a server that knows what it asked.
    Again {
        /// The server, and no other one.
        server: ServerName,
        /// The server's own state.
        state: Option<String>,
        /// What it asked: only answers to that are passed on.
        asked: Vec<String>,
    },
}

/// A state that is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// Not sealed by this process, or changed since.
    #[error("`requestState` is not one that was given out here")]
    Unsealed,
    /// Too old.
    #[error("`requestState` has expired")]
    Expired,
    /// Of another caller, or of another request.
    #[error("`requestState` belongs to another request")]
    Foreign,
    /// Taken before.
    #[error("`requestState` was used before")]
    Used,
    /// More are in use than can be remembered.
    #[error("too many requests wait for answers")]
    Busy,
}

/// Seals and opens states.
pub struct Seal {
    key: LessSafeKey,
    /// Nonces of states that were taken, with when they expire.
    used: Mutex<HashMap<[u8; NONCE_LEN], u64>>,
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seal").finish_non_exhaustive()
    }
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    until: u64,
    #[serde(flatten)]
    state: State,
}

impl Seal {
    /// With a key that nobody else has and that ends with this process.
    ///
    /// # Errors
    ///
    /// Where the system gives no random bytes.
    pub fn new() -> Result<Self, getrandom::Error> {
        let mut key = [0; 32];
        getrandom::fill(&mut key)?;
        // A key of the right length is always one.
        let key = UnboundKey::new(&AES_256_GCM, &key).map_err(|_| getrandom::Error::UNEXPECTED)?;
        Ok(Self { key: LessSafeKey::new(key), used: Mutex::default() })
    }

    /// A state as the client gets it.
    ///
    /// # Errors
    ///
    /// Where the system gives no random bytes.
    pub fn seal(&self, state: State, now: SystemTime) -> Result<String, getrandom::Error> {
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce)?;
        let sealed = Sealed { until: seconds(now + LIFE), state };
        let mut bytes = serde_json::to_vec(&sealed).map_err(|_| getrandom::Error::UNEXPECTED)?;
        let nonce_used = Nonce::assume_unique_for_key(nonce);
        self.key
            .seal_in_place_append_tag(nonce_used, Aad::from(CONTEXT), &mut bytes)
            .map_err(|_| getrandom::Error::UNEXPECTED)?;
        Ok(URL_SAFE_NO_PAD.encode([nonce.as_slice(), &bytes].concat()))
    }

    /// Takes a state that a caller, whose [`access::principal::Principal::key`] is `principal`, sent along with `request`.
    ///
    /// # Errors
    ///
    /// [`StateError`].
    pub fn open(
        &self,
        text: &str,
        principal: &str,
        request: &str,
        now: SystemTime,
    ) -> Result<Round, StateError> {
        if text.len() > LONGEST {
            return Err(StateError::Unsealed);
        }
        let mut bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| StateError::Unsealed)?;
        let (nonce, sealed) = bytes.split_first_chunk_mut::<NONCE_LEN>().ok_or(StateError::Unsealed)?;
        let (nonce, now) = (*nonce, seconds(now));
        let plain = self
            .key
            .open_in_place(Nonce::assume_unique_for_key(nonce), Aad::from(CONTEXT), sealed)
            .map_err(|_| StateError::Unsealed)?;
        let Sealed { until, state } = serde_json::from_slice(plain).map_err(|_| StateError::Unsealed)?;
        if until <= now && !guard::off("mcp-state-expiry") {
            return Err(StateError::Expired);
        }
        let is_own = state.principal == principal || guard::off("mcp-state-principal");
        let is_same = state.request == request || guard::off("mcp-state-request");
        if !is_own || !is_same {
            return Err(StateError::Foreign);
        }
        self.use_up(nonce, until, now)?;
        Ok(state.round)
    }

    fn use_up(&self, nonce: [u8; NONCE_LEN], until: u64, now: u64) -> Result<(), StateError> {
        if guard::off("mcp-state-once") {
            return Ok(());
        }
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if used.contains_key(&nonce) {
            return Err(StateError::Used);
        }
        if used.len() >= MOST_USES {
            used.retain(|_, until| *until > now);
        }
        if used.len() >= MOST_USES {
            return Err(StateError::Busy);
        }
        used.insert(nonce, until);
        Ok(())
    }
}

/// Stands for a request: for each of its parts, told apart by their lengths.
pub fn digest_of(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(part);
    }
    URL_SAFE_NO_PAD.encode(hash.finalize())
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests;
