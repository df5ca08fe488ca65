//! Replacing in headers and trailers.

use http::HeaderMap;
use http::header::HeaderValue;

use super::search::Needles;

/// Replaces in the values of headers or trailers; a value that cannot be written again goes.
pub(crate) fn edit_headers(headers: &mut HeaderMap, needles: &Needles) {
    let edit = |value: &HeaderValue| needles.edited(value.as_bytes());
    let changes = headers.values().any(|value| edit(value).is_some());
    if !changes {
        return;
    }
    let mut edited = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers.iter() {
        match edit(value) {
            None => {
                edited.append(name, value.clone());
            }
            Some(new) => {
                if let Ok(new) = HeaderValue::from_bytes(&new) {
                    edited.append(name, new);
                }
            }
        }
    }
    *headers = edited;
}
