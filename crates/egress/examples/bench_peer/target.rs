//! What is loaded, and how a connection to it is made.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use base64::prelude::{BASE64_STANDARD, Engine};
use http_body_util::BodyExt;
use hyper::Request;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use rustls::client::Resumption;
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
}

/// A target that was looked up.
#[derive(Clone)]
pub(crate) struct Found {
    name: String,
    place: SocketAddr,
    tls: Option<(TlsConnector, ServerName<'static>)>,
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
        let tls = match &self.root {
            None => None,
            Some(root) => Some((connector(root)?, ServerName::try_from(self.name.clone())?)),
        };
        Ok(Found { name: self.name.clone(), place, tls })
    }
}

/// Every handshake is a whole one, as that of a program that was just started.
fn connector(root: &str) -> Result<TlsConnector, Fault> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(BASE64_STANDARD.decode(root)?))?;
    let mut config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    config.resumption = Resumption::disabled();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// A connection that is kept alive.
pub(crate) struct Connection {
    sender: SendRequest<Load>,
    name: String,
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
        Ok(Connection { sender, name: self.name.clone() })
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
        self.sender.ready().await?;
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", &self.name)
            .header("user-agent", "fumehood-bench/1")
            .header("accept", "application/json, text/event-stream")
            .header("authorization", "Bearer 0123456789abcdef0123456789abcdef01234567")
            .body(body)?;
        let mut answer = self.sender.send_request(request).await?;
        if !answer.status().is_success() {
            return Err(format!("answered {}", answer.status()).into());
        }
        while let Some(frame) = answer.body_mut().frame().await {
            frame?;
        }
        Ok(())
    }

    /// A small one.
    pub(crate) async fn exchange(&mut self) -> Result<(), Fault> {
        self.ask("GET", "/v1/things/1", Load(0)).await
    }
}
