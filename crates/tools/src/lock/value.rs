//! Values of a server's table, each read into its type or complained of at its place.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::visible::excerpt;

use super::error::LockFault;

/// What is wrong, and at which byte.
pub(super) type Fault = (usize, LockFault);

/// A table whose keys are taken one by one.
pub(super) struct Fields<'a> {
    /// Where it begins.
    at: usize,
    entries: BTreeMap<&'a str, (usize, &'a Spanned<DeValue<'a>>)>,
}

impl<'a> Fields<'a> {
    /// # Errors
    ///
    /// For a key that is not among the known.
    pub(super) fn of(at: usize, table: &'a DeTable<'a>, known: &[&str]) -> Result<Self, Fault> {
        let mut entries = BTreeMap::new();
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            if !known.contains(&name) {
                return Err((key.span().start, LockFault::UnknownKey(excerpt(name, 80))));
            }
            entries.insert(name, (key.span().start, value));
        }
        Ok(Self { at, entries })
    }

    pub(super) fn find(&self, key: &str) -> Option<(usize, &'a DeValue<'a>)> {
        self.entries.get(key).map(|(at, value)| (*at, value.get_ref()))
    }

    /// A value that has to be there and to be read by `read`.
    pub(super) fn need<T>(
        &self,
        key: &str,
        wanted: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<T, Fault> {
        let missing = || (self.at, LockFault::MissingKey(key.to_owned()));
        self.may(key, wanted, read)?.ok_or_else(missing)
    }

    /// A text that may be missing.
    pub(super) fn may<T>(
        &self,
        key: &str,
        wanted: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        let Some((at, value)) = self.find(key) else { return Ok(None) };
        value.as_str().and_then(read).map(Some).ok_or_else(|| wrong(at, key, wanted))
    }

    /// A list of texts, empty where it is missing.
    pub(super) fn list(&self, key: &str) -> Result<Vec<String>, Fault> {
        let Some((at, value)) = self.find(key) else { return Ok(Vec::new()) };
        let fault = |at| wrong(at, key, "has to be a list of texts, not empty ones");
        let items = value.as_array().ok_or_else(|| fault(at))?;
        items
            .iter()
            .map(|item| {
                let text = item.get_ref().as_str().filter(|text| is_text(text));
                text.map(str::to_owned).ok_or_else(|| fault(item.span().start))
            })
            .collect()
    }

    /// A table of texts, empty where it is missing.
    pub(super) fn map<T>(
        &self,
        under: &str,
        wanted: &str,
        read: impl Fn(&str, &str) -> Option<T>,
    ) -> Result<BTreeMap<String, T>, Fault> {
        let Some((at, value)) = self.find(under) else { return Ok(BTreeMap::new()) };
        let table = value.as_table().ok_or_else(|| wrong(at, under, wanted))?;
        let entries = table.iter().map(|(key, value)| {
            let name = key.get_ref().as_ref();
            let read = value.get_ref().as_str().and_then(|value| read(name, value));
            let fault = || wrong(key.span().start, &format!("{under}.{}", excerpt(name, 80)), wanted);
            read.map(|value| (name.to_owned(), value)).ok_or_else(fault)
        });
        entries.collect()
    }
}

pub(super) fn wrong(at: usize, key: &str, wanted: &str) -> Fault {
    (at, LockFault::Value { key: key.to_owned(), wanted: wanted.to_owned() })
}

/// Something, and without the byte that ends a string of C.
pub(super) fn is_text(text: &str) -> bool {
    !text.is_empty() && !text.contains('\0')
}
