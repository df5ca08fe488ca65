//! The pages of the four lists as they come in, bounded while they do.

use std::collections::{BTreeMap, HashMap, HashSet};

use model::profile::Profile;
use serde_json::{Map, Value};

use crate::surface::{Kind, MAX_ENTRIES, MAX_PAGES, MAX_SURFACE, MAX_TEXT, Parts, SurfaceError};

use super::hello::Hello;
use super::{METHOD_NOT_FOUND, malformed};

/// What has been read of every list, and which pages are awaited.
#[derive(Debug, Default)]
pub(super) struct Lists {
    awaited: HashMap<String, Kind>,
    read: BTreeMap<Kind, List>,
    /// Roughly the bytes of all entries.
    size: usize,
}

#[derive(Debug, Default)]
struct List {
    entries: Vec<Value>,
    cursors: HashSet<String>,
    pages: usize,
}

/// The page to ask for next.
#[derive(Debug)]
pub(super) struct Next {
    pub(super) kind: Kind,
    pub(super) cursor: String,
}

impl Lists {
    pub(super) fn ask(&mut self, kind: Kind, id: String) {
        self.awaited.insert(id, kind);
    }

    pub(super) fn are_complete(&self) -> bool {
        self.awaited.is_empty()
    }

    /// Takes a page if it was awaited; `outcome` has its result for a method.
    pub(super) fn take<'a>(
        &mut self,
        id: &str,
        outcome: impl FnOnce(&str) -> Result<&'a Map<String, Value>, SurfaceError>,
    ) -> Result<Option<Next>, SurfaceError> {
        let Some(kind) = self.awaited.remove(id) else { return Ok(None) };
        let page = match outcome(kind.method()) {
            Ok(page) => page,
            // Servers with resources need not have templates, and some that announce prompts or resources have none of the
            // methods. One that has answered before has more to tell than it does.
            Err(SurfaceError::Answer { code: METHOD_NOT_FOUND, .. })
                if kind != Kind::Tool && !self.read.contains_key(&kind) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let entries = page.get(kind.list()).and_then(Value::as_array);
        let entries =
            entries.ok_or_else(|| malformed(kind.method(), &format!("it has no list `{}`", kind.list())))?;
        let list = self.read.entry(kind).or_default();
        list.pages += 1;
        if list.entries.len() + entries.len() > MAX_ENTRIES {
            return Err(SurfaceError::TooManyEntries(kind));
        }
        self.size = entries.iter().fold(self.size, |size, entry| size.saturating_add(weight(entry)));
        if self.size > MAX_SURFACE {
            return Err(SurfaceError::TooLarge);
        }
        list.entries.extend_from_slice(entries);
        list.next(kind, page.get("nextCursor"))
    }

    pub(super) fn into_parts(mut self, profile: &Profile, hello: &Hello) -> Parts {
        let mut list = |kind| self.read.remove(&kind).unwrap_or_default().entries;
        Parts {
            profile: profile.clone(),
            protocol_version: hello.revision.clone(),
            server_info: hello.server_info.clone(),
            capabilities: hello.capabilities.clone(),
            instructions: hello.instructions.clone(),
            tools: list(Kind::Tool),
            prompts: list(Kind::Prompt),
            resources: list(Kind::Resource),
            resource_templates: list(Kind::ResourceTemplate),
        }
    }
}

impl List {
    fn next(&mut self, kind: Kind, cursor: Option<&Value>) -> Result<Option<Next>, SurfaceError> {
        let cursor = match cursor {
            None | Some(Value::Null) => return Ok(None),
            // An empty one is a cursor like others.
            Some(Value::String(cursor)) if cursor.len() <= MAX_TEXT => cursor.clone(),
            Some(_) => return Err(malformed(kind.method(), "`nextCursor` is no text of a sensible length")),
        };
        if !self.cursors.insert(cursor.clone()) {
            return Err(SurfaceError::RepeatedCursor(kind));
        }
        if self.pages >= MAX_PAGES {
            return Err(SurfaceError::TooManyPages(kind));
        }
        Ok(Some(Next { kind, cursor }))
    }
}

/// No more than the bytes of a value in JSON.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| weight(item) + 1).sum::<usize>() + 1,
        Value::Object(members) => {
            members.iter().map(|(key, value)| key.len() + weight(value) + 4).sum::<usize>() + 1
        }
        _ => 1,
    }
}
