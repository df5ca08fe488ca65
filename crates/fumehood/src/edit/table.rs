//! Hosts that are written as a table: by host, the methods and paths it may get.

use egress::rule::{HostRule, terms::Terms};
use model::request::{Method, PathPattern};
use toml_edit::{Array, InlineTable, Item, TableLike, Value};

use super::{EditError, push, raw, remove as take_out};

/// Adds a rule; says whether anything changed. A host that is there already gets one more method or path, if that lets
/// through nothing but what the rule does.
pub(super) fn add(table: &mut dyn TableLike, rule: &HostRule) -> Result<bool, EditError> {
    let Some((key, there)) = find(table, rule) else {
        let mut value = Value::InlineTable(written(rule.terms()));
        // The blank before the bracket of a table in one line belongs behind the last entry.
        let last = table.iter_mut().last().and_then(|(_, item)| item.as_value_mut());
        if let Some(last) = last.filter(|last| raw(last.decor().suffix()).chars().all(|c| c == ' ')) {
            let blank = raw(last.decor().suffix()).to_owned();
            last.decor_mut().set_suffix("");
            value.decor_mut().set_suffix(blank);
        }
        table.insert(&rule.place().to_string(), Item::Value(value));
        return Ok(true);
    };
    if there.rules(rule).contains(rule) {
        return Ok(false);
    }
    let refused = || EditError::Terms { host: key.clone(), rule: rule.to_string() };
    let terms = rule.terms().ok_or_else(refused)?;
    let path: Vec<PathPattern> = terms.path().cloned().into_iter().collect();
    let same_path = there.paths == path && !there.methods.is_empty() && !terms.methods().is_empty();
    let same_methods = there.methods == terms.methods() && !there.paths.is_empty() && !path.is_empty();
    let (list, texts): (_, Vec<&str>) = if same_path {
        ("methods", terms.methods().iter().map(Method::as_str).collect())
    } else if same_methods {
        ("paths", path.iter().map(PathPattern::as_str).collect())
    } else {
        return Err(refused());
    };
    let array = array(table, &key, list).ok_or_else(refused)?;
    for text in texts {
        if position(array, list, text).is_none() {
            push(array, text);
        }
    }
    Ok(true)
}

/// Takes a rule out; says whether it was there. Of a host with more methods or paths, only those of the rule go.
pub(super) fn remove(table: &mut dyn TableLike, rule: &HostRule) -> bool {
    let Some((key, there)) = find(table, rule) else { return false };
    let exact = there.rules(rule).contains(rule);
    if exact && there.paths.len() < 2 {
        return table.remove(&key).is_some();
    }
    let Some(terms) = rule.terms() else { return false };
    let path: Vec<PathPattern> = terms.path().cloned().into_iter().collect();
    let (list, gone): (_, Vec<&str>) = if exact {
        ("paths", path.iter().map(PathPattern::as_str).collect())
    } else if there.paths == path && !terms.methods().is_empty() {
        let mine = |method: &&Method| there.methods.contains(method);
        if !terms.methods().iter().all(|method| mine(&method)) {
            return false;
        }
        ("methods", terms.methods().iter().map(Method::as_str).collect())
    } else {
        return false;
    };
    let Some(array) = array(table, &key, list) else { return false };
    for text in gone {
        while let Some(index) = position(array, list, text) {
            take_out(array, index);
        }
    }
    true
}

/// One host of the table.
struct There {
    /// Sorted.
    methods: Vec<Method>,
    paths: Vec<PathPattern>,
    inspect: bool,
}

impl There {
    fn read(item: &Item) -> Option<Self> {
        let table = item.as_table_like()?;
        let texts = |key: &str| -> Option<Vec<String>> {
            let Some(list) = table.get(key) else { return Some(Vec::new()) };
            list.as_array()?.iter().map(|value| value.as_str().map(str::to_owned)).collect()
        };
        let mut methods: Vec<Method> =
            texts("methods")?.iter().map(|text| Method::new(text).ok()).collect::<Option<_>>()?;
        methods.sort();
        methods.dedup();
        let paths =
            texts("paths")?.into_iter().map(|text| PathPattern::new(text).ok()).collect::<Option<_>>()?;
        Some(Self { methods, paths, inspect: table.contains_key("inspect") })
    }

    /// What the table says of the host, as rules about the place of `rule`.
    fn rules(&self, rule: &HostRule) -> Vec<HostRule> {
        let place = rule.place();
        let with = |path| place.clone().with_terms(Terms::new(self.methods.iter().cloned(), path));
        match self.paths.as_slice() {
            [] if self.methods.is_empty() && !self.inspect => vec![place],
            [] => with(None).into_iter().collect(),
            paths => paths.iter().filter_map(|path| with(Some(path.clone()))).collect(),
        }
    }
}

/// The key of the host that `rule` is about, however it is spelled, and what is there.
fn find(table: &dyn TableLike, rule: &HostRule) -> Option<(String, There)> {
    let place = rule.place();
    table.iter().find_map(|(key, item)| {
        let same = HostRule::parse(key).is_ok_and(|there| there == place);
        same.then(|| There::read(item)).flatten().map(|there| (key.to_owned(), there))
    })
}

fn array<'a>(table: &'a mut dyn TableLike, key: &str, list: &str) -> Option<&'a mut Array> {
    table.get_mut(key)?.as_table_like_mut()?.get_mut(list)?.as_array_mut()
}

/// Where a method, in either case, or a path stands in its list.
fn position(array: &Array, list: &str, text: &str) -> Option<usize> {
    let same = |there: &str| if list == "methods" { there.eq_ignore_ascii_case(text) } else { there == text };
    array.iter().position(|value| value.as_str().is_some_and(same))
}

/// What stands behind a new host.
fn written(terms: Option<&Terms>) -> InlineTable {
    let mut table = InlineTable::new();
    let Some(terms) = terms else { return table };
    if !terms.methods().is_empty() {
        table.insert("methods", Value::Array(terms.methods().iter().map(Method::as_str).collect()));
    }
    if let Some(path) = terms.path() {
        table.insert("paths", Value::Array(std::iter::once(path.as_str()).collect()));
    }
    if table.is_empty() {
        table.insert("inspect", Value::from("always"));
    }
    table
}
