//! What the busy connections lead to: lines over TCP and TLS, and pages over HTTP, some of them slow and some large.

use std::{
    io::{self, BufRead as _, BufReader, Read, Write},
    net::TcpStream,
    sync::Arc,
    thread,
    time::Duration,
};

use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};

use crate::origin::Origin;

/// Bytes of the large answer.
const BULK: usize = 1 << 20;
/// Pieces of the slow answer, one byte each, and the time between them.
const PIECES: usize = 10;
const PAUSE: Duration = Duration::from_millis(100);

/// The three services.
#[derive(Debug)]
pub(super) struct Peers {
    pub(super) raw: Origin,
    pub(super) tls: Origin,
    pub(super) http: Origin,
    /// The certificate of the TLS service (PEM).
    pub(super) certificate: String,
}

impl Peers {
    /// Starts them; the certificate is for `names`.
    pub(super) fn start(names: Vec<String>) -> Self {
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let settings = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let settings = Arc::new(settings);
        // Whoever is cut off in the middle is told of by those inside the cells.
        Self {
            raw: Origin::tcp("127.0.0.1:0", |stream| drop(lines(stream))),
            tls: Origin::tcp("127.0.0.1:0", move |stream| {
                let connection = ServerConnection::new(Arc::clone(&settings)).unwrap();
                drop(lines(StreamOwned::new(connection, stream)));
            }),
            http: Origin::tcp("127.0.0.1:0", |stream| drop(pages(stream))),
            certificate: made.cert.pem(),
        }
    }
}

/// Answers each line: `bulk` with much, `slow` piece by piece, all else with itself.
fn lines(stream: impl Read + Write) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let out = stream.get_mut();
        match line.trim_end() {
            "bulk" => out.write_all(&vec![b'b'; BULK])?,
            "slow" => {
                for _ in 0..PIECES {
                    out.write_all(b"s")?;
                    out.flush()?;
                    thread::sleep(PAUSE);
                }
            }
            _ => out.write_all(line.as_bytes())?,
        }
        out.flush()?;
    }
}

/// Answers requests one after the other: `/slow` in chunks, all else with a small page.
fn pages(stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    loop {
        let mut request = String::new();
        if stream.read_line(&mut request)? == 0 {
            return Ok(());
        }
        let mut field = String::new();
        while field != "\r\n" {
            field.clear();
            if stream.read_line(&mut field)? == 0 {
                return Ok(());
            }
        }
        let out = stream.get_mut();
        if request.starts_with("GET /slow ") {
            out.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")?;
            for _ in 0..PIECES {
                out.write_all(b"1\r\ns\r\n")?;
                thread::sleep(PAUSE);
            }
            out.write_all(b"0\r\n\r\n")?;
        } else {
            let page = "p".repeat(200);
            write!(out, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{page}", page.len())?;
        }
    }
}
