//! Changing the list of hosts in a file that a person wrote: everything else stays as it is, to the byte.

use egress::rule::HostRule;
use toml_edit::{Array, DocumentMut, Item, RawString, Table, TableLike, Value};

mod server;
mod table;

pub(crate) use server::{NewServer, with_server, with_version, without_server};

/// Which list.
#[derive(Debug, Clone, Copy)]
pub(crate) enum List<'a> {
    /// `hosts` of `[servers.NAME]`.
    Server(&'a str),
    /// `NAME` of `[allow]`.
    Allow(&'a str),
}

/// A file that cannot be changed by program.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EditError {
    /// Not TOML.
    #[error("it is not TOML: {0}")]
    Syntax(String),
    /// The table of the server is not where it was read from.
    #[error("`{0}` is written in a way that cannot be changed by program")]
    Shape(String),
}

/// The text with `rules` added to the list, where they are not in it in any spelling; none where nothing changes.
pub(crate) fn added(text: &str, list: List<'_>, rules: &[HostRule]) -> Result<Option<String>, EditError> {
    let mut document = parse(text)?;
    let mut changed = false;
    match place(&mut document, list)? {
        Place::Array(array) => {
            for rule in rules {
                if position(array, rule).is_none() {
                    push(array, rule.to_string());
                    changed = true;
                }
            }
        }
        Place::Table(table) => {
            for rule in rules {
                changed |= table::add(table, rule)?;
            }
        }
    }
    Ok(changed.then(|| document.to_string()))
}

/// The text without `rules` in the list, however they are spelled; none where nothing changes.
pub(crate) fn removed(text: &str, list: List<'_>, rules: &[HostRule]) -> Result<Option<String>, EditError> {
    let mut document = parse(text)?;
    let mut changed = false;
    match place(&mut document, list)? {
        Place::Array(array) => {
            for rule in rules {
                changed |= take(array, rule);
            }
        }
        Place::Table(table) => {
            for rule in rules {
                changed |= table::remove(table, rule)?;
            }
        }
    }
    Ok(changed.then(|| document.to_string()))
}

/// How hosts are written.
enum Place<'a> {
    /// As a list of rules.
    Array(&'a mut Array),
    /// As a table of hosts with their requests.
    Table(&'a mut dyn TableLike),
}

fn parse(text: &str) -> Result<DocumentMut, EditError> {
    text.parse::<DocumentMut>().map_err(|error| EditError::Syntax(error.message().to_owned()))
}

/// The list or table; a list is made where there is neither.
fn place<'a>(document: &'a mut DocumentMut, list: List<'_>) -> Result<Place<'a>, EditError> {
    let (table, key) = match list {
        List::Server(name) => {
            let servers = below(document.as_table_mut(), "servers")?;
            (below(servers, name)?, "hosts")
        }
        List::Allow(name) => {
            let root = document.as_table_mut();
            if !root.contains_key("allow") {
                root.insert("allow", Item::Table(Table::new()));
            }
            (below(root, "allow")?, name)
        }
    };
    if !table.contains_key(key) {
        table.insert(key, Item::Value(Value::Array(Array::new())));
    }
    match table.get_mut(key) {
        Some(Item::Value(Value::Array(array))) => Ok(Place::Array(array)),
        Some(item) => match item.as_table_like_mut() {
            Some(table) => Ok(Place::Table(table)),
            None => Err(EditError::Shape(key.to_owned())),
        },
        None => Err(EditError::Shape(key.to_owned())),
    }
}

fn below<'a>(table: &'a mut dyn TableLike, key: &str) -> Result<&'a mut dyn TableLike, EditError> {
    let found = table.get_mut(key).and_then(Item::as_table_like_mut);
    found.ok_or_else(|| EditError::Shape(key.to_owned()))
}

/// Takes a rule out wherever it stands, alone or with other methods; says whether it was there.
fn take(array: &mut Array, rule: &HostRule) -> bool {
    let mut changed = false;
    for index in (0..array.len()).rev() {
        let there = array.get(index).and_then(Value::as_str).and_then(|text| HostRule::parse(text).ok());
        let Some(there) = there else { continue };
        match there.without(rule) {
            None => remove(array, index),
            Some(left) if left != there => {
                array.replace(index, left.to_string());
            }
            Some(_) => continue,
        }
        changed = true;
    }
    changed
}

fn position(array: &Array, rule: &HostRule) -> Option<usize> {
    array.iter().position(|value| {
        value.as_str().and_then(|text| HostRule::parse(text).ok()).is_some_and(|there| there == *rule)
    })
}

/// Adds an element that stands like the one before it.
fn push(array: &mut Array, value: impl Into<Value>) {
    let mut value = value.into();
    let Some(last) = array.len().checked_sub(1) else {
        array.push_formatted(value);
        return;
    };
    let before = array.get(last).map(|value| raw(value.decor().prefix()).to_owned()).unwrap_or_default();
    let tail = take_tail(array);
    let tail = match (before.rsplit_once('\n'), tail.split_once('\n')) {
        // A line of its own. A remark behind the last element is in its tail, and stays where it is.
        (Some((_, indent)), Some((remark, rest))) => {
            value.decor_mut().set_prefix(format!("{remark}\n{indent}"));
            format!("\n{rest}")
        }
        (Some((_, indent)), None) => {
            value.decor_mut().set_prefix(format!("\n{indent}"));
            tail
        }
        (None, _) => {
            value.decor_mut().set_prefix(" ");
            tail
        }
    };
    array.push_formatted(value);
    set_tail(array, &tail);
}

/// Takes an element out. A remark behind the element before it stands in front of this one, and stays.
fn remove(array: &mut Array, index: usize) {
    let tail = take_tail(array);
    let gone = array.remove(index);
    let prefix = raw(gone.decor().prefix());
    let next = array.get(index).map(|value| raw(value.decor().prefix()).to_owned());
    let follows = next.as_deref().unwrap_or(&tail);
    let kept = match (prefix.split_once('\n'), follows.split_once('\n')) {
        (Some((remark, _)), Some((_, rest))) => format!("{remark}\n{rest}"),
        (Some((remark, _)), None) if remark.trim().is_empty() => follows.to_owned(),
        (Some((remark, _)), None) => format!("{remark}\n{follows}"),
        // The blanks behind the bracket are not those behind a comma.
        (None, _) if index == 0 && next.is_some() && !follows.contains('\n') => prefix.to_owned(),
        (None, _) => follows.to_owned(),
    };
    if let Some(value) = array.get_mut(index) {
        value.decor_mut().set_prefix(kept);
        set_tail(array, &tail);
    } else {
        set_tail(array, &kept);
    }
}

/// What stands between the last element and the bracket, but for the comma.
fn take_tail(array: &mut Array) -> String {
    let last = array.len().checked_sub(1).filter(|_| !array.trailing_comma());
    match last.and_then(|last| array.get_mut(last)) {
        Some(value) => {
            let tail = raw(value.decor().suffix()).to_owned();
            value.decor_mut().set_suffix("");
            tail
        }
        None => raw(Some(array.trailing())).to_owned(),
    }
}

fn set_tail(array: &mut Array, tail: &str) {
    let last = array.len().checked_sub(1).filter(|_| !array.trailing_comma());
    match last.and_then(|last| array.get_mut(last)) {
        Some(value) => value.decor_mut().set_suffix(tail),
        None => array.set_trailing(tail),
    }
}

fn raw(text: Option<&RawString>) -> &str {
    text.and_then(RawString::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests;
