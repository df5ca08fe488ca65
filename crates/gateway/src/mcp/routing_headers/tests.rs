use http::HeaderValue;
use serde_json::{Map, json};

use super::*;

fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        let name: HeaderName = name.parse().unwrap();
        headers.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    headers
}

fn said(method: &str, params: &Value) -> Said {
    let params = params.as_object().unwrap().clone();
    Said { method: method.to_owned(), params, meta: Map::new(), has_meta: true }
}

#[test]
fn method_and_name() {
    let call = said("tools/call", &json!({"name": "get_weather"}));
    let read = said("resources/read", &json!({"uri": "file:///ü"}));
    let list = said("tools/list", &json!({}));
    for (said, sent, fits) in [
        (&call, &[("mcp-method", "tools/call"), ("mcp-name", "get_weather")][..], true),
        (&call, &[("Mcp-Method", "tools/call"), ("MCP-NAME", " get_weather ")], true),
        (&call, &[("mcp-method", "tools/call"), ("mcp-name", "=?base64?Z2V0X3dlYXRoZXI=?=")], true),
        (&call, &[("mcp-method", "tools/call"), ("mcp-name", "=?base64?Z2V0X3dlYXRoZXI?=")], false),
        (&call, &[("mcp-method", "tools/call"), ("mcp-name", "=?base64?!?=")], false),
        (&call, &[("mcp-method", "tools/call"), ("mcp-name", "=?BASE64?Z2V0X3dlYXRoZXI=?=")], false),
        (&call, &[("mcp-method", "tools/call"), ("mcp-name", "other")], false),
        (&call, &[("mcp-method", "tools/call")], false),
        (&call, &[("mcp-name", "get_weather")], false),
        (&call, &[("mcp-method", "TOOLS/CALL"), ("mcp-name", "get_weather")], false),
        (&call, &[("mcp-method", "tools/list"), ("mcp-name", "get_weather")], false),
        (&call, &[("mcp-method", "tools/call"), ("mcp-name", "get_weather"), ("mcp-name", "other")], false),
        (
            &call,
            &[("mcp-method", "tools/call"), ("mcp-method", "tools/call"), ("mcp-name", "get_weather")],
            false,
        ),
        (&read, &[("mcp-method", "resources/read"), ("mcp-name", "=?base64?ZmlsZTovLy/DvA==?=")], true),
        (&read, &[("mcp-method", "resources/read"), ("mcp-name", "file:///ü")], false),
        (&list, &[("mcp-method", "tools/list")], true),
        (&list, &[("mcp-method", "tools/list"), ("mcp-name", "whatever")], true),
    ] {
        let outcome = check(&headers(sent), said);
        assert_eq!(outcome.is_ok(), fits, "{sent:?}: {outcome:?}");
        if let Err(fault) = outcome {
            assert_eq!((fault.code, fault.status.as_u16()), (HEADER_MISMATCH, 400));
        }
    }
}

#[test]
fn parameters() {
    let tool = json!({"inputSchema": {
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "count": {"type": "integer", "x-mcp-header": "Count"},
            "dry": {"type": "boolean", "x-mcp-header": "Dry"},
            "deep": {"type": "object", "properties": {"in": {"type": "string", "x-mcp-header": "In"}}},
        },
        "anyOf": [{"properties": {"other": {"type": "string", "x-mcp-header": "Other"}}}],
    }});
    for (arguments, sent, fits) in [
        (json!({"region": "eu"}), &[("mcp-param-region", "eu")][..], true),
        (json!({"region": "Hello"}), &[("mcp-param-region", "=?base64?SGVsbG8=?=")], true),
        (json!({"region": "Hello"}), &[("mcp-param-region", "=?base64?SGVsbG8?=")], false),
        (json!({"region": "Hello"}), &[("mcp-param-region", "=?base64?SGVs!!!bG8=?=")], false),
        (json!({"region": "SGVsbG8="}), &[("mcp-param-region", "SGVsbG8=")], true),
        (json!({"region": "=?base64?SGVsbG8="}), &[("mcp-param-region", "=?base64?SGVsbG8=")], true),
        (json!({"region": "eu"}), &[], false),
        (json!({"region": "eu"}), &[("mcp-param-region", "us")], false),
        (json!({"region": "eu"}), &[("mcp-param-region", "eu"), ("mcp-param-region", "us")], false),
        (json!({"region": null}), &[], true),
        (json!({"region": null}), &[("mcp-param-region", "eu")], false),
        (json!({}), &[("mcp-param-region", "eu")], false),
        (json!({"count": 42}), &[("mcp-param-count", "42")], true),
        (json!({"count": 42}), &[("mcp-param-count", "42.0")], true),
        (json!({"count": -7}), &[("mcp-param-count", "-7")], true),
        (json!({"count": 42}), &[("mcp-param-count", "43")], false),
        (json!({"count": 9_007_199_254_740_993_u64}), &[("mcp-param-count", "9007199254740992")], false),
        (json!({"dry": true}), &[("mcp-param-dry", "true")], true),
        (json!({"dry": true}), &[("mcp-param-dry", "True")], false),
        (json!({"deep": {"in": "x"}}), &[("mcp-param-in", "x")], true),
        (json!({"deep": {"in": "x"}}), &[("mcp-param-in", "y")], false),
        // Not reached by `properties` alone: no header of a parameter.
        (json!({"other": "x"}), &[("mcp-param-other", "y")], true),
        // Nobody's: a bound parameter is not in the schema that a caller is shown.
        (json!({}), &[("mcp-param-user", "bob")], true),
        // The schema refuses it.
        (json!({"region": ["eu"]}), &[], true),
        (json!({"region": ["eu"]}), &[("mcp-param-region", "eu")], false),
    ] {
        let outcome = check_params(&headers(sent), &tool, Some(&arguments));
        assert_eq!(outcome.is_ok(), fits, "{arguments} {sent:?}: {outcome:?}");
    }
    assert_eq!(check_params(&headers(&[]), &tool, None), Ok(()));
    assert_eq!(check_params(&headers(&[]), &json!({}), Some(&json!({"region": "eu"}))), Ok(()));
}
