//! Answers: values are taken out, and the placeholder is put back.

use std::sync::Arc;

use http::header::{self, HeaderName};
use http::response::Parts;
use hyper::ext::ReasonPhrase;

use super::body::{Rewritten, Tool, Work, Written};
use super::coding::{Coding, EncodingError};
use super::heading::edit_headers;
use super::key::Key;
use super::ring::Keyring;
use super::search::Needles;
use super::stream::Stream;

/// What is taken out of whatever one host answers.
#[derive(Debug, Clone, Default)]
pub struct Scrub {
    needles: Option<Arc<Needles>>,
    /// Values in lower case, for names of headers.
    names: Arc<Vec<zeroize::Zeroizing<String>>>,
    /// Cookies are credentials the cell could not send back.
    cookies: bool,
}

/// What becomes of the body of one answer.
#[derive(Debug, Default)]
pub struct ScrubPlan {
    work: Option<Work>,
}

impl Scrub {
    pub(crate) fn new(ring: &Keyring, keys: &[Arc<Key>]) -> Self {
        if keys.is_empty() || crate::guard::off("scrub") {
            return Self::default();
        }
        let lower =
            |value: &[u8]| zeroize::Zeroizing::new(String::from_utf8_lossy(value).to_ascii_lowercase());
        Self {
            needles: Some(ring.scrubber(keys)),
            names: Arc::new(keys.iter().flat_map(|key| key.values()).map(lower).collect()),
            cookies: keys.iter().any(|key| key.refuses_foreign()),
        }
    }

    /// Whether there is nothing to take out.
    pub fn is_empty(&self) -> bool {
        self.needles.is_none()
    }

    pub(crate) fn needles(&self) -> Option<&Arc<Needles>> {
        self.needles.as_ref()
    }
}

/// Takes values out of the head of an answer, informational ones (1xx) too. A body in a coding that is taken off loses
/// `Content-Encoding` and `Content-Length`. Where credentials of others are refused `Set-Cookie` goes: a session made with
/// the key would be one, and the cell could not send it back.
///
/// # Errors
/// If the body is in a coding that nobody here takes off: `FH-SECRET-ENCODING`.
pub fn scrub_head(parts: &mut Parts, scrub: &Scrub) -> Result<ScrubPlan, EncodingError> {
    let Some(needles) = &scrub.needles else { return Ok(ScrubPlan::default()) };
    let hidden: Vec<HeaderName> = parts
        .headers
        .keys()
        .filter(|name| scrub.names.iter().any(|value| name.as_str().contains(value.as_str())))
        .cloned()
        .collect();
    for name in &hidden {
        parts.headers.remove(name);
    }
    if scrub.cookies {
        parts.headers.remove(header::SET_COOKIE);
    }
    edit_headers(&mut parts.headers, needles);
    if parts
        .extensions
        .get::<ReasonPhrase>()
        .is_some_and(|reason| needles.edited(reason.as_bytes()).is_some())
    {
        parts.extensions.remove::<ReasonPhrase>();
    }
    if crate::guard::off("accept-encoding") {
        return Ok(ScrubPlan::over(needles, None));
    }
    let coding = Coding::of(&parts.headers)?;
    if parts.headers.contains_key(header::SEC_WEBSOCKET_EXTENSIONS) {
        return Err(EncodingError { coding: "an extension of WebSocket".into() });
    }
    if coding.is_some() {
        parts.headers.remove(header::CONTENT_ENCODING);
        parts.headers.remove(header::CONTENT_LENGTH);
    }
    Ok(ScrubPlan::over(needles, coding))
}

impl ScrubPlan {
    /// Whether the body goes on as it is.
    pub fn passes(&self) -> bool {
        self.work.is_none()
    }

    /// The body as it goes on to the cell.
    pub fn wrap<B>(self, body: B) -> Rewritten<B> {
        Rewritten::new(body, self.work, Written::default())
    }

    fn over(needles: &Arc<Needles>, coding: Option<Coding>) -> Self {
        let work = Work {
            coding,
            tool: Tool::Everywhere(Stream::new(Arc::clone(needles))),
            trailers: Some(Arc::clone(needles)),
            owners: Vec::new(),
            keeps_length: true,
        };
        Self { work: Some(work) }
    }
}

#[cfg(test)]
mod tests;
