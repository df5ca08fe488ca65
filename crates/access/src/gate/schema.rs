//! The schema of a tool's arguments, compiled once (JSON Schema 2020-12, or the draft that it names). Nothing is fetched, formats
//! are not judged, and no arguments keep it busy for long.

use std::collections::BTreeMap;

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value};

use super::error::GateError;
use super::{work, wrong};

mod walk;

pub(crate) use walk::{applied_to_root, local, places};

/// Most schemas that apply to one value, one reached from the other, without a step into the value.
pub(crate) const MAX_CHAIN: usize = 64;
/// Most schemas that are being judged at a time, each within the other. A stack of 2 MiB has room for them.
const MAX_NESTED: usize = 512;
/// Schemas of one tool.
const MAX_SCHEMAS: usize = 10_000;
/// What one check may cost, in schemas held against a value; long texts count more than once.
const MAX_WORK: u64 = 1_000_000;
/// The same for finding out what is wrong, where every fault keeps a copy of the value that it is about.
const MAX_WORK_OF_FAULTS: u64 = 4096;
/// Bytes that those copies may have.
const MAX_COPIES: u64 = 16 << 20;
/// Faults that are told.
const MOST_TOLD: usize = 5;
/// Bytes that one pattern of the schema may take when it is compiled.
const PATTERN_SIZE: usize = 1 << 20;
/// How often a pattern with look-around may go back. Those without, which is nearly all of them, never do.
const MAX_BACKTRACKS: usize = 10_000;

/// A schema, ready.
#[derive(Debug)]
pub(crate) struct Schema {
    validator: Validator,
    chain: usize,
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
        let chain = walk::longest_chain(&places, MAX_CHAIN)?;
        let mut counted = schema.clone();
        for place in &places {
            if let Some(Value::Object(schema)) = counted.pointer_mut(&place.pointer) {
                schema.insert(work::KEYWORD.to_owned(), Value::Bool(true));
            }
        }
        let linear = PatternOptions::regex().size_limit(PATTERN_SIZE).dfa_size_limit(PATTERN_SIZE);
        let backtracking = PatternOptions::fancy_regex()
            .backtrack_limit(MAX_BACKTRACKS)
            .size_limit(PATTERN_SIZE)
            .dfa_size_limit(PATTERN_SIZE);
        let options = || {
            jsonschema::options()
                .offline()
                .should_validate_formats(false)
                .with_keyword(work::KEYWORD, |schema, _, _| Ok(Box::new(work::Work::of(schema))))
        };
        let validator = options()
            .with_pattern_options(linear)
            .build(&counted)
            .or_else(|_| options().with_pattern_options(backtracking).build(&counted))
            .map_err(|error| GateError::Schema(about_the_schema(&error)))?;
        let properties = schema.get("properties").and_then(Value::as_object);
        let parameters =
            properties.map(|properties| properties.keys().cloned().collect()).unwrap_or_default();
        Ok(Self { validator, chain, parameters })
    }

    /// Holds arguments of that many levels and bytes against it. They are as before afterwards.
    pub(crate) fn check(
        &self,
        members: &mut Map<String, Value>,
        depth: usize,
        bytes: usize,
    ) -> Result<(), Wrong> {
        if depth.saturating_mul(self.chain) > MAX_NESTED {
            return Err(Wrong::TooMuch(
                "the arguments have too many levels for a schema that refers to itself so often",
            ));
        }
        let value = Value::Object(std::mem::take(members));
        let checked = self.check_value(&value, bytes);
        if let Value::Object(value) = value {
            *members = value;
        }
        checked
    }

    fn check_value(&self, value: &Value, bytes: usize) -> Result<(), Wrong> {
        let (fits, all) = work::within(MAX_WORK, || self.validator.is_valid(value));
        if !all {
            return Err(Wrong::TooMuch("holding the arguments against the tool's schema takes too long"));
        }
        if fits {
            return Ok(());
        }
        let copies = MAX_COPIES / u64::try_from(bytes).unwrap_or(u64::MAX).max(1);
        let (told, _) = work::within(copies.min(MAX_WORK_OF_FAULTS), || {
            let faults = self.validator.iter_errors(value).filter(|fault| !work::is_of_work(fault));
            let told: Vec<_> =
                faults.take(MOST_TOLD).map(|fault| (wrong::parameter(&fault), self.text(&fault))).collect();
            told
        });
        let first = told.first().and_then(|(parameter, _)| parameter.clone());
        let mut texts: Vec<String> = told.into_iter().map(|(_, text)| text).collect();
        texts.dedup();
        if texts.is_empty() {
            texts.push("the arguments do not fit the tool's schema".to_owned());
        }
        Err(Wrong::Unfit { first, text: texts.join("; ") })
    }

    fn text(&self, fault: &ValidationError<'_>) -> String {
        wrong::text(fault, &self.parameters)
    }
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
