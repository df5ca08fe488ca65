//! The schema of a tool's arguments, compiled once (JSON Schema 2020-12, or the draft that it names). Nothing is fetched, formats
//! are not judged, and no arguments keep it busy for long.

use std::collections::BTreeMap;

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value};

use crate::arguments::{MAX_DEPTH, Size};

use super::error::GateError;
use super::wrong;

mod pattern;
mod walk;
mod work;

pub(crate) use walk::{applied_to_root, local, places};

/// Most schemas that apply to one value, one reached from the other, without a step into the value.
pub(crate) const MAX_CHAIN: usize = 64;
/// Most schemas that are being judged at a time, each within the other. A stack of 2 MiB has room for them.
const MAX_NESTED: usize = 512;
/// Schemas of one tool.
const MAX_SCHEMAS: usize = 10_000;
/// What one check may cost, in schemas held against a value.
const MAX_WORK: u64 = 2_000_000;
/// The same where a pattern needs an engine that goes back.
const MAX_WORK_BACKTRACKING: u64 = 20_000;
/// Faults that are looked for, of which [`MOST_TOLD`] are told.
const MAX_FAULTS: u64 = 20_000;
/// Bytes of text that cost as much as a schema.
const TEXT: u64 = 64;
/// Bytes of values that may be copied for finding out what is wrong: each fault keeps the value that it is about.
const MAX_COPIES: u64 = 64 << 20;
/// Faults that are told.
const MOST_TOLD: usize = 5;
/// Bytes that one pattern of the schema may take when it is compiled. Far larger ones make the engine panic on an empty text
/// (rust-lang/regex#1344), which ends a service that is built to abort.
const PATTERN_SIZE: usize = 10 << 20;
/// Bytes that the same may keep while it runs.
const PATTERN_CACHE: usize = 1 << 20;
/// How often a pattern with look-around may go back. Those without, which is nearly all of them, never do.
const MAX_BACKTRACKS: usize = 10_000;

/// A schema, ready.
#[derive(Debug)]
pub(crate) struct Schema {
    validator: Validator,
    chain: usize,
    work: Vec<u64>,
    max_work: u64,
    parameters: Vec<String>,
}

/// What does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// Finding out would take too long.
    TooMuch(&'static str),
    /// The arguments are not what the schema has.
    Unfit {
        /// The parameter of the first fault.
        first: Option<String>,
        /// All that is told.
        text: String,
    },
}

impl Schema {
    /// Compiles a schema within its bounds.
    pub(crate) fn new(schema: &Value) -> Result<Self, GateError> {
        let places = places(schema, MAX_SCHEMAS)?;
        pattern::check(&places)?;
        let chain = walk::longest_chain(&places, MAX_CHAIN)?;
        let work = work::by_level(&places, MAX_DEPTH)?;
        let linear = PatternOptions::regex().size_limit(PATTERN_SIZE).dfa_size_limit(PATTERN_CACHE);
        let backtracking = PatternOptions::fancy_regex()
            .backtrack_limit(MAX_BACKTRACKS)
            .size_limit(PATTERN_SIZE)
            .dfa_size_limit(PATTERN_CACHE);
        let options = || jsonschema::options().offline().should_validate_formats(false);
        let built = options().with_pattern_options(linear).build(schema);
        let max_work = if built.is_ok() { MAX_WORK } else { MAX_WORK_BACKTRACKING };
        let validator = built
            .or_else(|_| options().with_pattern_options(backtracking).build(schema))
            .map_err(|error| GateError::Schema(about_the_schema(&error)))?;
        let properties = schema.get("properties").and_then(Value::as_object);
        let parameters =
            properties.map(|properties| properties.keys().cloned().collect()).unwrap_or_default();
        Ok(Self { validator, chain, work, max_work, parameters })
    }

    /// Holds arguments against it. They are as before afterwards.
    pub(crate) fn check(&self, members: &mut Map<String, Value>, size: Size) -> Result<(), Wrong> {
        let faults = self.most_faults(size)?;
        let value = Value::Object(std::mem::take(members));
        let checked =
            if self.validator.is_valid(&value) { Ok(()) } else { Err(self.wrong(&value, size, faults)) };
        if let Value::Object(value) = value {
            *members = value;
        }
        checked
    }

    /// How many faults there can be in arguments of this size, where holding them against it does not cost too much.
    fn most_faults(&self, size: Size) -> Result<u64, Wrong> {
        let each = self.work.get(size.depth);
        let Some(each) = each.filter(|_| size.depth.saturating_mul(self.chain) <= MAX_NESTED) else {
            return Err(Wrong::TooMuch("the arguments have too many levels for what the tool's schema is"));
        };
        let values = number(size.values);
        if values.saturating_add(number(size.bytes) / TEXT).saturating_mul(*each) > self.max_work {
            return Err(Wrong::TooMuch(
                "holding so many arguments against the tool's schema would take too long",
            ));
        }
        Ok(values.saturating_mul(*each))
    }

    fn wrong(&self, value: &Value, size: Size, faults: u64) -> Wrong {
        if faults > MAX_FAULTS || faults.saturating_mul(number(size.bytes)) > MAX_COPIES {
            let text =
                "the arguments do not fit the tool's schema, and are too large to say where".to_owned();
            return Wrong::Unfit { first: None, text };
        }
        let mut first = None;
        let mut texts: Vec<String> = Vec::new();
        for (index, fault) in self.validator.iter_errors(value).take(MOST_TOLD).enumerate() {
            if index == 0 {
                first = wrong::parameter(&fault);
            }
            texts.push(wrong::text(&fault, &self.parameters));
        }
        texts.dedup();
        Wrong::Unfit { first, text: texts.join("; ") }
    }
}

fn number(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// The schemas in a schema by their pointers.
pub(crate) type ByPointer<'a> = BTreeMap<&'a str, usize>;

fn about_the_schema(error: &ValidationError<'_>) -> String {
    let place = error.instance_path().to_string();
    let place = if place.is_empty() { "its root".to_owned() } else { place };
    format!("{} at {place}", model::visible::excerpt(&error.masked().to_string(), 200))
}

#[cfg(test)]
mod tests;
