//! One text of a surface, as rules see it.

use std::{cell::OnceCell, collections::BTreeSet};

use serde_json::Value;

use super::{fold::Folded, place::Place};
use crate::surface::Kind;

/// One text of a surface.
#[derive(Debug)]
pub struct Text<'a> {
    /// Where it stands.
    pub place: &'a Place,
    /// As it was received.
    pub text: &'a str,
    /// What it is there for.
    pub role: Role,
    own: &'a Own,
    folded: OnceCell<Folded>,
}

/// What a text is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// To be read.
    Prose,
    /// To name something: a tool, a parameter, a key.
    Name,
    /// To be an address, which a client may open and a model hardly reads.
    Address,
}

/// The names that a server gives to things of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Own(BTreeSet<String>);

impl<'a> Text<'a> {
    /// The text at a place. What it is there for is told from the place.
    pub fn new(place: &'a Place, text: &'a str, own: &'a Own) -> Self {
        Self { place, text, role: Role::at(place), own, folded: OnceCell::new() }
    }

    /// The text as it is taken rather than as it is spelled; see [`super`].
    pub fn folded(&self) -> &str {
        self.fold().text()
    }

    /// The bytes of the received text that became these bytes of [`Text::folded`].
    pub fn received(&self, range: std::ops::Range<usize>) -> std::ops::Range<usize> {
        self.fold().received(range)
    }

    /// Whether the server has something of this name.
    pub fn is_own(&self, name: &str) -> bool {
        self.own.0.contains(&name.to_lowercase())
    }

    fn fold(&self) -> &Folded {
        self.folded.get_or_init(|| match self.role {
            Role::Name => Folded::name(self.text),
            Role::Prose | Role::Address => Folded::prose(self.text),
        })
    }
}

impl Role {
    /// What a text at this place is there for.
    pub fn at(place: &Place) -> Self {
        const ADDRESSES: [&str; 10] =
            ["$id", "$ref", "$schema", "href", "icon", "src", "uri", "uriTemplate", "url", "websiteUrl"];
        let is_schema_name = || {
            // `properties.url.description` is prose, and a property that is called `uri` holds a schema.
            !place.is_key && place.keys().next_back().is_some_and(|key| key == "required")
        };
        match place.key() {
            _ if place.is_key || is_schema_name() => Self::Name,
            Some("name") => Self::Name,
            Some(key) if ADDRESSES.contains(&key) => Self::Address,
            _ => Self::Prose,
        }
    }
}

impl Own {
    /// Those of a stored surface: of its entries and of the server itself. Not those of parameters: a server could give one
    /// the name of another server's tool, and speak of that.
    pub fn of(surface: &Value) -> Self {
        let mut names = BTreeSet::new();
        for kind in Kind::ALL {
            for entry in surface.get(kind.list()).and_then(Value::as_array).into_iter().flatten() {
                names.extend(entry.get(kind.key()).and_then(Value::as_str).map(str::to_lowercase));
            }
        }
        names.extend(surface.pointer("/serverInfo/name").and_then(Value::as_str).map(str::to_lowercase));
        Self(names)
    }
}
