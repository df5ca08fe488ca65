//! Placeholders in a request's target.

use std::sync::Arc;

use model::secret::Place;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};

use crate::credential::key::Key;
use crate::credential::search::{Found, Needles};

/// All that is not unreserved (RFC 3986 §2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A text as it stands in a value of a query or a form.
pub(crate) fn escaped(text: &[u8]) -> Vec<u8> {
    percent_encode(text, RESERVED).to_string().into_bytes()
}

/// The path and the query of a request, as sent.
pub(crate) struct Target<'a> {
    path: &'a str,
    query: Option<&'a str>,
}

impl<'a> Target<'a> {
    pub(crate) fn of(target: &'a str) -> Self {
        match target.split_once('?') {
            Some((path, query)) => Self { path, query: Some(query) },
            None => Self { path: target, query: None },
        }
    }

    /// The target with a value for each placeholder; `may` gives the key if it may stand at the place.
    ///
    /// # Errors
    /// The owner of a placeholder that may not, and where it stands.
    pub(crate) fn written(
        &self,
        watch: &Needles,
        mut may: impl FnMut(usize, Place) -> Option<Arc<Key>>,
    ) -> Result<zeroize::Zeroizing<Vec<u8>>, (usize, String)> {
        let mut out = zeroize::Zeroizing::new(Vec::new());
        let path = "the path".to_owned();
        put(self.path, watch, &mut |owner| may(owner, Place::Path), &path, &mut out)?;
        let Some(query) = self.query else { return Ok(out) };
        out.push(b'?');
        let (all, mut seen) = (watch.look(query.as_bytes(), true).found, 0);
        for (at, pair) in query.split('&').enumerate() {
            if at > 0 {
                out.push(b'&');
            }
            let Some((name, value)) = pair.split_once('=') else {
                seen += put(pair, watch, &mut |_| None, "the query", &mut out)?;
                continue;
            };
            seen += put(name, watch, &mut |_| None, "the name of a parameter", &mut out)?;
            out.push(b'=');
            let decoded = decoded(name);
            let alone = query
                .split('&')
                .filter(|pair| self::decoded(pair.split_once('=').map_or(*pair, |(name, _)| name)) == decoded)
                .nth(1)
                .is_none();
            let place = format!("the parameter `{}` of the query", crate::name::shown(&decoded));
            let mut in_value = |owner| if alone { may(owner, Place::Query(decoded.clone())) } else { None };
            seen += put(value, watch, &mut in_value, &place, &mut out)?;
        }
        // One that reaches over `&` or `=` was not seen in any part.
        match all.get(seen) {
            Some(found) => Err((found.owner, "the query".into())),
            None => Ok(out),
        }
    }
}

fn decoded(name: &str) -> String {
    percent_decode_str(&name.replace('+', " ")).decode_utf8_lossy().into_owned()
}

/// Appends `text` with values in it, and says how many.
fn put(
    text: &str,
    watch: &Needles,
    may: &mut dyn FnMut(usize) -> Option<Arc<Key>>,
    place: &str,
    out: &mut Vec<u8>,
) -> Result<usize, (usize, String)> {
    let bytes = text.as_bytes();
    let look = watch.look(bytes, true);
    let mut at = 0;
    for found in &look.found {
        let key = found.as_text.then(|| may(found.owner)).flatten();
        let key = key.ok_or_else(|| (found.owner, place.to_owned()))?;
        out.extend_from_slice(bytes.get(at..found.range.start).unwrap_or_default());
        out.extend_from_slice(&spelled(found, &key));
        at = found.range.end;
    }
    out.extend_from_slice(bytes.get(at..).unwrap_or_default());
    Ok(look.found.len())
}

/// The value as it stands in a URL: bare where the placeholder was, else encoded.
fn spelled(found: &Found, key: &Key) -> Vec<u8> {
    if found.plain && key.same_shape() { key.value().to_vec() } else { escaped(key.value()) }
}
