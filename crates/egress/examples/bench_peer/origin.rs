//! The origin: HTTP/1.1 in the clear and over TLS, on ports of loopback that the system chooses.

use std::io::Read;
use std::net::Ipv4Addr;
use std::sync::Arc;

use base64::prelude::{BASE64_STANDARD, Engine};
use bytes::Bytes;
use http_body_util::{BodyExt, Either, Full};
use hyper::body::Incoming;
use hyper::header::AUTHORIZATION;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::Fault;
use crate::load::Load;

/// Bytes of an ordinary answer.
const ANSWER: u64 = 1_000;

/// Names the certificate is for.
const NAMES: &str = "*.example.com";

/// Serves until stdin ends; its first line on stdout says where, and which certificate it shows.
pub(crate) async fn serve() -> Result<(), Fault> {
    let made = rcgen::generate_simple_self_signed(vec![NAMES.to_owned()])?;
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der())?;
    let config = ServerConfig::builder().with_no_client_auth();
    let config = config.with_single_cert(vec![made.cert.der().clone()], key)?;
    let plain = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let tls = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let told = json!({
        "plain": plain.local_addr()?.port(),
        "tls": tls.local_addr()?.port(),
        "certificate": BASE64_STANDARD.encode(made.cert.der()),
        "key": BASE64_STANDARD.encode(made.signing_key.serialize_der()),
    });
    println!("{told}");
    tokio::spawn(accept(plain, None));
    tokio::spawn(accept(tls, Some(TlsAcceptor::from(Arc::new(config)))));
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
    Ok(())
}

async fn accept(listener: TcpListener, acceptor: Option<TlsAcceptor>) {
    while let Ok((stream, _)) = listener.accept().await {
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            stream.set_nodelay(true)?;
            match acceptor {
                None => converse(stream).await,
                Some(acceptor) => converse(acceptor.accept(stream).await?).await,
            }
        });
    }
}

/// Serves one connection. Its end is the client's affair: cut connections end in an error here.
async fn converse<S: AsyncRead + AsyncWrite + Unpin>(stream: S) -> Result<(), Fault> {
    Ok(http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer)).await?)
}

/// `/down/BYTES` is answered with so many, `/v1/echo` with the `authorization` it came with, which is told on stdout too;
/// anything else is read to its end and answered with a little.
async fn answer(mut request: Request<Incoming>) -> Result<Response<Either<Load, Full<Bytes>>>, hyper::Error> {
    if let Some(count) = request.uri().path().strip_prefix("/down/").and_then(|count| count.parse().ok()) {
        return Ok(Response::new(Either::Left(Load(count))));
    }
    if request.uri().path() == "/v1/echo" {
        let got = request
            .headers()
            .get(AUTHORIZATION)
            .map_or(Bytes::new(), |got| Bytes::copy_from_slice(got.as_bytes()));
        println!("{}", json!({ "got": String::from_utf8_lossy(&got) }));
        return Ok(Response::new(Either::Right(Full::new(got))));
    }
    while let Some(frame) = request.body_mut().frame().await {
        frame?;
    }
    Ok(Response::new(Either::Left(Load(ANSWER))))
}
