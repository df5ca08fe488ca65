//! The configuration as it is written: what serde reads, and what the JSON Schemas say. Nothing here is checked
//! beyond its type; the types beside this module are what comes out of the checks.

mod access;
mod data;
mod hosts;
mod limits;
mod mount;
mod network;
mod operator;
mod project;
mod secrets;
mod serve;
mod server;
mod size;
mod tool;

use std::borrow::Cow;
use std::ops::Range;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_spanned::Spanned;

pub(crate) use access::{Claims, Identity, Key, Peer, Role};
pub(crate) use data::Data;
pub(crate) use hosts::{Hosts, Kind, Requests};
pub(crate) use limits::{Limits, Maximum};
pub(crate) use mount::Mount;
pub(crate) use network::{Egress, Lists, Moment, Transport, Upstream};
pub(crate) use operator::Operator;
pub(crate) use project::Project;
pub(crate) use secrets::{DeclaredSecret, Foreign, Per, Secrets};
pub(crate) use serve::{Audit, Serve};
pub(crate) use server::{Guarding, Server};
pub(crate) use size::Size;
pub(crate) use tool::ToolRule;

/// A value and where it stands, in bytes from the beginning of the file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(transparent)]
pub(crate) struct At<T>(Spanned<T>);

impl<T> At<T> {
    pub(crate) fn get(&self) -> &T {
        self.0.get_ref()
    }

    pub(crate) fn span(&self) -> Range<usize> {
        self.0.span()
    }
}

impl<T: JsonSchema> JsonSchema for At<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
