//! From a token to a caller.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use model::config::{Algorithm, IdentityProvider};
use model::guard;
use serde_json::Value;

use super::claims;
use super::error::TokenError;
use super::keys::KeySet;
#[cfg(feature = "guard-off")]
use super::naive;
use super::unverified::Unverified;
use crate::principal::{Actor, Principal, Proven};

/// Longest chain of actors that is taken.
pub const MAX_ACTORS: usize = 8;

/// Judges the tokens of one issuer.
#[derive(Debug, Clone)]
pub struct Verifier {
    provider: IdentityProvider,
}

impl Verifier {
    /// A judge of the tokens of `provider`.
    pub fn new(provider: IdentityProvider) -> Self {
        Self { provider }
    }

    /// Whose tokens, and what is expected of them.
    pub fn provider(&self) -> &IdentityProvider {
        &self.provider
    }

    /// Who the token at `now` is a proof of, with the keys of the issuer.
    ///
    /// # Errors
    ///
    /// [`TokenError`]; where [`TokenError::needs_key`] says so, newer keys may help.
    pub fn verify(&self, token: &str, keys: &KeySet, now: SystemTime) -> Result<Principal, TokenError> {
        self.judge(&Unverified::read(token)?, keys, now, None)
    }

    /// As [`Verifier::verify`], for a token that was taken apart already. `resource` is what the request is for (RFC 8707): a
    /// token that is meant for it needs no other audience.
    ///
    /// # Errors
    ///
    /// As [`Verifier::verify`].
    pub fn judge(
        &self,
        token: &Unverified<'_>,
        keys: &KeySet,
        now: SystemTime,
        resource: Option<&str>,
    ) -> Result<Principal, TokenError> {
        let issuer = token.issuer();
        if issuer != Ok(self.provider.issuer()) && !guard::off("token-issuer") {
            return Err(issuer.err().unwrap_or(TokenError::Issuer));
        }
        let is_declared = self.kind(token)?;
        if token.header().contains_key("crit") && !guard::off("token-critical") {
            return Err(TokenError::Critical);
        }
        self.signature(token, keys)?;
        // From here on everything is what the issuer said.
        if !is_declared && !guard::off("token-kind") {
            is_access_token(token)?;
        }
        if token.has_claim("cnf") && !guard::off("token-bound") {
            return Err(TokenError::Bound);
        }
        self.audience(token, resource)?;
        let expires = self.times(token, now)?;
        self.principal(token, expires)
    }

