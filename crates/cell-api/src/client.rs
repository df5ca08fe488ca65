//! The client of one supervisor, over one connection.

use std::{io, marker::PhantomData, os::fd::AsRawFd, path::Path};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    client::conn::http1::{self, SendRequest},
    header,
};
use hyper_util::rt::TokioIo;
use serde::{Serialize, de::DeserializeOwned};
use tokio::net::UnixStream;

use crate::{
    SOCKET,
    error::ErrorBody,
    event::Event,
    frame::PROTOCOL,
    info::{CellInfo, ProcessInfo},
    network::{CheckAnswer, CheckOrder, NetworkChanged, NetworkInfo, NetworkOrder, TCP_PROTOCOL},
    order::{EndOrder, LogOrder, SignalOrder, Started, StderrMode},
    spec::{CellSpec, ProcessSpec},
};

/// One connection to a supervisor. Requests go one after the other; closing it (by dropping) may end the cell,
/// see [`crate::spec::Lease`].
#[derive(Debug)]
pub struct Client {
    sender: SendRequest<Full<Bytes>>,
}

/// A connection after its upgrade: frames of [`crate::frame`] in both directions after an attach, the bytes of a TCP
/// connection after a connect.
#[derive(Debug)]
pub struct Attached {
    /// The connection.
    pub stream: UnixStream,
    /// Bytes that came together with the answer and belong before everything read from `stream`.
    pub early: Bytes,
}

/// Lines of JSON as they come: events, unless said otherwise.
#[derive(Debug)]
pub struct Follow<T = Event> {
    body: Incoming,
    rest: Vec<u8>,
    lines: PhantomData<T>,
    // The connection lives as long as its client.
    _client: Client,
}

