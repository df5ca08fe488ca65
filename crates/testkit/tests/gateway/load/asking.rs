//! The ways in which a client can ask, and how each of them tells what came of a call.

use serde_json::{Value, json};

use super::{
    history::Answer,
    wire::{Connection, Lost, Reply},
};

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";
const JSON: (&str, &str) = ("content-type", "application/json");
const ACCEPT: (&str, &str) = ("accept", "application/json, text/event-stream");

/// A way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Face {
    /// MCP 2026-07-28 at the address of all servers.
    Modern,
    /// The same at the address of one server, under the tools' own names.
    OfOne,
    /// A session of MCP 2025-11-25.
    Legacy,
    /// The Messages API.
    Messages,
}

/// What is asked for.
pub(crate) struct Wanted<'a> {
    pub(crate) server: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) nonce: &'a str,
    pub(crate) ms: u64,
}

impl Face {
    pub(crate) const ALL: [Self; 4] = [Self::Modern, Self::Legacy, Self::Messages, Self::OfOne];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Modern => "modern",
            Self::OfOne => "of one",
            Self::Legacy => "legacy",
            Self::Messages => "messages",
        }
    }

    /// Calls a tool.
    pub(crate) fn call(
        self,
        connection: &mut Connection,
        bearer: &str,
        session: &str,
        wanted: &Wanted<'_>,
    ) -> Result<Reply, Lost> {
        let Wanted { server, tool, nonce, ms } = wanted;
        let name = if self == Self::OfOne { (*tool).to_owned() } else { format!("{server}__{tool}") };
        let arguments = json!({ "nonce": nonce, "ms": ms });
        let parent = format!("00-{nonce}-00f067aa0ba902b7-01");
        let bearer = ("authorization", bearer);
        match self {
            Self::Messages => {
                let body = json!({ "type": "tool_use", "id": nonce, "name": name, "input": arguments });
                let headers = [bearer, JSON, ("traceparent", &parent)];
                connection.ask("POST", "/v1/tool-calls", &headers, &body.to_string())
            }
            Self::Modern | Self::OfOne => {
                let path = format!("/servers/{server}/mcp");
                let path = if self == Self::Modern { "/mcp" } else { &path };
                let params = json!({ "name": name, "arguments": arguments, "_meta": meta(Some(&parent)) });
                modern(connection, bearer, path, "tools/call", Some(&name), nonce, &params)
            }
            Self::Legacy => {
                let meta = json!({ "traceparent": parent });
                let params = json!({ "name": name, "arguments": arguments, "_meta": meta });
                legacy(connection, bearer, session, "tools/call", nonce, &params)
            }
        }
    }

    /// What is told of a call with this nonce.
    pub(crate) fn told(self, reply: &Reply, nonce: &str) -> Told {
        let value = reply.json();
        if self == Self::Messages {
            let content = &value["content"];
            let block = &content[0];
            if content.as_array().is_none_or(|blocks| blocks.len() != 1) || block["tool_use_id"] != nonce {
                return Told::Wrong;
            }
            let text = block["content"][0]["text"].as_str().unwrap_or_default();
            if block["is_error"] != true {
                return Told::Text(text.to_owned());
            }
            if text.starts_with("Unknown tool: ") {
                return Told::Ended(Answer::Unknown);
            }
            let code = text.strip_prefix("Not done (").and_then(|text| text.split_once(')'));
            return code.map_or(Told::Wrong, |(code, _)| Told::Ended(Answer::Refused(code.to_owned())));
        }
        if value["id"] != nonce {
            return Told::Wrong;
        }
        if value["error"]["code"] == -32602
            && value["error"]["message"].as_str().is_some_and(|text| text.starts_with("Unknown tool: "))
        {
            return Told::Ended(Answer::Unknown);
        }
        let result = &value["result"];
        match (result["isError"] == true, result["_meta"]["dev.fumehood/refusal"]["code"].as_str()) {
            (true, Some(code)) => Told::Ended(Answer::Refused(code.to_owned())),
            (false, None) => match result["content"][0]["text"].as_str() {
                Some(text) => Told::Text(text.to_owned()),
                None => Told::Wrong,
            },
            _ => Told::Wrong,
        }
    }

    /// The names of the tools that there are for this caller.
    pub(crate) fn names(
        self,
        connection: &mut Connection,
        bearer: &str,
        session: &str,
    ) -> Result<Option<Vec<String>>, Lost> {
        let bearer = ("authorization", bearer);
        let (reply, tools) = match self {
            Self::Messages => {
                let reply = connection.ask("GET", "/v1/tools", &[bearer], "")?;
                let tools = reply.json()["tools"].clone();
                (reply, tools)
            }
            Self::Modern | Self::OfOne => {
                let params = json!({ "_meta": meta(None) });
                let reply = modern(connection, bearer, "/mcp", "tools/list", None, "list", &params)?;
                let tools = reply.json()["result"]["tools"].clone();
                (reply, tools)
            }
            Self::Legacy => {
                let reply = legacy(connection, bearer, session, "tools/list", "list", &json!({}))?;
                let tools = reply.json()["result"]["tools"].clone();
                (reply, tools)
            }
        };
        let name = |tool: &Value| tool["name"].as_str().map(str::to_owned);
        let names = tools.as_array().and_then(|tools| tools.iter().map(name).collect());
        Ok(names.filter(|_| reply.status == 200))
    }
}

