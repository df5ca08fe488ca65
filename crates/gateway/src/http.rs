//! The rim: what is known of a request before anybody asks who it is from.
//!
//! A page of a stranger can have a browser on this machine speak to a service on it. It cannot choose the `Host` and the
//! `Origin` that the browser sends along; so both are looked at before anything else. Bodies are read up to a bound and
//! within a time.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::json;

mod hosts;

pub use hosts::{HostError, Hosts};

/// How long a body may take to come in.
const BODY_TIME: Duration = Duration::from_secs(30);

/// Headers that pages may send, besides those that begin with `mcp-`.
const HEADERS: [&str; 4] = ["accept", "authorization", "content-type", "last-event-id"];

/// Largest body of a request where nothing else is said, in bytes: 4 MiB.
pub const DEFAULT_BODY: usize = 4 << 20;

/// What a listener lets in.
#[derive(Debug, Clone)]
pub struct Rim {
    hosts: Option<Hosts>,
    /// Largest body of a request, in bytes.
    pub max_body: usize,
}

impl Rim {
    /// Of a TCP listener.
    pub fn of_listener(hosts: Hosts, max_body: usize) -> Self {
        Self { hosts: Some(hosts), max_body }
    }

    /// Of a Unix socket, which no browser reaches: the name of its host says nothing.
    pub fn of_socket(max_body: usize) -> Self {
        Self { hosts: None, max_body }
    }

    /// Whether a request with these headers may come in.
    ///
    /// # Errors
    ///
    /// [`HostError`], where its host or the page that it comes from is neither ours nor one that was named to us.
    pub fn check(&self, request: &http::request::Parts) -> Result<(), HostError> {
        self.hosts.as_ref().map_or(Ok(()), |hosts| hosts.check(&request.uri, &request.headers))
    }
}

/// A router behind the rim: nothing in it sees a request that the rim does not let in. Every handler finds the [`Rim`]
/// among the extensions of its request.
pub fn behind(rim: Rim, inside: Router) -> Router {
    inside.layer(middleware::from_fn_with_state(Arc::new(rim), pass))
}

async fn pass(State(rim): State<Arc<Rim>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    if let Err(error) = rim.check(&parts) {
        // Whoever is not let in must not be able to fill the log.
        tracing::debug!(%error, "a request was not let in");
        return error.into_response();
    }
    let origin = rim.hosts.as_ref().and_then(|hosts| hosts.shares_with(&parts.headers));
    if let Some(origin) = origin.clone().filter(|_| parts.method == Method::OPTIONS) {
        return preflight(&parts.headers, origin);
    }
    parts.extensions.insert(rim);
    let mut response = next.run(Request::from_parts(parts, body)).await;
    if let Some(origin) = origin {
        share(response.headers_mut(), origin);
    }
    response
}

/// Pages of origins that were named in the configuration may read what we answer (Fetch, CORS protocol).
fn preflight(asked: &HeaderMap, origin: HeaderValue) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    share(headers, origin);
    let names = single(asked, &header::ACCESS_CONTROL_REQUEST_HEADERS).ok().flatten().unwrap_or_default();
    let names = names.split(',').map(str::trim).filter(|name| {
        let name = name.to_ascii_lowercase();
        HEADERS.contains(&name.as_str()) || name.starts_with("mcp-")
    });
    if let Ok(names) = HeaderValue::from_str(&names.collect::<Vec<_>>().join(", ")) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, names);
    }
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}

fn share(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    headers.insert(
        header::ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("mcp-session-id, mcp-protocol-version, www-authenticate, retry-after"),
    );
}

/// A body that is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// Not declared as what is wanted.
    #[error("a body of the type `application/json` is wanted")]
    Type,
    /// Packed.
    #[error("a body as it is, without `Content-Encoding`, is wanted")]
    Packed,
    /// Over the bound, in bytes.
    #[error("the body is longer than {0} bytes")]
    TooLong(usize),
    /// Did not come in time.
    #[error("the body did not come within {0:?}")]
    Slow(Duration),
    /// The connection broke.
    #[error("the body ended early")]
    Broken,
}

impl BodyError {
    /// What HTTP calls it (RFC 9110, section 15.5).
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Type | Self::Packed => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLong(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Slow(_) => StatusCode::REQUEST_TIMEOUT,
            Self::Broken => StatusCode::BAD_REQUEST,
        }
    }
}

/// Reads a body of JSON to its end.
///
/// # Errors
///
/// [`BodyError`], where it is declared as something else, is longer than `most` bytes, or does not come.
pub async fn read_json(headers: &HeaderMap, body: Body, most: usize) -> Result<Bytes, BodyError> {
    if !is_json(headers) {
        return Err(BodyError::Type);
    }
    if headers.get_all(header::CONTENT_ENCODING).iter().any(|coding| coding != "identity") {
        return Err(BodyError::Packed);
    }
    let reading = tokio::time::timeout(BODY_TIME, Limited::new(body, most).collect());
    match reading.await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(BodyError::TooLong(most)),
        Ok(Err(_)) => Err(BodyError::Broken),
        Err(_) => Err(BodyError::Slow(BODY_TIME)),
    }
}

/// JSON is UTF-8 (RFC 8259, section 8.1): another `charset` is another thing.
fn is_json(headers: &HeaderMap) -> bool {
    let Ok(Some(value)) = single(headers, &header::CONTENT_TYPE) else { return false };
    let mut parts = value.split(';').map(str::trim);
    let is_type = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"));
    is_type
        && parts.all(|part| match part.split_once('=') {
            Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => {
                value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
            }
            _ => true,
        })
}

/// A header that there is once at most, as text.
///
/// # Errors
///
/// Why not, where it is there twice or no text.
pub fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, String> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(format!("the header `{name}` is there twice"));
    }
    value.to_str().map(Some).map_err(|_| format!("the header `{name}` is no plain text"))
}

/// Whether an `Accept` header takes a type (RFC 9110, section 12.5.1); one that is not there takes all.
pub fn accepts(headers: &HeaderMap, wanted: &str) -> bool {
    let family = wanted.split_once('/').map_or(wanted, |(family, _)| family);
    let mut is_there = false;
    for value in headers.get_all(header::ACCEPT) {
        is_there = true;
        for range in value.to_str().unwrap_or_default().split(',') {
            let mut parts = range.split(';').map(str::trim);
            let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
            let is_refused = parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"));
            let is_named = kind == wanted || kind == "*/*" || kind.strip_suffix("/*") == Some(family);
            if is_named && !is_refused {
                return true;
            }
        }
    }
    !is_there
}

impl IntoResponse for HostError {
    fn into_response(self) -> Response {
        let body =
            json!({ "error": { "code": self.code(), "message": self.to_string(), "hint": self.hint() } });
        let kind = HeaderValue::from_static("application/json");
        (self.status(), [(header::CONTENT_TYPE, kind)], body.to_string()).into_response()
    }
}

#[cfg(test)]
mod tests;
