//! What serde refuses, in the words of a person who writes TOML.

use std::fmt;
use std::ops::Range;

use serde::de::{self, Expected, Unexpected};

use crate::config::complaint::{Complaint, nearest, quoted};

/// What serde refused, where, and which entry to leave out to get past it.
#[derive(Debug)]
pub(super) struct ReadError(Box<Parts>);

#[derive(Debug)]
struct Parts {
    complaint: Complaint,
    span: Option<Range<usize>>,
    entry: Option<Range<usize>>,
    /// Keys from the outermost to the entry; built from the inside out.
    path: Vec<String>,
    /// The known key that an unknown one was most likely meant to be.
    meant: Option<&'static str>,
}

impl ReadError {
    pub(super) fn span(&self) -> Option<Range<usize>> {
        self.0.span.clone()
    }

    pub(super) fn entry(&self) -> Option<Range<usize>> {
        self.0.entry.clone()
    }

    /// The complaint, and the keys that lead to the entry it is about.
    pub(super) fn into_parts(self) -> (Complaint, Vec<String>) {
        (self.0.complaint, self.0.path)
    }

    /// Errors pass from the inside out, so the first place told is the most exact one.
    pub(super) fn at(mut self, span: Range<usize>) -> Self {
        self.0.span.get_or_insert(span);
        self
    }

    pub(super) fn entry_at(mut self, entry: Range<usize>) -> Self {
        self.0.entry.get_or_insert(entry);
        self
    }

    /// The error of a table's entry: of its key, or of what is in it.
    pub(super) fn in_entry(mut self, span: Range<usize>, key: &str) -> Self {
        let key = self.0.meant.take().unwrap_or(key).to_owned();
        self.0.path.insert(0, key);
        self.entry_at(span)
    }
}

impl From<Complaint> for ReadError {
    fn from(complaint: Complaint) -> Self {
        Self(Box::new(Parts { complaint, span: None, entry: None, path: Vec::new(), meant: None }))
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.complaint.message)
    }
}

impl std::error::Error for ReadError {}

impl de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Complaint::new(message.to_string()).into()
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let found = match unexpected {
            Unexpected::Bool(value) => format!("`{value}`"),
            Unexpected::Signed(value) => format!("the number `{value}`"),
            Unexpected::Float(value) => format!("the number `{value}`"),
            Unexpected::Str(_) => "a string".to_owned(),
            Unexpected::Seq => "an array".to_owned(),
            Unexpected::Map => "a table".to_owned(),
            other => other.to_string(),
        };
        Complaint::new(format!("expected {}, found {found}", plain(&expected.to_string()))).into()
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let is_whole_file = expected.contains(&"servers");
        if let Some(why) = operators(field).filter(|_| is_whole_file) {
            let complaint = Complaint::new(format!("`{field}` is said by the operator's file alone"));
            return complaint.help(why).into();
        }
        let mut error = Self::from(unknown("key", field, expected));
        error.0.meant = nearest(field, expected.iter().copied());
        error
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        unknown("value", variant, expected).into()
    }

    fn missing_field(field: &'static str) -> Self {
        Complaint::new(format!("the key `{field}` is missing")).into()
    }
}

/// Why a table that the operator's file has is not for a project.
fn operators(field: &str) -> Option<&'static str> {
    match field {
        "upstreams" | "egress" => Some(
            "where a name leads is not for a project to say, else it could lead into your network: put it into \
             `config.toml`",
        ),
        "serve" | "identity" | "keys" | "peers" | "roles" | "audit" => Some(
            "who may do what is not for a project to say, else whoever wrote it could let himself in: put it into \
             `config.toml`",
        ),
        "allow" => Some("in a project, each server's table has its own `hosts`"),
        _ => None,
    }
}

fn unknown(what: &str, text: &str, known: &'static [&'static str]) -> Complaint {
    let complaint = Complaint::new(format!("unknown {what} `{text}`"));
    match nearest(text, known.iter().copied()) {
        Some(meant) => complaint.help(format!("did you mean `{meant}`?")),
        None => complaint.help(format!("known here: {}", quoted(known.iter().copied()))),
    }
}

/// Serde's names of types, as TOML calls them.
fn plain(expected: &str) -> String {
    match expected {
        "i64" => "a whole number".to_owned(),
        "f64" => "a number".to_owned(),
        "a sequence" => "an array".to_owned(),
        "a boolean" => "`true` or `false`".to_owned(),
        "a map" => "a table".to_owned(),
        other if other.starts_with("struct ") => "a table".to_owned(),
        other => other.to_owned(),
    }
}
