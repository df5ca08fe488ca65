//! Hosts outside, with certificates of an authority of their own.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};

/// What vouches for the hosts.
pub(crate) struct Ca(CertifiedIssuer<'static, KeyPair>);

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// Whether it came over TLS.
    pub(crate) is_tls: bool,
    /// The request line and the headers.
    pub(crate) head: String,
    /// What followed.
    pub(crate) body: String,
}

/// One host, and everything that it was asked.
#[derive(Debug)]
pub(crate) struct Origin {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
}

/// A connection to a host, with TLS or without.
pub(crate) trait Peer: Read + Write {}

impl<T: Read + Write> Peer for T {}

impl Ca {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    fn config(&self, name: &str) -> Arc<ServerConfig> {
        let key = KeyPair::generate().unwrap();
        let leaf = CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, &self.0).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = ServerConfig::builder().with_no_client_auth();
        Arc::new(config.with_single_cert(vec![leaf.der().clone()], key).unwrap())
    }
}

impl Asked {
    /// The path of the request line.
    pub(crate) fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    /// The value of a header; its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (own, value) = line.split_once(':')?;
            own.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// Head and body.
    pub(crate) fn whole(&self) -> String {
        format!("{}{}", self.head, self.body)
    }
}

impl Origin {
    /// A host called `name` that does `answer` for each request, until that fails.
    pub(crate) fn start(
        ca: &Ca,
        name: &str,
        answer: impl Fn(&Asked, &mut dyn Peer) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let config = ca.config(name);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = Self { address: listener.local_addr().unwrap(), asked: Arc::default() };
        let (asked, answer) = (Arc::clone(&origin.asked), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (config, asked, answer) = (Arc::clone(&config), Arc::clone(&asked), Arc::clone(&answer));
                // Whoever goes away in the middle of something has been told all the same.
                thread::spawn(move || drop(serve(stream, config, &asked, &*answer)));
            }
        });
        origin
    }

    /// Everything it was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(
    stream: TcpStream,
    config: Arc<ServerConfig>,
    asked: &Mutex<Vec<Asked>>,
    answer: &dyn Fn(&Asked, &mut dyn Peer) -> io::Result<()>,
) -> io::Result<()> {
    let mut first = [0];
    // A greeting of TLS begins with 22.
    let is_tls = stream.peek(&mut first)? == 1 && first == [22];
    stream.set_nodelay(true)?;
    let mut peer: Box<dyn Peer> = if is_tls {
        Box::new(StreamOwned::new(ServerConnection::new(config).map_err(io::Error::other)?, stream))
    } else {
        Box::new(stream)
    };
    loop {
        let head = head(&mut peer)?;
        let mut request = Asked { is_tls, head, body: String::new() };
        request.body = body(&request, &mut peer)?;
        asked.lock().unwrap().push(request.clone());
        answer(&request, &mut peer)?;
        peer.flush()?;
    }
}

/// Everything up to the first empty line.
pub(crate) fn head(peer: &mut dyn Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        peer.read_exact(&mut byte)?;
        bytes.extend(byte);
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What follows on this head, as it was sent.
pub(crate) fn body(request: &Asked, peer: &mut dyn Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    if request.header("transfer-encoding").is_some() {
        while !bytes.ends_with(b"0\r\n\r\n") {
            let mut byte = [0];
            peer.read_exact(&mut byte)?;
            bytes.extend(byte);
        }
    } else if let Some(length) = request.header("content-length") {
        bytes = vec![0; length.parse().map_err(io::Error::other)?];
        peer.read_exact(&mut bytes)?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Sends an answer of this status with these headers.
pub(crate) fn say(peer: &mut dyn Peer, status: &str, headers: &str, body: &[u8]) -> io::Result<()> {
    write!(peer, "HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n", body.len())?;
    peer.write_all(body)
}
