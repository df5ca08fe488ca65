//! The host that asks for the key: HTTP/1.1, HTTP/2 and WebSockets over TLS, on loopback.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, Mutex, mpsc},
    thread,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode, Version,
    body::{Body as _, Incoming},
    header::{
        AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, SEC_WEBSOCKET_ACCEPT, UPGRADE,
    },
    service::service_fn,
    upgrade,
};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::{ServerConfig, pki_types::PrivateKeyDer};
use sha1::{Digest as _, Sha1};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    runtime,
};
use tokio_rustls::TlsAcceptor;

/// Its name, which the operator's file binds to it.
pub(crate) const NAME: &str = "api.example.test";
/// The real value of the key.
pub(crate) const VALUE: &str = "ghp_9vXq2LrT7bNw4KzYs8HdJc3MfEa6PuGt1Ro5";
/// What every answer to the right key begins with; the credential follows as it came.
pub(crate) const GREETING: &str = "welcome, ";
/// Said to the key where it comes by HTTP Basic, which nobody reads in the clear.
const USER: &str = "robot";

/// One request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) version: Version,
    pub(crate) path: String,
    /// The value of `authorization`, decoded where it is Basic.
    pub(crate) credential: Option<String>,
}

/// What stands at a path beside the greeting.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shelf {
    /// Content type and content, by path.
    pub(crate) pages: BTreeMap<String, (&'static str, Vec<u8>)>,
    /// A folder whose files are served under their names.
    pub(crate) folder: Option<PathBuf>,
    /// Paths for which no key is asked.
    pub(crate) open: Vec<String>,
}

/// It, while it runs.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) address: SocketAddr,
    /// The authority that vouches for it (PEM).
    pub(crate) authority: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Origin {
    /// Starts it with these things on its shelf.
    pub(crate) fn start(shelf: Shelf) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let acceptor = acceptor(&issuer);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (tell, told) = mpsc::channel();
        let (shelf, notes) = (Arc::new(shelf), Arc::clone(&seen));
        thread::spawn(move || {
            let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                tell.send(listener.local_addr().unwrap()).unwrap();
                while let Ok((stream, _)) = listener.accept().await {
                    let (acceptor, shelf, notes) = (acceptor.clone(), Arc::clone(&shelf), Arc::clone(&notes));
                    tokio::spawn(async move {
                        let Ok(stream) = acceptor.accept(stream).await else { return };
                        let service = service_fn(|request| {
                            let head = request.method() == Method::HEAD;
                            let mut answer = answered(request, &shelf, &notes);
                            if head {
                                // Over HTTP/2 hyper would send the body.
                                let length = HeaderValue::from(answer.body().size_hint().lower());
                                answer.headers_mut().insert(CONTENT_LENGTH, length);
                                *answer.body_mut() = Full::default();
                            }
                            async move { Ok::<_, Infallible>(answer) }
                        });
                        let server = auto::Builder::new(TokioExecutor::new());
                        // Whoever goes away in the middle is told of by the program that did.
                        server.serve_connection_with_upgrades(TokioIo::new(stream), service).await.ok();
                    });
                }
            });
        });
        Self { address: told.recv().unwrap(), authority: issuer.pem(), seen }
    }

    /// The requests since the last time.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }
}

fn acceptor(issuer: &CertifiedIssuer<'static, KeyPair>) -> TlsAcceptor {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new([NAME.to_owned()]).unwrap();
    // OpenSSL takes a certificate for self-signed that bears its issuer's name.
    params.distinguished_name.push(DnType::CommonName, NAME);
    let leaf = params.signed_by(&key, issuer).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    TlsAcceptor::from(Arc::new(config))
}

fn answered(
    mut request: Request<Incoming>,
    shelf: &Shelf,
    notes: &Mutex<Vec<Seen>>,
) -> Response<Full<Bytes>> {
    let path = request.uri().path().to_owned();
    let sent = request.headers().get(AUTHORIZATION).map(|value| value.to_str().unwrap().to_owned());
    let credential = sent.as_deref().map(decoded);
    notes.lock().unwrap().push(Seen {
        version: request.version(),
        path: path.clone(),
        credential: credential.clone(),
    });
    let known = credential
        .as_deref()
        .is_some_and(|sent| sent == format!("Bearer {VALUE}") || sent == format!("Basic {USER}:{VALUE}"));
    if !known && !shelf.open.contains(&path) {
        // Some programs give a name and a password only when they are asked.
        let mut refused = response(StatusCode::UNAUTHORIZED, "text/plain", "who are you?\n");
        refused.headers_mut().insert("www-authenticate", HeaderValue::from_static("Basic realm=\"origin\""));
        return refused;
    }
    if let Some(key) = request.headers().get("sec-websocket-key") {
        let accepted =
            STANDARD.encode(Sha1::digest([key.as_bytes(), b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"].concat()));
        let words = format!("{GREETING}{}", credential.unwrap_or_default());
        tokio::spawn(greet(upgrade::on(&mut request), words));
        let mut switched = response(StatusCode::SWITCHING_PROTOCOLS, "text/plain", "");
        let headers = switched.headers_mut();
        headers.remove(CONTENT_TYPE);
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(SEC_WEBSOCKET_ACCEPT, HeaderValue::from_str(&accepted).unwrap());
        return switched;
    }
    if let Some((kind, content)) = shelf.pages.get(&path) {
        return response(StatusCode::OK, kind, content.clone());
    }
    if let Some(folder) = &shelf.folder {
        return match std::fs::read(folder.join(path.trim_start_matches('/'))) {
            Ok(content) => response(StatusCode::OK, "application/octet-stream", content),
            Err(_) => response(StatusCode::NOT_FOUND, "text/plain", "not there\n"),
        };
    }
    response(StatusCode::OK, "text/plain", format!("{GREETING}{}\n", credential.unwrap_or_default()))
}

fn response(status: StatusCode, kind: &'static str, content: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(content.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

fn decoded(sent: &str) -> String {
    let Some(encoded) = sent.strip_prefix("Basic ") else { return sent.to_owned() };
    let pair = STANDARD.decode(encoded).unwrap_or_default();
    format!("Basic {}", String::from_utf8_lossy(&pair))
}

/// Says the words in one text message (RFC 6455), and goes when the other does.
async fn greet(upgraded: upgrade::OnUpgrade, words: String) {
    let Ok(upgraded) = upgraded.await else { return };
    let mut stream = TokioIo::new(upgraded);
    let length = u8::try_from(words.len()).unwrap();
    assert!(length < 126, "a longer message has another header");
    let message = [&[0x81, length], words.as_bytes()].concat();
    if stream.write_all(&message).await.is_ok() {
        let mut rest = [0; 256];
        // The first that comes is the other's farewell: nothing else is expected of it.
        let _farewell = stream.read(&mut rest).await;
        stream.write_all(&[0x88, 2, 0x03, 0xe8]).await.ok();
        stream.shutdown().await.ok();
    }
}
