//! Servers of revision 2024-11-05: one stream of events by which everything comes, whose first event says where messages
//! are posted (MCP 2024-11-05, HTTP with SSE).

use std::{cell::RefCell, collections::BTreeMap};

use hyper::Uri;
use serde_json::Value;
use tokio::sync::oneshot;

use super::target::Target;

/// A stream that was opened, and who waits for something to come by it.
#[derive(Debug)]
pub(super) struct Old {
    /// Path and query to which messages are posted.
    pub(super) endpoint: String,
    waiting: RefCell<BTreeMap<String, oneshot::Sender<()>>>,
}

/// An `endpoint` that is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EndpointError {
    /// Whoever sends messages there sends them to somebody else.
    #[error("the remote server wants messages sent to `{0}`, which is not its own address")]
    Origin(String),
    /// It cannot be read.
    #[error("the remote server wants messages sent to `{0}`, which is no address")]
    Address(String),
}

impl Old {
    pub(super) fn new(endpoint: String) -> Self {
        Self { endpoint, waiting: RefCell::default() }
    }

    /// Somebody waits for the answer to this; it comes by the stream.
    pub(super) fn wait(&self, id: &Value) -> oneshot::Receiver<()> {
        let (tell, told) = oneshot::channel();
        self.waiting.borrow_mut().insert(id.to_string(), tell);
        told
    }

    /// Nobody waits for it any more.
    pub(super) fn forget(&self, id: &Value) {
        self.waiting.borrow_mut().remove(&id.to_string());
    }

    /// It has come.
    pub(super) fn answered(&self, id: &Value) {
        if let Some(tell) = self.waiting.borrow_mut().remove(&id.to_string()) {
            tell.send(()).ok();
        }
    }

    /// Nothing comes any more: whoever waits hears of it.
    pub(super) fn close(&self) {
        self.waiting.borrow_mut().clear();
    }
}

/// Where messages go, by what the stream at `path` says: path and query. What is not of the same origin is refused.
pub(super) fn endpoint(said: &str, path: &str, target: &Target) -> Result<String, EndpointError> {
    let no_address = || EndpointError::Address(said.chars().take(200).collect());
    let elsewhere = || EndpointError::Origin(said.chars().take(200).collect());
    if said.is_empty() || said.contains(['\\', '#']) || !said.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(no_address());
    }
    let absolute = if said.starts_with("//") {
        format!("{}:{said}", if target.tls { "https" } else { "http" })
    } else if said.contains("://") && !said.starts_with(['/', '?']) {
        said.to_owned()
    } else {
        let resolved = match said.as_bytes().first() {
            Some(b'/') => said.to_owned(),
            Some(b'?') => format!("{}{said}", path.split('?').next().unwrap_or_default()),
            _ => {
                let path = path.split('?').next().unwrap_or_default();
                let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
                format!("{folder}/{said}")
            }
        };
        let uri: Uri = resolved.parse().map_err(|_| no_address())?;
        return if uri.authority().is_none() { Ok(resolved) } else { Err(elsewhere()) };
    };
    let uri: Uri = absolute.parse().map_err(|_| no_address())?;
    let tls = match uri.scheme_str() {
        Some("https") => true,
        Some("http") => false,
        _ => return Err(elsewhere()),
    };
    let authority =
        uri.authority().filter(|authority| !authority.as_str().contains('@')).ok_or_else(elsewhere)?;
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let port = authority.port_u16().unwrap_or(if tls { 443 } else { 80 });
    // One inside a cell does not know by which of its names it is spoken to.
    let is_same_host = host.eq_ignore_ascii_case(&target.host) || (target.is_inside() && is_loopback(host));
    if tls != target.tls || port != target.port || !is_same_host {
        return Err(elsewhere());
    }
    Ok(uri.path_and_query().map_or("/", |path| path.as_str()).to_owned())
}

fn is_loopback(host: &str) -> bool {
    ["localhost", "127.0.0.1", "0.0.0.0", "::1", "::"].contains(&host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_read_as_a_browser_would_and_stays_at_home() {
        let target = Target::read("https://mcp.example.com/v1/sse?x=1", &[], false, |_| None).unwrap();
        let read = |said: &str| endpoint(said, &target.path, &target);
        for (said, path) in [
            ("/messages?session=1", "/messages?session=1"),
            ("messages?session=1", "/v1/messages?session=1"),
            ("?session=1", "/v1/sse?session=1"),
            ("https://mcp.example.com/m?s=1", "/m?s=1"),
            ("https://MCP.example.com:443", "/"),
            ("//mcp.example.com/m", "/m"),
            ("/m?to=https://elsewhere.example/", "/m?to=https://elsewhere.example/"),
        ] {
            assert_eq!(read(said).as_deref(), Ok(path), "{said}");
        }
        for said in [
            "https://elsewhere.example/m",
            "//elsewhere.example/m",
            "http://mcp.example.com/m",
            "https://mcp.example.com:8443/m",
            "https://mcp.example.com@elsewhere.example/m",
            "https://mcp.example.com.elsewhere.example/m",
            "javascript://mcp.example.com/m",
            "/\\elsewhere.example/m",
            "/m\u{7f}",
            "/m n",
            "",
        ] {
            assert!(read(said).is_err(), "{said}");
        }
    }

    #[test]
    fn a_server_in_a_cell_is_known_by_every_name_of_loopback() {
        let target = Target::inside(8080);
        let read = |said: &str| endpoint(said, "/sse", &target);
        for said in ["http://localhost:8080/m", "http://127.0.0.1:8080/m", "http://0.0.0.0:8080/m", "m"] {
            assert_eq!(read(said).as_deref(), Ok("/m"), "{said}");
        }
        assert!(read("http://127.0.0.1:9090/m").is_err() && read("http://elsewhere.example:8080/m").is_err());
        let outside = Target::read("http://localhost:8080/sse", &[], true, |_| None).unwrap();
        assert!(endpoint("http://127.0.0.1:8080/m", "/sse", &outside).is_err());
    }
}
