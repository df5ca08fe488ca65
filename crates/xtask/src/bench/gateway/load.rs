//! Connections that ask the same thing again and again, each by a thread of its own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Where to, and what is asked.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) address: SocketAddr,
    /// Head and body, as they are written.
    request: Vec<u8>,
    /// What the answer must have in it, or it is none.
    wanted: &'static str,
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Told {
    /// Calls in a second, over all connections.
    pub(super) rate: f64,
    /// How long each took.
    pub(super) times: Vec<Duration>,
}

impl Target {
    pub(super) fn new(
        address: SocketAddr,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
        wanted: &'static str,
    ) -> Self {
        let mut lines = String::new();
        for (name, value) in headers {
            lines.extend([name, ": ", value, "\r\n"]);
        }
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\n{lines}content-length: {}\r\n\r\n{body}",
            body.len()
        );
        Self { address, request: request.into_bytes(), wanted }
    }

    /// Asks once.
    pub(super) fn once(&self) -> Result<Duration> {
        let mut connection = Connection::open(self.address)?;
        connection.ask(self)
    }

    /// Asks over so many connections for so long.
    pub(super) fn load(&self, connections: usize, time: Duration) -> Result<Told> {
        let over = AtomicBool::new(false);
        let begin = Instant::now();
        let times: Vec<Result<Vec<Duration>>> = thread::scope(|scope| {
            let ask = || -> Result<Vec<Duration>> {
                let mut connection = Connection::open(self.address)?;
                let mut times = Vec::new();
                while !over.load(Ordering::Relaxed) {
                    times.push(connection.ask(self)?);
                }
                Ok(times)
            };
            let threads: Vec<_> = (0..connections).map(|_| scope.spawn(ask)).collect();
            thread::sleep(time);
            over.store(true, Ordering::Relaxed);
            let join = |thread: thread::ScopedJoinHandle<'_, Result<Vec<Duration>>>| {
                thread.join().unwrap_or_else(|_| bail!("a thread panicked"))
            };
            threads.into_iter().map(join).collect()
        });
        let took = begin.elapsed();
        let times: Vec<Duration> =
            times.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
        let calls = u32::try_from(times.len()).unwrap_or(u32::MAX);
        Ok(Told { rate: f64::from(calls) / took.as_secs_f64(), times })
    }
}

struct Connection {
    from: BufReader<TcpStream>,
    to: TcpStream,
    body: Vec<u8>,
}

impl Connection {
    fn open(address: SocketAddr) -> Result<Self> {
        let to = TcpStream::connect(address)?;
        to.set_nodelay(true)?;
        to.set_read_timeout(Some(Duration::from_secs(30)))?;
        Ok(Self { from: BufReader::new(to.try_clone()?), to, body: Vec::new() })
    }

    fn ask(&mut self, target: &Target) -> Result<Duration> {
        let begin = Instant::now();
        self.to.write_all(&target.request)?;
        let mut line = String::new();
        self.from.read_line(&mut line)?;
        let status = line.trim_end().to_owned();
        let mut length = None;
        loop {
            line.clear();
            self.from.read_line(&mut line)?;
            if line.trim_end().is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = Some(value.trim().parse::<usize>()?);
            }
        }
        self.body.resize(length.with_context(|| format!("{status}: an answer without a length"))?, 0);
        self.from.read_exact(&mut self.body)?;
        let took = begin.elapsed();
        let body = String::from_utf8_lossy(&self.body);
        if !body.contains(target.wanted) {
            bail!("{status}: {}", body.chars().take(500).collect::<String>());
        }
        Ok(took)
    }
}
