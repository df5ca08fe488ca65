//! One connection over which requests go one after the other (RFC 9112), and what came of each.

use std::{
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use serde_json::Value;

/// Nothing is silent for longer, on however busy a machine.
const PATIENCE: Duration = Duration::from_secs(100);

pub(crate) struct Connection {
    address: SocketAddr,
    from: BufReader<TcpStream>,
    to: TcpStream,
}

pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// There is no whole answer.
#[derive(Debug)]
pub(crate) struct Lost {
    /// Bytes of one were there.
    pub(crate) had_begun: bool,
    pub(crate) why: String,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> io::Result<Self> {
        let to = TcpStream::connect(address)?;
        to.set_nodelay(true)?;
        to.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { address, from: BufReader::new(to.try_clone()?), to })
    }

    pub(crate) fn ask(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Reply, Lost> {
        let mut request = format!("{method} {path} HTTP/1.1\r\nhost: {}\r\n", self.address);
        for (name, value) in headers {
            request.extend([*name, ": ", *value, "\r\n"]);
        }
        request.extend(["content-length: ", &body.len().to_string(), "\r\n\r\n", body]);
        let before = |error: io::Error| Lost { had_begun: false, why: error.to_string() };
        // Where the other side has closed meanwhile, it may still have said something.
        self.to.write_all(request.as_bytes()).ok();
        let is_over = self.from.fill_buf().map_err(before)?.is_empty();
        if is_over {
            return Err(Lost { had_begun: false, why: "it was closed".to_owned() });
        }
        self.reply().map_err(|error| Lost { had_begun: true, why: error.to_string() })
    }

    fn reply(&mut self) -> io::Result<Reply> {
        let status = self.line()?;
        let status = status.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.ok_or_else(|| io::Error::other("no status"))?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':') {
                headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
            }
        }
        let mut reply = Reply { status, headers, body: Vec::new() };
        if let Some(length) = reply.header("content-length") {
            reply.body = vec![0; length.parse().map_err(io::Error::other)?];
            self.from.read_exact(&mut reply.body)?;
        } else if reply.header("transfer-encoding").is_some() {
            while self.chunk(&mut reply.body)? {}
        }
        Ok(reply)
    }

    /// Whether it was not the last.
    fn chunk(&mut self, body: &mut Vec<u8>) -> io::Result<bool> {
        let length = usize::from_str_radix(&self.line()?, 16).map_err(io::Error::other)?;
        let mut chunk = vec![0; length];
        self.from.read_exact(&mut chunk)?;
        body.extend(chunk);
        self.line()?;
        Ok(length > 0)
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.from.read_line(&mut line)?;
        if line.ends_with('\n') {
            Ok(line.trim_end().to_owned())
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// The answer in it, where it came at once or as the last event of a stream.
    pub(crate) fn json(&self) -> Value {
        let text = String::from_utf8_lossy(&self.body);
        let is_stream = self.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
        let last = || text.lines().rev().find_map(|line| line.strip_prefix("data:")).map(str::trim);
        let text = if is_stream { last().unwrap_or_default() } else { &text };
        serde_json::from_str(text).unwrap_or(Value::Null)
    }

    pub(crate) fn shown(&self) -> String {
        format!("{}: {}", self.status, String::from_utf8_lossy(&self.body))
    }
}
