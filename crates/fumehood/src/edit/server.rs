//! A whole server put into a file, or taken out.

use std::collections::BTreeMap;

use toml_edit::{Array, InlineTable, Item, Table, Value};

use super::{EditError, below, parse};

/// A server's table as `fumehood add` writes it.
#[derive(Debug, Clone, Default)]
pub(crate) struct NewServer {
    /// A program of this machine, with its arguments.
    pub(crate) command: Vec<String>,
    /// In its place: a package or a URL.
    pub(crate) source: Option<String>,
    /// Arguments of a package.
    pub(crate) args: Vec<String>,
    /// The rest, each left out where it says nothing.
    pub(crate) hosts: Vec<String>,
    /// Secret by variable.
    pub(crate) secrets: BTreeMap<String, String>,
    /// As on the command line.
    pub(crate) mounts: Vec<String>,
    /// Value by variable.
    pub(crate) env: BTreeMap<String, String>,
    /// Whether it has a folder that stays.
    pub(crate) data: bool,
    /// Where it is not `plain`.
    pub(crate) client: Option<String>,
    /// Whether its lists are read with its keys.
    pub(crate) reads_with_keys: bool,
    /// Packages whose scripts may run.
    pub(crate) scripts: Vec<String>,
}

/// The text with one server more; the last thing in it, so that nothing else moves.
pub(crate) fn with_server(text: &str, name: &str, server: &NewServer) -> Result<String, EditError> {
    let mut document = parse(text)?;
    let root = document.as_table_mut();
    if !root.contains_key("servers") {
        let mut servers = Table::new();
        servers.set_implicit(true);
        root.insert("servers", Item::Table(servers));
    }
    let servers = below(root, "servers")?;
    if servers.contains_key(name) {
        return Err(EditError::Shape(name.to_owned()));
    }
    let mut table = Table::new();
    let mut put = |key: &str, value: Value| {
        table.insert(key, Item::Value(value));
    };
    match &server.source {
        Some(source) => put("source", source.as_str().into()),
        None => put("command", list(&server.command)),
    }
    let lists = [
        ("args", &server.args),
        ("hosts", &server.hosts),
        ("mounts", &server.mounts),
        ("allow_scripts", &server.scripts),
    ];
    for (key, words) in lists {
        if !words.is_empty() {
            put(key, list(words));
        }
    }
    if !server.secrets.is_empty() {
        let plain = server.secrets.iter().all(|(variable, name)| variable == name);
        let names: Vec<String> = server.secrets.values().cloned().collect();
        put("secrets", if plain { list(&names) } else { pairs(&server.secrets) });
    }
    if !server.env.is_empty() {
        put("env", pairs(&server.env));
    }
    if server.data {
        put("data", true.into());
    }
    if let Some(client) = &server.client {
        put("client", client.as_str().into());
    }
    if server.reads_with_keys {
        put("lists", "keys".into());
    }
    if !text.trim().is_empty() {
        table.decor_mut().set_prefix("\n");
    }
    servers.insert(name, Item::Table(table));
    Ok(document.to_string())
}

/// The text without a server.
pub(crate) fn without_server(text: &str, name: &str) -> Result<String, EditError> {
    let mut document = parse(text)?;
    let servers = below(document.as_table_mut(), "servers")?;
    servers.remove(name).ok_or_else(|| EditError::Shape(name.to_owned()))?;
    Ok(document.to_string())
}

/// The text with another version of a server's package: wherever the old words stand in its `source` or `command`.
pub(crate) fn with_version(text: &str, name: &str, old: &str, new: &str) -> Result<String, EditError> {
    let mut document = parse(text)?;
    let servers = below(document.as_table_mut(), "servers")?;
    let server = below(servers, name)?;
    let mut changed = false;
    let mut swap = |value: &mut Value| {
        let Some(text) = value.as_str() else { return };
        let (head, tail) = text.split_once(':').map_or(("", text), |(head, tail)| (head, tail));
        let swapped = match (tail == old, text == old, head) {
            (true, _, "npx" | "uvx") => format!("{head}:{new}"),
            (_, true, _) => new.to_owned(),
            _ => return,
        };
        let decor = value.decor().clone();
        *value = swapped.into();
        *value.decor_mut() = decor;
        changed = true;
    };
    if let Some(Item::Value(source)) = server.get_mut("source") {
        swap(source);
    }
    if let Some(Item::Value(Value::Array(command))) = server.get_mut("command") {
        command.iter_mut().for_each(&mut swap);
    }
    if changed { Ok(document.to_string()) } else { Err(EditError::Shape(name.to_owned())) }
}

fn list(words: &[String]) -> Value {
    Value::Array(words.iter().map(String::as_str).collect::<Array>())
}

fn pairs(map: &BTreeMap<String, String>) -> Value {
    Value::InlineTable(map.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect::<InlineTable>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_added_and_taken_out_and_nothing_else_moves() {
        let before = "# ours\n[servers.a]  # first\ncommand = ['x']\n";
        let server = NewServer {
            source: Some("npx:@acme/x@1.2.3".into()),
            args: vec!["--port".into(), "1".into()],
            hosts: vec!["api.example.com".into()],
            secrets: BTreeMap::from([("T".into(), "T".into())]),
            data: true,
            ..NewServer::default()
        };
        let after = with_server(before, "b.c", &server).unwrap();
        let expected = "\n[servers.\"b.c\"]\nsource = \"npx:@acme/x@1.2.3\"\nargs = [\"--port\", \"1\"]\n\
                        hosts = [\"api.example.com\"]\nsecrets = [\"T\"]\ndata = true\n";
        assert_eq!(after, format!("{before}{expected}"));
        assert_eq!(without_server(&after, "b.c").unwrap(), before);
        assert!(with_server(&after, "a", &server).is_err() && without_server(before, "b").is_err());
        let newer = with_version(&after, "b.c", "@acme/x@1.2.3", "@acme/x@2.0.0").unwrap();
        assert_eq!(newer, after.replace("1.2.3", "2.0.0"));
        let called = "[servers.a]\ncommand = ['npx', '-y', 'x@1', 'x@10'] # why\n";
        let expected = "[servers.a]\ncommand = ['npx', '-y', \"x@2\", 'x@10'] # why\n";
        assert_eq!(with_version(called, "a", "x@1", "x@2").unwrap(), expected);
        assert!(with_version(called, "a", "y@1", "y@2").is_err());
        let local = NewServer { command: vec!["node".into(), "s.js".into()], ..NewServer::default() };
        assert_eq!(with_server("", "a", &local).unwrap(), "[servers.a]\ncommand = [\"node\", \"s.js\"]\n");
    }
}
