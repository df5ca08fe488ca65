//! What a request of revision 2026-07-28 says in its headers besides in its body, so that whoever stands between need not
//! read that: no session, each request by itself (MCP 2026-07-28, Streamable HTTP).

use std::{cell::RefCell, collections::BTreeMap};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hyper::header::{HeaderName, HeaderValue};
use serde_json::Value;

/// Where in `_meta` a request says its revision.
const REVISION: &str = "io.modelcontextprotocol/protocolVersion";
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// The keyword of a schema that names a header, and what comes before that name.
const KEYWORD: &str = "x-mcp-header";
const PREFIX: &str = "mcp-param-";
/// Tools whose headers are remembered.
const MOST_TOOLS: usize = 4096;
/// Headers of one tool, and how deep in its arguments they are looked for.
const MOST_PARAMETERS: usize = 32;
const DEEPEST: usize = 8;
/// Whole numbers that every reader of JSON takes for the same: 2⁵³ − 1.
const SAFE: i64 = (1 << 53) - 1;

/// Headers for one request.
pub(super) type Headers = Vec<(HeaderName, HeaderValue)>;

/// The parameters of tools that go into headers, as the server's lists said.
#[derive(Debug, Default)]
pub(super) struct Mirrored(RefCell<BTreeMap<String, Vec<Parameter>>>);

/// One of them.
#[derive(Debug)]
struct Parameter {
    header: HeaderName,
    /// Where it is in the arguments.
    path: Vec<String>,
}

impl Mirrored {
    /// Takes note of what a list of tools says.
    pub(super) fn learn(&self, result: &Value) {
        let Some(tools) = result.get("tools").and_then(Value::as_array) else { return };
        let mut known = self.0.borrow_mut();
        for tool in tools {
            let Some(name) = tool.get("name").and_then(Value::as_str) else { continue };
            let mut parameters = Vec::new();
            if let Some(schema) = tool.get("inputSchema") {
                find(schema, &mut Vec::new(), &mut parameters);
            }
            if parameters.is_empty() {
                known.remove(name);
            } else if known.len() < MOST_TOOLS || known.contains_key(name) {
                known.insert(name.to_owned(), parameters);
            }
        }
    }

    /// The headers of a request of that revision; none of one of an older revision.
    pub(super) fn headers(&self, method: &str, params: &Value) -> Option<Headers> {
        let revision = params.get("_meta")?.get(REVISION)?.as_str()?;
        let mut headers = vec![(VERSION, value(revision)), (METHOD, value(method))];
        let of_params = |name: &str| params.get(name).and_then(Value::as_str);
        let name = match method {
            "tools/call" | "prompts/get" => of_params("name"),
            "resources/read" => of_params("uri"),
            _ if method.starts_with("tasks/") => of_params("taskId"),
            _ => None,
        };
        headers.extend(name.map(|name| (NAME, value(name))));
        if let ("tools/call", Some(name)) = (method, name)
            && let Some(parameters) = self.0.borrow().get(name)
        {
            let arguments = params.get("arguments");
            headers.extend(parameters.iter().filter_map(|parameter| {
                let argument = parameter.path.iter().try_fold(arguments?, |value, name| value.get(name))?;
                Some((parameter.header.clone(), value(&text(argument)?)))
            }));
        }
        Some(headers)
    }
}

/// Looks through properties and the properties of those, and nowhere else: only there is it known which argument is meant.
fn find(schema: &Value, path: &mut Vec<String>, into: &mut Vec<Parameter>) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    for (name, property) in properties {
        if into.len() == MOST_PARAMETERS {
            return;
        }
        path.push(name.clone());
        let is_plain = property
            .get("type")
            .and_then(Value::as_str)
            .is_some_and(|kind| ["string", "integer", "boolean"].contains(&kind));
        let header = property.get(KEYWORD).and_then(Value::as_str).filter(|_| is_plain);
        let header = header.and_then(|header| HeaderName::try_from(format!("{PREFIX}{header}")).ok());
        if let Some(header) = header.filter(|header| into.iter().all(|other| other.header != *header)) {
            into.push(Parameter { header, path: path.clone() });
        }
        if path.len() < DEEPEST {
            find(property, path, into);
        }
        path.pop();
    }
}

