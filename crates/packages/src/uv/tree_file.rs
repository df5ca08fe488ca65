//! The tree file of a Python package: what may be installed, each wheel by its hash.
//!
//! Written and read here, not by uv: a lock of somebody else's must not bring options, addresses or files of its own into
//! an installation, and the same packages must give the same file whatever the version of uv.

use std::fmt::Write as _;

use serde::Deserialize;

/// How the file begins.
const FIRST_LINE: &str = "# Every wheel of the tree by its hash, for `uv pip install --require-hashes`.";
/// What a hash is introduced with.
const HASH: &str = "    --hash=sha256:";
/// The most packages a tree may have.
const MOST: usize = 2_000;
/// The most wheels one package may have: large ones with a wheel for each Python and system have some hundred.
const MOST_WHEELS: usize = 2_000;

/// Every package of a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TreeFile {
    /// Sorted; INVARIANT: names, versions and markers are such that a line of the file means nothing else.
    rows: Vec<Row>,
}

/// One version of a package.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row {
    /// The name in its normal form.
    pub(super) name: String,
    /// The exact version.
    pub(super) version: String,
    /// On which machines it is installed; on all where absent.
    pub(super) marker: Option<String>,
    /// SHA-256 of each wheel that may be installed, in hexadecimal digits.
    pub(super) hashes: Vec<String>,
}

/// A resolution, as uv writes it: `pylock.toml` (PEP 751).
#[derive(Debug, Deserialize)]
pub(super) struct Resolution {
    #[serde(default)]
    packages: Vec<Resolved>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Resolved {
    name: String,
    version: Option<String>,
    marker: Option<String>,
    #[serde(default)]
    wheels: Vec<Wheel>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Wheel {
    name: Option<String>,
    url: Option<String>,
    upload_time: Option<toml::value::Datetime>,
    hashes: Hashes,
}

#[derive(Debug, Deserialize)]
struct Hashes {
    sha256: Option<String>,
}

impl Resolution {
    /// Reads what uv wrote.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.message().to_owned())
    }

    /// The hash of the wheel that has one of these tags (`py3-none-any`), where exactly one has.
    pub(super) fn hash(&self, name: &str, version: &str, tags: &[String]) -> Option<String> {
        let mut wheels = self
            .packages
            .iter()
            .filter(|one| one.name == name && one.version.as_deref() == Some(version))
            .flat_map(|one| &one.wheels)
            .filter(|wheel| wheel.file().is_some_and(|file| has_tag(file, tags)))
            .filter_map(|wheel| wheel.hashes.sha256.clone());
        let first = wheels.next()?;
        wheels.all(|other| other == first).then_some(first)
    }

    /// The version of a package, and when the first of its wheels came to the registry (RFC 3339, UTC), where it says so.
    pub(super) fn release(&self, name: &str) -> Option<(&str, Option<String>)> {
        let package = self.packages.iter().find(|one| one.name == name)?;
        let mut times: Vec<String> =
            package.wheels.iter().filter_map(|wheel| Some(wheel.upload_time?.to_string())).collect();
        times.sort();
        Some((package.version.as_deref()?, times.into_iter().next()))
    }
}

impl Wheel {
    fn file(&self) -> Option<&str> {
        self.name.as_deref().or_else(|| self.url.as_deref()?.rsplit('/').next())
    }
}

impl TreeFile {
    /// What was resolved. Anything but wheels with a SHA-256 is refused.
    pub(super) fn of(resolution: &Resolution) -> Result<Self, String> {
        let mut rows = Vec::new();
        for package in &resolution.packages {
            let name = &package.name;
            let version = package.version.clone().ok_or_else(|| format!("`{name}` has no version"))?;
            let hashes = package.wheels.iter().map(|wheel| wheel.hashes.sha256.clone());
            let hashes = hashes.collect::<Option<Vec<_>>>().filter(|hashes| !hashes.is_empty());
            let hashes = hashes.ok_or_else(|| format!("a wheel of `{name}` has no SHA-256"))?;
            rows.push(Row { name: name.clone(), version, marker: package.marker.clone(), hashes });
        }
        Self::checked(rows).map_err(|(_, why)| why)
    }

