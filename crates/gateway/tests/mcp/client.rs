//! A client that says exactly what the test says, and hears answers at once or in pieces.

use std::{net::SocketAddr, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{net::TcpStream, task::JoinHandle, time::timeout};

/// Longest that anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// One client.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) capabilities: Value,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    /// The last message of it.
    pub(crate) fn json(&self) -> Value {
        self.messages().pop().unwrap_or_default()
    }

    /// Every message of it.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let text = std::str::from_utf8(&self.body).unwrap();
        if !self.is_stream() {
            return serde_json::from_str(text).into_iter().collect();
        }
        let lines = text.lines().filter_map(|line| line.strip_prefix("data: "));
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.headers.get("content-type").is_some_and(|kind| kind == "text/event-stream")
    }

    pub(crate) fn result(&self) -> Value {
        let message = self.json();
        assert!(message.get("result").is_some(), "{} {message}", self.status);
        message["result"].clone()
    }

    pub(crate) fn code(&self) -> i64 {
        let message = self.json();
        message["error"]["code"].as_i64().unwrap_or_else(|| panic!("{} {message}", self.status))
    }

    /// The text of a tool's result.
    pub(crate) fn text(&self) -> String {
        let result = self.result();
        result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
    }
}

/// An answer that is still coming. Dropping it closes its connection.
pub(crate) struct Stream {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    body: Incoming,
    unread: String,
    connection: JoinHandle<()>,
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.connection.abort();
    }
}

impl Stream {
    /// The next message; none where it has ended.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((event, rest)) = self.unread.split_once("\n\n") {
                let data = event.lines().find_map(|line| line.strip_prefix("data: ")).map(str::to_owned);
                self.unread = rest.to_string();
                match data {
                    Some(data) => return Some(serde_json::from_str(&data).unwrap()),
                    None => continue,
                }
            }
            let frame = timeout(PATIENCE, self.body.frame()).await.expect("nothing came")?.ok()?;
            self.unread.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
        }
    }

    /// The next message, which there has to be.
    pub(crate) async fn message(&mut self) -> Value {
        self.next().await.expect("the stream has ended")
    }

    /// Whether nothing comes for a while.
    pub(crate) async fn is_quiet(&mut self) -> bool {
        timeout(Duration::from_millis(300), self.next()).await.is_err()
    }
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self {
            address,
            path: "/mcp".to_owned(),
            headers: Vec::new(),
            capabilities: json!({ "elicitation": {}, "sampling": {}, "roots": {} }),
        }
    }

    pub(crate) fn of(&self, server: &str) -> Self {
        Self { path: format!("/servers/{server}/mcp"), ..self.clone() }
    }

    pub(crate) fn with(&self, name: &str, value: &str) -> Self {
        let mut client = self.clone();
        client.headers.retain(|(known, _)| known != name);
        client.headers.push((name.to_owned(), value.to_owned()));
        client
    }

    pub(crate) fn who(&self, who: &str, roles: &str) -> Self {
        self.with("who", who).with("roles", roles)
    }

    pub(crate) fn able(&self, capabilities: Value) -> Self {
        Self { capabilities, ..self.clone() }
    }

    /// Sends something and hears the beginning of the answer.
    pub(crate) async fn send(
        &self,
        method: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Stream {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        let connection = tokio::spawn(async move { drop(connection.await) });
        let mut request = http::Request::builder().method(method).uri(&self.path);
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", self.address.to_string());
        }
        for (name, value) in self
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .chain(headers.iter().copied())
        {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(body.into())).unwrap();
        let response = timeout(PATIENCE, sender.send_request(request)).await.expect("no answer").unwrap();
        let (parts, body) = response.into_parts();
        Stream { status: parts.status, headers: parts.headers, body, unread: String::new(), connection }
    }

    /// Sends something and hears all of the answer.
    pub(crate) async fn raw(&self, method: &str, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Answer {
        let mut stream = self.send(method, headers, body).await;
        let mut body = Vec::new();
        while let Some(frame) = timeout(PATIENCE, stream.body.frame()).await.expect("it does not end") {
            body.extend_from_slice(frame.unwrap().data_ref().unwrap());
        }
        Answer { status: stream.status, headers: stream.headers.clone(), body: body.into() }
    }

    /// A message of the newer era.
    pub(crate) fn modern(&self, id: &Value, method: &str, params: Value) -> (Vec<(String, String)>, String) {
        let mut params = params;
        let meta = params.as_object_mut().unwrap().entry("_meta").or_insert_with(|| json!({}));
        let mut all = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": self.capabilities,
        });
        for (key, value) in meta.as_object().unwrap() {
            all[key] = value.clone();
        }
        *meta = all;
        let mut headers = base();
        headers.push(("mcp-protocol-version".to_owned(), "2026-07-28".to_owned()));
        headers.push(("mcp-method".to_owned(), method.to_owned()));
        let name = match method {
            "tools/call" | "prompts/get" => params["name"].as_str(),
            "resources/read" => params["uri"].as_str(),
            _ => None,
        };
        headers.extend(name.map(|name| ("mcp-name".to_owned(), name.to_owned())));
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string();
        (headers, body)
    }

    /// A request of the newer era.
    pub(crate) async fn ask(&self, method: &str, params: Value) -> Answer {
        let (headers, body) = self.modern(&json!(1), method, params);
        self.raw("POST", &borrowed(&headers), body).await
    }

    /// A call of the newer era.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Answer {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// A request of the newer era whose answer comes in pieces.
    pub(crate) async fn stream(&self, id: Value, method: &str, params: Value) -> Stream {
        let (headers, body) = self.modern(&id, method, params);
        self.send("POST", &borrowed(&headers), body).await
    }

    /// Opens a session: its name stands in the headers of the client that is returned.
    pub(crate) async fn open(&self, version: &str) -> Self {
        let params = json!({
            "protocolVersion": version, "capabilities": self.capabilities,
            "clientInfo": { "name": "test", "version": "1" },
        });
        let answer = self.old(&json!(0), "initialize", params).await;
        let session = answer.headers["mcp-session-id"].to_str().unwrap().to_owned();
        assert_eq!(answer.result()["protocolVersion"], version);
        let client = self.with("mcp-session-id", &session).with("mcp-protocol-version", version);
        let said = client.say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        assert_eq!(said.status, 202);
        client
    }

    /// A request within a session.
    pub(crate) async fn old(&self, id: &Value, method: &str, params: Value) -> Answer {
        self.say(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await
    }

    /// A call within a session.
    pub(crate) async fn old_call(&self, tool: &str, arguments: Value) -> Answer {
        self.old(&json!(1), "tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// A request within a session whose answer comes in pieces.
    pub(crate) async fn old_stream(&self, id: Value, method: &str, params: Value) -> Stream {
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string();
        self.send("POST", &borrowed(&base()), body).await
    }

    /// Any message.
    pub(crate) async fn say(&self, message: Value) -> Answer {
        self.raw("POST", &borrowed(&base()), message.to_string()).await
    }

    /// The stream of a session.
    pub(crate) async fn listen(&self) -> Stream {
        self.send("GET", &[("accept", "text/event-stream")], "").await
    }
}

fn base() -> Vec<(String, String)> {
    let pairs = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

pub(crate) fn borrowed(headers: &[(String, String)]) -> Vec<(&str, &str)> {
    headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}
