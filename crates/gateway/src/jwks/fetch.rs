//! One document, over HTTP/1.1 and TLS: bounded in size and time, and never from elsewhere than asked.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{Request, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::error::KeysError;
use crate::guard;

/// Largest document, in bytes. A set of a hundred keys of 4096 bits with certificates has about half of it.
pub const MAX_BYTES: usize = 512 * 1024;

/// Who may vouch for the hosts that keys come from.
#[derive(Clone)]
pub struct Trust {
    config: Arc<ClientConfig>,
}

impl Trust {
    /// The authorities in a text of certificates (RFC 7468). None at all is taken: no host is believed then.
    ///
    /// # Errors
    ///
    /// [`KeysError::Certificates`] where the library refuses its own settings.
    pub fn pem(text: &[u8]) -> Result<Self, KeysError> {
        let mut roots = RootCertStore::empty();
        // Distributions carry authorities that this library cannot use; the others still can.
        roots.add_parsable_certificates(CertificateDer::pem_slice_iter(text).flatten());
        let mut config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| KeysError::Certificates(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { config: Arc::new(config) })
    }
}

impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trust").finish_non_exhaustive()
    }
}

/// The document at `uri`.
pub(super) async fn get(uri: &Uri, trust: &Trust, time: Duration) -> Result<Bytes, KeysError> {
    let host = uri.host().unwrap_or_default().to_owned();
    let fetching = tokio::time::timeout(time, fetch(uri, trust, REDIRECTIONS));
    fetching.await.unwrap_or(Err(KeysError::Time { host }))
}

/// How many redirections the control follows in which following is not forbidden.
const REDIRECTIONS: usize = 1;

async fn fetch(uri: &Uri, trust: &Trust, redirections: usize) -> Result<Bytes, KeysError> {
    let host = uri.host().unwrap_or_default().to_owned();
    let failed = |why: &dyn fmt::Display| KeysError::Unreachable { host: host.clone(), why: why.to_string() };
    let is_tls = uri.scheme_str() == Some("https");
    let port = uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
    let name = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let stream = TcpStream::connect((name.as_str(), port)).await.map_err(|error| failed(&error))?;
    let response = if is_tls {
        let server = ServerName::try_from(name).map_err(|error| failed(&error))?;
        let connector = TlsConnector::from(Arc::clone(&trust.config));
        let stream = connector.connect(server, stream).await.map_err(|error| failed(&error))?;
        ask(uri, stream).await
    } else {
        ask(uri, stream).await
    };
    let response = response.map_err(|error| failed(&error))?;
    if response.status().is_redirection() && redirections > 0 && guard::off("jwks-redirections") {
        let target =
            response.headers().get(header::LOCATION).and_then(|target| target.to_str().ok()?.parse().ok());
        let target: Uri = target.ok_or_else(|| failed(&"a redirection to nowhere"))?;
        return Box::pin(fetch(&target, trust, redirections - 1)).await;
    }
    if response.status() != StatusCode::OK {
        return Err(KeysError::Status { address: uri.to_string(), status: response.status().as_u16() });
    }
    whole(response.into_body(), &host).await
}

async fn ask<S>(uri: &Uri, stream: S) -> hyper::Result<http::Response<Incoming>>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // What goes wrong with it is told by the request; it ends with the answer, for nothing else is asked.
    tokio::spawn(async move { connection.await.ok() });
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let host = uri.authority().map_or("", |authority| authority.as_str());
    let mut request = Request::new(Empty::<Bytes>::new());
    *request.uri_mut() = path.parse().unwrap_or_default();
    let headers = request.headers_mut();
    if let Ok(host) = host.parse() {
        headers.insert(header::HOST, host);
    }
    headers.insert(header::ACCEPT, http::HeaderValue::from_static("application/json"));
    headers.insert(header::CONNECTION, http::HeaderValue::from_static("close"));
    headers.insert(header::USER_AGENT, http::HeaderValue::from_static("fumehood"));
    sender.send_request(request).await
}

async fn whole(mut body: Incoming, host: &str) -> Result<Bytes, KeysError> {
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame
            .map_err(|error| KeysError::Unreachable { host: host.to_owned(), why: error.to_string() })?;
        let Ok(data) = frame.into_data() else { continue };
        if whole.len().saturating_add(data.len()) > MAX_BYTES && !guard::off("jwks-size") {
            return Err(KeysError::Size { host: host.to_owned() });
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole.freeze())
}
