//! How an entry lies in its file: a line that says what it is and holds the digest of the rest, then the rest, as JSON.
//!
//! The digest keeps nobody out who can write the file; it tells damage. Any byte that is not as it was written is found.

use std::path::Path;

use model::digest::Digest;
use serde::Deserialize;

use crate::{TrustError, entry::Entry};

/// The form of the files.
const VERSION: u64 = 1;

/// The bytes of an entry's file.
pub(crate) fn to_bytes<E: Entry>(entry: &E) -> Result<Vec<u8>, TrustError> {
    let unwritable = |why: serde_json::Error| TrustError::Unwritable { kind: E::KIND, why: why.to_string() };
    let mut body = serde_json::to_vec_pretty(entry).map_err(unwritable)?;
    body.push(b'\n');
    // What nests too deeply is written by `serde_json` and not read by it.
    serde_json::from_slice::<E>(&body).map_err(unwritable)?;
    let mut bytes = first_line::<E>(&body).into_bytes();
    bytes.push(b'\n');
    bytes.append(&mut body);
    Ok(bytes)
}

/// Reads them; `key` is what the file is named after.
pub(crate) fn from_bytes<E: Entry>(path: &Path, key: Digest, bytes: &[u8]) -> Result<E, TrustError> {
    let damaged = |why: String| TrustError::Damaged {
        kind: E::KIND,
        path: path.to_owned(),
        why,
        afterwards: E::AFTERWARDS,
    };
    let end = bytes.iter().position(|byte| *byte == b'\n');
    let split = end.and_then(|end| Some((bytes.get(..end)?, bytes.get(end + 1..)?)));
    let Some((line, body)) = split else {
        return Err(damaged(if bytes.is_empty() { "it is empty" } else { "it is cut off" }.to_owned()));
    };
    if line != first_line::<E>(body).as_bytes() {
        return Err(match serde_json::from_slice::<FirstLine>(line) {
            Ok(line) if line.version > VERSION => {
                TrustError::Newer { kind: E::KIND, path: path.to_owned(), version: line.version }
            }
            Ok(line) if line.fumehood != E::KIND => damaged(format!("it holds a {}", line.fumehood)),
            Ok(_) => damaged("its content is not what was written".to_owned()),
            Err(_) => damaged("its first line is not what was written".to_owned()),
        });
    }
    let entry: E = serde_json::from_slice(body).map_err(|why| damaged(why.to_string()))?;
    match entry.key() {
        Some(own) if own != key => Err(damaged("it lies under the name of another".to_owned())),
        _ => Ok(entry),
    }
}

#[derive(Deserialize)]
struct FirstLine {
    fumehood: String,
    version: u64,
}

fn first_line<E: Entry>(body: &[u8]) -> String {
    format!(r#"{{"fumehood":"{}","version":{VERSION},"digest":"{}"}}"#, E::KIND, Digest::of(body))
}
