//! Answers of our own: a refusal in JSON, so that whoever reads it can act on it.

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};

use super::carried::Carried;
use super::head::HeadError;
use crate::credential::body::Rewritten;
use crate::refusal::{Code, Refusal};

/// The body of an answer: ours, or the host's.
pub(crate) type Body = Either<Full<Bytes>, Rewritten<Carried<Incoming>>>;

/// The refusal as an answer; the connection ends with it.
pub(crate) fn refusal(refusal: &Refusal) -> Response<Body> {
    let (mut parts, body) = said(refusal).into_parts();
    parts.headers.insert(CONNECTION, HeaderValue::from_static("close"));
    Response::from_parts(parts, Either::Left(Full::from(body)))
}

/// The refusal as an answer of any version.
pub(crate) fn said(refusal: &Refusal) -> Response<Bytes> {
    // INVARIANT: text and numbers always become JSON.
    let body = serde_json::to_vec(refusal).unwrap_or_default();
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = StatusCode::from_u16(refusal.code.status()).unwrap_or(StatusCode::FORBIDDEN);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// An empty answer with this status.
pub(crate) fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Either::Left(Full::default()));
    *response.status_mut() = status;
    response
}

/// The code for a head that was not taken.
pub(crate) const fn code(error: HeadError) -> Code {
    match error {
        HeadError::TooLarge | HeadError::TooMany => Code::Size,
        HeadError::Method => Code::Method,
        HeadError::H2c | HeadError::Upgrade => Code::Upgrade,
        _ => Code::NotHttp,
    }
}
