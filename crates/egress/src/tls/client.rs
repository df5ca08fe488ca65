//! The client's side of TLS towards the hosts of one cell.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, OnceLock};

use rustls::ClientConfig;
use rustls::client::Resumption;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::ServerName;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::alpn::Alpn;
use super::roots::Roots;
use crate::half::Half;
use crate::name::HostName;

/// Sessions kept for resumption, over all hosts of the cell.
const SESSIONS: usize = 256;

/// Handshakes with hosts.
#[derive(Debug)]
pub(crate) struct Client {
    roots: Roots,
    /// Made when the first host is spoken to: reading all authorities takes as long as the start of a cell may.
    public: OnceLock<Arc<ClientConfig>>,
    own: HashMap<HostName, Arc<ClientConfig>>,
}

impl Client {
    pub(crate) fn new(roots: &Roots) -> Result<Self, rustls::Error> {
        let own = roots.stores().map(|(name, store)| Ok((name.clone(), config(store)?)));
        let own = own.collect::<Result<_, rustls::Error>>()?;
        Ok(Self { roots: roots.clone(), public: OnceLock::new(), own })
    }

    fn config(&self, name: &HostName) -> io::Result<Arc<ClientConfig>> {
        if let Some(config) = self.own.get(name).or_else(|| self.public.get()) {
            return Ok(Arc::clone(config));
        }
        if self.roots.is_empty() {
            return Err(io::Error::other("this machine has no certificate authorities"));
        }
        let config = config(self.roots.store()).map_err(io::Error::other)?;
        Ok(Arc::clone(self.public.get_or_init(|| config)))
    }

    /// Agrees with the host `name` on what of `offered` is spoken. The host's certificate must be vouched for.
    ///
    /// # Errors
    /// If it is not, or the host speaks no TLS that we speak.
    pub(crate) async fn handshake(
        &self,
        name: &HostName,
        offered: &[Vec<u8>],
        half: Half,
    ) -> io::Result<(TlsStream<Half>, Alpn)> {
        let mut config = self.config(name)?;
        // The sessions kept are one store whatever is offered.
        Arc::make_mut(&mut config).alpn_protocols = Alpn::known(offered);
        let server = ServerName::try_from(name.as_str().to_owned()).map_err(io::Error::other)?;
        let stream = TlsConnector::from(config).connect(server, half).await?;
        let alpn = Alpn::of(stream.get_ref().1.alpn_protocol());
        Ok((stream, alpn))
    }
}

fn config(roots: rustls::RootCertStore) -> Result<Arc<ClientConfig>, rustls::Error> {
    let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()?;
    let mut config = if crate::guard::off("upstream-verify") {
        unverified(builder)
    } else {
        builder.with_root_certificates(roots).with_no_client_auth()
    };
    config.resumption = Resumption::in_memory_sessions(SESSIONS);
    Ok(Arc::new(config))
}

type Builder = rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>;

#[cfg(not(feature = "guard-off"))]
fn unverified(builder: Builder) -> ClientConfig {
    builder.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth()
}

/// A client that believes everybody, for the controls of the tests.
#[cfg(feature = "guard-off")]
fn unverified(builder: Builder) -> ClientConfig {
    builder.dangerous().with_custom_certificate_verifier(Arc::new(credulous::Credulous)).with_no_client_auth()
}

#[cfg(feature = "guard-off")]
mod credulous;
