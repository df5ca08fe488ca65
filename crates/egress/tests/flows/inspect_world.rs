//! Hosts with real certificates, and clients inside the cell that believe the cell's authority.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use egress::credential::{Key, Keyring, Placeholder};
use egress::policy::Policy;
use egress::tls::authority::Authority;
use egress::tls::roots::Roots;
use h2::RecvStream;
use h2::client::SendRequest;
use h2::server::SendResponse;
use http::{HeaderMap, Request};
use model::secret::{Binding, Foreign, Place, SecretName};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use secrets::plaintext::Plaintext;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::client::TlsStream;
use tokio_rustls::{TlsAcceptor, TlsConnector, server};

use crate::world::{Plan, Shared, World, policy, within};

pub(crate) const API: &str = "api.example.com";
pub(crate) const VALUE: &str = "ghp_R3alValue0fTheKey0123456789abcdefXY";
pub(crate) const TOKEN: &str = "TOKEN";

/// A certificate authority of the world outside.
pub(crate) struct Ca {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Ca {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self { issuer: CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap() }
    }

    pub(crate) fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// A server for `name` that speaks `alpn`.
    pub(crate) fn server(&self, name: &str, alpn: &[&str]) -> TlsAcceptor {
        let key = KeyPair::generate().unwrap();
        let leaf = CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let mut config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![leaf.der().clone()], key)
            .unwrap();
        config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        TlsAcceptor::from(Arc::new(config))
    }
}

/// A host that speaks TLS.
pub(crate) struct Host {
    pub(crate) address: SocketAddr,
    /// Whether each of its connections resumed an earlier session.
    pub(crate) resumed: Shared<bool>,
}

impl Host {
    /// A host that does `serve` on each connection.
    pub(crate) async fn new<F, R>(acceptor: TlsAcceptor, serve: F) -> Self
    where
        F: Fn(server::TlsStream<TcpStream>) -> R + Send + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = Self { address: listener.local_addr().unwrap(), resumed: Shared::default() };
        let resumed = Arc::clone(&host.resumed);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                stream.set_nodelay(true).unwrap();
                let Ok(stream) = acceptor.accept(stream).await else { continue };
                let kind = stream.get_ref().1.handshake_kind().unwrap();
                resumed.lock().unwrap().push(kind == rustls::HandshakeKind::Resumed);
                tokio::spawn(serve(stream));
            }
        });
        host
    }

    pub(crate) fn connections(&self) -> usize {
        self.resumed.lock().unwrap().len()
    }
}

/// What a host of HTTP/2 was asked.
pub(crate) type Asked = Arc<Mutex<Vec<(String, String, HeaderMap)>>>;

/// A host of HTTP/2 that does `serve` on each request; and what it was asked.
pub(crate) async fn two<F, R>(ca: &Ca, serve: F) -> (Host, Asked)
where
    F: Fn(Request<RecvStream>, SendResponse<Bytes>) -> R + Clone + Send + Sync + 'static,
    R: Future<Output = ()> + Send + 'static,
{
    let asked = Asked::default();
    let seen = Arc::clone(&asked);
    let host = Host::new(ca.server(API, &["h2"]), move |stream| {
        let (serve, seen) = (serve.clone(), Arc::clone(&seen));
        async move {
            let Ok(mut connection) = h2::server::handshake(stream).await else { return };
            while let Some(Ok((request, respond))) = connection.accept().await {
                let head =
                    (request.method().to_string(), request.uri().to_string(), request.headers().clone());
                seen.lock().unwrap().push(head);
                tokio::spawn(serve(request, respond));
            }
        }
    })
    .await;
    (host, asked)
}

/// A cell with an authority of its own, in a world with one certificate authority.
pub(crate) struct Inspected {
    pub(crate) world: World,
    pub(crate) authority: Arc<Authority>,
}

/// Starts a cell whose policy is `policy`, with `api.example.com` at `address`.
pub(crate) async fn start(plan: Plan, ca: &Ca, address: SocketAddr, policy: Policy) -> Inspected {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ca.pem");
    std::fs::write(&path, ca.pem()).unwrap();
    let authority = Arc::new(Authority::new().unwrap());
    let mut plan = plan.pin(API, address);
    plan.settings.roots = Arc::new(Roots::system(&[path]).unwrap());
    plan.settings.authority = Some(Arc::clone(&authority));
    Inspected { world: plan.start_with(policy).await, authority }
}

/// A cell with these rules.
pub(crate) async fn with_rules(ca: &Ca, address: SocketAddr, rules: &[&str]) -> Inspected {
    start(Plan::new(&[]), ca, address, policy(1, rules)).await
}

/// A key for `api.example.com`.
pub(crate) fn binding(places: &[Place]) -> Binding {
    Binding {
        hosts: vec![API.to_owned()],
        methods: vec![],
        paths: vec![],
        places: places.to_vec(),
        foreign: Foreign::Refuse,
    }
}

pub(crate) fn ring(binding: Binding, value: &str) -> Arc<Keyring> {
    let value = Plaintext::new(value.as_bytes().to_vec());
    let placeholder = Placeholder::for_value(&value);
    let name = SecretName::new(TOKEN).unwrap();
    let key = Key::new(name, binding, Arc::new(value), placeholder).unwrap();
    Arc::new(Keyring::new().with(key).unwrap())
}

pub(crate) fn placeholder(ring: &Keyring) -> String {
    ring.placeholders().next().unwrap().1.as_str().to_owned()
}

impl Inspected {
    /// What a client inside believes.
    pub(crate) fn trusts(&self, alpn: &[&str]) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(self.authority.certificate_der().to_vec())).unwrap();
        let mut config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        config
    }

    /// A TLS connection from inside to `api.example.com`.
    pub(crate) async fn tls(&self, alpn: &[&str]) -> TlsStream<TcpStream> {
        self.tls_as(Arc::new(self.trusts(alpn)), API).await.unwrap()
    }

    pub(crate) async fn tls_as(
        &self,
        config: Arc<ClientConfig>,
        sni: &str,
    ) -> std::io::Result<TlsStream<TcpStream>> {
        let stream = self.world.connect(API, 443).await;
        stream.set_nodelay(true).unwrap();
        let name = ServerName::try_from(sni.to_owned()).unwrap();
        within(TlsConnector::from(config).connect(name, stream)).await
    }

    /// HTTP/2 from inside to `api.example.com`.
    pub(crate) async fn two(&self) -> SendRequest<Bytes> {
        let stream = self.tls(&["h2"]).await;
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        let (send, connection) = within(h2::client::handshake(stream)).await.unwrap();
        tokio::spawn(connection);
        within(send.ready()).await.unwrap()
    }
}

/// A request to `api.example.com` over HTTP/2.
pub(crate) fn get(path: &str) -> Request<()> {
    Request::builder().uri(format!("https://{API}{path}")).body(()).unwrap()
}

/// Reads a body to its end.
pub(crate) async fn body(mut stream: RecvStream) -> Result<Vec<u8>, h2::Error> {
    let mut bytes = Vec::new();
    while let Some(piece) = within(stream.data()).await {
        let piece = piece?;
        bytes.extend_from_slice(&piece);
        stream.flow_control().release_capacity(piece.len())?;
    }
    Ok(bytes)
}
