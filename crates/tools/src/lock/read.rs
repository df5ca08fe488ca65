//! A lock file, read and refused at the first line that is not as it should be.

use model::name::ServerName;
use model::tier::Tier;
use toml::de::{DeTable, DeValue};

use crate::fingerprint::is_short;
use crate::visible::excerpt;

use super::error::{LockError, LockFault};
use super::source::{is_integrity, is_platform, is_source, is_url};
use super::value::{Fault, Fields, is_text, wrong};
use super::{Lists, Lock, MAX_LOCK, Pinned, VERSION, text};

const KEYS: [&str; 16] = [
    "source",
    "command",
    "integrity",
    "tree",
    "content",
    "scripts",
    "client",
    "lists",
    "fingerprint",
    "short",
    "hosts",
    "secrets",
    "headers",
    "mounts",
    "tiers",
    "bound",
];

pub(super) fn strictly(file: &str, bytes: &[u8]) -> Result<Lock, LockError> {
    let lock = loosely(file, bytes)?;
    let given = std::str::from_utf8(bytes).unwrap_or_default();
    let lines = given.split('\n').count();
    let comments = given.split_inclusive('\n').take_while(|line| line.starts_with('#')).count();
    let mut given = given.split('\n').skip(comments);
    let body = text::body(&lock);
    let mut wanted = body.split('\n');
    for line in comments + 1.. {
        match (given.next(), wanted.next()) {
            (None, None) => break,
            (given, wanted) if given == wanted => {}
            _ => return Err(LockError::new(file, line.min(lines), LockFault::Spelling)),
        }
    }
    Ok(lock)
}

pub(super) fn loosely(file: &str, bytes: &[u8]) -> Result<Lock, LockError> {
    let line_of = |at: usize| bytes.iter().take(at).filter(|byte| **byte == b'\n').count() + 1;
    content(bytes).map_err(|(at, fault)| LockError::new(file, line_of(at), fault))
}

fn content(bytes: &[u8]) -> Result<Lock, Fault> {
    let text = checked_text(bytes)?;
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        (at, LockFault::Syntax(excerpt(error.message(), 200)))
    })?;
    // What a newer version has to say cannot be judged before the version is known.
    version(table.get_ref())?;
    let fields = Fields::of(0, table.get_ref(), &["version", "servers"])?;
    let mut lock = Lock::default();
    let Some((at, servers)) = fields.find("servers") else { return Ok(lock) };
    let servers = servers.as_table().ok_or_else(|| wrong(at, "servers", "has to be a table of servers"))?;
    for (name, table) in servers {
        let at = name.span().start;
        let key = || format!("servers.{}", excerpt(name.get_ref(), 80));
        let server = ServerName::new(name.get_ref().as_ref())
            .map_err(|_| wrong(at, &key(), "has to have a server's name: letters, digits, `.`, `_`, `-`"))?;
        let table = table.get_ref().as_table().ok_or_else(|| wrong(at, &key(), "has to be a table"))?;
        lock.insert(server, pinned(at, table)?);
    }
    Ok(lock)
}

fn version(table: &DeTable<'_>) -> Result<(), Fault> {
    let (key, value) = table
        .iter()
        .find(|(key, _)| key.get_ref() == "version")
        .ok_or_else(|| (0, LockFault::MissingKey("version".to_owned())))?;
    let at = key.span().start;
    let wanted = || wrong(at, "version", "has to be a whole number from 1 on");
    let DeValue::Integer(number) = value.get_ref() else { return Err(wanted()) };
    let number = i64::from_str_radix(number.as_str(), number.radix()).map_err(|_| wanted())?;
    match number {
        VERSION => Ok(()),
        number if number > VERSION => Err((at, LockFault::Newer(number))),
        _ => Err(wanted()),
    }
}

fn pinned(at: usize, table: &DeTable<'_>) -> Result<Pinned, Fault> {
    let fields = Fields::of(at, table, &KEYS)?;
    let kept = |is_right: fn(&str) -> bool| move |text: &str| is_right(text).then(|| text.to_owned());
    let source = fields.need(
        "source",
        "has to be `npx:PKG@VERSION`, `uvx:PKG==VERSION`, `command` or a URL",
        kept(is_source),
    )?;
    let command = fields.list("command")?;
    if command.is_empty() != is_url(&source) {
        let wanted =
            if command.is_empty() { "has to have a word at least" } else { "has no place beside a URL" };
        return Err(wrong(fields.find("command").map_or(at, |(at, _)| at), "command", wanted));
    }
    let digest = "has to be `sha256:` and 64 lower-case hexadecimal digits";
    Ok(Pinned {
        source,
        command,
        integrity: fields.may("integrity", "has to be hashes as registries give them", kept(is_integrity))?,
        tree: fields.may("tree", digest, |text| text.parse().ok())?,
        content: fields.map("content", digest, |platform, digest| {
            is_platform(platform).then(|| digest.parse().ok()).flatten()
        })?,
        scripts: fields.list("scripts")?,
        client: fields
            .need("client", "has to be a client profile, such as `plain`", |text| text.parse().ok())?,
        lists: fields.need("lists", "has to be `offline` or `keys`", |text| {
            [Lists::Offline, Lists::Keys].into_iter().find(|lists| lists.as_str() == text)
        })?,
        fingerprint: fields.need(
            "fingerprint",
            "has to be `v1:sha256:` and 64 lower-case hexadecimal digits",
            |text| text.parse().ok(),
        )?,
        short: fields.need("short", "has to be 16 lower-case hexadecimal digits", kept(is_short))?,
        hosts: fields.list("hosts")?,
        secrets: fields.map(
            "secrets",
            "has to be a variable with the name of a secret",
            |variable, secret| (is_text(variable) && is_text(secret)).then(|| secret.to_owned()),
        )?,
        headers: fields.list("headers")?,
        mounts: fields.list("mounts")?,
        tiers: fields.map("tiers", "has to be a tool with `1`, `2` or `3`", |tool, number| {
            let tier = Tier::ALL.into_iter().find(|tier| tier.to_string() == number)?;
            is_text(tool).then_some(tier)
        })?,
        bound: fields.map(
            "bound",
            "has to be `TOOL/PARAMETER` with where its value comes from",
            |parameter, from| {
                (parameter.contains('/') && is_text(parameter) && is_text(from)).then(|| from.to_owned())
            },
        )?,
    })
}

/// The text, if it has nothing that no lock has.
fn checked_text(bytes: &[u8]) -> Result<&str, Fault> {
    if bytes.len() > MAX_LOCK {
        return Err((0, LockFault::TooLarge));
    }
    if bytes.starts_with("\u{feff}".as_bytes()) {
        return Err((0, LockFault::ByteOrderMark));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| (error.valid_up_to(), LockFault::NotUtf8))?;
    let mut at = 0;
    for line in text.split('\n') {
        if is_marker(line) {
            return Err((at, LockFault::Conflict));
        }
        if let Some(c) = line.chars().find(|c| c.is_control()) {
            let fault = if c == '\r' { LockFault::CarriageReturn } else { LockFault::Control(u32::from(c)) };
            return Err((at, fault));
        }
        at += line.len() + 1;
    }
    Ok(text)
}

/// Whether a line is one of those that git leaves around a conflict.
fn is_marker(line: &str) -> bool {
    let line = line.trim_end_matches('\r');
    ["<<<<<<<", "|||||||", "=======", ">>>>>>>"]
        .into_iter()
        .any(|marker| line.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')))
}
