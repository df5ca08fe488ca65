//! Where in a surface a text stands, and the walk over all of them.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::{surface::Kind, visible::visible};

/// A place in a surface. Shown like `tool get_forecast · inputSchema.properties.city.description`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Whose text it is.
    pub owner: Owner,
    /// The way from there to the value.
    pub steps: Vec<Step>,
    /// Whether the last key itself is meant, rather than what it holds.
    pub is_key: bool,
}

/// Whose text it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// The server's own: its name, its instructions, what it can.
    Server,
    /// That of one entry of a list.
    Entry {
        /// What it is.
        kind: Kind,
        /// Its name or URI.
        name: String,
    },
}

/// One step into a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// Into a member of an object.
    Key(String),
    /// Into an element of an array, counted from 0.
    Index(usize),
}

impl Owner {
    /// The entry of this kind with this value, as far as it says its name.
    pub fn of(kind: Kind, entry: &Value) -> Self {
        let name = entry.get(kind.key()).and_then(Value::as_str).unwrap_or_default().to_owned();
        Self::Entry { kind, name }
    }
}

impl Place {
    /// The whole of what is the owner's.
    pub fn of(owner: Owner) -> Self {
        Self { owner, steps: Vec::new(), is_key: false }
    }

    /// The place of a member of the value that stands here.
    #[must_use]
    pub fn member(&self, key: &str) -> Self {
        self.step(Step::Key(key.to_owned()))
    }

    /// The place of an element of the array that stands here.
    #[must_use]
    pub fn element(&self, index: usize) -> Self {
        self.step(Step::Index(index))
    }

    /// The key that leads to the value, an array's where it is an element.
    pub fn key(&self) -> Option<&str> {
        self.steps.iter().rev().find_map(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            Step::Index(_) => None,
        })
    }

    /// The keys on the way, without indexes.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.steps.iter().filter_map(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            Step::Index(_) => None,
        })
    }

    /// The way from the owner, such as `inputSchema.properties.city`; empty for the owner as a whole.
    pub fn way(&self) -> String {
        let mut way = String::new();
        for step in &self.steps {
            match step {
                Step::Index(index) => way.extend(["[", &index.to_string(), "]"]),
                Step::Key(key) => {
                    if !way.is_empty() {
                        way.push('.');
                    }
                    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '/');
                    let is_plain = !key.is_empty() && key.chars().all(plain);
                    way.push_str(&if is_plain { visible(key) } else { visible(&format!("{key:?}")) });
                }
            }
        }
        way
    }

    fn step(&self, step: Step) -> Self {
        let mut steps = self.steps.clone();
        steps.push(step);
        Self { owner: self.owner.clone(), steps, is_key: false }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server => f.write_str("server"),
            Self::Entry { kind, name } => write!(f, "{kind} {}", visible(name)),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.owner.fmt(f)?;
        let way = self.way();
        match (way.is_empty(), self.is_key) {
            (true, _) => Ok(()),
            (false, false) => write!(f, " · {way}"),
            (false, true) => write!(f, " · name of {way}"),
        }
    }
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What of the stored form was not said by the server.
const OURS: [&str; 4] = ["projection", "client", "quarantined", "short"];

/// Shows every text of a stored surface: strings, and the keys of objects.
pub(super) fn walk(surface: &Value, see: &mut dyn FnMut(&Place, &str)) {
    for (key, value) in surface.as_object().into_iter().flatten() {
        if OURS.contains(&key.as_str()) {
            continue;
        }
        match (Kind::ALL.into_iter().find(|kind| kind.list() == key), value) {
            (Some(kind), Value::Array(entries)) => {
                for entry in entries {
                    walk_value(&mut Place::of(Owner::of(kind, entry)), entry, see);
                }
            }
            _ => walk_value(&mut Place::of(Owner::Server).member(key), value, see),
        }
    }
}

/// Shows every text of a value that stands at `place`.
pub(super) fn walk_value(place: &mut Place, value: &Value, see: &mut dyn FnMut(&Place, &str)) {
    match value {
        Value::String(text) => see(place, text),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                place.steps.push(Step::Index(index));
                walk_value(place, item, see);
                place.steps.pop();
            }
        }
        Value::Object(members) => {
            for (key, value) in members {
                place.steps.push(Step::Key(key.clone()));
                place.is_key = true;
                see(place, key);
                place.is_key = false;
                walk_value(place, value, see);
                place.steps.pop();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
