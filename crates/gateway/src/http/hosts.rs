//! Which names a request may have in `Host`, and from which pages it may come.

use std::collections::BTreeSet;
use std::net::IpAddr;

use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use model::visible::excerpt;

use super::single;
use crate::guard;

/// Names under which the service is reached, and pages that may speak to it.
#[derive(Debug, Clone, Default)]
pub struct Hosts {
    /// Of the listener.
    port: u16,
    /// `name`, at any port, or `name:port`; in small letters.
    names: BTreeSet<String>,
    /// `scheme://name[:port]`, in small letters, without the scheme's own port.
    origins: BTreeSet<String>,
}

/// A request that is not let in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// Its host is missing, is there twice, or is no host.
    #[error("the header `Host` is missing or malformed")]
    NoHost,
    /// Its host is not one of ours.
    #[error("`{0}` is not a name of this service")]
    Host(String),
    /// It comes from a page that has no business here.
    #[error("requests from the page `{0}` are not taken")]
    Origin(String),
}

impl HostError {
    /// Its code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoHost | Self::Host(_) => "FH-HOST",
            Self::Origin(_) => "FH-ORIGIN",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoHost => "speak HTTP/1.1 and send one `Host`",
            Self::Host(_) => "use the address the service listens on, or name the host in `serve.hosts`",
            Self::Origin(_) => "name the page's origin in `serve.origins`",
        }
    }

    /// What HTTP calls it (MCP 2026-07-28, streamable HTTP, security).
    pub fn status(&self) -> StatusCode {
        match self {
            Self::NoHost => StatusCode::BAD_REQUEST,
            Self::Host(_) | Self::Origin(_) => StatusCode::FORBIDDEN,
        }
    }
}

impl Hosts {
    /// Of a listener on this port: loopback names with that port, and pages of this machine.
    pub fn of_port(port: u16) -> Self {
        Self { port, ..Self::default() }
    }

    /// With the service's own public address, such as `https://mcp.example.com`, and its pages.
    #[must_use]
    pub fn with_url(mut self, url: &str) -> Self {
        if let Some(origin) = Origin::of(url) {
            self.names.insert(origin.host.clone());
            self.origins.insert(origin.text());
        }
        self
    }

    /// With these names: `name`, or `name:port`.
    #[must_use]
    pub fn with_hosts<T: AsRef<str>>(mut self, hosts: impl IntoIterator<Item = T>) -> Self {
        self.names.extend(hosts.into_iter().map(|host| host.as_ref().to_ascii_lowercase()));
        self
    }

    /// With pages of these origins, such as `https://app.example.com`.
    #[must_use]
    pub fn with_origins<T: AsRef<str>>(mut self, origins: impl IntoIterator<Item = T>) -> Self {
        let origins = origins.into_iter().filter_map(|origin| Origin::of(origin.as_ref()));
        self.origins.extend(origins.map(|origin| origin.text()));
        self
    }

    /// Whether a request for this target with these headers may come in.
    ///
    /// # Errors
    ///
    /// [`HostError`].
    pub fn check(&self, target: &Uri, headers: &HeaderMap) -> Result<(), HostError> {
        let host = single(headers, &header::HOST).ok().flatten().ok_or(HostError::NoHost)?;
        // A target in absolute form goes before the header (RFC 9112, section 3.2.2).
        for host in [Some(host), target.authority().map(http::uri::Authority::as_str)].into_iter().flatten() {
            if !self.is_ours(host).ok_or(HostError::NoHost)? && !guard::off("http-host") {
                return Err(HostError::Host(excerpt(host, 100)));
            }
        }
        let mut origins = headers.get_all(header::ORIGIN).iter();
        let Some(origin) = origins.next() else { return Ok(()) };
        let shown = || excerpt(&String::from_utf8_lossy(origin.as_bytes()), 100);
        let is_known = origins.next().is_none()
            && origin.to_str().ok().and_then(Origin::of).is_some_and(|origin| self.is_page_of_ours(&origin));
        if is_known || guard::off("http-origin") { Ok(()) } else { Err(HostError::Origin(shown())) }
    }

    /// The origin of the page that a request comes from, where it was named in the configuration: such pages may read what
    /// is answered.
    pub fn shares_with(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let value = headers.get(header::ORIGIN)?;
        let origin = Origin::of(value.to_str().ok()?)?;
        self.origins.contains(&origin.text()).then(|| value.clone())
    }

    fn is_ours(&self, authority: &str) -> Option<bool> {
        let (host, port) = split(authority)?;
        let is_at_our_port = port.unwrap_or(80) == self.port;
        let is_named = self.names.contains(&host)
            || port.is_some_and(|port| self.names.contains(&format!("{host}:{port}")));
        Some(is_named || (is_loopback(&host) && is_at_our_port))
    }

    fn is_page_of_ours(&self, origin: &Origin) -> bool {
        is_loopback(&origin.host) || self.origins.contains(&origin.text())
    }
}

/// Where a page comes from (RFC 6454).
struct Origin {
    scheme: String,
    host: String,
    port: Option<u16>,
}

impl Origin {
    /// Of the beginning of an address; none for what is not of the web, `null` above all.
    fn of(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let usual = match scheme.as_str() {
            "http" => 80,
            "https" => 443,
            _ => return None,
        };
        let authority = rest.split(['/', '?', '#']).next()?;
        let (host, port) = split(authority)?;
        Some(Self { scheme, host, port: port.filter(|port| *port != usual) })
    }

    fn text(&self) -> String {
        match self.port {
            Some(port) => format!("{}://{}:{port}", self.scheme, self.host),
            None => format!("{}://{}", self.scheme, self.host),
        }
    }
}

/// A host in small letters, without the dot at its end, and a port.
fn split(authority: &str) -> Option<(String, Option<u16>)> {
    let authority = authority.trim().to_ascii_lowercase();
    let (host, rest) = if let Some(rest) = authority.strip_prefix('[') {
        let (address, rest) = rest.split_once(']')?;
        (format!("[{}]", address.parse::<std::net::Ipv6Addr>().ok()?), rest)
    } else {
        let end = authority.find(':').unwrap_or(authority.len());
        let (host, rest) = authority.split_at_checked(end)?;
        let host = host.strip_suffix('.').unwrap_or(host);
        let is_name = !host.is_empty()
            && host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_'));
        (is_name.then(|| host.to_owned())?, rest)
    };
    let port = match rest.strip_prefix(':') {
        None if rest.is_empty() => None,
        Some(port) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => {
            Some(port.parse().ok()?)
        }
        _ => return None,
    };
    Some((host, port))
}

/// A name of this machine that no resolver is asked for by any browser, or an address of it.
fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
