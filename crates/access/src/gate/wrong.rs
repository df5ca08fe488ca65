//! What is wrong with arguments, in words by which a model can correct them: where, and what is wanted. What was given is not
//! repeated.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Fault};
use jsonschema::paths::LocationSegment;
use model::visible::excerpt;
use serde_json::Value;

use crate::place::{self, Step};

/// Names or values that are listed.
const MOST_LISTED: usize = 12;
/// Characters of something that a schema says.
const LONGEST: usize = 120;

/// The parameter that the fault is in.
pub(super) fn parameter(fault: &ValidationError<'_>) -> Option<String> {
    match fault.instance_path().segments().next() {
        Some(LocationSegment::Property(name)) => Some(name.into_owned()),
        _ => None,
    }
}

/// One fault. `parameters` are those that the tool has, for the names that do not exist.
pub(super) fn text(fault: &ValidationError<'_>, parameters: &[String]) -> String {
    let segments: Vec<_> = fault.instance_path().segments().collect();
    let steps: Vec<Step<'_>> = segments
        .iter()
        .map(|segment| match segment {
            LocationSegment::Property(name) => Step::Key(name),
            LocationSegment::Index(index) => Step::Index(*index),
        })
        .collect();
    let place =
        if steps.is_empty() { "the arguments".to_owned() } else { format!("`{}`", place::show(&steps)) };
    let within = |name: &str| {
        let mut inner = steps.clone();
        inner.push(Step::Key(name));
        format!("`{}`", place::show(&inner))
    };
    match fault.kind() {
        Fault::Required { property } => match property.as_str() {
            Some(name) => format!("{} is missing", within(name)),
            None => format!("{place} lacks a member"),
        },
        Fault::AdditionalProperties { unexpected } | Fault::UnevaluatedProperties { unexpected } => {
            let unknown: Vec<_> = unexpected.iter().take(MOST_LISTED).map(|name| within(name)).collect();
            let known = if steps.is_empty() { known(parameters) } else { String::new() };
            format!("{} is not known{known}", unknown.join(", "))
        }
        Fault::PropertyNames { .. } => format!("{place} has a member with a name that is not allowed"),
        kind => format!("{place} {}", wanted(kind)),
    }
}

fn wanted(kind: &Fault) -> String {
    match kind {
        Fault::Type { kind: TypeKind::Single(one) } => format!("has to be of type {one}"),
        Fault::Type { kind: TypeKind::Multiple(some) } => {
            let some: Vec<_> = some.iter().map(|one| one.to_string()).collect();
            format!("has to be of type {}", some.join(" or "))
        }
        Fault::Pattern { pattern } => format!("has to match `{}`", excerpt(pattern, LONGEST)),
        Fault::Enum { options } => format!("has to be one of {}", values(options)),
        Fault::Constant { expected_value } => format!("has to be {}", value(expected_value)),
        Fault::MinLength { limit } => format!("needs at least {limit} characters"),
        Fault::MaxLength { limit } => format!("may have at most {limit} characters"),
        Fault::MinItems { limit } => format!("needs at least {limit} items"),
        Fault::MaxItems { limit } => format!("may have at most {limit} items"),
        Fault::AdditionalItems { limit } => format!("may have at most {limit} items"),
        Fault::UnevaluatedItems { .. } => "has items that are not known".to_owned(),
        Fault::MinProperties { limit } => format!("needs at least {limit} members"),
        Fault::MaxProperties { limit } => format!("may have at most {limit} members"),
        Fault::Minimum { limit } => format!("has to be at least {limit}"),
        Fault::Maximum { limit } => format!("has to be at most {limit}"),
        Fault::ExclusiveMinimum { limit } => format!("has to be more than {limit}"),
        Fault::ExclusiveMaximum { limit } => format!("has to be less than {limit}"),
        Fault::MultipleOf { multiple_of } => format!("has to be a multiple of {multiple_of}"),
        Fault::UniqueItems => "has an item twice".to_owned(),
        Fault::Contains => "lacks an item that has to be there".to_owned(),
        Fault::FalseSchema => "is not allowed here".to_owned(),
        Fault::Not { .. } => "is something that is not allowed".to_owned(),
        Fault::AnyOf { .. } | Fault::OneOfNotValid { .. } => {
            "fits none of the alternatives that the schema has".to_owned()
        }
        Fault::OneOfMultipleValid { .. } => {
            "fits more than one of alternatives that exclude each other".to_owned()
        }
        _ => "does not fit the schema".to_owned(),
    }
}

fn known(parameters: &[String]) -> String {
    if parameters.is_empty() {
        return "; there are no parameters".to_owned();
    }
    let names: Vec<_> =
        parameters.iter().take(MOST_LISTED).map(|name| format!("`{}`", excerpt(name, 60))).collect();
    let more = if parameters.len() > MOST_LISTED { ", …" } else { "" };
    format!("; there are {}{more}", names.join(", "))
}

fn values(options: &Value) -> String {
    let Value::Array(options) = options else { return value(options) };
    let shown: Vec<_> = options.iter().take(MOST_LISTED).map(value).collect();
    let more = if options.len() > MOST_LISTED { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

fn value(value: &Value) -> String {
    excerpt(&value.to_string(), LONGEST)
}
