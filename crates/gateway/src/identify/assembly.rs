//! From the operator's file to whoever finds callers.

use std::collections::BTreeSet;
use std::future::Future;
use std::path::Path;

use access::token::Verifier;
use futures_util::future::join_all;
use model::config::{IdentityProvider, KeySource, Operator};

use super::caller::Callers;
use super::identifier::{Identifier, Issuer};
use crate::jwks::{Clock, Keys, KeysError, Settings, Source, Times, Trust};
use crate::resource_metadata::Metadata;

impl Identifier {
    /// For the callers in the operator's file, at the address `base`. `trust` gives the authorities of this machine with those
    /// of one more file. Keys that `before` has kept are used further.
    ///
    /// # Errors
    ///
    /// [`KeysError`] where the authorities of an issuer cannot be read.
    pub fn of(
        operator: &Operator,
        base: &str,
        trust: impl Fn(Option<&Path>) -> Result<Trust, KeysError>,
        before: Option<&Self>,
    ) -> Result<Self, KeysError> {
        let mut issuers = Vec::new();
        for provider in operator.identities().values() {
            let settings = Settings {
                issuer: provider.issuer().to_owned(),
                source: source(provider.keys()),
                trust: trust(provider.extra_root().map(std::path::PathBuf::as_path))?,
                times: Times::default(),
            };
            let old = before.into_iter().flat_map(Self::issuers);
            let old = old.map(|issuer| &issuer.keys).find(|keys| keys.settings().issuer == settings.issuer);
            let keys = match old {
                Some(old) => Keys::succeeding(settings, old),
                None => Keys::new(settings, Clock::monotonic()),
            };
            issuers.push(Issuer { verifier: Verifier::new(provider.clone()), keys });
        }
        let names = operator.identities().values().map(|provider| provider.issuer().to_owned());
        let metadata = Metadata::new(base, names, scopes(operator));
        let callers = Callers::new(operator.keys().values(), operator.peers().values());
        Ok(Self::new(issuers, callers, metadata))
    }

    /// Fetches the keys of every issuer, at the start and when the configuration was read anew; those whose keys cannot be had,
    /// each with why. An issuer that is down need not keep the service from starting; a file that cannot be read is a fault in
    /// the configuration.
    pub async fn fetch(&self) -> Vec<(String, KeysError)> {
        let fetching = self.issuers().iter().map(|issuer| async {
            let error = issuer.keys.reload().await.err()?;
            Some((issuer.keys.settings().issuer.clone(), error))
        });
        join_all(fetching).await.into_iter().flatten().collect()
    }

    /// Keeps the keys fresh without anybody asking, until it is dropped.
    pub fn keep(&self) -> impl Future<Output = ()> + Send + use<> {
        let keeping: Vec<_> = self.issuers().iter().map(|issuer| issuer.keys.clone().keep()).collect();
        async move {
            join_all(keeping).await;
            // Without issuers there is nothing to keep.
            std::future::pending::<()>().await;
        }
    }
}

fn source(keys: &KeySource) -> Source {
    match keys {
        KeySource::Discovery => Source::Discovery,
        KeySource::Url(url) => Source::Address(url.clone()),
        KeySource::File(path) => Source::File(path.clone()),
    }
}

/// What a client should ask for: scopes mean something here only where roles are taken from them.
fn scopes(operator: &Operator) -> BTreeSet<String> {
    let by_scope = |provider: &&IdentityProvider| provider.claims().roles == provider.claims().scope;
    let named = |provider: &IdentityProvider| match provider.roles() {
        Some(map) => map.keys().cloned().collect::<Vec<_>>(),
        None => operator.roles().keys().map(ToString::to_string).collect(),
    };
    operator.identities().values().filter(by_scope).flat_map(named).collect()
}
