//! The file that makes a change last.

use std::{
    fs, io,
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use anyhow::Context;
use cell::folders::make_private;
use egress::rule::HostRule;

use super::Direction;
use crate::{
    edit::{self, List},
    stop::{Stop, USAGE},
};

/// A file and its new text, not written yet.
#[derive(Debug)]
pub(super) struct Plan {
    /// Where.
    pub(super) path: PathBuf,
    /// Nothing where the file says so already.
    pub(super) text: Option<String>,
}

impl Plan {
    /// Works out the new text.
    pub(super) fn new(
        path: PathBuf,
        list: List<'_>,
        rules: &[HostRule],
        direction: Direction,
    ) -> anyhow::Result<Self> {
        let before = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error).with_context(|| format!("reading `{}`", path.display())),
        };
        let text = match direction {
            Direction::Allow => edit::added(&before, list, rules),
            Direction::Deny => edit::removed(&before, list, rules),
        };
        let text = text.map_err(|error| {
            let message = format!("`{}` was not changed: {error}", path.display());
            Stop::new(USAGE, message, "change it by hand, and the running cells with `--once`")
        })?;
        Ok(Self { path, text })
    }

    /// Writes it, all or nothing; the path where there was something to write.
    pub(super) fn write(self) -> anyhow::Result<Option<PathBuf>> {
        let Some(text) = self.text else { return Ok(None) };
        replace(&self.path, &text).with_context(|| format!("writing `{}`", self.path.display()))?;
        Ok(Some(self.path))
    }
}

/// Puts a new file in the old one's place, with its mode; a link stays a link. One that was not there is its user's own.
fn replace(path: &Path, text: &str) -> anyhow::Result<()> {
    let (place, mode) = if let Ok(place) = fs::canonicalize(path) {
        let mode = fs::metadata(&place)?.permissions().mode();
        (place, mode & 0o777)
    } else {
        if let Some(folder) = path.parent() {
            make_private(folder)?;
        }
        (path.to_owned(), 0o600)
    };
    let mut name = place.clone().into_os_string();
    name.push(format!(".{}", std::process::id()));
    let beside = PathBuf::from(name);
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&beside)?;
    let written = io::Write::write_all(&mut file, text.as_bytes())
        .and_then(|()| file.set_permissions(fs::Permissions::from_mode(mode)))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&beside, &place));
    if written.is_err() {
        // Half a file helps nobody.
        fs::remove_file(&beside).ok();
    }
    Ok(written?)
}
