//! From TOML text to the types as written, past the first mistake.
//!
//! Serde gives up at the first error of a value. So a value is read again and again, each time without the entries
//! that were wrong before, until what remains is right; every error met on the way is a problem of its own.

mod error;
mod node;

use std::collections::HashSet;

use serde::de::DeserializeOwned;
use serde_spanned::Spanned;
use toml::de::{DeTable, DeValue};

use super::complaint::Complaint;
use super::problem::{Problems, Source};

/// Largest file that is read at all, in bytes.
pub(crate) const LARGEST_FILE: usize = 1 << 20;

/// Reads the bytes of a file as `T` and resolves it, collecting every problem of both steps.
pub(crate) fn file<T: DeserializeOwned + Default, R>(
    name: &str,
    bytes: &[u8],
    resolve: impl FnOnce(T, &mut Source<'_>) -> R,
) -> Result<R, Problems> {
    let text = String::from_utf8_lossy(bytes);
    let mut source = Source::new(name, &text);
    let written = if bytes.len() > LARGEST_FILE {
        let complaint =
            Complaint::new("the file is larger than 1 MiB").help("split it, or remove what is not needed");
        source.add(0..0, &complaint);
        None
    } else if let Err(error) = std::str::from_utf8(bytes) {
        // The text before the first bad byte is the same in both forms, so the place is right in the lossy one.
        let start = error.valid_up_to();
        source.add(
            start..start + char::REPLACEMENT_CHARACTER.len_utf8(),
            &Complaint::new("the file is not UTF-8"),
        );
        None
    } else {
        document(&text, &mut source)
    };
    let resolved = written.map(|written| resolve(written, &mut source));
    source.finish(resolved)
}

/// Reads a document; `None` where its syntax is broken, because what follows from a guess at it would mislead.
fn document<T: DeserializeOwned + Default>(text: &str, source: &mut Source<'_>) -> Option<T> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        let mut lines = HashSet::new();
        for error in errors {
            let span = error.span().unwrap_or(text.len()..text.len());
            // One slip makes the parser stumble several times; the first of a line is the cause.
            let line = text.bytes().take(span.start).filter(|byte| *byte == b'\n').count();
            if lines.insert(line) {
                source.add(span, &Complaint::new(error.message()));
            }
        }
        return None;
    }
    let root = Spanned::new(table.span(), DeValue::Table(table.into_inner()));
    Some(value(&root, source))
}

fn value<T: DeserializeOwned + Default>(root: &Spanned<DeValue<'_>>, source: &mut Source<'_>) -> T {
    let mut skipped = HashSet::new();
    loop {
        match T::deserialize(node::Node::new(root, &skipped)) {
            Ok(value) => return value,
            Err(error) => {
                let entry = error.entry();
                let span = error.span().unwrap_or_else(|| root.span());
                let (complaint, path) = error.into_parts();
                source.add(span, &complaint);
                source.leave_out(path);
                // An entry is left out at most once, so this ends; the second condition bounds the time.
                let fresh = entry.is_some_and(|entry| skipped.insert((entry.start, entry.end)));
                if !fresh || skipped.len() >= Problems::MOST {
                    return T::default();
                }
            }
        }
    }
}
