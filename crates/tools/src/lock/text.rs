//! The one way in which a lock is written.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};

use model::name::ServerName;

use crate::visible::is_hidden;

use super::{Lock, Pinned, VERSION};

/// The line before everything else.
pub(super) const HEAD: &str =
    "# What was pinned of each server; written by `fumehood`, and meant for version control.\n";

/// All but the comment.
pub(super) fn body(lock: &Lock) -> String {
    lock.iter()
        .fold(format!("version = {VERSION}\n"), |text, (name, pinned)| text + "\n" + &table(name, pinned))
}

/// One server's table, from its header to the end of its last line.
pub(super) fn table(name: &ServerName, pinned: &Pinned) -> String {
    let Pinned {
        source,
        command,
        integrity,
        tree,
        content,
        scripts,
        client,
        lists,
        fingerprint,
        short,
        hosts,
        secrets,
        headers,
        mounts,
        tiers,
        bound,
    } = pinned;
    let mut table = Table(header(name));
    table.text("source", source);
    table.list("command", command);
    table.may("integrity", integrity.as_ref());
    table.may("tree", tree.as_ref());
    table.map("content", content);
    table.list("scripts", scripts);
    table.text("client", client);
    table.text("lists", lists);
    table.text("fingerprint", fingerprint);
    table.text("short", short);
    table.list("hosts", hosts);
    table.map("secrets", secrets);
    table.list("headers", headers);
    table.list("mounts", mounts);
    table.map("tiers", tiers);
    table.map("bound", bound);
    table.0
}

/// The line that opens a server's table.
pub(super) fn header(name: &ServerName) -> String {
    format!("[servers.{}]\n", key(name.as_str()))
}

struct Table(String);

impl Table {
    fn text(&mut self, key: &str, value: impl Display) {
        self.0.extend([key, " = ", &quoted(&value.to_string()), "\n"]);
    }

    fn may(&mut self, key: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.text(key, value);
        }
    }

    /// Nothing for an empty list.
    fn list(&mut self, key: &str, items: &[String]) {
        if items.is_empty() {
            return;
        }
        self.0.extend([key, " = [\n"]);
        for item in items {
            self.0.extend(["  ", &quoted(item), ",\n"]);
        }
        self.0 += "]\n";
    }

    fn map<K: Borrow<str>, V: Display>(&mut self, under: &str, entries: &BTreeMap<K, V>) {
        for (name, value) in entries {
            self.text(&format!("{under}.{}", key(name.borrow())), value);
        }
    }
}

fn key(name: &str) -> String {
    let is_bare = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if is_bare && !name.is_empty() { name.to_owned() } else { quoted(name) }
}

/// A basic string of TOML in which nothing is hidden.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        let code = u32::from(c);
        // Writing into a string cannot fail.
        let _written = match c {
            '"' | '\\' => write!(quoted, "\\{c}"),
            '\n' => write!(quoted, "\\n"),
            '\t' => write!(quoted, "\\t"),
            '\r' => write!(quoted, "\\r"),
            c if is_hidden(c) && code > 0xFFFF => write!(quoted, "\\U{code:08X}"),
            c if is_hidden(c) => write!(quoted, "\\u{code:04X}"),
            c => write!(quoted, "{c}"),
        };
    }
    quoted + "\""
}
