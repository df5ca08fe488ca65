//! The class of one change.

use serde_json::Value;

use super::{How, raw::Raw, schema, wording};
use crate::{
    review::{
        class::Class,
        finding::{Finding, Severity},
        place::{Owner, Step},
    },
    surface::Kind,
    visible::excerpt,
};

/// Its class by what it is, and what it is. What rules find in it comes on top.
pub(super) fn classify(raw: &Raw) -> (Class, String) {
    let (class, why) = by_place(raw);
    let texts = (text(raw.before.as_ref()), text(raw.after.as_ref()));
    if let (before, Some(after)) = texts
        && !raw.place.steps.is_empty()
        && wording::orders_more(before.unwrap_or_default(), after)
    {
        return (Class::NowInstructs, format!("{why}; it orders something that it did not"));
    }
    (class, why)
}

/// The finding that tells a new parameter.
pub(super) fn new_parameter(raw: &Raw) -> Option<Finding> {
    let is_input = matches!(raw.place.keys().next(), Some("inputSchema" | "arguments"));
    if raw.how != How::Added || !is_input || !is_parameter(raw) {
        return None;
    }
    let message = format!("has a new parameter `{}`", excerpt(&parameter_name(raw), 60));
    let place = raw.place.clone();
    Some(Finding { code: "new-parameter", severity: Severity::Warning, place, range: 0..0, message })
}

fn by_place(raw: &Raw) -> (Class, String) {
    let Some(Step::Key(first)) = raw.place.steps.first() else { return of_entry(raw) };
    match (&raw.place.owner, first.as_str()) {
        (Owner::Server, "instructions") => match (raw.how, is_wording(raw)) {
            (How::Removed, _) => (Class::NewCapability, "the server's instructions are gone".to_owned()),
            (_, true) => wording_only(),
            (How::Added, _) => (Class::NowInstructs, "the server gives instructions now".to_owned()),
            _ => (Class::NowInstructs, "the server gives other instructions".to_owned()),
        },
        (Owner::Server, "serverInfo") => match raw.place.key().unwrap_or_default() {
            "version" | "websiteUrl" | "icons" | "src" | "mimeType" | "sizes" | "theme" => {
                (Class::Cosmetic, "not read by a model".to_owned())
            }
            _ => prose(raw, Class::NewCapability, "the server calls itself something else"),
        },
        (Owner::Server, "capabilities") => match (raw.how, &raw.after) {
            (How::Removed, _) | (_, Some(Value::Bool(false))) => {
                (Class::Cosmetic, "a capability is gone".to_owned())
            }
            _ => (Class::NewCapability, "the server can do something else".to_owned()),
        },
        (Owner::Server, "protocolVersion") => {
            (Class::Cosmetic, "another revision of the protocol is spoken".to_owned())
        }
        (Owner::Server, "client") => {
            (Class::NewCapability, "the server was asked as another kind of client".to_owned())
        }
        (_, "icons") => (Class::Cosmetic, "not read by a model".to_owned()),
        (_, "inputSchema" | "arguments") => input(raw),
        (_, "outputSchema") => prose(raw, Class::NewCapability, "it returns something else"),
        (Owner::Entry { kind: Kind::Tool, .. }, "annotations") => hint(raw),
        (Owner::Entry { kind: Kind::Resource, .. }, "size") => (Class::Cosmetic, "another size".to_owned()),
        (_, "annotations") if raw.place.key() == Some("lastModified") => {
            (Class::Cosmetic, "another date".to_owned())
        }
        (_, "description" | "title" | "name") => {
            prose(raw, Class::NewCapability, "it says something else of itself")
        }
        _ => prose(raw, Class::NewCapability, "a client may act upon it"),
    }
}

/// An entry as a whole.
fn of_entry(raw: &Raw) -> (Class, String) {
    let what = match &raw.place.owner {
        Owner::Entry { kind, .. } => kind.as_str(),
        Owner::Server => "server",
    };
    let note = raw.note.as_deref().map(|note| excerpt(note, 120));
    match (raw.how, note) {
        (How::Added, None) => (Class::NewCapability, format!("a new {what}")),
        (How::Added, Some(note)) => (Class::NewCapability, format!("a {what} that was {note}")),
        (How::Renamed, from) => {
            (Class::NewCapability, format!("the {what} was called `{}`", from.unwrap_or_default()))
        }
        (How::Removed, None) => (Class::Cosmetic, format!("the {what} is gone")),
        (_, note) => (Class::Cosmetic, note.unwrap_or_default()),
    }
}