/// What an answer says.
pub(crate) enum Told {
    /// The text of a result.
    Text(String),
    Ended(Answer),
    /// It is no answer to this call.
    Wrong,
}

/// Opens a session.
pub(crate) fn open(connection: &mut Connection, bearer: &str) -> Result<Option<String>, Lost> {
    let bearer = ("authorization", bearer);
    let params = json!({ "protocolVersion": LEGACY, "capabilities": {},
        "clientInfo": { "name": "load", "version": "1" } });
    let body = json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params });
    let reply = connection.ask("POST", "/mcp", &[bearer, JSON, ACCEPT], &body.to_string())?;
    let Some(session) = reply.header("mcp-session-id").map(str::to_owned) else { return Ok(None) };
    let body = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let of = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", LEGACY)];
    let headers = [bearer, JSON, ACCEPT, of[0], of[1]];
    let reply = connection.ask("POST", "/mcp", &headers, &body.to_string())?;
    Ok(Some(session).filter(|_| reply.status == 202))
}

/// Ends a session; whether it was there.
pub(crate) fn close(connection: &mut Connection, bearer: &str, session: &str) -> Result<bool, Lost> {
    let headers = [("authorization", bearer), ("mcp-session-id", session), ("mcp-protocol-version", LEGACY)];
    Ok(connection.ask("DELETE", "/mcp", &headers, "")?.status == 204)
}

fn meta(parent: Option<&str>) -> Value {
    let mut meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "load", "version": "1" },
    });
    if let Some(parent) = parent {
        meta["traceparent"] = parent.into();
    }
    meta
}

fn modern(
    connection: &mut Connection,
    bearer: (&str, &str),
    path: &str,
    method: &str,
    name: Option<&str>,
    id: &str,
    params: &Value,
) -> Result<Reply, Lost> {
    let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let mut headers = vec![bearer, JSON, ACCEPT, ("mcp-protocol-version", MODERN), ("mcp-method", method)];
    headers.extend(name.map(|name| ("mcp-name", name)));
    connection.ask("POST", path, &headers, &body.to_string())
}

fn legacy(
    connection: &mut Connection,
    bearer: (&str, &str),
    session: &str,
    method: &str,
    id: &str,
    params: &Value,
) -> Result<Reply, Lost> {
    let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let headers = [bearer, JSON, ACCEPT, ("mcp-session-id", session), ("mcp-protocol-version", LEGACY)];
    connection.ask("POST", "/mcp", &headers, &body.to_string())
}