/// A request that was not done.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The supervisor refused; its body says why.
    #[error("{0}")]
    Refused(ErrorBody),
    /// The supervisor cannot be reached.
    #[error("cannot connect to the supervisor")]
    Connect(#[source] io::Error),
    /// The supervisor went away before it answered.
    #[error("the supervisor went away")]
    Gone(#[source] hyper::Error),
    /// The answer is not one of this API.
    #[error("the supervisor gave an answer that is not of this API ({status}): {body}")]
    Answer {
        /// HTTP status.
        status: u16,
        /// The beginning of the body.
        body: String,
    },
}

impl Client {
    /// Connects to the supervisor of the cell whose folder this is.
    ///
    /// The socket is reached through the folder's fd, so that the length of its path does not matter
    /// (`sun_path` holds 108 bytes, unix(7)).
    pub async fn connect(cell: &Path) -> Result<Self, ClientError> {
        let dir = std::fs::File::open(cell).map_err(ClientError::Connect)?;
        let path = format!("/proc/self/fd/{}/{SOCKET}", dir.as_raw_fd());
        let stream = UnixStream::connect(path).await.map_err(ClientError::Connect)?;
        Self::over(stream).await
    }

    /// Speaks over a connection that exists. Must be called within a tokio runtime.
    pub async fn over(stream: UnixStream) -> Result<Self, ClientError> {
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(ClientError::Gone)?;
        // A connection error reaches the pending request, which is where it can be told.
        tokio::spawn(async move { connection.with_upgrades().await.ok() });
        Ok(Self { sender })
    }

    /// Describes the cell.
    pub async fn create(&mut self, spec: &CellSpec) -> Result<CellInfo, ClientError> {
        self.ask(Method::PUT, "/v1/cell", Some(spec)).await
    }

    /// Builds the cell and starts its main process.
    pub async fn start(&mut self) -> Result<CellInfo, ClientError> {
        self.ask(Method::POST, "/v1/cell/start", NOTHING).await
    }

    /// What the supervisor knows of the cell.
    pub async fn info(&mut self) -> Result<CellInfo, ClientError> {
        self.ask(Method::GET, "/v1/cell", NOTHING).await
    }

    /// Starts another process.
    pub async fn exec(&mut self, process: &ProcessSpec) -> Result<Started, ClientError> {
        self.ask(Method::POST, "/v1/processes", Some(process)).await
    }

    /// All processes that were started.
    pub async fn processes(&mut self) -> Result<Vec<ProcessInfo>, ClientError> {
        self.ask(Method::GET, "/v1/processes", NOTHING).await
    }

    /// Sends a signal to a process's group.
    pub async fn signal(&mut self, id: u32, signal: i32) -> Result<ProcessInfo, ClientError> {
        self.ask(Method::POST, &format!("/v1/processes/{id}/signal"), Some(&SignalOrder { signal })).await
    }

    /// Stops all processes.
    pub async fn freeze(&mut self) -> Result<CellInfo, ClientError> {
        self.ask(Method::POST, "/v1/cell/freeze", NOTHING).await
    }

    /// Continues them.
    pub async fn thaw(&mut self) -> Result<CellInfo, ClientError> {
        self.ask(Method::POST, "/v1/cell/thaw", NOTHING).await
    }

    /// Adds lines to the cell's log.
    pub async fn log(&mut self, lines: &LogOrder) -> Result<CellInfo, ClientError> {
        self.ask(Method::POST, "/v1/cell/log", Some(lines)).await
    }

    /// Ends the cell in an orderly way; answered when nothing of it runs.
    pub async fn end(&mut self, order: EndOrder) -> Result<CellInfo, ClientError> {
        self.ask(Method::DELETE, "/v1/cell", Some(&order)).await
    }

    /// The events that are still known.
    pub async fn events(&mut self) -> Result<Vec<Event>, ClientError> {
        self.lines("/v1/cell/events").await
    }

    /// All events that are still known, and then every new one.
    pub async fn follow(self) -> Result<Follow, ClientError> {
        self.flowing("/v1/cell/events?follow=true").await
    }

    /// What the cell may reach, and what went out so far.
    pub async fn network(&mut self) -> Result<NetworkInfo, ClientError> {
        self.ask(Method::GET, "/v1/cell/network", NOTHING).await
    }

    /// Puts a new list of hosts in force; answered after everything that it does not allow was cut.
    pub async fn set_network(&mut self, order: &NetworkOrder) -> Result<NetworkChanged, ClientError> {
        self.ask(Method::PUT, "/v1/cell/network", Some(order)).await
    }

    /// What would happen to a request.
    pub async fn check(&mut self, order: &CheckOrder) -> Result<CheckAnswer, ClientError> {
        self.ask(Method::POST, "/v1/cell/network/check", Some(order)).await
    }

    /// What happened at the edge of the cell, as far as it is still known: one JSON object an entry.
    pub async fn network_log(&mut self) -> Result<Vec<serde_json::Value>, ClientError> {
        self.lines("/v1/cell/network/log").await
    }

    /// The same, and then every new entry.
    pub async fn follow_network(self) -> Result<Follow<serde_json::Value>, ClientError> {
        self.flowing("/v1/cell/network/log?follow=true").await
    }

    /// Turns this connection into one to a port on loopback inside the cell.
    pub async fn connect_inside(self, port: u16) -> Result<Attached, ClientError> {
        self.upgrade(format!("/v1/cell/connect?port={port}"), TCP_PROTOCOL).await
    }

    /// Turns this connection into the stdio of process `id`.
    pub async fn attach(self, id: u32, stderr: StderrMode) -> Result<Attached, ClientError> {
        self.upgrade(format!("/v1/processes/{id}/attach?stderr={}", stderr.as_str()), PROTOCOL).await
    }

    async fn upgrade(mut self, path: String, protocol: &str) -> Result<Attached, ClientError> {
        let request = Request::post(path)
            .header(header::HOST, "cell")
            .header(header::CONNECTION, "upgrade")
            .header(header::UPGRADE, protocol)
            .body(Full::default())
            .map_err(|error| ClientError::Answer { status: 0, body: error.to_string() })?;
        let response = self.sender.send_request(request).await.map_err(ClientError::Gone)?;
        let status = response.status();
        if status != StatusCode::SWITCHING_PROTOCOLS {
            return Err(refusal(status, &read(response).await?));
        }
        let upgraded = hyper::upgrade::on(response).await.map_err(ClientError::Gone)?;
        match upgraded.downcast::<TokioIo<UnixStream>>() {
            Ok(parts) => Ok(Attached { stream: parts.io.into_inner(), early: parts.read_buf }),
            Err(_) => Err(ClientError::Answer { status: status.as_u16(), body: String::new() }),
        }
    }

    async fn lines<T: DeserializeOwned>(&mut self, path: &str) -> Result<Vec<T>, ClientError> {
        let response = self.send(Method::GET, path, NOTHING).await?;
        let status = response.status();
        let body = read(response).await?;
        body.split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).map_err(|_| answer(status, line)))
            .collect()
    }

    async fn flowing<T>(mut self, path: &str) -> Result<Follow<T>, ClientError> {
        let response = self.send(Method::GET, path, NOTHING).await?;
        Ok(Follow { body: response.into_body(), rest: Vec::new(), lines: PhantomData, _client: self })
    }

    async fn ask<T: DeserializeOwned>(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&impl Serialize>,
    ) -> Result<T, ClientError> {
        let response = self.send(method, path, body).await?;
        let status = response.status();
        let body = read(response).await?;
        serde_json::from_slice(&body).map_err(|_| answer(status, &body))
    }

    /// The answer, where it is a success.
    async fn send(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&impl Serialize>,
    ) -> Result<Response<Incoming>, ClientError> {
        let unsendable =
            |error: &dyn std::fmt::Display| ClientError::Answer { status: 0, body: error.to_string() };
        let bytes = match body {
            Some(value) => Bytes::from(serde_json::to_vec(value).map_err(|error| unsendable(&error))?),
            None => Bytes::new(),
        };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, "cell")
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(bytes))
            .map_err(|error| unsendable(&error))?;
        let response = self.sender.send_request(request).await.map_err(ClientError::Gone)?;
        let status = response.status();
        if status.is_success() { Ok(response) } else { Err(refusal(status, &read(response).await?)) }
    }
}

impl<T: DeserializeOwned> Follow<T> {
    /// The next one; `None` when the cell has ended.
    pub async fn next(&mut self) -> Result<Option<T>, ClientError> {
        loop {
            if let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                return serde_json::from_slice(&line).map(Some).map_err(|_| answer(StatusCode::OK, &line));
            }
            match self.body.frame().await {
                Some(frame) => {
                    let frame = frame.map_err(ClientError::Gone)?;
                    self.rest.extend(frame.data_ref().into_iter().flatten());
                }
                None => return Ok(None),
            }
        }
    }
}

const NOTHING: Option<&()> = None;

async fn read(response: Response<Incoming>) -> Result<Bytes, ClientError> {
    Ok(response.into_body().collect().await.map_err(ClientError::Gone)?.to_bytes())
}

fn refusal(status: StatusCode, body: &[u8]) -> ClientError {
    serde_json::from_slice(body).map_or_else(|_| answer(status, body), ClientError::Refused)
}

fn answer(status: StatusCode, body: &[u8]) -> ClientError {
    let text = String::from_utf8_lossy(body);
    ClientError::Answer { status: status.as_u16(), body: text.chars().take(200).collect() }
}