    /// Whether the header declares an access token. RFC 8725, section 3.11: what declares something else is none.
    fn kind(&self, token: &Unverified<'_>) -> Result<bool, TokenError> {
        let kind = token.header_text("typ")?;
        let is_wanted = self.provider.takes_type(kind);
        if is_wanted || guard::off("token-kind") {
            Ok(kind.is_some_and(|kind| ACCESS_TOKEN.iter().any(|name| kind.eq_ignore_ascii_case(name))))
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
        let known = Algorithm::ALL.into_iter().find(|known| known.as_str() == algorithm);
        let algorithm = known.ok_or(TokenError::Algorithm)?;
        if !self.provider.algorithms().contains(&algorithm) && !guard::off("token-algorithms") {
            return Err(TokenError::Algorithm);
        }
        let kid = token.header_text("kid")?;
        let candidates = keys.candidates(kid, algorithm);
        if candidates.is_empty() {
            return Err(TokenError::Key { kid: kid.map(str::to_owned) });
        }
        let signed = |key: &&super::keys::Key| key.signed(algorithm, token.message(), token.signature());
        if candidates.iter().any(signed) || guard::off("token-signature") {
            Ok(())
        } else {
            Err(TokenError::Signature)
        }
    }

    fn audience(&self, token: &Unverified<'_>, resource: Option<&str>) -> Result<(), TokenError> {
        let audience = claims::texts(token.claims().get("aud"), "aud");
        let audience = required(audience, "aud", || self.provider.audience().iter().cloned().collect())?;
        let ours = self.provider.audience().iter().map(String::as_str).chain(resource);
        let is_ours = ours.into_iter().any(|ours| audience.iter().any(|audience| is_same(audience, ours)));
        if is_ours || guard::off("token-audience") { Ok(()) } else { Err(TokenError::Audience) }
    }

    /// When it expires, if it is valid now.
    fn times(&self, token: &Unverified<'_>, now: SystemTime) -> Result<SystemTime, TokenError> {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let expires =
            required(claims::date(token.claims(), "exp"), "exp", || Duration::from_secs(u64::MAX >> 20))?;
        if now >= expires.saturating_add(self.provider.leeway()) && !guard::off("token-expired") {
            return Err(TokenError::Expired);
        }
        let early = optional(claims::date(token.claims(), "nbf"))?;
        if early.is_some_and(|early| now.saturating_add(self.provider.leeway()) < early)
            && !guard::off("token-early")
        {
            return Err(TokenError::Early);
        }
        optional(claims::date(token.claims(), "iat"))?;
        UNIX_EPOCH.checked_add(expires).ok_or(TokenError::Claim("exp"))
    }

    /// Whoever would have a token with these claims, if everything else of it were right. Who is made of it leaves this
    /// crate in nothing but words.
    pub(crate) fn suppose(&self, claims: Value) -> Result<Principal, TokenError> {
        let token = Unverified::supposed(claims);
        is_access_token(&token)?;
        self.principal(&token, UNIX_EPOCH)
    }

    fn principal(&self, token: &Unverified<'_>, expires: SystemTime) -> Result<Principal, TokenError> {
        let (paths, all) = (self.provider.claims(), token.claims());
        let subject = claims::text(paths.subject.find(all), "sub").map(|text| text.map(str::to_owned));
        let subject = required(subject, "sub", String::new)?;
        let tenant = paths.tenant.as_ref().and_then(|path| path.find(all));
        let tenant = optional(claims::text(tenant, "tenant"))?.map(str::to_owned);
        if tenant.is_none() && self.provider.require_tenant() && !guard::off("token-tenant") {
            return Err(TokenError::Tenant);
        }
        let scopes = optional(claims::texts(paths.scope.find(all), "scope"))?.unwrap_or_default();
        let scopes = scopes.iter().flat_map(|text| text.split(' ')).filter(|scope| !scope.is_empty());
        let scopes: BTreeSet<String> = scopes.map(str::to_owned).collect();
        let roles = if paths.roles == paths.scope {
            scopes.clone()
        } else {
            optional(claims::texts(paths.roles.find(all), "roles"))?.unwrap_or_default()
        };
        let client = match claims::text(all.get("client_id"), "client_id")? {
            None => claims::text(all.get("azp"), "azp")?,
            client => client,
        };
        Ok(Principal::of_token(Proven {
            issuer: self.provider.issuer().to_owned(),
            subject,
            tenant,
            roles: self.roles(roles),
            scopes,
            actors: actors(token)?,
            client: client.map(str::to_owned),
            expires: Some(expires),
            claims: all.clone(),
        }))
    }

    fn roles(&self, claimed: BTreeSet<String>) -> BTreeSet<String> {
        match self.provider.roles() {
            None => claimed,
            Some(map) => {
                let held = claimed.iter().filter_map(|value| map.get(value)).flatten();
                held.map(|role| role.as_str().to_owned()).collect()
            }
        }
    }
}

/// RFC 9068, section 2.1.
const ACCESS_TOKEN: [&str; 2] = ["at+jwt", "application/at+jwt"];

/// Refuses what is known to be another token of the same issuer: ID tokens have a `nonce` or a hash of what came with
/// them (OpenID Connect Core, sections 2 and 3.3.2.11), logout tokens `events`, and some issuers say the kind in a claim `typ`.
fn is_access_token(token: &Unverified<'_>) -> Result<(), TokenError> {
    let claims = token.claims();
    let is_another =
        ["nonce", "at_hash", "c_hash", "s_hash", "events"].into_iter().any(|name| token.has_claim(name));
    let kind = claims.get("typ").and_then(Value::as_str).map(str::to_ascii_lowercase);
    let says_another =
        kind.is_some_and(|kind| matches!(kind.as_str(), "id" | "refresh" | "offline" | "logout"));
    if is_another || says_another { Err(TokenError::Kind) } else { Ok(()) }
}

fn actors(token: &Unverified<'_>) -> Result<Vec<Actor>, TokenError> {
    let most = if guard::off("token-actors") { usize::MAX } else { MAX_ACTORS };
    claims::actors(token.claims(), most)
}

/// To the letter, but for the slash that clients write behind a host without a path (RFC 3986, section 6.2.3).
fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (without_slash(one), without_slash(other));
    one == other
}

fn without_slash(text: &str) -> &str {
    match text.strip_suffix('/') {
        Some(rest)
            if rest.split_once("://").is_some_and(|(_, host)| !host.is_empty() && !host.contains('/')) =>
        {
            rest
        }
        _ => text,
    }
}

/// A claim that has to be there with its type.
fn required<T>(
    claim: Result<Option<T>, TokenError>,
    name: &'static str,
    naive: impl FnOnce() -> T,
) -> Result<T, TokenError> {
    match claim {
        Ok(Some(value)) => Ok(value),
        _ if guard::off("token-claims") => Ok(naive()),
        Ok(None) => Err(TokenError::Claim(name)),
        Err(error) => Err(error),
    }
}

/// A claim that need not be there, but with its type.
fn optional<T>(claim: Result<Option<T>, TokenError>) -> Result<Option<T>, TokenError> {
    match claim {
        Err(_) if guard::off("token-claims") => Ok(None),
        claim => claim,
    }
}
