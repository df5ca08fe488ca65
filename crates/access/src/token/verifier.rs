//! From a token to a caller.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use model::guard::off;
use serde_json::Value;

use super::claims;
use super::error::TokenError;
use super::keys::KeySet;
#[cfg(feature = "guard-off")]
use super::naive;
use super::settings::{Algorithm, Settings};
use super::unverified::Unverified;
use crate::principal::{Actor, Principal, Proven};

/// Longest chain of actors that is taken.
pub const MAX_ACTORS: usize = 8;

/// Judges the tokens of one issuer.
#[derive(Debug, Clone)]
pub struct Verifier {
    settings: Settings,
}

impl Verifier {
    /// A judge of the tokens that `settings` describe.
    pub fn new(settings: Settings) -> Self {
        Self { settings }
    }

    /// What it expects.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Who the token at `now` is a proof of, with the keys of the issuer.
    ///
    /// # Errors
    ///
    /// [`TokenError`]; where [`TokenError::needs_key`] says so, newer keys may help.
    pub fn verify(&self, token: &str, keys: &KeySet, now: SystemTime) -> Result<Principal, TokenError> {
        self.judge(Unverified::read(token)?, keys, now)
    }

    /// As [`Verifier::verify`], for a token that was taken apart already.
    ///
    /// # Errors
    ///
    /// As [`Verifier::verify`].
    pub fn judge(
        &self,
        token: Unverified<'_>,
        keys: &KeySet,
        now: SystemTime,
    ) -> Result<Principal, TokenError> {
        if token.issuer()? != self.settings.issuer && !off("token-issuer") {
            return Err(TokenError::Issuer);
        }
        let is_declared = self.kind(&token)?;
        if token.header().contains_key("crit") && !off("token-critical") {
            return Err(TokenError::Critical);
        }
        self.signature(&token, keys)?;
        // From here on everything is what the issuer said.
        if !is_declared && !off("token-kind") {
            is_access_token(&token)?;
        }
        if token.claims().contains_key("cnf") && !off("token-bound") {
            return Err(TokenError::Bound);
        }
        self.audience(&token)?;
        let expires = self.times(&token, now)?;
        self.principal(token, expires)
    }

    /// Whether the header declares an access token. RFC 8725, section 3.11: what declares something else is none.
    fn kind(&self, token: &Unverified<'_>) -> Result<bool, TokenError> {
        let kind = token.header_text("typ")?.map(|kind| {
            let kind = kind.to_ascii_lowercase();
            kind.strip_prefix("application/").map_or(kind.clone(), str::to_owned)
        });
        let is_wanted = match (&self.settings.token_types, &kind) {
            (Some(types), Some(kind)) => types.iter().any(|wanted| wanted.eq_ignore_ascii_case(kind)),
            (Some(_), None) => false,
            (None, Some(kind)) => kind == ACCESS_TOKEN || kind == "jwt",
            (None, None) => true,
        };
        if is_wanted || off("token-kind") {
            Ok(kind.as_deref() == Some(ACCESS_TOKEN))
        } else {
            Err(TokenError::Kind)
        }
    }

    fn signature(&self, token: &Unverified<'_>, keys: &KeySet) -> Result<(), TokenError> {
        #[cfg(feature = "guard-off")]
        if naive::takes(token, keys) {
            return Ok(());
        }
        let algorithm = token.header_text("alg")?.ok_or(TokenError::Algorithm)?;
        let algorithm: Algorithm = algorithm.parse().map_err(|_| TokenError::Algorithm)?;
        if !self.settings.algorithms.contains(&algorithm) && !off("token-algorithms") {
            return Err(TokenError::Algorithm);
        }
        let kid = token.header_text("kid")?;
        let candidates = keys.candidates(kid, algorithm);
        if candidates.is_empty() {
            return Err(TokenError::Key { kid: kid.map(str::to_owned) });
        }
        let signed = |key: &&super::keys::Key| key.signed(algorithm, token.message(), token.signature());
        if candidates.iter().any(signed) || off("token-signature") {
            Ok(())
        } else {
            Err(TokenError::Signature)
        }
    }

    fn audience(&self, token: &Unverified<'_>) -> Result<(), TokenError> {
        let audience = claims::texts(token.claims(), "aud", "aud");
        let audience = required(audience, "aud", BTreeSet::new)?;
        let is_ours = audience.iter().any(|audience| self.settings.audience.contains(audience));
        if is_ours || off("token-audience") { Ok(()) } else { Err(TokenError::Audience) }
    }

