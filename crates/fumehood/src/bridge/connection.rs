//! Connections to the one remote server, kept for the next request.

use std::{cell::RefCell, fs, io, path::PathBuf, pin::Pin, rc::Rc, sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use cell_api::client::Attached;
use http_body_util::{BodyExt as _, Full};
use hyper::{
    Request, Response,
    body::Incoming,
    client::conn::http1::{self, SendRequest},
};
use hyper_util::rt::TokioIo;
use rustls::{
    ClientConfig, RootCertStore,
    crypto::aws_lc_rs::default_provider,
    pki_types::{CertificateDer, ServerName, pem::PemObject as _},
};
use tokio::{io::AsyncReadExt as _, net::TcpStream};
use tokio_rustls::TlsConnector;

use super::{MAX_MESSAGE, target::Target};

/// How long looking up, connecting and greeting may take together.
const CONNECTING: Duration = Duration::from_secs(30);
/// Connections kept for later.
const MAX_IDLE: usize = 8;
/// Where the certificates are that are trusted, where no variable says so.
const BUNDLE: &str = "/etc/ssl/certs/ca-certificates.crt";

/// The way to one server.
pub(super) struct Connections {
    pub(super) target: Target,
    way: Way,
    idle: RefCell<Vec<SendRequest<Full<Bytes>>>>,
}

/// Makes a connection to the server of a cell.
pub(crate) type Dial = Box<dyn Fn() -> Pin<Box<dyn Future<Output = io::Result<Attached>>>>>;

/// How one gets there.
enum Way {
    /// By the network, as it is.
    Plain,
    /// By the network, encrypted.
    Tls(Box<(TlsConnector, ServerName<'static>)>),
    /// Into a cell.
    Inside(Dial),
}

/// An answer whose body is still to come.
pub(super) struct Reply {
    /// The answer.
    pub(super) response: Response<Incoming>,
    connections: Rc<Connections>,
    sender: SendRequest<Full<Bytes>>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectionError {
    /// No certificates, or a name that none can be for.
    #[error("no certificates can be checked: {0}")]
    Certificates(String),
    /// Nobody is there, or nobody who can prove who it is.
    #[error("connecting to {host} failed: {source}")]
    Connect { host: String, source: io::Error },
    /// It did not answer, or not in HTTP.
    #[error("{host} gave no answer: {}", crate::stop::chain(source))]
    Answer { host: String, source: hyper::Error },
    /// A body that is larger than a message may be.
    #[error("{host} answered with more than {} MiB", MAX_MESSAGE >> 20)]
    TooLarge { host: String },
}

impl Connections {
    /// The way to this server. Nothing is connected yet.
    pub(super) fn new(target: Target) -> Result<Rc<Self>, ConnectionError> {
        let way = if target.tls { Way::Tls(Box::new(tls(&target)?)) } else { Way::Plain };
        Ok(Rc::new(Self { target, way, idle: RefCell::default() }))
    }

    /// The way to a server in a cell.
    pub(super) fn inside(target: Target, dial: Dial) -> Rc<Self> {
        Rc::new(Self { target, way: Way::Inside(dial), idle: RefCell::default() })
    }

    /// Sends a request and waits for the head of the answer. A kept connection that turns out to be closed before anything
    /// was sent is replaced by a new one.
    pub(super) async fn send(
        self: &Rc<Self>,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Reply, ConnectionError> {
        loop {
            let kept = self.idle.borrow_mut().pop();
            let is_kept = kept.is_some();
            let mut sender = match kept {
                Some(sender) if sender.is_closed() => continue,
                Some(sender) => sender,
                None => self.connect().await?,
            };
            match sender.try_send_request(request).await {
                Ok(response) => return Ok(Reply { response, connections: Rc::clone(self), sender }),
                Err(mut error) => match error.take_message() {
                    Some(unsent) if is_kept => request = unsent,
                    _ => {
                        let host = self.target.host.clone();
                        return Err(ConnectionError::Answer { host, source: error.into_error() });
                    }
                },
            }
        }
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>, ConnectionError> {
        let Target { host, port, .. } = &self.target;
        let failed = |source| ConnectionError::Connect { host: format!("{host}:{port}"), source };
        let connecting = async {
            let outside = async || {
                let stream = TcpStream::connect((host.as_str(), *port)).await?;
                stream.set_nodelay(true)?;
                io::Result::Ok(stream)
            };
            io::Result::Ok(match &self.way {
                Way::Plain => greet(TokioIo::new(outside().await?)).await,
                Way::Tls(tls) => {
                    let (connector, name) = &**tls;
                    let stream = connector.connect(name.clone(), outside().await?).await?;
                    greet(TokioIo::new(stream)).await
                }
                Way::Inside(dial) => {
                    let Attached { stream, early } = dial().await?;
                    let (from, to) = stream.into_split();
                    let from = io::Cursor::new(early).chain(from);
                    greet(TokioIo::new(tokio::io::join(from, to))).await
                }
            })
        };
        let connected = tokio::time::timeout(CONNECTING, connecting).await;
        let greeted =
            connected.unwrap_or_else(|_elapsed| Err(io::ErrorKind::TimedOut.into())).map_err(failed)?;
        greeted.map_err(|source| ConnectionError::Answer { host: host.clone(), source })
    }
}

async fn greet<T>(stream: TokioIo<T>) -> hyper::Result<SendRequest<Full<Bytes>>>
where
    TokioIo<T>: hyper::rt::Read + hyper::rt::Write + Unpin + 'static,
{
    let (sender, connection) = http1::handshake(stream).await?;
    // What goes wrong with it is told by the request that is under way.
    tokio::task::spawn_local(async move { connection.await.ok() });
    Ok(sender)
}

impl Reply {
    /// All of the body; the connection is kept after that.
    pub(super) async fn whole(mut self) -> Result<Bytes, ConnectionError> {
        let host = || self.connections.target.host.clone();
        let too_large = || ConnectionError::TooLarge { host: host() };
        let mut whole = BytesMut::new();
        let length = self.response.headers().get(hyper::header::CONTENT_LENGTH);
        let length = length.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
        if length.is_some_and(|length| length > MAX_MESSAGE) {
            return Err(too_large());
        }
        while let Some(frame) = self.response.frame().await {
            let frame = frame.map_err(|source| ConnectionError::Answer { host: host(), source })?;
            let Ok(data) = frame.into_data() else { continue };
            if whole.len().saturating_add(data.len()) > MAX_MESSAGE {
                return Err(too_large());
            }
            whole.extend_from_slice(&data);
        }
        self.keep().await;
        Ok(whole.freeze())
    }

    /// Gives the connection back, whose answer was read to its end.
    async fn keep(mut self) {
        if self.sender.ready().await.is_ok() {
            let mut idle = self.connections.idle.borrow_mut();
            if idle.len() < MAX_IDLE {
                idle.push(self.sender);
            }
        }
    }
}

fn tls(target: &Target) -> Result<(TlsConnector, ServerName<'static>), ConnectionError> {
    let wrong = |why: String| ConnectionError::Certificates(why);
    let bundle = std::env::var_os("SSL_CERT_FILE").map_or_else(|| PathBuf::from(BUNDLE), PathBuf::from);
    let text =
        fs::read(&bundle).map_err(|error| wrong(format!("reading `{}`: {error}", bundle.display())))?;
    let mut roots = RootCertStore::empty();
    // Distributions carry authorities that this library cannot use; the others still can.
    roots.add_parsable_certificates(CertificateDer::pem_slice_iter(&text).flatten());
    if roots.is_empty() {
        return Err(wrong(format!("`{}` holds none that can be used", bundle.display())));
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let name = ServerName::try_from(target.host.clone()).map_err(|error| wrong(error.to_string()))?;
    Ok((TlsConnector::from(Arc::new(config)), name))
}
