//! What answers on this machine.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

/// What the web page of the origin holds.
pub(crate) const PAGE: &str = "<html><body><p>the page of the origin</p></body></html>";

/// A service and how often it was connected to.
#[derive(Debug)]
pub(crate) struct Origin {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    visits: Arc<AtomicUsize>,
}

impl Origin {
    /// A web server with one page, whatever is asked for.
    pub(crate) fn web(address: &str) -> Self {
        Self::serving(address, |_, _| Some(PAGE.as_bytes().to_vec()))
    }

    /// A web server; `content` answers for a path on this port, and nothing is a 404.
    pub(crate) fn serving(
        address: &str,
        content: impl Fn(&str, u16) -> Option<Vec<u8>> + Send + Sync + 'static,
    ) -> Self {
        Self::tcp(address, move |mut stream| {
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") {
                match stream.read(&mut byte) {
                    Ok(1) => head.extend(byte),
                    _ => return,
                }
            }
            let head = String::from_utf8_lossy(&head);
            let path = head.split(' ').nth(1).unwrap_or_default();
            let port = stream.local_addr().map_or(0, |address| address.port());
            let (status, body) =
                content(path, port).map_or(("404 Not Found", Vec::new()), |body| ("200 OK", body));
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            // Whoever went away reads no answer.
            stream.write_all(&[head.into_bytes(), body].concat()).ok();
        })
    }

    /// A datagram service.
    pub(crate) fn datagrams(address: &str) -> Self {
        let socket = UdpSocket::bind(address).unwrap();
        let origin = Self { address: socket.local_addr().unwrap(), visits: Arc::default() };
        let visits = Arc::clone(&origin.visits);
        thread::spawn(move || {
            let mut buffer = [0; 2048];
            while let Ok((_, from)) = socket.recv_from(&mut buffer) {
                visits.fetch_add(1, Ordering::SeqCst);
                socket.send_to(b"answer", from).ok();
            }
        });
        origin
    }

    /// How often it was connected to, a moment after the last attempt.
    pub(crate) fn visits(&self) -> usize {
        thread::sleep(Duration::from_millis(50));
        self.visits.load(Ordering::SeqCst)
    }

    /// Any service; each connection has a thread of its own.
    pub(crate) fn tcp(address: &str, answer: impl Fn(TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let origin = Self { address: listener.local_addr().unwrap(), visits: Arc::default() };
        let (visits, answer) = (Arc::clone(&origin.visits), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                visits.fetch_add(1, Ordering::SeqCst);
                let answer = Arc::clone(&answer);
                thread::spawn(move || answer(stream));
            }
        });
        origin
    }
}
