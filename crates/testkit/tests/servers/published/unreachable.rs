//! A registry that is out of reach: a port of this machine that hangs up, and counts who came.

use std::{
    io,
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
};

/// It is gone with the value.
pub(crate) struct Unreachable {
    address: SocketAddr,
    visits: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
    listener: Option<JoinHandle<()>>,
}

impl Unreachable {
    /// On a free port of 127.0.0.1.
    pub(crate) fn open() -> io::Result<Self> {
        let socket = TcpListener::bind("127.0.0.1:0")?;
        let address = socket.local_addr()?;
        let visits = Arc::new(AtomicUsize::new(0));
        let over = Arc::new(AtomicBool::new(false));
        let listener = thread::spawn({
            let (visits, over) = (Arc::clone(&visits), Arc::clone(&over));
            move || {
                for connection in socket.incoming() {
                    if over.load(Ordering::SeqCst) {
                        break;
                    }
                    visits.fetch_add(1, Ordering::SeqCst);
                    drop(connection);
                }
            }
        });
        Ok(Self { address, visits, over, listener: Some(listener) })
    }

    /// What a client is configured with.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// How many connections there were.
    pub(crate) fn visits(&self) -> usize {
        self.visits.load(Ordering::SeqCst)
    }
}

impl Drop for Unreachable {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // Wakes it up; where that fails it is not there any more.
        TcpStream::connect(self.address).ok();
        if let Some(listener) = self.listener.take() {
            listener.join().ok();
        }
    }
}