fn input(raw: &Raw) -> (Class, String) {
    let name = excerpt(&parameter_name(raw), 60);
    if schema::is_reordered(raw) {
        return (Class::Cosmetic, "the same in another order".to_owned());
    }
    match (schema::end(&raw.place), raw.how) {
        (schema::End::Parameter, How::Added) if is_parameter(raw) => {
            (Class::WidenedInput, format!("a new parameter `{name}`"))
        }
        (schema::End::Parameter, How::Removed) if is_parameter(raw) && schema::is_narrower(raw) => {
            (Class::Cosmetic, format!("the parameter `{name}` is gone"))
        }
        (schema::End::Words, _) => prose(raw, Class::WidenedInput, "other words about what is handed over"),
        _ if schema::is_narrower(raw) => (Class::Cosmetic, "less is allowed than before".to_owned()),
        _ => (Class::WidenedInput, "something else may be handed over".to_owned()),
    }
}

/// A tool's hints, with what the protocol takes for one that is not there (MCP 2025-11-25, `ToolAnnotations`).
fn hint(raw: &Raw) -> (Class, String) {
    let name = raw.place.key().unwrap_or_default();
    let default = match name {
        "readOnlyHint" | "idempotentHint" => false,
        "destructiveHint" | "openWorldHint" => true,
        "annotations" => return (Class::NewCapability, "its hints are others".to_owned()),
        _ => return prose(raw, Class::NewCapability, "a client may act upon it"),
    };
    let meant = |value: Option<&Value>| value.map_or(Some(default), Value::as_bool);
    match (meant(raw.before.as_ref()), meant(raw.after.as_ref())) {
        (Some(before), Some(after)) if before == after => {
            (Class::Cosmetic, "means the same as before".to_owned())
        }
        (_, Some(after)) => {
            let now = match (name, after) {
                ("readOnlyHint", true) => "says that it only reads now, so clients may ask less",
                ("readOnlyHint", false) => "says that it changes something now",
                ("destructiveHint", true) => "says that it can destroy something now",
                ("destructiveHint", false) => "says that it destroys nothing now, so clients may ask less",
                ("idempotentHint", true) => "says that it may be repeated now, so clients may ask less",
                ("idempotentHint", false) => "says that it may not be repeated any more",
                ("openWorldHint", true) => "says that it reaches out into the world now",
                _ => "says that it reaches out no more, so clients may ask less",
            };
            (Class::NewCapability, now.to_owned())
        }
        _ => (Class::NewCapability, "a hint that is none".to_owned()),
    }
}

/// A text that says something else has the class; one that is only spelled otherwise is cosmetic.
fn prose(raw: &Raw, class: Class, why: &str) -> (Class, String) {
    if is_wording(raw) { wording_only() } else { (class, why.to_owned()) }
}

fn wording_only() -> (Class, String) {
    (Class::Cosmetic, "only spelled otherwise".to_owned())
}

fn is_wording(raw: &Raw) -> bool {
    match (text(raw.before.as_ref()), text(raw.after.as_ref())) {
        (Some(before), Some(after)) => wording::is_same(before, after),
        _ => false,
    }
}

fn text(value: Option<&Value>) -> Option<&str> {
    value.and_then(Value::as_str)
}

/// Whether a place is that of a parameter rather than of a definition that parameters refer to.
fn is_parameter(raw: &Raw) -> bool {
    let parent = raw.place.keys().rev().nth(1);
    schema::end(&raw.place) == schema::End::Parameter
        && (parent == Some("properties") || raw.place.keys().next() == Some("arguments"))
}

fn parameter_name(raw: &Raw) -> String {
    let argument = raw.after.as_ref().or(raw.before.as_ref()).and_then(|value| value.get("name")?.as_str());
    match (raw.place.keys().next(), argument) {
        (Some("arguments"), Some(name)) => name.to_owned(),
        _ => raw.place.key().unwrap_or_default().to_owned(),
    }
}
