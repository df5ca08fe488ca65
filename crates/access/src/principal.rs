//! Who asks.

use std::collections::BTreeSet;
use std::time::SystemTime;

use model::config::{ClaimPath, LocalKey, Peer};
use model::name::ServerName;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Issuer of callers that the operator named in its own file, by a key.
pub const KEY_ISSUER: &str = "urn:fumehood:key";
/// Issuer of callers that the operator named in its own file, by a user of this machine.
pub const PEER_ISSUER: &str = "urn:fumehood:peer";
/// Issuer of the user who runs a server for itself.
pub const LOCAL_ISSUER: &str = "urn:fumehood:local";
/// The role of whoever runs a server for itself.
pub const OWNER: &str = "owner";

/// A caller whose identity was proven. Only [`crate::token::Verifier`] makes one of a token.
#[derive(Debug, Clone, PartialEq)]
pub struct Principal {
    issuer: String,
    subject: String,
    tenant: Option<String>,
    roles: BTreeSet<String>,
    scopes: BTreeSet<String>,
    actors: Vec<Actor>,
    client: Option<String>,
    claims: Value,
    how: How,
    server: Option<ServerName>,
    expires: Option<SystemTime>,
}

/// How a caller proved who it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum How {
    /// An access token of an issuer.
    Token,
    /// A key of the operator's file, by its name there.
    Key(String),
    /// The peer of a Unix socket.
    Peer {
        /// Its user id, as the kernel said.
        uid: u32,
    },
    /// It runs the server for itself.
    Local,
}

impl How {
    /// The kind in one word, as records have it: `token`, `key`, `peer`, `local`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Key(_) => "key",
            Self::Peer { .. } => "peer",
            Self::Local => "local",
        }
    }
}

/// Somebody who acts for the subject (RFC 8693, section 4.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// Its issuer, where the token says one.
    pub issuer: Option<String>,
    /// Its subject.
    pub subject: String,
}

/// What the operator's file says of a caller that it names itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// The subject.
    pub subject: String,
    /// The tenant, where it has one.
    pub tenant: Option<String>,
    /// Its roles.
    pub roles: BTreeSet<String>,
}

impl From<&LocalKey> for Known {
    fn from(key: &LocalKey) -> Self {
        Self {
            subject: key.subject().to_owned(),
            tenant: key.tenant().map(str::to_owned),
            roles: key.roles().iter().map(ToString::to_string).collect(),
        }
    }
}

impl From<&Peer> for Known {
    fn from(peer: &Peer) -> Self {
        Self {
            subject: peer.subject().to_owned(),
            tenant: peer.tenant().map(str::to_owned),
            roles: peer.roles().iter().map(ToString::to_string).collect(),
        }
    }
}

/// What a verified token says.
pub(crate) struct Proven {
    pub(crate) issuer: String,
    pub(crate) subject: String,
    pub(crate) tenant: Option<String>,
    pub(crate) roles: BTreeSet<String>,
    pub(crate) scopes: BTreeSet<String>,
    pub(crate) actors: Vec<Actor>,
    pub(crate) client: Option<String>,
    pub(crate) claims: Value,
    pub(crate) expires: Option<SystemTime>,
}

impl Principal {
    /// The user who runs a server for itself; it has the role [`OWNER`].
    pub fn local(user: &str) -> Self {
        let known =
            Known { subject: user.to_owned(), tenant: None, roles: BTreeSet::from([OWNER.to_owned()]) };
        Self::known(LOCAL_ISSUER, known, How::Local, None)
    }

    /// The peer of a Unix socket with the user id `uid`.
    pub fn peer(uid: u32, known: Known) -> Self {
        Self::known(PEER_ISSUER, known, How::Peer { uid }, None)
    }

    /// Whoever has the key called `name`; with a `server`, it asks that server only.
    pub fn of_key(name: &str, known: Known, server: Option<ServerName>) -> Self {
        Self::known(KEY_ISSUER, known, How::Key(name.to_owned()), server)
    }

    pub(crate) fn of_token(proven: Proven) -> Self {
        let Proven { issuer, subject, tenant, roles, scopes, actors, client, claims, expires } = proven;
        Self {
            issuer,
            subject,
            tenant,
            roles,
            scopes,
            actors,
            client,
            claims,
            how: How::Token,
            server: None,
            expires,
        }
    }

    fn known(issuer: &str, known: Known, how: How, server: Option<ServerName>) -> Self {
        let Known { subject, tenant, roles } = known;
        let claims = json!({ "iss": issuer, "sub": subject });
        Self {
            issuer: issuer.to_owned(),
            subject,
            tenant,
            roles,
            scopes: BTreeSet::new(),
            actors: Vec::new(),
            client: None,
            claims,
            how,
            server,
            expires: None,
        }
    }

    /// Who vouches for the subject: the issuer's URL, or one of this module's constants.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The subject; unique under its issuer.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// The tenant, where there is one. `None` is no tenant, never any.
    pub fn tenant(&self) -> Option<&str> {
        self.tenant.as_deref()
    }

    /// Its roles, in our words.
    pub fn roles(&self) -> &BTreeSet<String> {
        &self.roles
    }

    /// The scopes of its token.
    pub fn scopes(&self) -> &BTreeSet<String> {
        &self.scopes
    }

    /// Who acts for it, the one who acts now first.
    pub fn actors(&self) -> &[Actor] {
        &self.actors
    }

    /// The client its token was given to (`client_id`, RFC 9068, or `azp`).
    pub fn client(&self) -> Option<&str> {
        self.client.as_deref()
    }

    /// What its token says there. A caller without a token has the claims `iss` and `sub` only.
    pub fn claim(&self, path: &ClaimPath) -> Option<&Value> {
        path.find(&self.claims)
    }

    /// How it proved who it is.
    pub fn how(&self) -> &How {
        &self.how
    }

    /// The only server it may ask, where it is bound to one.
    pub fn server(&self) -> Option<&ServerName> {
        self.server.as_ref()
    }

    /// When the proof ends; what was begun with it (a stream, say) ends then as well.
    pub fn expires(&self) -> Option<SystemTime> {
        self.expires
    }

    /// SHA-256, in 64 hex digits, over issuer, subject and tenant, each with its length before it. Two callers have the same
    /// key exactly if they are one person to us: cells, sessions and limits are kept by it.
    pub fn key(&self) -> String {
        key_of(&self.issuer, &self.subject, self.tenant.as_deref())
    }
}

/// The same of somebody who has not proven anything: by it a value is kept for one who will.
pub fn key_of(issuer: &str, subject: &str, tenant: Option<&str>) -> String {
    let mut hash = Sha256::new();
    let mut part = |text: &str| {
        hash.update(u64::try_from(text.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(text.as_bytes());
    };
    part(issuer);
    part(subject);
    // No tenant is told from an empty one by the number of parts.
    if let Some(tenant) = tenant {
        part(tenant);
    }
    hash.finalize().iter().fold(String::with_capacity(64), |text, byte| format!("{text}{byte:02x}"))
}

#[cfg(test)]
mod tests;