    /// Reads what [`TreeFile::text`] wrote, and nothing else.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
        let mut lines = text.lines().enumerate();
        if lines.next().map(|(_, line)| line) != Some(FIRST_LINE) {
            return Err("its first line is not that of a tree file of Fumehood".to_owned());
        }
        let mut rows: Vec<Row> = Vec::new();
        // Where each row begins.
        let mut places = Vec::new();
        let mut more = false;
        for (index, line) in lines {
            let place = |why: &str| format!("line {}: {why}", index + 1);
            let (line, continues) = match line.strip_suffix(" \\") {
                Some(line) => (line, true),
                None => (line, false),
            };
            match (line.strip_prefix(HASH), rows.last_mut()) {
                (Some(hash), Some(row)) if more => row.hashes.push(hash.to_owned()),
                (None, _) if !more && continues => {
                    rows.push(row(line).ok_or_else(|| place("it is no `NAME==VERSION`"))?);
                    places.push(index + 1);
                }
                _ => return Err(place("it is neither a package nor one of its hashes")),
            }
            more = continues;
        }
        if more {
            return Err("it ends in the middle of a package".to_owned());
        }
        let read = Self::checked(rows).map_err(|(at, why)| match places.get(at) {
            Some(line) => format!("line {line}: {why}"),
            None => why,
        })?;
        // Whatever else it could mean to another reader, it does not.
        if read.text() == text { Ok(read) } else { Err("it is not written as Fumehood writes it".to_owned()) }
    }

    /// The packages, sorted.
    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The file: the same text for the same packages.
    pub(super) fn text(&self) -> String {
        let mut text = format!("{FIRST_LINE}\n");
        for Row { name, version, marker, hashes } in &self.rows {
            let marker = marker.as_ref().map(|marker| format!(" ; {marker}")).unwrap_or_default();
            // Writing to a string does not fail.
            write!(text, "{name}=={version}{marker}").ok();
            for hash in hashes {
                write!(text, " \\\n{HASH}{hash}").ok();
            }
            text.push('\n');
        }
        text
    }

    /// With the index of the row that is wrong, as given.
    fn checked(mut rows: Vec<Row>) -> Result<Self, (usize, String)> {
        if rows.len() > MOST {
            return Err((MOST, format!("there are more than {MOST} packages")));
        }
        for (index, row) in rows.iter_mut().enumerate() {
            check(row).map_err(|why| (index, why))?;
            row.hashes.sort();
            row.hashes.dedup();
        }
        rows.sort();
        Ok(Self { rows })
    }
}

/// The line of a package without its hashes.
fn row(line: &str) -> Option<Row> {
    let (pin, marker) = match line.split_once(" ; ") {
        Some((pin, marker)) => (pin, Some(marker.to_owned())),
        None => (line, None),
    };
    let (name, version) = pin.split_once("==")?;
    Some(Row { name: name.to_owned(), version: version.to_owned(), marker, hashes: Vec::new() })
}

fn check(row: &Row) -> Result<(), String> {
    let Row { name, version, marker, hashes } = row;
    // PEP 503's normal form.
    let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if name.is_empty() || name.starts_with('-') || name.ends_with('-') || !name.bytes().all(is_name) {
        return Err(format!("`{}` is no name of a package", name.escape_debug()));
    }
    // PEP 440, with what a local version adds.
    let is_version = |byte: u8| byte.is_ascii_alphanumeric() || b".+!-_".contains(&byte);
    if !version.starts_with(|first: char| first.is_ascii_digit()) || !version.bytes().all(is_version) {
        return Err(format!("`{}` is no exact version of `{name}`", version.escape_debug()));
    }
    // PEP 508's markers: names, comparisons, quoted texts.
    let is_marker = |byte: u8| byte.is_ascii_alphanumeric() || b" .,_-'\"()<>=!~*+".contains(&byte);
    if let Some(marker) = marker
        && (marker.trim() != marker
            || marker.is_empty()
            || marker.contains("--")
            || !marker.bytes().all(is_marker))
    {
        return Err(format!("`{}` says nothing of machines for `{name}`", marker.escape_debug()));
    }
    if hashes.is_empty() || hashes.len() > MOST_WHEELS {
        return Err(format!("`{name}` has no hash, or more than {MOST_WHEELS}"));
    }
    let is_hash = |hash: &String| {
        hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    };
    match hashes.iter().find(|hash| !is_hash(hash)) {
        Some(hash) => Err(format!("`{}` is no SHA-256", hash.escape_debug())),
        None => Ok(()),
    }
}

/// Whether a wheel's file name has one of the tags. A name may have several at once: `py2.py3-none-any`.
fn has_tag(file: &str, tags: &[String]) -> bool {
    let Some(stem) = file.strip_suffix(".whl") else { return false };
    let mut parts = stem.rsplitn(4, '-');
    let (Some(systems), Some(abis), Some(pythons), Some(_)) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    tags.iter().any(|tag| {
        let mut tag = tag.splitn(3, '-');
        let mut is_one_of =
            |all: &str| tag.next().is_some_and(|wanted| all.split('.').any(|one| one == wanted));
        is_one_of(pythons) && is_one_of(abis) && is_one_of(systems)
    })
}

#[cfg(test)]
mod tests;
