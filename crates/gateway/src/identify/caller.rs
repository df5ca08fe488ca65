//! Callers that the operator's file names itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use access::principal::{How, Known, Principal};
use aws_lc_rs::constant_time::verify_slices_are_equal;
use model::config::{LocalKey, Peer};
use model::digest::Digest;
use model::name::ServerName;

/// Callers that the operator's file names itself: by a key, or by a user of this machine.
#[derive(Debug, Default)]
pub struct Callers {
    keys: Vec<(Digest, Arc<Principal>)>,
    peers: BTreeMap<u32, Arc<Principal>>,
}

impl Callers {
    /// Those of the file.
    pub fn new<'a>(
        keys: impl IntoIterator<Item = &'a LocalKey>,
        peers: impl IntoIterator<Item = &'a Peer>,
    ) -> Self {
        let mut callers = Self::default();
        for key in keys {
            callers.add_key(key.name(), *key.digest(), Known::from(key), key.server().cloned());
        }
        for peer in peers {
            callers.add_peer(peer.uid(), Known::from(peer));
        }
        callers
    }

    /// Adds whoever has the key with this SHA-256; with a `server`, for that server's own address.
    pub fn add_key(&mut self, name: &str, sha256: Digest, known: Known, server: Option<ServerName>) {
        self.keys.push((sha256, Arc::new(Principal::of_key(name, known, server))));
    }

    /// Adds a user of this machine.
    pub fn add_peer(&mut self, uid: u32, known: Known) {
        self.peers.insert(uid, Arc::new(Principal::peer(uid, known)));
    }

    /// Whose key this is. Takes as long whichever it is: all are compared, by their digests.
    pub fn by_key(&self, key: &str) -> Option<Arc<Principal>> {
        let digest = Digest::of(key.as_bytes());
        self.keys.iter().fold(None, |found, (known, who)| {
            let is_it = verify_slices_are_equal(known.bytes(), digest.bytes()).is_ok();
            if is_it { Some(Arc::clone(who)) } else { found }
        })
    }

    /// Whether somebody who was let in by a key or as a user of this machine would be now, as the same one.
    pub(super) fn knows(&self, who: &Principal) -> bool {
        match who.how() {
            How::Key(_) => self.keys.iter().any(|(_, known)| **known == *who),
            How::Peer { uid } => self.peers.get(uid).is_some_and(|known| **known == *who),
            How::Token | How::Local => true,
        }
    }

    /// Who this user of the machine is.
    pub fn by_uid(&self, uid: u32) -> Option<Arc<Principal>> {
        self.peers.get(&uid).cloned()
    }
}