    /// When it expires, if it is valid now.
    fn times(&self, token: &Unverified<'_>, now: SystemTime) -> Result<SystemTime, TokenError> {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let expires =
            required(claims::date(token.claims(), "exp"), "exp", || Duration::from_secs(u64::MAX >> 20))?;
        if now >= expires.saturating_add(self.settings.leeway) && !off("token-expired") {
            return Err(TokenError::Expired);
        }
        let early = optional(claims::date(token.claims(), "nbf"))?;
        if early.is_some_and(|early| now.saturating_add(self.settings.leeway) < early) && !off("token-early")
        {
            return Err(TokenError::Early);
        }
        optional(claims::date(token.claims(), "iat"))?;
        UNIX_EPOCH.checked_add(expires).ok_or(TokenError::Claim("exp"))
    }

    fn principal(&self, token: Unverified<'_>, expires: SystemTime) -> Result<Principal, TokenError> {
        let paths = &self.settings.claims;
        let all = token.claims();
        let subject = claims::text(all, &paths.subject, "sub").map(|text| text.map(str::to_owned));
        let subject = required(subject, "sub", String::new)?;
        let tenant = match &paths.tenant {
            Some(path) => claims::text(all, path, "tenant")?.map(str::to_owned),
            None => None,
        };
        if tenant.is_none() && self.settings.require_tenant && !off("token-tenant") {
            return Err(TokenError::Tenant);
        }
        let roles = match &paths.roles {
            Some(path) => claims::texts(all, path, "roles")?.unwrap_or_default(),
            None => BTreeSet::new(),
        };
        let scopes = claims::texts(all, &paths.scope, "scope")?.unwrap_or_default();
        let scopes = scopes.iter().flat_map(|text| text.split(' ')).filter(|scope| !scope.is_empty());
        let scopes = scopes.map(str::to_owned).collect();
        let client = match claims::text(all, "client_id", "client_id")? {
            None => claims::text(all, "azp", "azp")?,
            client => client,
        };
        Ok(Principal::of_token(Proven {
            issuer: self.settings.issuer.clone(),
            subject,
            tenant,
            roles: self.roles(roles),
            scopes,
            actors: actors(&token)?,
            client: client.map(str::to_owned),
            expires: Some(expires),
            claims: token.into_claims(),
        }))
    }

    fn roles(&self, claimed: BTreeSet<String>) -> BTreeSet<String> {
        match &self.settings.roles {
            None => claimed,
            Some(map) => claimed.iter().filter_map(|role| map.get(role)).flatten().cloned().collect(),
        }
    }
}

/// RFC 9068, section 2.1.
const ACCESS_TOKEN: &str = "at+jwt";

/// Refuses what is known to be another token of the same issuer: ID tokens have a `nonce` or a hash of what came with
/// them (OpenID Connect Core, sections 2 and 3.3.2.11), logout tokens `events`, and some issuers say the kind in a claim `typ`.
fn is_access_token(token: &Unverified<'_>) -> Result<(), TokenError> {
    let claims = token.claims();
    let is_another =
        ["nonce", "at_hash", "c_hash", "s_hash", "events"].iter().any(|name| claims.contains_key(*name));
    let kind = claims.get("typ").and_then(Value::as_str).map(str::to_ascii_lowercase);
    let says_another =
        kind.is_some_and(|kind| matches!(kind.as_str(), "id" | "refresh" | "offline" | "logout"));
    if is_another || says_another { Err(TokenError::Kind) } else { Ok(()) }
}

fn actors(token: &Unverified<'_>) -> Result<Vec<Actor>, TokenError> {
    let most = if off("token-actors") { usize::MAX } else { MAX_ACTORS };
    claims::actors(token.claims(), most)
}

/// A claim that has to be there with its type.
fn required<T>(
    claim: Result<Option<T>, TokenError>,
    name: &'static str,
    naive: impl FnOnce() -> T,
) -> Result<T, TokenError> {
    match claim {
        Ok(Some(value)) => Ok(value),
        _ if off("token-claims") => Ok(naive()),
        Ok(None) => Err(TokenError::Claim(name)),
        Err(error) => Err(error),
    }
}

/// A claim that need not be there, but with its type.
fn optional<T>(claim: Result<Option<T>, TokenError>) -> Result<Option<T>, TokenError> {
    match claim {
        Err(_) if off("token-claims") => Ok(None),
        claim => claim,
    }
}