/// An argument as a header says it; none of what no header stands for.
fn text(argument: &Value) -> Option<String> {
    match argument {
        Value::String(text) => Some(text.clone()),
        Value::Bool(is_so) => Some(is_so.to_string()),
        Value::Number(number) => {
            number.as_i64().filter(|number| (-SAFE..=SAFE).contains(number)).map(|number| number.to_string())
        }
        _ => None,
    }
}

/// A text as the value of a header: itself, or in Base64 where it could be read as another.
fn value(text: &str) -> HeaderValue {
    let is_wrapped = text.starts_with("=?base64?") && text.ends_with("?=");
    let is_plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) && text.trim() == text;
    let plain = (is_plain && !is_wrapped).then(|| HeaderValue::from_str(text).ok()).flatten();
    plain.unwrap_or_else(|| {
        let wrapped = format!("=?base64?{}?=", STANDARD.encode(text));
        HeaderValue::from_str(&wrapped).unwrap_or(HeaderValue::from_static(""))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(mirrored: &Mirrored, method: &str, params: &Value) -> Option<Vec<String>> {
        let headers = mirrored.headers(method, params)?;
        let show = |(name, value): &(HeaderName, HeaderValue)| format!("{name}: {}", value.to_str().unwrap());
        Some(headers.iter().map(show).collect())
    }

    fn meta() -> Value {
        json!({ REVISION: "2026-07-28" })
    }

    #[test]
    fn a_request_says_its_method_and_what_it_is_about() {
        let mirrored = Mirrored::default();
        let always = ["mcp-protocol-version: 2026-07-28".to_owned()];
        let headers = |method: &str, params: Value| {
            let mut shown = shown(&mirrored, method, &params).unwrap();
            assert_eq!(shown.drain(..1).collect::<Vec<_>>(), always);
            shown
        };
        assert_eq!(headers("tools/list", json!({ "_meta": meta() })), ["mcp-method: tools/list"]);
        assert_eq!(
            headers("resources/read", json!({ "_meta": meta(), "uri": "file:///ä" })),
            ["mcp-method: resources/read", "mcp-name: =?base64?ZmlsZTovLy/DpA==?="]
        );
        assert_eq!(
            headers("prompts/get", json!({ "_meta": meta(), "name": "a b" })),
            ["mcp-method: prompts/get", "mcp-name: a b"]
        );
        // What cannot be told from a wrapped one is wrapped, and so is what a reader would trim.
        for (name, header) in
            [("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="), (" x", "=?base64?IHg=?=")]
        {
            assert_eq!(
                headers("tools/call", json!({ "_meta": meta(), "name": name })),
                ["mcp-method: tools/call".to_owned(), format!("mcp-name: {header}")]
            );
        }
        assert_eq!(shown(&mirrored, "tools/list", &json!({})), None);
    }

    #[test]
    fn parameters_that_the_list_names_are_said_and_no_others() {
        let mirrored = Mirrored::default();
        mirrored.learn(&json!({ "tools": [{ "name": "query", "inputSchema": { "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "again": { "type": "string", "x-mcp-header": "REGION" },
            "ratio": { "type": "number", "x-mcp-header": "Ratio" },
            "bad": { "type": "string", "x-mcp-header": "a b" },
            "flags": { "type": "object", "properties": {
                "dry": { "type": "boolean", "x-mcp-header": "Dry" },
                "limit": { "type": "integer", "x-mcp-header": "Limit" } } },
            "list": { "type": "array", "items": { "properties": {
                "x": { "type": "string", "x-mcp-header": "X" } } } } } } }] }));
        let asked = |arguments: Value| {
            let params = json!({ "_meta": meta(), "name": "query", "arguments": arguments });
            shown(&mirrored, "tools/call", &params).unwrap().split_off(3)
        };
        // Two that claim one header: the first that is found, in the order of their names.
        assert_eq!(
            asked(
                json!({ "region": "eu", "again": "us\n1", "ratio": 1.5, "flags": { "dry": true, "limit": 7 } })
            ),
            ["mcp-param-region: =?base64?dXMKMQ==?=", "mcp-param-dry: true", "mcp-param-limit: 7"]
        );
        assert_eq!(asked(json!({ "again": null, "flags": { "limit": 9_007_199_254_740_992_i64 } })), [""; 0]);
        mirrored.learn(&json!({ "tools": [{ "name": "query", "inputSchema": {} }] }));
        assert_eq!(asked(json!({ "again": "us" })), [""; 0]);
    }
}
