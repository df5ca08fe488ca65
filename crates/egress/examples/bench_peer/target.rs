//! What is loaded, and how a connection to it is made.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use base64::prelude::{BASE64_STANDARD, Engine};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::HeaderValue;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::Fault;
use crate::load::Load;

/// What is loaded, as ordered.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Target {
    /// Its name, for `Host` and SNI.
    name: String,
    /// Its port.
    port: u16,
    /// Where it is; else its name is looked up, once an order.
    #[serde(default)]
    address: Option<IpAddr>,
    /// The root of its certificate (DER, base64); none for HTTP in the clear.
    #[serde(default)]
    root: Option<String>,
    /// A variable that names a file of roots (PEM) to trust instead.
    #[serde(default)]
    roots: Option<String>,
    /// A variable that holds the token to send; else one that nobody minds is sent.
    #[serde(default)]
    token: Option<String>,
}

/// A token of the usual length.
const TOKEN: &str = "0123456789abcdef0123456789abcdef01234567";

/// A target that was looked up.
#[derive(Clone)]
pub(crate) struct Found {
    name: String,
    place: SocketAddr,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    authorization: HeaderValue,
}

impl Target {
    /// Looks it up.
    pub(crate) async fn find(&self) -> Result<Found, Fault> {
        let place = match self.address {
            Some(address) => SocketAddr::new(address, self.port),
            None => tokio::net::lookup_host((self.name.as_str(), self.port))
                .await?
                .find(SocketAddr::is_ipv4)
                .ok_or("no address")?,
        };
        let mut roots = RootCertStore::empty();
        if let Some(root) = &self.root {
            roots.add(CertificateDer::from(BASE64_STANDARD.decode(root)?))?;
        }
        if let Some(variable) = &self.roots {
            for root in CertificateDer::pem_file_iter(std::env::var(variable)?)? {
                roots.add(root?)?;
            }
        }
        let tls = if roots.is_empty() {
            None
        } else {
            Some((connector(roots), ServerName::try_from(self.name.clone())?))
        };
        let token = self.token.as_ref().map_or_else(|| Ok(TOKEN.to_owned()), std::env::var)?;
        let authorization = HeaderValue::try_from(format!("Bearer {token}"))?;
        Ok(Found { name: self.name.clone(), place, tls, authorization })
    }
}

/// Every handshake is a whole one, as that of a program that was just started.
fn connector(roots: RootCertStore) -> TlsConnector {
    let mut config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    config.resumption = Resumption::disabled();
    TlsConnector::from(Arc::new(config))
}

/// A connection that is kept alive.
pub(crate) struct Connection {
    sender: SendRequest<Load>,
    name: String,
    authorization: HeaderValue,
}

impl Found {
    /// Connects.
    pub(crate) async fn open(&self) -> Result<Connection, Fault> {
        let stream = TcpStream::connect(self.place).await?;
        stream.set_nodelay(true)?;
        let sender = match &self.tls {
            None => speak(stream).await?,
            Some((connector, name)) => speak(connector.connect(name.clone(), stream).await?).await?,
        };
        Ok(Connection { sender, name: self.name.clone(), authorization: self.authorization.clone() })
    }
}

async fn speak<S>(stream: S) -> Result<SendRequest<Load>, Fault>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(sender)
}

impl Connection {
    /// One request and its whole answer.
    pub(crate) async fn ask(&mut self, method: &str, path: &str, body: Load) -> Result<(), Fault> {
        let mut answer = self.answer(method, path, body).await?;
        while let Some(frame) = answer.body_mut().frame().await {
            frame?;
        }
        Ok(())
    }

    /// What was sent as `authorization`, and what the origin says it got.
    pub(crate) async fn echo(&mut self) -> Result<(String, String), Fault> {
        let answer = self.answer("GET", "/v1/echo", Load(0)).await?;
        let told = String::from_utf8(answer.into_body().collect().await?.to_bytes().to_vec())?;
        Ok((self.authorization.to_str()?.to_owned(), told))
    }

    async fn answer(&mut self, method: &str, path: &str, body: Load) -> Result<Response<Incoming>, Fault> {
        self.sender.ready().await?;
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", &self.name)
            .header("user-agent", "fumehood-bench/1")
            .header("accept", "application/json, text/event-stream")
            .header("authorization", &self.authorization)
            .body(body)?;
        let answer = self.sender.send_request(request).await?;
        if !answer.status().is_success() {
            return Err(format!("answered {}", answer.status()).into());
        }
        Ok(answer)
    }

    /// A small one.
    pub(crate) async fn exchange(&mut self) -> Result<(), Fault> {
        self.ask("GET", "/v1/things/1", Load(0)).await
    }
}
