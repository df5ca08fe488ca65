//! The test of a key on the wire, before a server is started that relies on it.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use model::secret::{Place, SecretName};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;

use crate::credential::Key;
use crate::doors::Doors;
use crate::edge::Core;
use crate::intake::Family;
use crate::name::HostName;
use crate::rule::{Kind, Names};
use crate::sink::{Sink, frame};
use crate::tls::authority::Authority;

/// Longest time for all of it.
const TIME: Duration = Duration::from_secs(10);

/// A whole text message (RFC 6455 §5.2), and any mask.
const TEXT: u8 = 0x81;
const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

/// Most bytes of the answer read.
const ANSWER: u64 = 256 * 1024;

/// Why a key did not pass its test. None of them holds its value.
#[derive(Debug, thiserror::Error)]
pub enum SelfTestError {
    /// The cell has no such key.
    #[error("the cell has no key `{name}`")]
    Unknown {
        /// Its name.
        name: SecretName,
    },
    /// Nobody vouches for hosts inside the cell.
    #[error("the cell has no certificate authority")]
    NoAuthority,
    /// The key's host is not reached inside the cell.
    #[error("`{host}` is not reached inside the cell: {why}")]
    Unreached {
        /// The host.
        host: String,
        /// What is wrong.
        why: String,
    },
    /// The connection broke.
    #[error("the connection to `{host}` inside the cell failed: {error}")]
    Connection {
        /// The host.
        host: String,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// The request was refused on its way.
    #[error("a request with the placeholder was not passed on: {answer}")]
    Refused {
        /// The beginning of the answer.
        answer: String,
    },
    /// What arrived at the host's end was not the value.
    #[error("the value was not written into the request")]
    NotWritten,
    /// What came back into the cell was the value, or not the placeholder.
    #[error("the value was not taken out of the answer")]
    NotTakenOut,
}

/// A request, and what of it comes back from who echoes it.
struct Probe {
    bytes: Vec<u8>,
    echo: String,
}

pub(crate) async fn run(core: &Arc<Core>, doors: &Doors, name: &SecretName) -> Result<(), SelfTestError> {
    let policy = core.registry.policy();
    let unknown = || SelfTestError::Unknown { name: name.clone() };
    let key = Arc::clone(policy.keys().key(name).ok_or_else(unknown)?);
    let authority = core.authority.as_ref().ok_or(SelfTestError::NoAuthority)?;
    let (host, port) = place(&key).ok_or_else(unknown)?;
    let unreached = |why: String| SelfTestError::Unreached { host: host.to_string(), why };
    let (assigned, unopened) =
        doors.admit(core, &policy, &host).await.map_err(|refusal| unreached(refusal.to_string()))?;
    if let Some(unopened) = unopened.into_iter().find(|unopened| unopened.port == port) {
        return Err(unreached(unopened.error));
    }
    let needles = policy.keys().scrubber(std::slice::from_ref(&key));
    let sink = Sink::new(Arc::clone(&needles));
    let probe = probe(&key, &host, port);
    let address = SocketAddr::new(assigned.addresses.v4.into(), port);
    let broken = |error| SelfTestError::Connection { host: host.to_string(), error };
    let asked = async {
        let stream = connect(core, address, &sink).await?;
        ask(authority, &host, stream, &probe.bytes).await
    };
    let answer = match tokio::time::timeout(TIME, asked).await {
        Ok(answer) => answer.map_err(broken)?,
        Err(_) => return Err(broken(io::ErrorKind::TimedOut.into())),
    };
    let text = String::from_utf8_lossy(&answer);
    if !text.starts_with("HTTP/1.1 200 ") && !text.starts_with("HTTP/1.1 101 ") {
        let body = text.split_once("\r\n\r\n").map_or(text.as_ref(), |(_, body)| body);
        let leaks = needles.edited(&answer).is_some();
        let answer = if leaks { String::new() } else { crate::name::shown_long(body) };
        return Err(SelfTestError::Refused { answer });
    }
    if !sink.saw() {
        return Err(SelfTestError::NotWritten);
    }
    // The same text may come back in another spelling.
    let back = text.contains(&probe.echo) || text.contains(key.placeholder().as_str());
    if needles.edited(&answer).is_some() || !back {
        return Err(SelfTestError::NotTakenOut);
    }
    Ok(())
}

/// The first host of a key; under a wildcard, a name that nobody has.
fn place(key: &Key) -> Option<(HostName, u16)> {
    let rule = key.rules().first()?;
    let (port, _) = rule.ports().find(|(_, kind)| *kind == Kind::Tls)?;
    let host = match rule.names() {
        Names::Exact(name) => name.clone(),
        Names::Below(suffix) => HostName::parse(&format!("fumehood-self-test.{suffix}")).ok()?,
    };
    Some((host, port))
}

/// Connects from inside the cell, where the address of the host is.
async fn connect(core: &Core, address: SocketAddr, sink: &Arc<Sink>) -> io::Result<TcpStream> {
    let socket = core.intake.tcp(Family::V4).await?;
    rustix::net::bind(&socket, &SocketAddr::new(address.ip(), 0))?;
    let socket = TcpSocket::from_std_stream(socket.into());
    let own = socket.local_addr()?;
    core.sinks.expect(own, Arc::clone(sink));
    let connected = socket.connect(address).await;
    if connected.is_err() {
        drop(core.sinks.forget(own));
    }
    connected
}

async fn ask(
    authority: &Authority,
    host: &HostName,
    stream: TcpStream,
    request: &[u8],
) -> io::Result<Vec<u8>> {
    let mut roots = RootCertStore::empty();
    roots.add(authority.certificate_der().to_vec().into()).map_err(io::Error::other)?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let name = ServerName::try_from(host.as_str().to_owned()).map_err(io::Error::other)?;
    let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
    stream.write_all(request).await?;
    stream.flush().await?;
    let mut answer = Vec::new();
    let mut answers = stream.take(ANSWER);
    // What matters is what came, however the connection ended.
    let _ended = answers.read_to_end(&mut answer).await.is_err();
    Ok(answer)
}

/// A request of the key's binding with the placeholder in its first place.
fn probe(key: &Key, host: &HostName, port: u16) -> Probe {
    let binding = key.binding();
    let placeholder = key.placeholder().as_str();
    let place = key.places().iter().find(|place| **place != Place::WebSocket);
    let body_place = matches!(place, Some(Place::Json | Place::Form));
    let usual = if body_place { "POST" } else { "GET" };
    let method = match binding.methods.as_slice() {
        [] => usual,
        some => some
            .iter()
            .find(|method| method.as_str() == usual)
            .or(some.first())
            .map_or(usual, |method| method.as_str()),
    };
    let fills = if place == Some(&Place::Path) { placeholder } else { "self-test" };
    let mut path = binding.paths.first().map_or_else(
        || if place == Some(&Place::Path) { format!("/{placeholder}") } else { "/".to_owned() },
        |pattern| pattern.as_str().replace('*', fills),
    );
    let mut after = Vec::new();
    let (mut header, mut body, mut echo) = (String::new(), String::new(), placeholder.to_owned());
    match place {
        Some(Place::Header(name)) if name == "authorization" => {
            header = format!("{name}: Bearer {placeholder}\r\n");
        }
        Some(Place::Header(name)) => header = format!("{name}: {placeholder}\r\n"),
        Some(Place::Basic) => {
            echo = base64::engine::general_purpose::STANDARD.encode(format!("self-test:{placeholder}"));
            header = format!("authorization: Basic {echo}\r\n");
        }
        Some(Place::Query(name)) => {
            let encoded =
                percent_encoding::utf8_percent_encode(placeholder, percent_encoding::NON_ALPHANUMERIC)
                    .to_string();
            encoded.clone_into(&mut echo);
            path = format!("{path}?{name}={encoded}");
        }
        Some(Place::Json) => {
            body = serde_json::json!({ "key": placeholder }).to_string();
            header.push_str("content-type: application/json\r\n");
        }
        Some(Place::Form) => {
            let encoded =
                percent_encoding::utf8_percent_encode(placeholder, percent_encoding::NON_ALPHANUMERIC)
                    .to_string();
            encoded.clone_into(&mut echo);
            body = format!("key={encoded}");
            header.push_str("content-type: application/x-www-form-urlencoded\r\n");
        }
        Some(Place::Path) => {}
        Some(Place::WebSocket) | None => {
            header.push_str("upgrade: websocket\r\nsec-websocket-version: 13\r\n");
            after = frame(TEXT, placeholder.as_bytes(), Some(MASK)).to_vec();
        }
    }
    let host = if port == 443 { host.to_string() } else { format!("{host}:{port}") };
    let length = if body.is_empty() { String::new() } else { format!("content-length: {}\r\n", body.len()) };
    let connection = if after.is_empty() { "close" } else { "upgrade" };
    let text = format!(
        "{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: {connection}\r\n{header}{length}\r\n{body}"
    );
    Probe { bytes: [text.as_bytes(), &after].concat(), echo }
}
