//! Lists as one caller gets them, a page at a time.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use tools::surface::Kind;

use super::rpc::{Fault, INVALID_PARAMS, Outcome};
use crate::shelf::Shown;

/// Most entries of a page.
pub const PAGE: usize = 250;
/// Bytes of a list's digest in a cursor.
const MARK: usize = 16;

/// Stands for a list as it is.
pub(super) type Mark = [u8; MARK];

/// The page of a list that a cursor names; the first one without.
///
/// # Errors
///
/// [`INVALID_PARAMS`], where the cursor is none of this very list. It is bound to all of its entries: were they other ones
/// between two pages, entries would be missed.
pub(super) fn page(kind: Kind, entries: &[Arc<Shown>], cursor: Option<&Value>) -> Outcome {
    let is_long = entries.len() > PAGE;
    let mark = (is_long || cursor.is_some()).then(|| mark(entries));
    let begin = match cursor {
        None => 0,
        Some(cursor) => cursor
            .as_str()
            .and_then(|cursor| offset(cursor, mark.as_ref()?))
            .filter(|begin| *begin < entries.len() && *begin > 0 && begin.is_multiple_of(PAGE))
            .ok_or_else(|| {
                Fault::new(
                    INVALID_PARAMS,
                    "the cursor is none of this list as it is now: begin again without one",
                )
            })?,
    };
    let end = begin.saturating_add(PAGE).min(entries.len());
    let shown = entries.get(begin..end).unwrap_or_default();
    let mut result = Map::new();
    let values = shown.iter().map(|shown| (*shown.value).clone()).collect();
    result.insert(kind.list().to_owned(), Value::Array(values));
    if let (true, Some(mark)) = (end < entries.len(), mark) {
        result.insert("nextCursor".to_owned(), cursor_of(end, &mark).into());
    }
    Ok(result)
}

/// Stands for the entries of a list, in their order.
pub(super) fn mark(entries: &[Arc<Shown>]) -> Mark {
    let mut hash = Sha256::new();
    for entry in entries {
        let text = entry.value.to_string();
        hash.update(u64::try_from(text.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(text);
    }
    let mut mark = Mark::default();
    mark.iter_mut().zip(hash.finalize()).for_each(|(to, from)| *to = from);
    mark
}

fn cursor_of(begin: usize, mark: &Mark) -> String {
    let begin = u32::try_from(begin).unwrap_or(u32::MAX).to_be_bytes();
    URL_SAFE_NO_PAD.encode([begin.as_slice(), mark].concat())
}

fn offset(cursor: &str, mark: &Mark) -> Option<usize> {
    if cursor.len() > 64 {
        return None;
    }
    let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
    let (begin, of) = bytes.split_first_chunk::<4>()?;
    (of == mark).then(|| usize::try_from(u32::from_be_bytes(*begin)).ok())?
}

#[cfg(test)]
mod tests;
