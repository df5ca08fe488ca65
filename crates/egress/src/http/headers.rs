//! Which headers go on to the other side.

use hyper::HeaderMap;
use hyper::header::{self, HeaderName, HeaderValue};

/// Headers about one connection and not about the message (RFC 9110 §7.6.1).
pub(crate) fn is_hop_by_hop(name: &HeaderName) -> bool {
    const NAMES: [HeaderName; 6] = [
        header::CONNECTION,
        header::TE,
        header::TRANSFER_ENCODING,
        header::UPGRADE,
        header::PROXY_AUTHENTICATE,
        header::PROXY_AUTHORIZATION,
    ];
    NAMES.contains(name) || matches!(name.as_str(), "keep-alive" | "proxy-connection" | "http2-settings")
}

/// The headers of a request for the host: `host` first, then all that are end-to-end.
pub(crate) fn for_host(from: &HeaderMap, host: HeaderValue, websocket: bool) -> HeaderMap {
    let mut to = HeaderMap::with_capacity(from.len() + 1);
    to.insert(header::HOST, host);
    for (name, value) in from {
        if *name != header::HOST && !is_hop_by_hop(name) {
            to.append(name, value.clone());
        }
    }
    if websocket {
        switch(&mut to);
    }
    to
}

/// The headers of an answer for the cell.
pub(crate) fn for_cell(from: &HeaderMap, websocket: bool) -> HeaderMap {
    let mut to = HeaderMap::with_capacity(from.len());
    for (name, value) in from {
        if !is_hop_by_hop(name) {
            to.append(name, value.clone());
        }
    }
    if websocket {
        switch(&mut to);
    }
    to
}

fn switch(headers: &mut HeaderMap) {
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
}
