//! Hosts that are written as a table: by host, the methods and paths it may get, once or as a list of such.

use egress::rule::{HostRule, terms::Terms};
use model::request::{Method, PathPattern};
use toml_edit::{Array, InlineTable, Item, TableLike, Value};

use super::{EditError, push, raw, remove as take_out};

/// Adds a rule; says whether anything changed. A host that is there already gets one more method or path where that lets
/// through nothing but what the rule does, else one more kind of request.
pub(super) fn add(table: &mut dyn TableLike, rule: &HostRule) -> Result<bool, EditError> {
    let Some((key, kinds)) = find(table, rule)? else {
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
    let there = |there: &HostRule| there.without(rule).as_ref() != Some(there);
    if kinds.iter().any(|kind| kind.rules(rule).iter().any(there)) {
        return Ok(false);
    }
    let room = kinds.iter().enumerate().find_map(|(at, kind)| Some((at, kind.room(rule.terms()?)?)));
    if let Some((at, (list, texts))) = room {
        let array = kind_mut(table, &key, at).and_then(|kind| kind.get_mut(list)?.as_array_mut());
        let array = array.ok_or_else(|| EditError::Shape(key.clone()))?;
        for text in texts {
            if position(array, list, &text).is_none() {
                push(array, text);
            }
        }
        return Ok(true);
    }
    let item = table.get_mut(&key).ok_or_else(|| EditError::Shape(key.clone()))?;
    one_more(item, written(rule.terms())).ok_or(EditError::Shape(key))?;
    Ok(true)
}

/// Takes a rule out; says whether it was there. Of a host with more methods or paths, only those of the rule go.
pub(super) fn remove(table: &mut dyn TableLike, rule: &HostRule) -> Result<bool, EditError> {
    let Some((key, kinds)) = find(table, rule)? else { return Ok(false) };
    let exact = kinds.iter().position(|kind| kind.rules(rule).contains(rule));
    if let Some(at) = exact
        && kinds.get(at).is_some_and(|kind| kind.paths.len() < 2)
    {
        return Ok(take_kind(table, &key, at));
    }
    let Some(terms) = rule.terms() else { return Ok(false) };
    let narrower = || kinds.iter().position(|kind| kind.has_more_methods(terms));
    let (list, gone): (_, Vec<&str>) = match exact {
        Some(_) => ("paths", terms.path().map(PathPattern::as_str).into_iter().collect()),
        None => ("methods", terms.methods().iter().map(Method::as_str).collect()),
    };
    let Some(at) = exact.or_else(narrower) else { return Ok(false) };
    let array = kind_mut(table, &key, at).and_then(|kind| kind.get_mut(list)?.as_array_mut());
    let Some(array) = array else { return Ok(false) };
    for text in gone {
        while let Some(index) = position(array, list, text) {
            take_out(array, index);
        }
    }
    Ok(true)
}

/// One kind of request of a host.
struct Kind {
    /// Sorted.
    methods: Vec<Method>,
    paths: Vec<PathPattern>,
    inspect: bool,
}

impl Kind {
    fn read(table: &dyn TableLike) -> Option<Self> {
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

    /// What it says, as rules about the place of `rule`.
    fn rules(&self, rule: &HostRule) -> Vec<HostRule> {
        let place = rule.place();
        let with = |path| place.clone().with_terms(Terms::new(self.methods.iter().cloned(), path));
        match self.paths.as_slice() {
            [] if self.methods.is_empty() && !self.inspect => vec![place],
            [] => with(None).into_iter().collect(),
            paths => paths.iter().filter_map(|path| with(Some(path.clone()))).collect(),
        }
    }

    /// The list, and what it has to get, so that these terms are taken too and nothing else is.
    fn room(&self, terms: &Terms) -> Option<(&'static str, Vec<String>)> {
        let some = !self.methods.is_empty() && !terms.methods().is_empty();
        if some && self.has_path(terms) {
            return Some(("methods", terms.methods().iter().map(ToString::to_string).collect()));
        }
        let path = terms.path().filter(|_| !self.paths.is_empty() && self.methods == terms.methods())?;
        Some(("paths", vec![path.to_string()]))
    }

    fn has_path(&self, terms: &Terms) -> bool {
        self.paths.iter().eq(terms.path())
    }

    /// Whether these terms are a part of it, by methods alone.
    fn has_more_methods(&self, terms: &Terms) -> bool {
        self.has_path(terms)
            && !terms.methods().is_empty()
            && self.methods.len() > terms.methods().len()
            && terms.methods().iter().all(|method| self.methods.contains(method))
    }
}

/// The key of the host that `rule` is about, however it is spelled, and what is there.
fn find(table: &dyn TableLike, rule: &HostRule) -> Result<Option<(String, Vec<Kind>)>, EditError> {
    let place = rule.place();
    let found = table.iter().find(|(key, _)| HostRule::parse(key).is_ok_and(|there| there == place));
    let Some((key, item)) = found else { return Ok(None) };
    let kinds: Option<Vec<Kind>> = match item {
        Item::Value(Value::Array(array)) => {
            array.iter().map(|value| Kind::read(value.as_inline_table()?)).collect()
        }
        Item::ArrayOfTables(tables) => tables.iter().map(|table| Kind::read(table)).collect(),
        item => item.as_table_like().and_then(Kind::read).map(|kind| vec![kind]),
    };
    let kinds = kinds.ok_or_else(|| EditError::Shape(key.to_owned()))?;
    Ok(Some((key.to_owned(), kinds)))
}

fn kind_mut<'a>(table: &'a mut dyn TableLike, key: &str, at: usize) -> Option<&'a mut dyn TableLike> {
    match table.get_mut(key)? {
        Item::Value(Value::Array(array)) => array.get_mut(at)?.as_inline_table_mut().map(|table| table as _),
        Item::ArrayOfTables(tables) => tables.get_mut(at).map(|table| table as _),
        item => item.as_table_like_mut(),
    }
}

/// Adds a kind of request; none if the host is written in a way that has no room for one.
fn one_more(item: &mut Item, kind: InlineTable) -> Option<()> {
    match item {
        Item::Value(Value::Array(array)) => push(array, Value::InlineTable(kind)),
        Item::ArrayOfTables(tables) => tables.push(kind.into_table()),
        Item::Value(value) => {
            let around = value.decor().clone();
            let mut first = value.clone();
            *first.decor_mut() = toml_edit::Decor::default();
            let mut array = Array::new();
            array.push_formatted(first);
            push(&mut array, Value::InlineTable(kind));
            *value = Value::Array(array);
            *value.decor_mut() = around;
        }
        Item::Table(_) | Item::None => return None,
    }
    Some(())
}

/// Takes a kind of request out, and the host with its last one.
fn take_kind(table: &mut dyn TableLike, key: &str, at: usize) -> bool {
    match table.get_mut(key) {
        Some(Item::Value(Value::Array(array))) if array.len() > 1 => {
            take_out(array, at);
            if array.len() == 1
                && let Some(last) = array.get(0).cloned()
                && let Some(Item::Value(value)) = table.get_mut(key)
            {
                let around = value.decor().clone();
                *value = last;
                *value.decor_mut() = around;
            }
            true
        }
        Some(Item::ArrayOfTables(tables)) if tables.len() > 1 => {
            tables.remove(at);
            true
        }
        _ => table.remove(key).is_some(),
    }
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
