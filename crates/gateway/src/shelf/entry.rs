//! One entry of a list.

use std::sync::Arc;

use access::gate::ToolGate;
use model::name::ServerName;
use serde_json::Value;
use tools::surface::Kind;

use crate::names;

/// One entry of an accepted surface, in both of the ways in which it is shown.
#[derive(Debug)]
pub struct Entry {
    kind: Kind,
    server: ServerName,
    plain: String,
    alone: Arc<Shown>,
    in_all: Arc<Shown>,
    /// What its arguments pass through. Tools have one.
    gate: Option<Arc<ToolGate>>,
}

/// An entry as a list has it.
#[derive(Debug)]
pub struct Shown {
    /// The name or address under which the caller asks for it.
    pub name: String,
    /// Whose it is.
    pub server: ServerName,
    /// The name or address that the server knows.
    pub plain: String,
    /// The entry, with `name` in it, less what a caller has no say in.
    pub value: Arc<Value>,
}

impl Entry {
    /// Of an entry that is shown as `value`, under the server's own name for it.
    pub(super) fn new(
        kind: Kind,
        server: &ServerName,
        plain: &str,
        value: Value,
        gate: Option<ToolGate>,
    ) -> Self {
        let public = match kind {
            Kind::Tool | Kind::Prompt => names::public(server, plain),
            Kind::Resource | Kind::ResourceTemplate => names::uri(server, plain),
        };
        let mut renamed = value.clone();
        if let Some(name) = renamed.get_mut(kind.key()) {
            *name = public.clone().into();
        }
        let shown = |name: String, value| {
            Arc::new(Shown { name, server: server.clone(), plain: plain.to_owned(), value: Arc::new(value) })
        };
        Self {
            kind,
            server: server.clone(),
            plain: plain.to_owned(),
            alone: shown(plain.to_owned(), value),
            in_all: shown(public, renamed),
            gate: gate.map(Arc::new),
        }
    }

    /// Of which list.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Whose it is.
    pub fn server(&self) -> &ServerName {
        &self.server
    }

    /// The name or address that the server knows.
    pub fn plain(&self) -> &str {
        &self.plain
    }

    /// As it stands in the server's own lists.
    pub fn alone(&self) -> &Arc<Shown> {
        &self.alone
    }

    /// As it stands among those of other servers.
    pub fn in_all(&self) -> &Arc<Shown> {
        &self.in_all
    }

    /// What its arguments pass through.
    pub fn gate(&self) -> Option<&Arc<ToolGate>> {
        self.gate.as_ref()
    }
}
