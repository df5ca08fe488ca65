//! An issuer's web server on loopback, which does as it is told and counts what it is asked.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

pub(crate) const CONFIGURATION: &str = "/.well-known/openid-configuration";
pub(crate) const JWKS: &str = "/jwks";

#[derive(Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
    pub(crate) after: Duration,
}

impl Answer {
    pub(crate) fn ok(body: &Value) -> Self {
        Self { status: 200, headers: Vec::new(), body: body.to_string(), after: Duration::ZERO }
    }

    pub(crate) fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: String::new(), after: Duration::ZERO }
    }
}

pub(crate) struct Origin {
    pub(crate) address: SocketAddr,
    told: Arc<Mutex<Told>>,
    task: JoinHandle<()>,
    /// The authority that vouches for it, where it speaks TLS (PEM).
    pub(crate) authority: Option<String>,
}

#[derive(Default)]
struct Told {
    answers: BTreeMap<String, Answer>,
    asked: BTreeMap<String, usize>,
}

impl Origin {
    pub(crate) async fn plain() -> Self {
        Self::begin(None).await
    }

    /// With a certificate for `localhost` of an authority of its own.
    pub(crate) async fn tls() -> Self {
        let mut authority = rcgen::CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let authority_key = rcgen::KeyPair::generate().unwrap();
        let authority_certificate = authority.self_signed(&authority_key).unwrap();
        let issuer = rcgen::Issuer::new(authority, authority_key);
        let key = rcgen::KeyPair::generate().unwrap();
        let leaf = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let leaf = leaf.signed_by(&key, &issuer).unwrap();
        let chain: Vec<CertificateDer<'static>> = vec![leaf.der().clone()];
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let mut origin = Self::begin(Some(acceptor)).await;
        origin.authority = Some(authority_certificate.pem());
        origin
    }

    async fn begin(tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let told = Arc::<Mutex<Told>>::default();
        let task = tokio::spawn(accept(listener, tls, Arc::clone(&told)));
        Self { address, told, task, authority: None }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        match self.authority {
            Some(_) => format!("https://localhost:{}{path}", self.address.port()),
            None => format!("http://{}{path}", self.address),
        }
    }

    pub(crate) fn answers(&self, path: &str, answer: Answer) {
        self.told.lock().unwrap().answers.insert(path.to_owned(), answer);
    }

    /// Is an issuer with these keys.
    pub(crate) fn publishes(&self, keys: &Value) {
        let document = json!({ "issuer": self.url(""), "jwks_uri": self.url(JWKS) });
        self.answers(CONFIGURATION, Answer::ok(&document));
        self.answers(JWKS, Answer::ok(keys));
    }

    pub(crate) fn asked(&self, path: &str) -> usize {
        self.told.lock().unwrap().asked.get(path).copied().unwrap_or_default()
    }

    pub(crate) fn asked_for_anything(&self) -> usize {
        self.told.lock().unwrap().asked.values().sum()
    }

    /// It takes no more connections.
    pub(crate) async fn goes_down(&mut self) {
        self.task.abort();
        assert!((&mut self.task).await.unwrap_err().is_cancelled());
    }

    /// It comes back, at the same address.
    pub(crate) async fn comes_back(&mut self) {
        let listener = TcpListener::bind(self.address).await.unwrap();
        self.task = tokio::spawn(accept(listener, None, Arc::clone(&self.told)));
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, tls: Option<TlsAcceptor>, told: Arc<Mutex<Told>>) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let (tls, told) = (tls.clone(), Arc::clone(&told));
        tokio::spawn(async move {
            match tls {
                // A client that does not believe it goes away; that is what some tests want.
                Some(tls) => {
                    if let Ok(stream) = tls.accept(stream).await {
                        serve(stream, told).await;
                    }
                }
                None => serve(stream, told).await,
            }
        });
    }
}

async fn serve<S: AsyncRead + AsyncWrite + Unpin + 'static>(stream: S, told: Arc<Mutex<Told>>) {
    let service = service_fn(move |request: Request<Incoming>| {
        let path = request.uri().path().to_owned();
        let answer = {
            let mut told = told.lock().unwrap();
            *told.asked.entry(path.clone()).or_default() += 1;
            told.answers.get(&path).cloned().unwrap_or_else(|| Answer::status(404))
        };
        async move {
            tokio::time::sleep(answer.after).await;
            let mut response = Response::builder().status(answer.status);
            for (name, value) in answer.headers {
                response = response.header(name, value);
            }
            Ok::<_, Infallible>(response.body(Full::new(Bytes::from(answer.body))).unwrap())
        }
    });
    http1::Builder::new().serve_connection(TokioIo::new(stream), service).await.ok();
}
