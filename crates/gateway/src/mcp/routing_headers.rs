//! Headers that repeat what the body says, for whoever routes by them (MCP 2026-07-28, streamable HTTP, request metadata).
//!
//! What is decided is decided by the body. A request whose headers say something else than its body is refused: someone on
//! the way may have decided by the header.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{HeaderMap, HeaderName};
use model::visible::excerpt;
use serde_json::Value;

use super::{
    envelope::Said,
    rpc::{Fault, HEADER_MISMATCH},
};
use crate::{guard, http::single};

/// The version that a request is written in.
pub(super) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// What the headers of parameters begin with, in small letters.
const PARAM: &str = "mcp-param-";
/// The member of a parameter's schema that names its header.
const ANNOTATION: &str = "x-mcp-header";
/// Deepest parameter that has a header.
const DEPTH: usize = 16;

/// Whether the headers agree with the body about method and name.
///
/// # Errors
///
/// A [`HEADER_MISMATCH`], where one is missing, is there twice, cannot be read, or says something else.
pub(super) fn check(headers: &HeaderMap, said: &Said) -> Result<(), Fault> {
    if guard::off("mcp-header-agreement") {
        return Ok(());
    }
    let method = once(headers, &METHOD)?.ok_or_else(|| missing(&METHOD))?;
    if method != said.method {
        return Err(unlike(&METHOD, method, &said.method));
    }
    let source = match said.method.as_str() {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return Ok(()),
    };
    let Some(name) = said.params.get(source).and_then(Value::as_str) else { return Ok(()) };
    let header = once(headers, &NAME)?.ok_or_else(|| missing(&NAME))?;
    let decoded = decode(header).ok_or_else(|| unreadable(&NAME))?;
    if decoded == name { Ok(()) } else { Err(unlike(&NAME, &decoded, name)) }
}

/// Whether the headers of parameters agree with the arguments. `tool` is the tool as the caller is shown it: a bound
/// parameter is not in it, so a header for that is nobody's and says nothing.
///
/// # Errors
///
/// A [`HEADER_MISMATCH`].
pub(super) fn check_params(
    headers: &HeaderMap,
    tool: &Value,
    arguments: Option<&Value>,
) -> Result<(), Fault> {
    if guard::off("mcp-header-agreement") {
        return Ok(());
    }
    let mut annotated = Vec::new();
    if let Some(schema) = tool.get("inputSchema") {
        collect(schema, &mut Vec::new(), &mut annotated);
    }
    for (path, name) in annotated {
        let Ok(header) = HeaderName::from_bytes(format!("{PARAM}{}", name.to_ascii_lowercase()).as_bytes())
        else {
            continue;
        };
        let value = path.iter().try_fold(arguments.unwrap_or(&Value::Null), |value, key| value.get(key));
        let sent = once(headers, &header)?;
        match (sent, value.filter(|value| !value.is_null())) {
            (Some(sent), None) => return Err(unlike(&header, sent, "nothing")),
            (Some(sent), Some(value)) => {
                let decoded = decode(sent).ok_or_else(|| unreadable(&header))?;
                if !says(&decoded, value) {
                    return Err(unlike(&header, &decoded, &value.to_string()));
                }
            }
            (None, Some(value)) if is_primitive(value) => return Err(missing(&header)),
            // Nothing to say, or something that the schema has refused.
            (None, _) => {}
        }
    }
    Ok(())
}

/// Parameters with an annotation, which count only where every step to them is one of `properties`.
fn collect<'a>(schema: &'a Value, path: &mut Vec<&'a str>, found: &mut Vec<(Vec<&'a str>, &'a str)>) {
    if path.len() >= DEPTH {
        return;
    }
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        path.push(name);
        if let Some(header) = property.get(ANNOTATION).and_then(Value::as_str) {
            found.push((path.clone(), header));
        }
        collect(property, path, found);
        path.pop();
    }
}

/// The value of a header, which is not there twice.
fn once<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Fault> {
    single(headers, name).map(|value| value.map(str::trim)).map_err(|why| Fault::bad(HEADER_MISMATCH, why))
}

/// A value as it is, or the one that is packed into `=?base64?…?=`.
fn decode(value: &str) -> Option<String> {
    match value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        Some(packed) => String::from_utf8(STANDARD.decode(packed).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}

fn is_primitive(value: &Value) -> bool {
    value.is_string() || value.is_boolean() || value.is_i64() || value.is_u64()
}

fn says(header: &str, value: &Value) -> bool {
    match value {
        Value::String(text) => header == text,
        Value::Bool(flag) => header == if *flag { "true" } else { "false" },
        Value::Number(number) => match (header.parse::<i128>(), number.as_i64(), number.as_u64()) {
            (Ok(sent), Some(number), _) => sent == i128::from(number),
            (Ok(sent), _, Some(number)) => sent == i128::from(number),
            // `42.0` and `42` are one number.
            _ => header.parse::<f64>().ok().is_some_and(|sent| Some(sent) == number.as_f64()),
        },
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}

fn missing(header: &HeaderName) -> Fault {
    Fault::bad(HEADER_MISMATCH, format!("header mismatch: `{header}` is missing"))
}

fn unreadable(header: &HeaderName) -> Fault {
    Fault::bad(HEADER_MISMATCH, format!("header mismatch: `{header}` is no base64 of UTF-8"))
}

fn unlike(header: &HeaderName, sent: &str, body: &str) -> Fault {
    let (sent, body) = (excerpt(sent, 100), excerpt(body, 100));
    Fault::bad(HEADER_MISMATCH, format!("header mismatch: `{header}` says `{sent}`, the body `{body}`"))
}

#[cfg(test)]
mod tests;
