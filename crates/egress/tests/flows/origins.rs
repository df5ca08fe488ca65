//! Small servers that play the hosts.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::client::TlsStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::world::{Shared, within};

/// A server and everything it was sent, one entry a connection.
#[derive(Clone)]
pub(crate) struct Origin {
    pub(crate) address: SocketAddr,
    received: Shared<Arc<Mutex<Vec<u8>>>>,
}

impl Origin {
    /// A server that does `serve` on each connection; what it reads through [`Tap`] is kept.
    pub(crate) async fn new<F, R>(serve: F) -> Self
    where
        F: Fn(Tap) -> R + Send + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = Self { address: listener.local_addr().unwrap(), received: Shared::default() };
        let received = origin.received.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let seen = Arc::new(Mutex::new(Vec::new()));
                received.lock().unwrap().push(seen.clone());
                tokio::spawn(serve(Tap { stream, seen }));
            }
        });
        origin
    }

    /// Sends everything back.
    pub(crate) async fn echo() -> Self {
        Self::new(|mut tap| async move {
            let mut bytes = vec![0; 64 * 1024];
            while let Some(count) = tap.read(&mut bytes).await {
                if tap.stream.write_all(&bytes[..count]).await.is_err() {
                    return;
                }
            }
            drop(tap.stream.shutdown().await);
        })
        .await
    }

    /// Answers every request head, and each time with `answer`; bodies are taken for nothing.
    pub(crate) async fn http(answer: &'static str) -> Self {
        Self::new(move |mut tap| async move {
            while tap.head().await.is_some() {
                if tap.stream.write_all(answer.as_bytes()).await.is_err() {
                    return;
                }
            }
        })
        .await
    }

    /// What each connection sent so far, as text.
    pub(crate) fn received(&self) -> Vec<String> {
        let received = self.received.lock().unwrap();
        received.iter().map(|seen| String::from_utf8_lossy(&seen.lock().unwrap()).into_owned()).collect()
    }

    /// All it was sent, in one.
    pub(crate) fn all(&self) -> String {
        self.received().concat()
    }

    /// Connections made to it.
    pub(crate) fn connections(&self) -> usize {
        self.received.lock().unwrap().len()
    }
}

/// A server's end of a connection.
pub(crate) struct Tap {
    pub(crate) stream: TcpStream,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Tap {
    /// Reads some bytes; none at the end or after an error.
    pub(crate) async fn read(&mut self, bytes: &mut [u8]) -> Option<usize> {
        let count = self.stream.read(bytes).await.ok().filter(|count| *count > 0)?;
        self.seen.lock().unwrap().extend_from_slice(&bytes[..count]);
        Some(count)
    }

    /// Reads up to the end of a request's head.
    pub(crate) async fn head(&mut self) -> Option<String> {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            self.read(&mut byte).await?;
            head.push(byte[0]);
        }
        Some(String::from_utf8_lossy(&head).into_owned())
    }
}

/// An HTTPS server for one name: it answers every request head with its name.
pub(crate) struct Tls {
    pub(crate) origin: Origin,
    roots: RootCertStore,
}

impl Tls {
    pub(crate) async fn new(name: &'static str) -> Self {
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(vec![name.to_owned()]).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(cert.der().to_vec())).unwrap();
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
        let config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let origin = Origin::new(move |tap| {
            let acceptor = acceptor.clone();
            async move {
                let Ok(mut stream) = acceptor.accept(tap.stream).await else { return };
                let mut bytes = [0; 4096];
                while let Ok(count @ 1..) = stream.read(&mut bytes).await {
                    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{name}", name.len());
                    if bytes[..count].ends_with(b"\r\n\r\n") {
                        stream.write_all(answer.as_bytes()).await.unwrap();
                        stream.flush().await.unwrap();
                    }
                }
            }
        })
        .await;
        Self { origin, roots }
    }

    /// A handshake over `stream` in which the client asks for `sni`.
    pub(crate) async fn handshake(
        &self,
        stream: TcpStream,
        sni: &str,
    ) -> std::io::Result<TlsStream<TcpStream>> {
        within(self.connector(sni)(stream)).await
    }

    /// The same, to be done by another task.
    pub(crate) fn connector(
        &self,
        sni: &str,
    ) -> impl FnOnce(TcpStream) -> tokio_rustls::Connect<TcpStream> + use<> {
        let mut config =
            ClientConfig::builder().with_root_certificates(self.roots.clone()).with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let name = ServerName::try_from(sni.to_owned()).unwrap();
        move |stream| TlsConnector::from(Arc::new(config)).connect(name, stream)
    }
}

/// A request over an open connection, and the whole answer's text.
pub(crate) async fn ask(stream: &mut (impl AsyncReadExt + AsyncWriteExt + Unpin), request: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    answer(stream).await
}

/// Reads one answer with its `content-length` of bytes; to the end of the connection without one.
pub(crate) async fn answer(stream: &mut (impl AsyncReadExt + Unpin)) -> String {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                line.to_ascii_lowercase()
                    .strip_prefix("content-length:")
                    .map(|text| text.trim().parse::<usize>().unwrap())
            });
            let empty = head.starts_with("HTTP/1.1 101") || head.starts_with("HTTP/1.1 304");
            if empty || length.is_some_and(|length| body.len() >= length) {
                return text;
            }
        }
        let mut more = [0; 4096];
        match within(stream.read(&mut more)).await {
            Ok(count @ 1..) => bytes.extend_from_slice(&more[..count]),
            _ => return text,
        }
    }
}
