//! The surface of a server: everything that a model would read of it, complete and in one order.

use std::sync::Arc;

use model::profile::Profile;
use serde_json::Value;

use crate::fingerprint::Fingerprint;

mod build;
mod entry;
mod error;
mod kind;
mod quarantine;
mod schema;
mod stored;

pub use error::SurfaceError;
pub use kind::Kind;
pub use quarantine::{Quarantined, Reason};

/// Most bytes of a whole surface, in canonical JSON.
pub const MAX_SURFACE: usize = 8 << 20;
/// Most bytes of a whole surface as [`Surface::to_text`] gives it: lines and indents make deep values much longer.
pub const MAX_STORED: usize = 4 * MAX_SURFACE;
/// Most bytes of one text, keys among them; a tool with a longer one is quarantined.
pub const MAX_TEXT: usize = 64 << 10;
/// Most bytes of one tool (or prompt, resource, template) in canonical JSON; a bigger one is quarantined.
pub const MAX_ENTRY: usize = 256 << 10;
/// Most entries of one list.
pub const MAX_ENTRIES: usize = 2_000;
/// Most pages of one list.
pub const MAX_PAGES: usize = 256;
/// Deepest nesting within one entry, its schemas counted from their own root.
pub const MAX_DEPTH: usize = 64;
/// Longest name of a tool or prompt, in characters (MCP 2025-11-25, tool names, has 128).
pub const MAX_NAME: usize = 128;
/// Longest URI or URI template, in characters.
pub const MAX_URI: usize = 2_048;

/// The projection named in each stored form: what goes into a fingerprint, and how.
pub const PROJECTION: &str = "fumehood-surface/1";

/// Everything that a model would read of one server, as one client profile was told it.
///
/// INVARIANT: complete lists, within the bounds, without two entries of one name; each list by name in UTF-16 order;
/// equal fingerprints mean equal bytes. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surface(Arc<Inner>);

#[derive(Debug, PartialEq, Eq)]
struct Inner {
    value: Value,
    client: Profile,
    fingerprint: Fingerprint,
    short: String,
    quarantined: Vec<Quarantined>,
}

/// What was read of a server, list by list and in any order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parts {
    /// As which client it was asked.
    pub profile: Profile,
    /// The protocol's revision that the server answered with, such as `2025-11-25`.
    pub protocol_version: String,
    /// `serverInfo` as received.
    pub server_info: Value,
    /// `capabilities` as received.
    pub capabilities: Value,
    /// `instructions`, where there are any.
    pub instructions: Option<String>,
    /// All pages of `tools/list`.
    pub tools: Vec<Value>,
    /// All pages of `prompts/list`.
    pub prompts: Vec<Value>,
    /// All pages of `resources/list`.
    pub resources: Vec<Value>,
    /// All pages of `resources/templates/list`.
    pub resource_templates: Vec<Value>,
}

impl Surface {
    /// Checks what was read, and takes it as a surface.
    ///
    /// # Errors
    ///
    /// [`SurfaceError`] for what has no fingerprint: two entries of one name, or more than the bounds allow. A single
    /// entry that cannot be offered is quarantined instead.
    pub fn from_parts(parts: Parts) -> Result<Self, SurfaceError> {
        build::build(parts, &build::Before::default())
    }

    /// Takes a surface from its stored form, which may come from a stranger: all is checked and computed anew.
    ///
    /// # Errors
    ///
    /// [`SurfaceError::Stored`] for anything but what [`Surface::value`] gives (another order, an entry that is
    /// quarantined today), and whatever [`Surface::from_parts`] refuses.
    pub fn from_stored(value: Value) -> Result<Self, SurfaceError> {
        stored::read(value)
    }

    /// Takes a surface from the bytes of a file that [`Surface::to_text`] made.
    ///
    /// # Errors
    ///
    /// As [`Surface::from_stored`], and for what [`crate::json::parse`] refuses or is over [`MAX_STORED`].
    pub fn from_text(bytes: &[u8]) -> Result<Self, SurfaceError> {
        stored::read(stored::parse(bytes)?)
    }

    /// Takes a surface from the bytes of a file, if it is the one that was accepted; the quick way for every start.
    ///
    /// `accepted` has to come from where no stranger writes: that a [`Surface`] once had this fingerprint is what
    /// makes checking its entries again needless.
    ///
    /// # Errors
    ///
    /// [`SurfaceError::Stored`] for anything else.
    pub fn from_accepted(bytes: &[u8], accepted: &Fingerprint) -> Result<Self, SurfaceError> {
        stored::read_accepted(stored::parse(bytes)?, accepted)
    }

    /// The stored form, which the fingerprint is the digest of. Keys: `projection`, `client`, `protocolVersion`,
    /// `serverInfo`, `capabilities`, `instructions` where there are any, `tools`, `prompts`, `resources`,
    /// `resourceTemplates`, `quarantined`, `short`.
    pub fn value(&self) -> &Value {
        &self.0.value
    }

    /// The stored form as the text of a file: indented, keys in order, a line end after the last line.
    pub fn to_text(&self) -> String {
        format!("{:#}\n", self.0.value)
    }

    /// The digest of everything in here. It alone is compared for a decision.
    pub fn fingerprint(&self) -> &Fingerprint {
        &self.0.fingerprint
    }

    /// The short form over the tools as received, quarantined ones among them; see
    /// [`crate::fingerprint::short_form`].
    pub fn short(&self) -> &str {
        &self.0.short
    }

    /// As which client the server was asked.
    pub fn client(&self) -> &Profile {
        &self.0.client
    }

    /// The protocol's revision that the server spoke.
    pub fn protocol_version(&self) -> &str {
        self.member("protocolVersion").as_str().unwrap_or_default()
    }

    /// `serverInfo`.
    pub fn server_info(&self) -> &Value {
        self.member("serverInfo")
    }

    /// The server's `capabilities`.
    pub fn capabilities(&self) -> &Value {
        self.member("capabilities")
    }

    /// The server's `instructions`.
    pub fn instructions(&self) -> Option<&str> {
        self.member("instructions").as_str()
    }

    /// The tools on offer by name, without the quarantined ones.
    pub fn tools(&self) -> Vec<&Value> {
        self.list(Kind::Tool)
    }

    /// The prompts on offer by name.
    pub fn prompts(&self) -> Vec<&Value> {
        self.list(Kind::Prompt)
    }

    /// The resources on offer by URI.
    pub fn resources(&self) -> Vec<&Value> {
        self.list(Kind::Resource)
    }

    /// The resource templates on offer by URI template.
    pub fn resource_templates(&self) -> Vec<&Value> {
        self.list(Kind::ResourceTemplate)
    }

    /// One list, by the key of its entries.
    pub fn list(&self, kind: Kind) -> Vec<&Value> {
        self.member(kind.list()).as_array().map(|entries| entries.iter().collect()).unwrap_or_default()
    }

    /// What is not offered, and why, by kind and name.
    pub fn quarantined(&self) -> &[Quarantined] {
        &self.0.quarantined
    }

    fn member(&self, key: &str) -> &Value {
        self.0.value.get(key).unwrap_or(&Value::Null)
    }
}

#[cfg(test)]
mod tests;
