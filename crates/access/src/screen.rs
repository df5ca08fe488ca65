//! Secrets in what a model says: values of the vault, known by needles only, and private keys, known by how they look.
//!
//! What is looked through is every text, every key and every number, as it is and as it reads once base64, percent
//! encoding, hexadecimal digits or JSON escapes are taken off, up to [`LAYERS`] times. Not found is what is encrypted, compressed,
//! cut into several texts, or spelled in a way of its own: this keeps secrets from being said by mistake or by simple
//! persuasion, not from somebody who can compute.

use model::needle::{Found, Needle, NeedleKey, Needles};
use serde_json::{Map, Value};

use crate::guard;
use crate::place::{self, Step};

mod private_key;
mod unwrap;

/// Encodings around a value that are taken off.
pub const LAYERS: u8 = 2;

/// Bytes that may be hashed in one search where something looks like the beginning of a value.
const BUDGET: usize = 32 << 20;

/// What is looked for.
#[derive(Debug, Clone)]
pub struct Screen {
    needles: Needles,
    labels: Vec<String>,
}

/// Something that has to stay where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Where: keys and indexes from the root, such as `headers[0].value`.
    pub path: String,
    /// What: `the secret GITHUB_TOKEN`, `a private key (PEM)`.
    pub what: String,
}

impl Screen {
    /// Looks for private keys only.
    pub fn none() -> Self {
        Self::new(NeedleKey::new([0; 32]), Vec::new())
    }

    /// Looks for the values of these needles as well, each with its secret's name. All were made with this key.
    pub fn new(key: NeedleKey, needles: Vec<(String, Needle)>) -> Self {
        let (labels, needles): (Vec<_>, Vec<_>) = needles.into_iter().unzip();
        Self { needles: Needles::new(key, &needles), labels }
    }

    /// The first finding, if there is any.
    pub fn find(&self, value: &Value) -> Option<Finding> {
        if guard::off("screening") {
            return None;
        }
        let mut search = Search { screen: self, budget: BUDGET, path: Vec::new() };
        let what = search.value(value)?;
        Some(Finding { path: place::show(&search.path), what })
    }

    /// The same for the members of an object.
    pub fn find_in(&self, members: &Map<String, Value>) -> Option<Finding> {
        if guard::off("screening") {
            return None;
        }
        let mut search = Search { screen: self, budget: BUDGET, path: Vec::new() };
        let what = search.members(members)?;
        Some(Finding { path: place::show(&search.path), what })
    }
}

/// One search. The path stays where the finding is.
struct Search<'a> {
    screen: &'a Screen,
    budget: usize,
    path: Vec<Step<'a>>,
}

impl<'a> Search<'a> {
    fn value(&mut self, value: &'a Value) -> Option<String> {
        match value {
            Value::Null | Value::Bool(_) => None,
            Value::Number(number) => self.text(number.to_string().as_bytes(), 0),
            Value::String(text) => self.text(text.as_bytes(), 0),
            Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
                self.path.push(index.into());
                let found = self.value(item);
                self.step_back(found)
            }),
            Value::Object(members) => self.members(members),
        }
    }

    fn members(&mut self, members: &'a Map<String, Value>) -> Option<String> {
        if private_key::is_jwk(members) {
            return Some("a private key (JWK)".to_owned());
        }
        members.iter().find_map(|(key, value)| {
            // A key that is a secret is not shown as the place where it stands.
            if let Some(what) = self.text(key.as_bytes(), 0) {
                return Some(what);
            }
            self.path.push(key.as_str().into());
            let found = self.value(value);
            self.step_back(found)
        })
    }

    fn step_back(&mut self, found: Option<String>) -> Option<String> {
        if found.is_none() {
            self.path.pop();
        }
        found
    }

    fn text(&mut self, text: &[u8], layer: u8) -> Option<String> {
        // Nothing shorter can be a value, or hold one.
        if text.len() < model::needle::SHORTEST {
            return None;
        }
        match self.screen.needles.find(text, &mut self.budget) {
            Found::Nothing => {}
            Found::Needle(label) => {
                return Some(
                    self.screen
                        .labels
                        .get(label)
                        .map_or_else(|| "a secret".to_owned(), |name| format!("the secret `{name}`")),
                );
            }
            Found::TooManyPlaces => return Some("a text that cannot be looked through".to_owned()),
        }
        if let Some(kind) = private_key::kind(text) {
            return Some(format!("a private key ({kind})"));
        }
        // What comes of taking off an encoding that is not there is noise, and holds no other one.
        if layer == LAYERS || (layer > 0 && !is_text(text)) {
            return None;
        }
        unwrap::each(text, &mut |inner| self.text(inner, layer + 1))
    }
}

/// Whether it reads as text, but for a few bytes: what stood before an encoded text can have been taken for a part of it.
fn is_text(bytes: &[u8]) -> bool {
    let ascii = || bytes.iter().filter(|byte| byte.is_ascii()).count();
    std::str::from_utf8(bytes).is_ok() || ascii() >= bytes.len() / 8 * 7
}

#[cfg(test)]
mod tests;
