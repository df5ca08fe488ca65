//! From a request to its caller.

use std::sync::Arc;
use std::time::SystemTime;

use access::principal::{How, Known, Principal};
use access::token::{Unverified, Verifier};
use http::{HeaderMap, Uri};

use super::caller::Callers;
use super::connection::Connection;
use super::credential::Credential;
use super::error::IdentityError;
use crate::guard;
use crate::jwks::{Keys, KeysHealth};
use crate::resource_metadata::{Metadata, server};

/// One issuer whose tokens count.
#[derive(Debug, Clone)]
pub struct Issuer {
    /// Judges its tokens.
    pub verifier: Verifier,
    /// Its keys.
    pub keys: Keys,
}

/// Finds the caller of each request.
#[derive(Debug)]
pub struct Identifier {
    issuers: Vec<Issuer>,
    callers: Callers,
    metadata: Metadata,
}

/// What of a request says who sent it.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Where to.
    pub uri: &'a Uri,
    /// With what.
    pub headers: &'a HeaderMap,
    /// Over what.
    pub connection: Connection,
}

impl Identifier {
    /// Knows the callers of these issuers, and those that the operator named. No two have the same issuer.
    pub fn new(issuers: Vec<Issuer>, callers: Callers, metadata: Metadata) -> Self {
        Self { issuers, callers, metadata }
    }

    /// The same, for a user of this machine too.
    #[must_use]
    pub fn letting_in(mut self, uid: u32, known: Known) -> Self {
        self.callers.add_peer(uid, known);
        self
    }

    /// What clients are told.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The issuers.
    pub fn issuers(&self) -> &[Issuer] {
        &self.issuers
    }

    /// The issuers whose keys are not as they should be, each with how they are.
    pub fn ailing(&self) -> impl Iterator<Item = (&str, KeysHealth)> {
        let health =
            self.issuers.iter().map(|issuer| (issuer.verifier.provider().issuer(), issuer.keys.health()));
        health.filter(|(_, health)| *health != KeysHealth::Fresh)
    }

    /// Whether a caller whom a former configuration let in is still one. What a token says by itself ends with the token.
    pub fn knows(&self, who: &Principal) -> bool {
        let is_issued = self.issuers.iter().any(|issuer| issuer.verifier.provider().issuer() == who.issuer());
        self.callers.knows(who) && (*who.how() != How::Token || is_issued) || guard::off("identify-knows")
    }

    /// Who sent this request, at `now`.
    ///
    /// # Errors
    ///
    /// [`IdentityError`] where nobody is proven.
    pub async fn identify(&self, asked: Asked<'_>, now: SystemTime) -> Result<Arc<Principal>, IdentityError> {
        #[cfg(feature = "guard-off")]
        if guard::off("identify-forwarded")
            && let Some(subject) = asked.headers.get("x-principal-id").and_then(|id| id.to_str().ok())
        {
            return Ok(Arc::new(Principal::local(subject)));
        }
        if asked.connection.is_of_a_cell() {
            return Err(IdentityError::Cell);
        }
        let path = asked.uri.path();
        match Credential::of(asked.uri, asked.headers)? {
            Credential::Bearer(shown) => match self.callers.by_key(&shown) {
                Some(who) => placed(who, path),
                None => self.token(&shown, path, now).await.map(Arc::new),
            },
            Credential::None => match asked.connection {
                Connection::Unix { uid } => self.callers.by_uid(uid).ok_or(IdentityError::Peer),
                Connection::Tcp(_) => Err(IdentityError::None),
            },
        }
    }

    async fn token(&self, shown: &str, path: &str, now: SystemTime) -> Result<Principal, IdentityError> {
        // Keys of ours have no dots, so what has none was meant to be one.
        if !shown.contains('.') {
            return Err(IdentityError::Key);
        }
        let token = Unverified::read(shown)?;
        let claimed = token.issuer()?;
        let issuer = self.issuers.iter().find(|issuer| issuer.verifier.provider().issuer() == claimed);
        let issuer = issuer.ok_or(access::token::TokenError::Issuer)?;
        let resource = self.metadata.resource(path);
        let judge = |keys: &access::token::KeySet| issuer.verifier.judge(&token, keys, now, Some(&resource));
        let keys = issuer.keys.current().await.map_err(IdentityError::Keys)?;
        match judge(&keys) {
            Err(error) if error.needs_key().is_some() => match issuer.keys.newer(&keys).await {
                Some(newer) => Ok(judge(&newer)?),
                None => Err(error.into()),
            },
            judged => Ok(judged?),
        }
    }
}

/// A key for one server counts at the address of that server, and nowhere else.
fn placed(who: Arc<Principal>, path: &str) -> Result<Arc<Principal>, IdentityError> {
    match who.server() {
        Some(own) if server(path).as_ref() != Some(own) && !guard::off("identify-key-server") => {
            Err(IdentityError::KeyElsewhere)
        }
        _ => Ok(who),
    }
}
