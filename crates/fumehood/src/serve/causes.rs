//! Without what the service cannot serve, as `/readyz` tells it.

use std::sync::Arc;

use cell::folders::Folders;
use futures_util::future::BoxFuture;
use gateway::{
    health::{Cause, Standing},
    identify::Door,
    jwks::KeysHealth,
    shelf::Shelf,
};
use secrets::vault::Store;

/// Keys of issuers.
pub(crate) struct IssuerKeys(pub(crate) Door);

impl Cause for IssuerKeys {
    fn name(&self) -> &'static str {
        "jwks"
    }

    fn state(&self) -> BoxFuture<'_, Standing> {
        let identifier = self.0.identifier();
        let issuers = identifier.issuers().len();
        let ailing: Vec<(String, KeysHealth)> =
            identifier.ailing().map(|(issuer, health)| (issuer.to_owned(), health)).collect();
        let told: Vec<String> = ailing.iter().map(|(issuer, health)| told(issuer, health)).collect();
        let without = ailing.iter().filter(|(_, health)| matches!(health, KeysHealth::Absent { .. })).count();
        let standing = match told.join("; ") {
            told if told.is_empty() => Standing::Good,
            told if issuers > 0 && without == issuers => Standing::Failed(told),
            told => Standing::Limited(told),
        };
        Box::pin(std::future::ready(standing))
    }
}

fn told(issuer: &str, health: &KeysHealth) -> String {
    match health {
        KeysHealth::Fresh => format!("{issuer}: fresh"),
        KeysHealth::Stale { age, why } => format!("{issuer}: {} s old ({why})", age.as_secs()),
        KeysHealth::Absent { why } => format!("{issuer}: none ({why})"),
    }
}

/// The vault's file.
pub(crate) struct VaultFile(pub(crate) Folders);

impl Cause for VaultFile {
    fn name(&self) -> &'static str {
        "vault"
    }

    fn state(&self) -> BoxFuture<'_, Standing> {
        let folder = self.0.vault();
        Box::pin(async move {
            let looked = tokio::task::spawn_blocking(move || Store::at(folder).stamp()).await;
            match looked {
                Ok(Ok(_)) => Standing::Good,
                Ok(Err(error)) => Standing::Limited(format!("servers with keys cannot be started: {error}")),
                Err(error) => Standing::Limited(error.to_string()),
            }
        })
    }
}

/// Servers: one that is withheld is no reason not to serve the others.
pub(crate) struct Servers(pub(crate) Arc<Shelf>);

impl Cause for Servers {
    fn name(&self) -> &'static str {
        "servers"
    }

    fn state(&self) -> BoxFuture<'_, Standing> {
        let stock = self.0.stock();
        let withheld: Vec<String> = stock
            .offers()
            .filter_map(|offer| Some(format!("{}: {}", offer.name(), offer.notice()?.reason)))
            .collect();
        let standing =
            if withheld.is_empty() { Standing::Good } else { Standing::Limited(withheld.join("; ")) };
        Box::pin(std::future::ready(standing))
    }
}
